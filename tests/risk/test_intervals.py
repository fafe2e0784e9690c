"""The contract that every interval method keeps, and which method a record gets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_records import (
    ACCEPTED,
    any_record,
    folds,
    folds_of_rows,
    grouped,
    in_another_order,
    levels,
    one_test_set,
    zero_one,
)

from heldout.base.errors import OptionError
from heldout.risk.estimate import GUARANTEES
from heldout.risk.estimate_risk import WITH_FITS, check_asked, choose_method, estimate_risk
from heldout.risk.intervals import METHODS

RNG = np.random.default_rng(5)
MANY = RNG.exponential(size=40)
RANDOM = ("betting", "bootstrap-t", "bca")


def test_every_method_has_records_to_be_tried_on():
    assert set(ACCEPTED) == set(METHODS)
    assert all(key == method.key for key, method in METHODS.items())


@pytest.mark.parametrize("key", METHODS)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), one=levels, two=levels)
def test_a_higher_level_contains_a_lower_one_and_ends_are_finite_and_ordered(key, data, one, two):
    method, record = METHODS[key], data.draw(ACCEPTED[key])
    assume(method.refusal(record) is None)
    value = float(np.mean(record.fold_losses))
    narrow, wide = (method.interval(record, value, level) for level in sorted([one, two]))
    assert np.isfinite([wide.low, wide.high]).all()
    assert wide.low <= narrow.low <= value <= narrow.high <= wide.high
    assert narrow.level == min(one, two)
    assert narrow.method == method.name or key == "rows"  # which says how the rows were taken
    assert narrow.guarantee in GUARANTEES


@pytest.mark.parametrize("key", [key for key in METHODS if key != "batch-means"])  # rows in time have an order
@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_the_order_of_rows_and_of_parts_does_not_matter(key, data, seed):
    method, record = METHODS[key], data.draw(ACCEPTED[key])
    assume(method.refusal(record) is None)
    value = float(np.mean(record.fold_losses))
    turned = in_another_order(record, seed)
    assert method.refusal(turned) is None
    plain, shuffled = method.interval(record, value, 0.9), method.interval(turned, value, 0.9)
    size = np.max(np.abs([plain.low, plain.high, *np.concatenate(record.row_losses or (record.fold_losses,))]))
    assert shuffled.low == pytest.approx(plain.low, abs=1e-12 * size)
    assert shuffled.high == pytest.approx(plain.high, abs=1e-12 * size)
    assert shuffled.seed == plain.seed


@pytest.mark.parametrize("key", METHODS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_refused_is_refused_before_the_losses_are_known_or_for_their_sake(key, data):
    """A refusal that needs no loss comes early, and never of a record that is accepted in the end."""
    method, record = METHODS[key], data.draw(any_record)
    unknown = replace(
        record,
        fold_losses=np.full(record.parts, np.nan),
        row_losses=record.row_losses and tuple(np.full(len(rows), np.nan) for rows in record.row_losses),
    )
    early, late = method.refusal(unknown), method.refusal(record)
    assert early is None or late == early
    for refusal in (early, late):
        assert refusal is None or (refusal and not refusal.endswith("."))


@pytest.mark.parametrize("key", RANDOM)
def test_a_seed_decides_and_is_kept(key):
    record = zero_one(MANY / MANY.max()) if key == "betting" else one_test_set(MANY)
    value = float(record.fold_losses[0])
    first, again, other = (METHODS[key].interval(replace(record, seed=s), value, 0.95) for s in (1, 1, 2))
    assert first == again
    assert first.seed is not None
    assert first.seed != other.seed
    assert (first.low, first.high) != (other.low, other.high)
    risk = estimate_risk(record, name="risk", estimand="", interval=key)
    assert risk.interval_seed == METHODS[key].interval(record, value, 0.95).seed


@pytest.mark.parametrize("key", RANDOM)
@pytest.mark.parametrize("rows", [MANY, np.linspace(0, 3, 25), np.array([0.0, 1.0] * 12 + [1.0])])
def test_the_mirror_image_of_a_sample_has_the_mirror_image_of_its_interval(key, rows):
    there, back = (one_test_set(x, low=-5.0, high=5.0) for x in (rows, -rows))
    plain, mirrored = (METHODS[key].interval(r, float(r.fold_losses[0]), 0.95) for r in (there, back))
    assert (mirrored.low, mirrored.high) == (pytest.approx(-plain.high), pytest.approx(-plain.low))


@settings(max_examples=60, deadline=None)
@given(record=any_record)
def test_the_method_chosen_accepts_the_record(record):
    chosen = choose_method(record)
    if isinstance(chosen, str):
        keys = ("rows",) if record.stratified else ("betting", "student", "rows", "cautious-t")
        assert record.timed or all(METHODS[key].refusal(record) for key in keys)
    else:
        assert chosen.refusal(record) is None


@pytest.mark.parametrize(
    ("record", "method", "guarantee"),
    [
        (zero_one([0, 1, 1, 0]), "Clopper–Pearson", "exact"),
        (zero_one([0, -1, -1, 0], low=-1.0, high=0.0, sign=-1), "Clopper–Pearson", "exact"),
        (zero_one([0, 1, 1, 0], kind="given", drawn=False), "Clopper–Pearson", "exact"),
        (zero_one([0, 1, 1, 0], stratified=True), "Clopper–Pearson", "heuristic"),
        (zero_one([0, 1, 1, 0], kind="foreign"), "Clopper–Pearson", "heuristic"),
        (zero_one([0, 1, 1, 0], kind="foreign", drawn=False), "Clopper–Pearson", "exact"),
        (zero_one([0, 0.5, 1, 0], kind="foreign"), "betting", "heuristic"),
        (zero_one([0, 0.5, 1, 0]), "betting", "finite-sample"),
        (zero_one([0, 0.5, 1, 0], stratified=True), "betting", "heuristic"),
        (grouped([0, 1, 1, 0], [0, 0, 1, 1], low=0.0, high=1.0), "betting", "finite-sample"),
        (grouped([0, 1, 1, 0, 1], [0, 0, 1, 1, 2], low=0.0, high=1.0), "Wilson over groups", "asymptotic"),
        (grouped([0, 3, 1, 0, 1], [0, 0, 1, 1, 2], low=0.0), "t over groups, log scale", "asymptotic"),
        (grouped([0, 1, 1, 1], [0, 0, 1, 1]), "Student", "asymptotic"),
        (zero_one([0, 1, 1], weights=(np.array([1.0, 2.0, 1.0]),)), "Wilson over rows", "asymptotic"),
        (one_test_set(MANY), "bootstrap-t", "asymptotic"),
        (one_test_set(MANY[:19]), "Student", "asymptotic"),
        (one_test_set(np.tile(MANY, 600)), "Student", "asymptotic"),
        (one_test_set([0.0] * 24 + [1.0]), "Hall's t over rows", "asymptotic"),  # one row decides
        (one_test_set(np.arange(60.0) % 7, timed=True), "five batch means", "heuristic"),
        (folds_of_rows([[0, 1, 1, 0]] * 5, low=0.0, high=1.0), "Wilson over rows", "heuristic"),
        (folds_of_rows([[0, 1, 1, 0]] * 5, low=0.0, high=1.0, stratified=True), "Wilson over rows", "heuristic"),
        (folds_of_rows([[0, 1], [1, 0]], low=0.0, high=1.0, train=0), "Wilson over rows", "heuristic"),
        (folds_of_rows([[0.1, 0.4]] * 5, low=0.0, high=1.0), "Hall's t over rows", "heuristic"),
        (folds_of_rows([[0.1, 0.4]] * 5, low=0.0), "t over rows, log scale", "heuristic"),
        (folds_of_rows([[0.1], [0.4], [0.3]], low=0.0, kind="loo"), "t over rows, log scale", "heuristic"),
        (folds([0.1, 0.2]), "cautious t", "heuristic"),  # the rows are not known
        (folds([0.1, 0.2, 0.3], kind="resample", partition=False), "cautious t", "heuristic"),
        (folds([0.1, 0.2, 0.3], grouped=True), "cautious t", "heuristic"),
    ],
)
def test_each_recipe_gets_its_default(record, method, guarantee):
    risk = estimate_risk(record, name="risk", estimand="")
    assert (risk.method, risk.guarantee, risk.reason) == (method, guarantee, None)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (zero_one([0, 1], grouped=True), "does not say which row belongs to which"),
        (grouped([0, 1], [0, 0]), "one test group has no spread"),
        (grouped([0, 1, 1, 0] * 5, [0, 1] + [2] * 18), "weighs so much that the 3 test groups"),
        (zero_one([0, 1], timed=True), "2 test rows in time are too few for 5 stretches"),
        (folds([0.1, 0.2, 0.3], stratified=True), "does not tell what single rows add"),
        (zero_one([0, 1], weights=(np.array([1.0, 9.0]),)), "tell no more than 1.2 equal ones"),
        (one_test_set([3.0]), "one test row"),
        (folds([0.3]), "does not tell what single rows add"),
        (folds([0, 1, 1], held=1, kind="loo"), "leave-one-out gives a point estimate"),
        (folds([0, 1, 1], held=1, kind="kfold"), "leave-one-out gives a point estimate"),
        (folds([0.1, 0.2], kind="forward", timed=True), "belongs to whole sets"),
        (one_test_set(np.repeat(np.arange(8.0), 10), timed=True), "worth about"),
        (folds([0.1, 0.2], kind="given", train=0), "nothing was trained"),
    ],
)
def test_where_there_is_no_interval_the_reason_is_given(record, words):
    risk = estimate_risk(record, name="risk", estimand="")
    assert risk.value is not None
    assert (risk.low, risk.high, risk.method, risk.guarantee, risk.unclipped, risk.interval_seed) == (None,) * 6
    assert risk.reason.startswith("No interval: ")
    assert words in risk.reason


@pytest.mark.parametrize(
    ("record", "asked", "words"),
    [
        (folds([0.1, 0.2]), "clopper-pearson", "Clopper–Pearson cannot be had here.*2 held-out parts.*'corrected-t'"),
        (folds([0.1, 0.2]), "student", "2 held-out parts"),
        (folds([0.1, 0.2]), "bayle", "belongs to whole sets"),
        (folds([0.1, 0.2]), "5x2", r"KFold\(2, repeats=5\)"),
        (folds([0.1, 0.2]), "conservative-z", "at least 5 pairs of halves.*there are none"),
        (folds_of_rows([[1.0], [2.0]]), "bayle-within", "a fold of one row"),
        (folds_of_rows([[1.0, 2], [2.0, 0]] * 2, repeats=2), "bayle", "one set of folds, and there are 2"),
        (folds_of_rows([[1.0, 2], [2.0, 0]], partition=False), "bayle", "hold out each row once"),
        (folds_of_rows([[1.0, 2], [2.0, 0]], grouped=True), "bayle", "come in groups"),
        (folds([0.1] * 10, repeats=5, timed=True), "5x2-t", "in time"),
        (one_test_set([0.1, 0.2]), "corrected-t", "there is one.*'student'"),
        (one_test_set([0.1, 0.2]), "clopper-pearson", "takes other values"),
        (one_test_set([0.1, 0.2]), "betting", "'squared' has no such bounds"),
        (one_test_set([0.1, 0.2]), "bootstrap-t", "2 rows are too few.*20 are needed"),
        (one_test_set([0.0] * 30 + [1.0]), "bootstrap-t", "one value is so common"),
        (one_test_set([0.1, 0.2]), "bca", "2 rows are too few"),
        (zero_one([0.1]), "maurer-pontil", "a single draw has no variance"),
        (zero_one([0.5, 1.5]), "hoeffding", "from 0.5 to 1.5, out of the declared 0 to 1"),
        (zero_one([0, 1, 1], weights=(np.ones(3),)), "betting", "have weights.*'cluster-t'"),
        (grouped([0, 1, 1], [0, 0, 1], low=0.0, high=1.0), "betting", "groups of 1 to 2 rows.*a ratio of two means"),
        (grouped([0, 1], [0, 1], low=0.0, high=1.0), "wilson", "groups have to be counted, not rows.*'betting'"),
        (zero_one([0, 1], timed=True), "student", "No other method takes it either"),
        (folds([0.1, 0.2]), "corected-t", "Did you mean 'corrected-t'"),
        (folds([0.1, 0.2]), "zzz", ", bht, .*ratio"),
    ],
)
def test_a_method_that_does_not_fit_is_refused_by_name(record, asked, words):
    with pytest.raises(OptionError, match=words):
        estimate_risk(record, name="risk", estimand="", interval=asked)


def test_what_the_recipe_decides_is_refused_before_the_losses_are_known():
    with pytest.raises(OptionError, match=r"Wilson cannot be had here: it speaks of one test set.*'corrected-t'"):
        check_asked(folds([np.nan] * 3), "wilson")
    check_asked(zero_one([np.nan] * 30), "wilson")  # whether rows are right or wrong is seen later
    check_asked(zero_one([np.nan] * 30), "betting")
    check_asked(one_test_set([np.nan] * 30), "bootstrap-t")
    with pytest.raises(OptionError, match=r"There is no interval method 'beting'. Did you mean 'betting'"):
        check_asked(zero_one([np.nan] * 30), "beting")
    assert not set(WITH_FITS) & set(METHODS)


def test_a_method_that_fits_can_be_asked_for():
    risk = estimate_risk(zero_one([0, 1, 1, 0]), name="risk", estimand="", interval="student")
    assert (risk.method, risk.low, risk.high) == ("Student", 0.0, 1.0)
    assert risk.unclipped[0] < 0 < 1 < risk.unclipped[1]


def test_leniently_the_method_that_suits_is_taken_and_it_is_said():
    risk = estimate_risk(one_test_set([1.0, 2.0]), name="risk", estimand="", interval="wilson", strict=False)
    assert risk.method == "Student"
    assert risk.reason.startswith("Wilson was asked for, but it counts rows that are right or wrong")
    assert risk.reason.endswith("so this is Student.")
    none = estimate_risk(one_test_set([1.0]), name="risk", estimand="", interval="wilson", strict=False)
    assert none.reason.startswith("No interval: one test row")
    suits = estimate_risk(zero_one([0, 1]), name="risk", estimand="", interval="wilson", strict=False)
    assert (suits.method, suits.reason) == ("Wilson", None)


def test_an_interval_of_another_quantity_says_so():
    record = folds_of_rows([[1.0, 2.0], [2.0, 4.0]])
    risk = estimate_risk(record, name="risk", estimand="expected risk", interval="bayle")
    assert risk.estimand == "expected risk; the interval is that of the mean risk of the fold predictors"
    own = estimate_risk(record, name="fold_predictors", estimand="mean risk of 2", interval="bayle")
    assert own.estimand == "mean risk of 2"
    assert (risk.low, risk.high) == (own.low, own.high)
