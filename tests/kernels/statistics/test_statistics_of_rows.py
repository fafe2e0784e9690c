"""Statistics of rows: additive, and enough for the learners they serve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.kernels.statistics.classes import BayesFamily, DiscriminantFamily, check_discriminant
from heldout.kernels.statistics.gather import Layout, first_shift, mean_shift, products_of
from heldout.kernels.statistics.moments import Chain, Moments
from heldout.kernels.statistics.scores import from_squares
from heldout.kernels.sums.dataset import Shift
from heldout.kernels.sums.rounding import LostDigits, Refuse
from heldout.losses import resolve_losses
from heldout.task.stream import Chunk


def chunk_of(X, y, start=0):
    return Chunk(start=start, columns=list(X.T), y=y)


def statistics_of(X, y, cells, *, count, classes=None, shift=None):
    chunk = chunk_of(X, y)
    shift = first_shift(chunk, regression=classes is None) if shift is None else shift
    layout = Layout(cells=count, classes=classes, shift=shift)
    codes = None if classes is None else np.searchsorted(classes, y).astype(np.int64)
    return products_of(chunk, cells, codes, layout).as_statistics(layout)


def make_data(n=200, columns=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns)) * [1.0, 5.0, 0.2][:columns] + [0.0, 40.0, -3.0][:columns]
    return X, X @ np.ones(columns) + random.normal(size=n)


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_cells_add_up_to_the_products_of_their_rows(count, seed):
    X, y = make_data()
    cells = np.random.default_rng(seed).integers(0, count, len(y))
    found = statistics_of(X, y, cells, count=count)
    some = np.flatnonzero(np.bincount(cells, minlength=count))[::2]
    together = found.of(some)
    rows = np.isin(cells, some)
    Z = np.column_stack([X[rows] - found.shift.x, y[rows] - found.shift.y, np.ones(rows.sum())])
    np.testing.assert_allclose(together.grams[0, 0], Z.T @ Z, rtol=1e-12, atol=1e-9)
    assert together.counts.tolist() == [[rows.sum()]]


def test_chunks_added_one_after_the_other_have_the_bits_of_any_who_add_them():
    X, y = make_data()
    cells = np.arange(200) % 4
    layout = Layout(cells=4, classes=None, shift=first_shift(chunk_of(X, y), regression=True))
    total = layout.empty()
    for start in range(0, 200, 50):
        part = slice(start, start + 50)
        total.add(products_of(chunk_of(X[part], y[part], start), cells[part], None, layout))
    whole = products_of(chunk_of(X, y), cells, None, layout)
    np.testing.assert_allclose(total.grams, whole.grams, rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(total.counts, whole.counts)


def test_a_constant_column_leaves_exact_zeros():
    X, y = make_data()
    X[:, 1] = 0.1
    found = statistics_of(X, y, np.zeros(200, dtype=np.int64), count=1)
    moments = Moments.of(found)
    assert moments.variance[1] == 0
    assert moments.scale[1] == 1
    assert moments.mean[1] == 0.1


def test_a_shift_far_from_the_rows_is_noticed_and_mended():
    X, y = make_data()
    far = Shift(x=np.full(3, 1e6), y=np.zeros(1))
    lost = statistics_of(X, y, np.zeros(200, dtype=np.int64), count=1, shift=far)
    with pytest.raises(LostDigits):
        Moments.of(lost)
    mended = statistics_of(X, y, np.zeros(200, dtype=np.int64), count=1, shift=mean_shift(lost))
    np.testing.assert_allclose(Moments.of(mended).variance, X.var(axis=0), rtol=1e-10)


@pytest.mark.parametrize("scaler", [StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False)])
@pytest.mark.parametrize(
    ("family", "model"),
    [
        (BayesFamily, GaussianNB(var_smoothing=1e-3)),
        (DiscriminantFamily, LinearDiscriminantAnalysis()),
        (DiscriminantFamily, LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5])),
        (DiscriminantFamily, LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3)),
    ],
)
def test_estimators_made_from_statistics_are_those_fitted_on_rows(family, model, scaler):
    X, y = make_data()
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    pipe = make_pipeline(scaler, model)
    found = statistics_of(X, labels, np.zeros(200, dtype=np.int64), count=1, classes=np.arange(3))
    ours = family(candidates=(0,), chains=(Chain.of(pipe),)).fit(found).predictor(0, None)
    theirs = pipe.fit(X, labels)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours[:-1].transform(X), theirs[:-1].transform(X), rtol=1e-10, atol=1e-10)
    if hasattr(model, "transform") and getattr(model, "solver", "") == "svd":
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-7, atol=1e-9)


def test_classes_far_from_the_shift_lose_digits():
    X, _ = make_data()
    labels = np.arange(200) % 2
    X[labels == 1] += 1e5
    found = statistics_of(X, labels, np.zeros(200, dtype=np.int64), count=1, classes=np.arange(2))
    with pytest.raises(LostDigits):
        BayesFamily(candidates=(0,), chains=(Chain.of(GaussianNB()),)).fit(found)


def test_collinear_columns_fail_by_name():
    X, y = make_data()
    X[:, 2] = X[:, 0] + 1e-9 * X[:, 1]
    found = statistics_of(X, y > np.median(y), np.zeros(200, dtype=np.int64), count=1, classes=np.array([False, True]))
    for model in (LinearDiscriminantAnalysis(), LinearDiscriminantAnalysis(solver="lsqr")):
        fits = DiscriminantFamily(candidates=(0,), chains=(Chain.of(model),)).fit(found)
        assert "nearly collinear" in fits.failures[0]
        assert fits.respond(X, resolve_losses("zero_one", classification=True)) == [None]


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(solver="svd", shrinkage=0.1),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        LinearDiscriminantAnalysis(solver="lsqr", priors=[0.5, 0.5]),
        LinearDiscriminantAnalysis(solver="eigen"),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=True),
    ],
)
def test_discriminants_that_look_at_single_rows_are_refused(model):
    with pytest.raises(Refuse):
        check_discriminant(model)


def test_only_a_scaler_may_stand_before_the_model():
    assert Chain.of(RidgeClassifier()).scaler is None
    with pytest.raises(Refuse, match="more than one"):
        Chain.of(make_pipeline(StandardScaler(), StandardScaler(), RidgeClassifier()))


@pytest.mark.parametrize(
    ("loss", "value"),
    [
        ("squared", 2.0),
        ("neg_mean_squared_error", 2.0),
        ("neg_root_mean_squared_error", np.sqrt(2.0)),
        ("r2", 8.0 / 16.0 - 1.0),
        ("absolute", None),
        ("neg_max_error", None),
        (make_scorer(mean_squared_error, greater_is_better=True), None),
    ],
)
def test_losses_that_squares_tell(loss, value):
    (one,) = resolve_losses(loss, classification=False)
    take = from_squares(one)
    assert (take is None) if value is None else take(8.0, 16.0, 4) == pytest.approx(value)
