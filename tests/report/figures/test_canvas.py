"""Text that fits its place, and numbers as places on an axis."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.base.words import line, shortened
from heldout.report.figures.canvas import room
from heldout.report.figures.describe import evenly, left_out, span
from heldout.report.figures.scales import ends, is_finite, log_ends, powers, real, tick_words, within
from heldout.report.words import counted, interval


@given(st.text(), st.integers(3, 40))
def test_a_text_is_never_longer_than_its_place_and_keeps_both_ends(text, most):
    whole, cut = line(text), shortened(text, most)
    assert len(cut) <= most
    assert cut == whole or (cut[0] == whole[0] and cut[-1] == whole[-1] and "…" in cut)


def test_what_no_file_of_a_page_can_hold_is_replaced():
    assert line("a\ufffeb\uffffc\ud800d\x00e\u202ef\n g") == "a�b�c�d�e�f g"


def test_room_follows_the_width_of_the_axes():
    from matplotlib.figure import Figure

    wide, narrow = (Figure(figsize=(inches, 3)).add_axes((0, 0, 1, 1)) for inches in (6.1, 1.0))
    assert (room(wide), room(narrow)) == (72, 12)


def test_numbers_of_a_summary_become_places():
    assert math.isnan(real(None))
    assert real("inf") == math.inf
    assert real("-inf") == -math.inf
    assert real(-1.7e308) == -1e300
    assert real(3) == 3.0
    assert real(-(10**400)) == -1e300
    assert is_finite(1, 2.0)
    assert not is_finite(1, None)
    assert not is_finite("inf")
    assert within("inf", 0, 2) == 2
    assert within(1.5, 0, 2) == 1.5


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True) | st.none(), max_size=6))
def test_an_axis_shows_every_finite_number_and_has_a_length(values):
    low, high = ends(values)
    assert low < high
    assert math.isfinite(high - low)
    assert all(low <= real(value) <= high for value in values if is_finite(value))


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=5))
def test_an_axis_of_powers_shows_every_number(values):
    low, high = log_ends(values)
    assert 0 < low < high < math.inf
    assert all(low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9) for value in values)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.0, 0.2, 0.4], ["0.0", "0.2", "0.4"]),
        ([1000.01, 1000.02], ["1,000.01", "1,000.02"]),
        ([-0.0, 5.0], ["0", "5"]),
        ([0.0, 2e6, 4e6], ["0", "2e6", "4e6"]),
        ([1e-5, 1.5e-5], ["1e−5", "1.5e−5"]),
        ([7.0], ["7"]),
        ([], []),
    ],
)
def test_ticks_are_told_apart_with_as_few_digits_as_that_takes(values, words):
    assert tick_words(values) == words


def test_powers_are_written_in_full_where_that_is_short():
    from matplotlib.figure import Figure

    def labels(low, high):
        axis = Figure().subplots().xaxis
        powers(axis, low, high)
        return axis.get_major_formatter().format_ticks(axis.get_majorticklocs())

    assert labels(0.005, 2_000) == ["0.01", "0.1", "1", "10", "100", "1,000"]
    assert labels(5e-7, 2e2) == ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰", "10²"]
    assert labels(40, 2_500) == ["50", "100", "200", "500", "1,000", "2,000"]


def test_some_of_many_are_spread_evenly():
    assert evenly(list(range(1_000)), 5) == [0, 249, 499, 749, 999]
    assert evenly([1, 2, 3], 5) == [1, 2, 3]
    assert left_out(5, 1_000, "folds") == " The table has 5 of 1,000 folds."
    assert left_out(5, 5, "folds") == ""


def test_numbers_in_words():
    assert interval({"low": 0.1, "high": 0.25, "level": 0.9}) == "90 % interval 0.1 to 0.25"
    assert interval({"low": None, "high": None, "level": 0.9}) == ""
    assert [counted(1, "class"), counted(2, "class"), counted(3_000, "fold")] == ["1 class", "2 classes", "3,000 folds"]
    assert span([None, 2.0, "inf", -1]) == "from -1 to 2"
    assert span([None]) == "without a number"
