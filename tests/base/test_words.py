from __future__ import annotations

import pytest

from heldout.base.words import clipped, line, number, safe


@pytest.mark.parametrize("acts", ["\x1b", "\x00", "\x7f", "\x85", "\u061c", "\u200f", "\u202e", "\u2066", "\ud800"])
def test_nothing_is_left_that_acts_on_a_reader_or_fits_in_no_file(acts):
    assert safe(f"a{acts}b") == "a�b"
    assert line(f"a{acts}b").encode() == "a�b".encode()


def test_text_keeps_its_lines_and_a_line_does_not():
    assert safe("a\n\tb") == "a\n\tb"
    assert line(" a\r\n\tb\u2028c ") == "a� b c"


def test_long_text_is_clipped_to_its_length():
    assert clipped("x" * 10_000, 50) == "x" * 49 + "…"
    assert clipped("x" * 50, 50) == "x" * 50


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (0.123456, "0.1235"), (123456.0, "1.235e+05"), ("-inf", "-inf")]
)
def test_numbers_have_four_digits(value, shown):
    assert number(value) == shown
