"""The transcript bound: its known numbers, its laws, and that no interval tells more than its answer."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.base.errors import OptionError
from heldout.base.options import Answer, parse_answer
from heldout.risk.earlier_looks import (
    FIRST,
    UNBOUNDED,
    VACUOUS,
    WIDENED,
    EarlierLooks,
    alphabet_of,
    disclosed_estimate,
    disclosed_interval,
    half_width,
    refuse_transcript,
    relative_entropy,
    rounded,
    transcript_interval,
)
from heldout.risk.estimate_risk import estimate_risk
from heldout.risk.record import Record

ALPHABETS = st.lists(st.floats(1, 1e6), max_size=30)
LEVELS = st.floats(0.5, 0.999)
MEANS = st.floats(0, 1)


def record(losses, *, sign=1, low=0.0, high=1.0, **more):
    losses = np.asarray(losses, dtype=float)
    return Record(
        **{
            "loss": "zero_one",
            "sign": sign,
            "low": low,
            "high": high,
            "fold_losses": np.array([losses.mean()]),
            "row_losses": (losses,),
            "train_sizes": np.array([50]),
            "held_sizes": np.array([len(losses)]),
            "kind": "given",
        }
        | more
    )


def errors(wrong, n):
    return np.repeat([1.0, 0.0], [wrong, n - wrong])


def estimate(made):
    return estimate_risk(made, name="risk", estimand="this")


@pytest.mark.parametrize(("alphabet", "half"), [(2, 0.034), (101, 0.070), (10_001, 0.096)])
def test_the_known_half_widths_at_the_twentieth_look_on_ten_thousand_rows(alphabet, half):
    assert round(half_width(10_000, alphabets=[alphabet] * 19), 3) == half


def test_a_single_look_is_hoeffding():
    assert half_width(10_000) == pytest.approx(sqrt(log(2 / 0.05) / 20_000), rel=1e-12)
    assert round(half_width(10_000), 3) == 0.014


def test_once_a_row_was_shown_the_bound_is_infinite():
    assert half_width(10_000, alphabets=[2, inf, 2]) == inf
    interval = transcript_interval(0.2, 0.2, rows=10_000, alphabets=[inf])
    assert (interval.low, interval.high) == (0, 1)


@given(ALPHABETS, st.floats(1, 1e6), st.integers(1, 10**6), LEVELS)
def test_one_more_look_never_narrows(alphabets, more, rows, level):
    before = half_width(rows, level=level, alphabets=alphabets)
    assert half_width(rows, level=level, alphabets=[*alphabets, more]) > before


@given(ALPHABETS, st.integers(0, 29), st.floats(1, 100), st.integers(1, 10**6))
def test_a_larger_alphabet_never_narrows(alphabets, place, times, rows):
    if not alphabets:
        return
    coarser = list(alphabets)
    coarser[place % len(alphabets)] *= times
    assert half_width(rows, alphabets=coarser) >= half_width(rows, alphabets=alphabets)


@given(MEANS, ALPHABETS, st.integers(1, 10**6), LEVELS)
def test_the_interval_lies_within_the_half_width_and_around_the_mean(mean, alphabets, rows, level):
    interval = transcript_interval(mean, mean, rows=rows, level=level, alphabets=alphabets)
    half = half_width(rows, level=level, alphabets=alphabets)
    slack = 1e-6  # where almost nothing is owed the relative entropy is lost in rounding
    assert max(mean - half, 0) - slack <= interval.low <= mean <= interval.high <= min(mean + half, 1) + slack


@given(MEANS, ALPHABETS, st.floats(1, 1e6), st.integers(1, 10**5), LEVELS)
def test_intervals_nest_in_looks_and_in_levels(mean, alphabets, more, rows, level):
    def of(**other):
        return transcript_interval(mean, mean, rows=rows, **({"level": level, "alphabets": alphabets} | other))

    for wider in (of(alphabets=[*alphabets, more]), of(level=(1 + level) / 2)):
        assert wider.low <= of().low
        assert wider.high >= of().high


@given(MEANS, MEANS)
def test_relative_entropy_is_more_than_twice_the_squared_distance(mean, risk):
    assert relative_entropy(mean, risk) >= 2 * (mean - risk) ** 2 - 1e-9


def test_the_alphabet_of_each_answer():
    made = record(errors(10, 100))
    sizes = {
        text: alphabet_of(parse_answer(text), made, right_or_wrong=True)
        for text in ("pass/fail:0.2", "rounded", "rounded:0.1", "value", "full")
    }
    assert sizes == {"pass/fail:0.2": 2, "rounded": 101, "rounded:0.1": 11, "value": 101, "full": inf}


def test_a_number_that_could_be_any_has_no_alphabet():
    bounded = record(np.linspace(0, 1, 50), loss="brier")
    assert alphabet_of(Answer(kind="value"), bounded, right_or_wrong=False) == inf
    assert alphabet_of(parse_answer("rounded"), bounded, right_or_wrong=False) == 101
    unbounded = record(np.linspace(0, 9, 50), loss="squared", high=inf)
    assert alphabet_of(parse_answer("rounded"), unbounded, right_or_wrong=False) == inf
    assert alphabet_of(parse_answer("pass/fail:2"), unbounded, right_or_wrong=False) == 2


@given(st.lists(st.booleans(), min_size=2, max_size=200), st.sampled_from([0.01, 0.05, 0.3]), st.data())
def test_equal_answers_have_equal_intervals_whatever_the_rows(rows, step, data):
    """Rounded and pass or fail: the interval is a function of what is told, so it tells nothing beside it."""
    other = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    first, second = record(rows), record(other)
    for answer in (Answer(kind="rounded", size=step), Answer(kind="pass/fail", size=step)):
        told = [
            disclosed_estimate(one, estimate(one), answer, EarlierLooks(alphabets=(2.0,))).estimate
            for one in (first, second)
        ]
        if (told[0].value, told[0].answer) == (told[1].value, told[1].answer):
            assert told[0] == told[1]


@given(st.floats(-1, 1), st.sampled_from([0.01, 0.02, 0.05, 0.1, 0.25]))
def test_rounding_moves_by_half_a_step_at_most(value, step):
    assert abs(rounded(value, step) - value) <= step / 2 + 1e-12


def test_a_coarser_answer_has_a_wider_interval_that_contains_the_finer_one():
    made = record(errors(123, 1000))
    fine = disclosed_interval(Answer(kind="value"), made, 0.123, level=0.95, alphabets=(2.0,))
    coarse = disclosed_interval(parse_answer("rounded:0.1"), made, 0.123, level=0.95, alphabets=(2.0,))
    assert coarse.low < fine.low < fine.high < coarse.high
    passed = disclosed_interval(parse_answer("pass/fail:0.2"), made, 0.123, level=0.95, alphabets=(2.0,))
    failed = disclosed_interval(parse_answer("pass/fail:0.1"), made, 0.123, level=0.95, alphabets=(2.0,))
    assert passed.low == 0
    assert 0.2 < passed.high < 0.3
    assert 0 < failed.low < 0.1
    assert failed.high == 1


def test_scores_pass_from_above():
    accuracy = record(errors(1, 10) - 1, sign=-1, low=-1.0, high=0.0, loss="accuracy")
    told = disclosed_estimate(accuracy, estimate(accuracy), parse_answer("pass/fail:0.9"), EarlierLooks()).estimate
    assert told.answer == "pass: at least 0.9"
    assert told.value is None
    assert told.high == 1
    assert told.low < 0.9
    told = disclosed_estimate(accuracy, estimate(accuracy), parse_answer("pass/fail:0.95"), EarlierLooks()).estimate
    assert told.answer == "fail: below 0.95"
    assert told.low == 0
    assert 0.95 < told.high <= 1


def test_a_first_full_look_is_left_alone():
    made = record(errors(10, 100))
    told = disclosed_estimate(made, estimate(made), Answer(), EarlierLooks())
    assert told.estimate == estimate(made)
    assert told.status == FIRST


def test_a_later_look_is_widened_and_says_so():
    made = record(errors(100, 1000))
    told = disclosed_estimate(made, estimate(made), Answer(), EarlierLooks(alphabets=(2.0, 2.0)))
    plain = estimate(made)
    assert told.status == WIDENED
    assert told.estimate.method == "transcript bound, widened for the 3rd look"
    assert told.estimate.guarantee == "finite-sample"
    assert told.estimate.low < plain.low < plain.high < told.estimate.high


def test_a_stratified_draw_keeps_its_heuristic_guarantee():
    made = record(errors(100, 1000), stratified=True)
    assert (
        disclosed_estimate(made, estimate(made), Answer(), EarlierLooks(alphabets=(2.0,))).estimate.guarantee
        == "heuristic"
    )


def test_after_rows_were_shown_the_plain_interval_says_when_it_holds():
    made = record(errors(100, 1000))
    told = disclosed_estimate(made, estimate(made), Answer(), EarlierLooks(alphabets=(inf,), rows_shown=True))
    plain = estimate(made)
    assert told.status == UNBOUNDED
    assert (told.estimate.low, told.estimate.high) == (plain.low, plain.high)
    assert told.estimate.guarantee == "heuristic"
    assert told.estimate.method == "Clopper–Pearson, not widened for the 2nd look"
    assert "only if this learner was settled before" in told.estimate.reason
    assert "showed results of single rows" in told.estimate.reason


def test_many_looks_leave_a_vacuous_interval():
    made = record(errors(10, 50))
    told = disclosed_estimate(made, estimate(made), Answer(kind="value"), EarlierLooks(alphabets=(51.0,) * 30))
    assert told.status == VACUOUS


def test_a_coarse_answer_of_a_loss_without_bounds_has_no_interval():
    made = record(np.linspace(0, 9, 50), loss="squared", high=inf)
    told = disclosed_estimate(made, estimate(made), parse_answer("rounded:0.5"), EarlierLooks()).estimate
    assert told.value == 4.5
    assert told.low is None
    assert told.method is None
    assert "'squared' has no bounds" in told.reason


def test_grouped_timed_and_weighted_rows_are_refused_by_name():
    assert "groups" in refuse_transcript(record(errors(1, 9), grouped=True))
    assert "time" in refuse_transcript(record(errors(1, 9), timed=True))
    assert "weights" in refuse_transcript(record(errors(1, 9), weights=(np.ones(9),)))
    assert refuse_transcript(record(errors(1, 9))) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pass/fail", "needs the mark to pass"),
        ("pass/fail:high", "'high' is not a number"),
        ("rounded:0", "step above 0"),
        ("rounded:nan", "not a number"),
        ("ful", "Did you mean 'full'"),
        ("full:3", "does not take"),
        (3, 'a text such as "rounded:0.01"'),
    ],
)
def test_answers_that_make_no_sense_are_refused(text, words):
    with pytest.raises(OptionError, match=words):
        parse_answer(text)


@pytest.mark.parametrize("level", [0, 1, -0.5, float("nan")])
def test_levels_that_make_no_sense_are_refused(level):
    with pytest.raises(OptionError, match="level"):
        half_width(100, level=level)


def test_other_nonsense_is_refused():
    with pytest.raises(OptionError, match="at least one row"):
        half_width(0)
    with pytest.raises(OptionError, match="alphabet of at least one"):
        half_width(10, alphabets=[0.5])
    with pytest.raises(OptionError, match="cannot lie between"):
        transcript_interval(0.5, 0.4, rows=10)
