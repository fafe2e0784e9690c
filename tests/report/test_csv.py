"""Cells for spreadsheets: numbers read back bit for bit, formulas and control characters are defused."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.report.csv import cell, table_text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_bit_for_bit(value: float) -> None:
    text = cell(value)
    assert float(text) == value
    assert math.copysign(1, float(text)) == math.copysign(1, value)


@pytest.mark.parametrize("text", ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "  =1", "＝1", "\n=1", '=HYPERLINK("x")'])
def test_formulas_are_defused(text: str) -> None:
    assert cell(text).startswith("'")
    assert table_text({text: [text]}).count("'") == 2


@pytest.mark.parametrize("text", ["-1", "+1.5e3", "a=b", "yes", "", "'quoted"])
def test_what_is_no_formula_stays(text: str) -> None:
    assert cell(text) == text


@given(st.lists(st.tuples(st.text(), st.integers()), min_size=1, max_size=5), st.sampled_from([",", "\t"]))
def test_any_text_stays_in_its_cell_and_acts_on_nothing(rows: list[tuple[str, Any]], separator: str) -> None:
    text = table_text({"name": [one for one, _ in rows], "n": [n for _, n in rows]}, separator=separator)
    read = list(csv.reader(io.StringIO(text), delimiter=separator))
    assert [row[1] for row in read] == ["n", *(str(n) for _, n in rows)]
    assert "\x1b" not in text
    for row in read[1:]:
        assert row[0].lstrip(" ")[:1] not in ("=", "@", "\t", "\r")


def test_missing_values_are_empty() -> None:
    assert [cell(None), cell(float("nan")), cell(True)] == ["", "", "True"]
