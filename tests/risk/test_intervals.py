"""Each interval method against hand-made numbers, known coverage, and the contract all of them keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom, t

from heldout.base.errors import OptionError
from heldout.risk.choose import NoInterval, choose_method
from heldout.risk.estimate import GUARANTEES
from heldout.risk.estimates import Record, estimate_risk
from heldout.risk.intervals import METHODS
from heldout.risk.intervals.clopper_pearson import clopper_pearson
from heldout.risk.intervals.corrected_t import corrected_t
from heldout.risk.intervals.student import student

finite = st.floats(-1e300, 1e300)
levels = st.floats(0.01, 0.999)


def test_set(rows, **changed):
    rows = np.asarray(rows, dtype=float)
    plain = {"loss": "squared", "sign": 1, "low": -np.inf, "high": np.inf, "kind": "holdout", "drawn": True}
    return Record(
        fold_losses=np.array([rows.mean()]),
        row_losses=(rows,),
        train_sizes=np.array([4 * len(rows)]),
        held_sizes=np.array([len(rows)]),
        **{**plain, **changed},
    )


test_set.__test__ = False


def zero_one(rows, **changed):
    return test_set(rows, **{"loss": "zero_one", "low": 0.0, "high": 1.0, **changed})


def folds(losses, *, held=10, train=90, **changed):
    losses = np.asarray(losses, dtype=float)
    plain = {"loss": "squared", "sign": 1, "low": -np.inf, "high": np.inf, "kind": "kfold", "row_losses": None}
    return Record(
        fold_losses=losses,
        train_sizes=np.full(len(losses), train),
        held_sizes=np.full(len(losses), held),
        **{**plain, "partition": True, "drawn": True, **changed},
    )


def coverage(interval_of, n, p):
    counts = np.arange(n + 1)
    hit = [i.low <= p <= i.high for i in map(interval_of, counts)]
    return float(binom.pmf(counts, n, p) @ np.array(hit, dtype=float))


def test_clopper_pearson_has_its_known_coverage():
    def interval(k):
        return clopper_pearson(int(k), 100, level=0.95)

    assert coverage(interval, 100, 0.05) == pytest.approx(0.9826, abs=5e-5)


@pytest.mark.parametrize("n", [1, 7, 50])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_clopper_pearson_never_covers_less_than_it_says(n, level):
    intervals = [clopper_pearson(k, n, level=level) for k in range(n + 1)]
    for p in np.linspace(0, 1, 101):
        assert coverage(lambda k: intervals[k], n, p) >= level - 1e-12


def test_clopper_pearson_ends():
    none = clopper_pearson(0, 10, level=0.95)
    assert (none.low, none.high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 10)))
    every = clopper_pearson(10, 10, level=0.95)
    assert (every.low, every.high) == (pytest.approx(0.025 ** (1 / 10)), 1.0)


def test_student_is_the_textbooks():
    losses = np.array([0.3, 0.1, 0.7, 0.2])
    interval = student(losses, level=0.9)
    low, high = t.interval(0.9, 3, loc=losses.mean(), scale=losses.std(ddof=1) / 2)
    assert (interval.low, interval.high) == (pytest.approx(low), pytest.approx(high))
    assert interval.guarantee == "asymptotic"


def test_corrected_t_is_nadeau_and_bengios():
    losses = np.array([0.3, 0.1, 0.7, 0.2, 0.25])
    interval = corrected_t(losses, test_ratio=0.25, level=0.95)
    scale = np.sqrt(losses.var(ddof=1) * (1 / 5 + 0.25))
    low, high = t.interval(0.95, 4, loc=losses.mean(), scale=scale)
    assert (interval.low, interval.high) == (pytest.approx(low), pytest.approx(high))


def test_repeats_do_not_shrink_the_corrected_t_towards_the_naive_one():
    losses = np.random.default_rng(0).normal(size=10)
    half = [
        corrected_t(np.tile(losses, repeats), test_ratio=1 / 9, level=0.95).high - losses.mean()
        for repeats in (1, 10, 1000)
    ]
    floor = 1.96 * losses.std() * np.sqrt(1 / 9)
    naive = 1.96 * losses.std() / np.sqrt(10_000)
    assert half[0] > half[1] > half[2] > 0.999 * floor > 10 * naive


def test_the_ratio_is_of_the_rows_recorded():
    record = folds([0.1, 0.2, 0.4], held=20, train=40)
    found = METHODS["corrected-t"].interval(record, 0.25, 0.95)
    expected = corrected_t(record.fold_losses, test_ratio=0.5, level=0.95, centre=0.25)
    assert found == expected


# The contract: what every method keeps, on any record that it does not refuse.

records = st.one_of(
    st.lists(st.booleans(), min_size=1, max_size=40).map(zero_one),
    st.lists(st.booleans(), min_size=1, max_size=40).map(lambda r: zero_one(np.array(r) - 1.0, low=-1.0, high=0.0)),
    st.lists(finite, min_size=2, max_size=40).map(test_set),
    st.lists(finite, min_size=2, max_size=40).map(folds),
)


@pytest.mark.parametrize("key", METHODS)
@given(record=records, one=levels, two=levels)
def test_a_higher_level_contains_a_lower_one_and_ends_are_finite_and_ordered(key, record, one, two):
    method = METHODS[key]
    assume(method.refusal(record) is None)
    value = float(np.mean(record.fold_losses))
    narrow, wide = (method.interval(record, value, level) for level in sorted([one, two]))
    assert np.isfinite([wide.low, wide.high]).all()
    assert wide.low <= narrow.low <= value <= narrow.high <= wide.high
    assert narrow.method == method.name
    assert narrow.guarantee in GUARANTEES


@pytest.mark.parametrize("key", METHODS)
@given(record=records, seed=st.integers(0, 99))
def test_the_order_of_rows_and_of_parts_does_not_matter(key, record, seed):
    method = METHODS[key]
    assume(method.refusal(record) is None)
    rng = np.random.default_rng(seed)
    value = float(np.mean(record.fold_losses))
    turned = (
        folds(rng.permutation(record.fold_losses))
        if record.row_losses is None
        else test_set(rng.permutation(record.row_losses[0]), low=record.low, high=record.high)
    )
    plain, shuffled = method.interval(record, value, 0.9), method.interval(turned, value, 0.9)
    size = np.max(np.abs([plain.low, plain.high]))
    assert shuffled.low == pytest.approx(plain.low, abs=1e-12 * size)
    assert shuffled.high == pytest.approx(plain.high, abs=1e-12 * size)


@given(record=records)
def test_the_method_chosen_accepts_the_record(record):
    chosen = choose_method(record)
    if isinstance(chosen, NoInterval):
        assert all(method.refusal(record) for method in METHODS.values())
    else:
        assert chosen.refusal(record) is None


@pytest.mark.parametrize(
    ("record", "method", "guarantee"),
    [
        (zero_one([0, 1, 1, 0]), "Clopper–Pearson", "exact"),
        (zero_one([0, -1, -1, 0], low=-1.0, high=0.0, sign=-1), "Clopper–Pearson", "exact"),
        (zero_one([0, 1, 1, 0], kind="given", drawn=False), "Clopper–Pearson", "exact"),
        (zero_one([0, 1, 1, 0], stratified=True), "Clopper–Pearson", "heuristic"),
        (zero_one([0, 0.5, 1, 0]), "Student", "asymptotic"),
        (test_set([0, 1, 1, 0]), "Student", "asymptotic"),
        (test_set([2, 2, 2]), "Student", "asymptotic"),
        (folds([0.1, 0.2]), "corrected t", "heuristic"),
        (folds([0.2, 0.2, 0.2]), "corrected t", "heuristic"),
        (folds([0.1, 0.2, 0.3], kind="resample", partition=False), "corrected t", "heuristic"),
        (folds([0.1, 0.2, 0.3], grouped=True), "corrected t", "heuristic"),
    ],
)
def test_each_recipe_gets_its_default(record, method, guarantee):
    risk = estimate_risk(record, name="risk", estimand="")
    assert (risk.method, risk.guarantee, risk.reason) == (method, guarantee, None)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (zero_one([0, 1], grouped=True), "come in groups"),
        (zero_one([0, 1], timed=True), "in time"),
        (zero_one([0, 1], weights=(np.array([1.0, 2.0]),)), "weights"),
        (test_set([3.0]), "one test row"),
        (folds([0.3]), "KFold or Resample"),
        (folds([0, 1, 1], held=1, kind="loo"), "leave-one-out gives a point estimate"),
        (folds([0, 1, 1], held=1, kind="kfold"), "leave-one-out gives a point estimate"),
        (folds([0.1, 0.2], kind="forward", timed=True), "in time"),
        (folds([0.1, 0.2], kind="given", train=0), "nothing was trained"),
    ],
)
def test_where_there_is_no_interval_the_reason_is_given(record, words):
    risk = estimate_risk(record, name="risk", estimand="")
    assert risk.value is not None
    assert (risk.low, risk.high, risk.method, risk.guarantee, risk.unclipped) == (None,) * 5
    assert risk.reason.startswith("No interval: ")
    assert words in risk.reason


@pytest.mark.parametrize(
    ("record", "asked", "words"),
    [
        (folds([0.1, 0.2]), "clopper-pearson", "Clopper–Pearson cannot be had here.*2 held-out parts.*'corrected-t'"),
        (folds([0.1, 0.2]), "student", "2 held-out parts"),
        (test_set([0.1, 0.2]), "corrected-t", "there is one.*'student'"),
        (test_set([0.1, 0.2]), "clopper-pearson", "takes other values"),
        (zero_one([0, 1], grouped=True), "student", "No other method takes it either"),
        (folds([0.1, 0.2]), "corected-t", "Did you mean 'corrected-t'"),
    ],
)
def test_a_method_that_does_not_fit_is_refused_by_name(record, asked, words):
    with pytest.raises(OptionError, match=words):
        estimate_risk(record, name="risk", estimand="", interval=asked)


def test_a_method_that_fits_can_be_asked_for():
    risk = estimate_risk(zero_one([0, 1, 1, 0]), name="risk", estimand="", interval="student")
    assert (risk.method, risk.low, risk.high) == ("Student", 0.0, 1.0)
    assert risk.unclipped[0] < 0 < 1 < risk.unclipped[1]
