"""Invariant 1: test rows reach nothing but the final prediction; and a fit's rows are its own (bad input 16)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import heldout as ho

N = 48


class Spy(RegressorMixin, BaseEstimator):
    """A regressor that writes down which rows it is shown: the first column of X is a row's own number."""

    seen: ClassVar[list[tuple[str, float, frozenset[int], tuple[float, ...]]]] = []

    def __init__(self, shrink: float = 1.0) -> None:
        self.shrink = shrink

    def fit(self, X: Any, y: Any) -> Spy:
        Spy.seen.append(("fit", self.shrink, frozenset(X[:, 0].astype(int)), tuple(y)))
        self.mean_ = self.shrink * float(np.mean(y))
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        Spy.seen.append(("predict", self.shrink, frozenset(X[:, 0].astype(int)), ()))
        return np.full(len(X), self.mean_)


class SpyScaler(TransformerMixin, BaseEstimator):
    """A transformer that writes down the rows it is fitted on."""

    seen: ClassVar[list[frozenset[int]]] = []

    def fit(self, X: Any, y: Any = None) -> SpyScaler:
        SpyScaler.seen.append(frozenset(X[:, 0].astype(int)))
        return self

    def transform(self, X: Any) -> Any:
        return X


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.normal(size=N) + 3
    return np.column_stack([np.arange(N), rng.normal(size=N)]), y


@pytest.fixture(autouse=True)
def _clear() -> None:
    Spy.seen.clear()
    SpyScaler.seen.clear()


RECIPES: list[Any] = [
    (ho.Holdout(0.25), ho.Holdout(0.2)),
    (ho.KFold(3), ho.KFold(3)),
    (ho.Resample(2), ho.Resample(3)),
    (ho.SharedBlocks(), ho.KFold(4)),
    (ho.Given([0, 1, 2]), ho.Given([5, 6, 7])),
]


@pytest.mark.parametrize(("validation", "test"), RECIPES, ids=str)
@pytest.mark.parametrize("final", ["retrain", "ensemble"])
def test_no_fit_that_leads_to_a_tested_predictor_sees_its_test_rows(
    validation: Any, test: Any, final: str, asked: Any
) -> None:
    X, y = data()
    learner = ho.Tuned(Spy(), {"shrink": [0.0, 0.5, 1.0]}, validation=validation, final=final)
    result = ho.evaluate(learner, X, y, test=test, jobs=1)
    splits = asked(learner, X, y, test=test).study.splits
    outer = splits["outer"]
    assert all((held == outer.held_rows(part)).all() for part, (_, held) in enumerate(result.splits))
    fits = [(rows, targets) for what, _, rows, targets in Spy.seen if what == "fit"]
    for rows, targets in fits:
        assert targets == tuple(y[sorted(rows)])  # X and y of the same rows, in order
    for part in range(len(outer)):
        test_rows = frozenset(outer.held_rows(part).tolist())
        inner = splits[f"inner/{part}"]
        for inside in range(len(inner)):
            assert not test_rows & set(inner.train_rows(inside)) | test_rows & set(inner.held_rows(inside))
            # what chose the candidate was trained on exactly the inner training rows
            assert frozenset(inner.train_rows(inside).tolist()) in {rows for rows, _ in fits}
        if final == "retrain":
            assert frozenset(range(N)) - test_rows in {rows for rows, _ in fits}
    # no fit at all saw more than some outer training part
    outers = [frozenset(outer.train_rows(part).tolist()) for part in range(len(outer))]
    assert all(any(rows <= whole for whole in outers) for rows, _ in fits)


def test_only_the_chosen_candidate_is_asked_about_test_rows() -> None:
    X, y = data()
    learner = ho.Tuned(Spy(), {"shrink": [0.0, 0.5, 1.0]}, validation=ho.Holdout(0.25))
    result = ho.evaluate(learner, X, y, test=ho.Holdout(rows=8), jobs=1)
    test_rows = frozenset(result.predictions["row"].tolist())
    asked = [shrink for what, shrink, rows, _ in Spy.seen if what == "predict" and rows & test_rows]
    assert asked == [result.choices["param_shrink"][0]]


def test_scalers_are_fitted_on_training_rows_alone() -> None:
    X, y = data()
    learner = ho.Tuned(make_pipeline(SpyScaler(), Ridge()), {"ridge__alpha": [0.1, 1.0]}, validation=ho.KFold(3))
    result = ho.evaluate(learner, X, y, test=ho.Holdout(rows=8), jobs=1)
    test_rows = frozenset(result.predictions["row"].tolist())
    assert len(SpyScaler.seen) >= 3 + 1  # one a training set at least; candidates may share it
    assert all(not rows & test_rows for rows in SpyScaler.seen)


def _with_other_test_targets() -> tuple[ho.Result, ho.Result]:
    X, y = data()
    held = np.arange(0, N, 4)
    other = y.copy()
    other[held] = 1000.0
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, validation=ho.KFold(3))
    a, b = (ho.evaluate(learner, X, target, test=ho.Given(held), jobs=1) for target in (y, other))
    return a, b


def test_a_kernel_that_counts_from_the_mean_of_all_rows_tells_nothing_of_them() -> None:
    """Sums are shifted by a mean over all rows, test rows too, which moves last bits and nothing else."""
    a, b = _with_other_test_targets()
    assert a.choices["candidate"].tolist() == b.choices["candidate"].tolist()
    ours, theirs = a.predictions["predict"].to_numpy(), b.predictions["predict"].to_numpy()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(ours).max())


@pytest.mark.usefixtures("identical_rules")
def test_changing_the_test_targets_changes_no_choice_and_no_prediction() -> None:
    """The inner draws come from the training rows' content, so even the splits stay as they are."""
    a, b = _with_other_test_targets()
    assert a.choices.equals(b.choices)
    assert a.candidates.equals(b.candidates)
    assert a.predictions["predict"].tolist() == b.predictions["predict"].tolist()
    assert a.risk.value != b.risk.value


class Writer(RegressorMixin, BaseEstimator):
    """A regressor that writes into whatever it is given, in fit and in predict."""

    def __init__(self, level: float = 0.0) -> None:
        self.level = level

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Writer:
        self.answer_ = float(np.sum(_numbers(X))) * 1e-3 + float(np.mean(y)) + self.level
        self.n_features_in_ = X.shape[1]
        for given in (y, sample_weight):
            if given is not None:
                given[:] = -1.0
        _scribble(X)
        return self

    def predict(self, X: Any) -> Any:
        answer = np.full(X.shape[0], self.answer_) + np.asarray(_numbers(X).sum(axis=1)).ravel()
        _scribble(X)
        return answer


def _numbers(X: Any) -> Any:
    return X.to_numpy() if isinstance(X, pd.DataFrame) else X


def _scribble(X: Any) -> None:
    if isinstance(X, pd.DataFrame):
        X.iloc[:, :] = 77.0
    elif sparse.issparse(X):
        X.data[:] = 77.0
    else:
        X[:] = 77.0


CONTAINERS = {
    "C order": lambda X: np.ascontiguousarray(X),
    "Fortran order": lambda X: np.asfortranarray(X),
    "float32": lambda X: X.astype(np.float32),
    "pandas": lambda X: pd.DataFrame(X, columns=["a", "b"]),
    "sparse": lambda X: sparse.csr_matrix(X),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("how", [{"jobs": 1}, {"jobs": 2, "backend": "processes"}], ids=["inline", "processes"])
def test_an_estimator_that_writes_into_its_rows_changes_nothing_else(container: str, how: dict[str, Any]) -> None:
    X, y = data()
    given, target, weight = CONTAINERS[container](X), y.copy(), np.linspace(0.5, 2.0, N)
    learner = ho.Tuned(Writer(), {"level": [0.0, 1.0, 2.0]}, validation=ho.SharedBlocks())
    test = ho.KFold(3, shuffle=False)  # rows in a run are the ones that a careless copy would share
    result = ho.evaluate(learner, given, target, sample_weight=weight, test=test, **how)
    assert (_dense(given) == _dense(CONTAINERS[container](X))).all()
    assert (target == y).all()
    assert (weight == np.linspace(0.5, 2.0, N)).all()
    if isinstance(given, np.ndarray):
        assert given.flags.writeable
    # One predictor's scribbles do not reach another's rows: each fold is what it is alone.
    for part, (train, held) in enumerate(result.splits):
        rows = CONTAINERS[container](X)
        take = rows.iloc.__getitem__ if isinstance(rows, pd.DataFrame) else rows.__getitem__
        level = result.choices["param_level"][part]
        expected = Writer(level).fit(take(train), y[train], weight[train]).predict(take(held))
        assert result.predictions[result.predictions["fold"] == part]["predict"].tolist() == expected.tolist()


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)
