from __future__ import annotations

import pytest

from heldout.report.interval_strip import scale_of


def test_things_stand_on_the_line_where_their_values_are(make_result):
    scale = scale_of(make_result())
    ticks = {float(words): place for place, words in scale.ticks}
    assert list(ticks) == [0.1, 0.12, 0.14, 0.16]
    assert ticks[0.1] == 14.0
    assert ticks[0.16] == 306.0

    def place(value):
        return pytest.approx(14 + 292 * (value - 0.1) / 0.06, abs=0.1)

    assert scale.value == place(0.12)
    assert (scale.low, scale.high) == (place(0.1), place(0.15))
    assert scale.optimistic == place(0.1)
    assert list(scale.folds) == [place(value) for value in (0.1, 0.11, 0.12, 0.13, 0.14)]


def test_what_counts_rows_is_told_in_per_cent(make_result):
    summary = make_result()
    summary["risk"] |= {"loss": "zero_one", "value": 0.04, "low": 0.0, "high": 0.09}
    scale = scale_of(summary)
    assert [words for _, words in scale.ticks] == ["0%", "5%", "10%"]
    assert scale.optimistic is None  # it is of another loss
    assert scale.words == "4.0% on a scale, with its interval from 0.0% to 9.0%, the values of 5 folds"


def test_an_infinite_end_reaches_the_end_of_the_line(make_result):
    summary = make_result()
    summary["risk"] |= {"low": "-inf", "high": "inf"}
    scale = scale_of(summary)
    assert (scale.low, scale.high) == (14.0, 306.0)


def test_folds_that_are_withheld_or_too_many_are_no_marks(make_result):
    summary = make_result()
    summary["folds"][0]["log"] = None
    assert scale_of(summary).folds == ()
    assert scale_of(make_result(folds=61)).folds == ()
    assert len(scale_of(make_result(folds=60)).folds) == 60


def test_a_number_alone_has_no_scale(make_result):
    summary = make_result() | {"folds": [], "estimates": {}}
    summary["risk"] |= {"low": None, "high": None}
    assert scale_of(summary) is None
    summary["risk"] |= {"value": None}
    assert scale_of(summary) is None


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 5e-324), (1.0, 1.0 + 1e-12), (0.0, 1.7e308), (-1.7e308, 1.7e308), (1e16, 1e16 + 2)]
)
def test_numbers_too_near_or_too_far_apart_have_no_scale(make_result, low, high):
    summary = make_result() | {"folds": [], "estimates": {}}
    summary["risk"] |= {"value": low, "low": low, "high": high}
    assert scale_of(summary) is None


@pytest.mark.parametrize(("low", "high"), [(0.0, 1e-200), (-1e200, 1e200), (1.0, 1.01), (-3.0, -2.0)])
def test_numbers_of_any_size_have_one(make_result, low, high):
    summary = make_result() | {"folds": [], "estimates": {}}
    summary["risk"] |= {"value": low, "low": low, "high": high}
    scale = scale_of(summary)
    assert 14 <= scale.low < scale.high <= 306
    assert len(scale.ticks) >= 3
