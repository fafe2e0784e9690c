"""Numbers of rows for a gap and for a width: the known ones, and that each is the inverse of its bound."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from heldout.base.errors import OptionError
from heldout.risk.recipe import PREDICTOR, Situation, recommend
from heldout.risk.rows_needed import aim, dev_gap, hoeffding_width, rows_by_normal, rows_for_gap, rows_for_width

LEVELS = st.floats(0.5, 0.999)
COUNTS = st.integers(1, 10**6)


@pytest.mark.parametrize(("half", "rows"), [(0.05, 738), (0.02, 4612), (0.01, 18445)])
def test_the_known_numbers_of_test_rows(half, rows):
    assert rows_for_width(2 * half) == rows
    assert hoeffding_width(rows) <= 2 * half < hoeffding_width(rows - 1)


def test_the_gap_is_that_of_the_text():
    assert dev_gap(1000, candidates=17, level=0.95) == pytest.approx(sqrt(2 / 1000 * log(2 * 17 / 0.05)), rel=1e-12)


@given(st.floats(0.001, 1), COUNTS, LEVELS, st.floats(0.1, 50))
def test_the_rows_of_a_gap_are_the_fewest_that_keep_it(gap, candidates, level, loss_range):
    known = {"candidates": candidates, "level": level, "loss_range": loss_range}
    rows = rows_for_gap(gap, **known)
    assert dev_gap(rows, **known) <= gap
    assert rows == 1 or dev_gap(rows - 1, **known) > gap


@given(COUNTS, COUNTS, st.integers(1, 10**6), LEVELS)
def test_more_candidates_need_more_and_more_rows_promise_more(few, more, rows, level):
    few, more = sorted((few, more))
    assert dev_gap(rows, candidates=few, level=level) <= dev_gap(rows, candidates=more, level=level)
    assert dev_gap(rows + 1, candidates=few, level=level) < dev_gap(rows, candidates=few, level=level)


@given(st.floats(0.005, 1), st.floats(0, 0.5), LEVELS)
def test_normal_planning_is_the_normal_interval_turned_round(width, sd, level):
    rows = rows_by_normal(width, sd=sd, level=level)
    z = norm.ppf(0.5 + level / 2)
    assert 2 * z * sd / sqrt(rows) <= width * (1 + 1e-9)
    assert rows == 1 or 2 * z * sd / sqrt(rows - 1) > width * (1 - 1e-9)


@given(st.floats(0.01, 1), st.floats(0.01, 0.99), LEVELS)
def test_a_guess_never_needs_more_rows_than_the_bound(width, error_rate, level):
    aims = aim(width=width, error_rate=error_rate, level=level)
    assert aims.test_rows_by_normal <= aims.test_rows_by_bound + 1


def test_a_planned_width_is_kept_by_simulated_test_sets():
    rows, rng = rows_by_normal(0.06, sd=0.3), np.random.default_rng(0)
    rates = rng.binomial(rows, 0.1, size=4000) / rows
    assert np.mean(np.abs(rates - 0.1) <= 0.03) == pytest.approx(0.95, abs=0.015)


def recipe(n, candidates=1, **more):
    aims = aim(candidates=candidates)
    return recommend(
        Situation(
            n=n, candidates=candidates, test_rows=aims.test_rows, dev_rows=aims.dev_rows or aims.test_rows, **more
        )
    )


@pytest.mark.parametrize(
    ("situation", "name", "test", "validation"),
    [
        ({"n": 100}, "cross-validation", "KFold(10)", None),
        ({"n": 2000}, "cross-validation", "KFold(5)", None),
        ({"n": 5000}, "a test set", "Holdout(0.2)", None),
        ({"n": 50_000}, "a test set", "Holdout(0.1)", None),
        ({"n": 100, "candidates": 20}, "nested cross-validation", "KFold(5)", "KFold(5)"),
        ({"n": 5000, "candidates": 200}, "cross-validation and a test set", "Holdout(0.2)", "KFold(5)"),
        ({"n": 9000, "candidates": 20}, "train, validation and test (60/20/20)", "Holdout(0.2)", "Holdout(0.25)"),
        ({"n": 90_000, "candidates": 20}, "train, validation and test (80/10/10)", "Holdout(0.1)", "Holdout(0.1111)"),
        ({"n": 90_000, "time": True}, "simple validation on the most recent rows", "Holdout(0.2)", None),
        ({"n": 100, "time": True, "candidates": 2}, "simple validation on the most recent rows", "Holdout(0.2)",
         "Holdout(0.25)"),
        ({"n": 100, "closed_form": True, "about": PREDICTOR}, "leave-one-out", "LeaveOneOut()", None),
        ({"n": 100, "closed_form": True}, "cross-validation", "KFold(10)", None),
        ({"n": 900, "about": PREDICTOR}, "a test set", "Holdout(0.2)", None),
        ({"n": 900, "about": PREDICTOR, "candidates": 9}, "cross-validation and a test set", "Holdout(0.2)",
         "KFold(5)"),
        ({"n": 9000, "groups": 4, "candidates": 9}, "nested cross-validation", "KFold(4)", "KFold(3)"),
        ({"n": 3}, "cross-validation", "KFold(3)", None),
    ],
)  # fmt: skip
def test_the_recipe_of_the_texts(situation, name, test, validation):
    found = recipe(**situation)
    chosen_by = None if found.validation is None else str(found.validation)
    assert (found.name, str(found.test), chosen_by) == (name, test, validation)
    assert found.reasons


@given(st.integers(4, 10**6), st.integers(1, 10**4), st.booleans(), st.booleans())
def test_every_situation_has_a_recipe_whose_parts_fit_the_rows(n, candidates, time, closed_form):
    found = recipe(n, candidates, time=time, closed_form=closed_form)
    assert 0 < found.held < 1
    assert found.held + found.dev < 1
    assert (found.validation is None) == (candidates == 1) == (found.dev == 0)


def test_more_columns_than_training_rows_are_warned_of():
    assert any("columns" in reason for reason in recipe(100, columns=100).reasons)
    assert not any("columns" in reason for reason in recipe(100, columns=20).reasons)


def test_too_few_rows_are_refused():
    with pytest.raises(OptionError, match="no recipe for 1 rows"):
        recipe(1)
    with pytest.raises(OptionError, match="no recipe for 3 groups: at least 4 are needed when candidates are chosen"):
        recipe(100, 5, groups=3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: aim(gap=0, candidates=3), "gap is a number above 0"),
        (lambda: aim(gap=0.1, candidates=0), "candidates is a whole number"),
        (lambda: aim(width=-1), "width is a number above 0"),
        (lambda: aim(width=0.1, level=1), "level is a number between 0 and 1"),
        (lambda: aim(loss_range=float("inf")), "loss_range is a number above 0"),
        (lambda: aim(width=0.1, sd=-1), "sd is a number above 0"),
        (lambda: rows_for_gap(1e-9, candidates=3), "That would take .*e.* rows"),
        (lambda: rows_for_width(1e-300), "That would take inf rows"),
    ],
)
def test_senseless_numbers_are_refused_by_name(call, words):
    with pytest.raises(OptionError, match=words):
        call()
