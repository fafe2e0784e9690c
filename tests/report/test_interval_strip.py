from __future__ import annotations

import pytest

from heldout.report.interval_strip import scale_of


@pytest.fixture
def lead(make_result):
    """The scale of a summary whose leading score is changed."""

    def scale(**changes):
        summary = make_result()
        summary["metrics"][0] |= {"no_model": None} | changes
        return scale_of(summary)

    return scale


def test_things_stand_on_the_line_where_their_values_are(lead):
    scale = lead(no_model=0.16)
    ticks = {float(words): place for place, words in scale.ticks}
    assert list(ticks) == [0.1, 0.12, 0.14, 0.16]
    assert ticks[0.1] == 14.0
    assert ticks[0.16] == 306.0

    def place(value):
        return pytest.approx(14 + 292 * (value - 0.1) / 0.06, abs=0.1)

    assert scale.value == place(0.12)
    assert (scale.low, scale.high) == (place(0.1), place(0.15))
    assert scale.no_model == place(0.16)
    assert list(scale.folds) == [place(value) for value in (0.1, 0.11, 0.12, 0.13, 0.14)]


def test_shares_of_rows_are_told_in_per_cent(lead):
    scale = lead(unit="share", value=0.04, low=0.0, high=0.09, folds=[0.0, 0.05], no_model=0.1)
    assert [words for _, words in scale.ticks] == ["0 %", "5 %", "10 %"]
    assert scale.words == (
        '4.0 % on a scale, with its interval from 0.0 to 9.0, the values of 2 folds, always "no": 10.0 %'
    )


def test_an_infinite_end_reaches_the_end_of_the_line(lead):
    scale = lead(low="-inf", high="inf")
    assert (scale.low, scale.high) == (14.0, 306.0)


def test_folds_that_are_withheld_or_too_many_are_no_marks(lead):
    assert lead(folds=[0.1, None, 0.12]).folds == ()
    assert lead(folds=[0.12] * 61).folds == ()
    assert len(lead(folds=[0.12] * 60).folds) == 60


def test_a_number_alone_has_no_scale(lead):
    assert lead(low=None, high=None, folds=[]) is None
    assert lead(value=None, low=None, high=None, folds=[]) is None


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 5e-324), (1.0, 1.0 + 1e-12), (0.0, 1.7e308), (-1.7e308, 1.7e308), (1e16, 1e16 + 2)]
)
def test_numbers_too_near_or_too_far_apart_have_no_scale(lead, low, high):
    assert lead(value=low, low=low, high=high, folds=[]) is None


@pytest.mark.parametrize(("low", "high"), [(0.0, 1e-200), (-1e200, 1e200), (1.0, 1.01), (-3.0, -2.0)])
def test_numbers_of_any_size_have_one(lead, low, high):
    scale = lead(value=low, low=low, high=high, folds=[])
    assert 14 <= scale.low < scale.high <= 306
    assert len(scale.ticks) >= 3
