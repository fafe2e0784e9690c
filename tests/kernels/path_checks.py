"""Problems for paths, and the one comparison: what a path reads off one fit equals separate fits, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from heldout.base.responses import METHODS
from heldout.kernels.paths.path import Path
from heldout.kernels.scoring import ask_responses

LABELS = np.array(["ash", "birch", "cedar", "dogwood"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Training rows, held-out rows, and what goes with fit."""

    X: Any
    y: Any
    held: Any
    fit: Mapping[str, Any] = field(default_factory=dict)


def _features(seed: int, n: int, p: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, p))


def _problem(X: Any, y: Any, trained: int, **fit: Any) -> Problem:
    fit = {name: value[:trained] for name, value in fit.items()}
    return Problem(X=X[:trained], y=y[:trained], held=X[trained:], fit=fit)


def regression(seed: int = 0, n: int = 150) -> Problem:
    X = _features(seed, n, 6)
    return _problem(X, X[:, 0] + np.sin(2 * X[:, 1]) + np.random.default_rng(seed + 1).normal(size=n), 2 * n // 3)


def counts(seed: int = 0) -> Problem:
    plain = regression(seed)
    return Problem(X=plain.X, y=np.floor(np.exp(plain.y / 2)), held=plain.held)


def binary(seed: int = 0, n: int = 150) -> Problem:
    X = _features(seed, n, 6)
    y = (X[:, 0] + np.random.default_rng(seed + 1).normal(size=n) > 0.3).astype(int)
    return _problem(X, y, 2 * n // 3)


def multiclass(seed: int = 0, n: int = 180) -> Problem:
    X = _features(seed, n, 6)
    score = X[:, 0] + 0.7 * np.random.default_rng(seed + 1).normal(size=n)
    return _problem(X, LABELS[np.digitize(score, [-1, 0, 0.8])], 2 * n // 3)


def weighted_regression(seed: int = 0) -> Problem:
    plain = regression(seed)
    weight = np.random.default_rng(seed + 2).exponential(size=len(plain.y))
    return Problem(X=plain.X, y=plain.y, held=plain.held, fit={"sample_weight": weight})


def weighted_multiclass(seed: int = 0) -> Problem:
    plain = multiclass(seed)
    weight = np.random.default_rng(seed + 2).exponential(size=len(plain.y))
    weight[::9] = 0.0
    return Problem(X=plain.X, y=plain.y, held=plain.held, fit={"sample_weight": weight})


def ties(seed: int = 0, n: int = 160) -> Problem:
    """Few distinct values, a constant column, a repeated one, labels that no tree can tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 5)).astype(float)
    X[:, 2] = 7.0
    X[:, 4] = X[:, 0]
    return _problem(X, (X[:, 0] + X[:, 1] + rng.integers(0, 2, size=n) > 2).astype(int), 2 * n // 3)


def tied_regression(seed: int = 0, n: int = 160) -> Problem:
    plain = ties(seed, n)
    y = np.round(plain.X[:, 0] - plain.X[:, 1] + np.random.default_rng(seed).normal(size=len(plain.y)))
    return Problem(X=plain.X, y=y, held=plain.held)


def few_rows(seed: int = 0) -> Problem:
    X = _features(seed, 14, 3)
    return _problem(X, LABELS[[0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0]], 10)


def one_held_row(seed: int = 0) -> Problem:
    plain = binary(seed)
    return Problem(X=plain.X, y=plain.y, held=plain.held[:1])


def frame(seed: int = 0) -> Problem:
    plain = binary(seed)
    names = [f"column {number}" for number in range(plain.X.shape[1])]
    return Problem(X=pd.DataFrame(plain.X, columns=names), y=plain.y, held=pd.DataFrame(plain.held, columns=names))


def sparse_rows(seed: int = 0) -> Problem:
    plain = multiclass(seed)
    thin = [np.where(np.abs(X) > 0.8, X, 0.0) for X in (plain.X, plain.held)]
    return Problem(X=sparse.csr_matrix(thin[0]), y=plain.y, held=sparse.csr_matrix(thin[1]))


def missing(seed: int = 0) -> Problem:
    plain = binary(seed)
    rng = np.random.default_rng(seed)
    X, held = (np.where(rng.random(one.shape) < 0.1, np.nan, one) for one in (plain.X, plain.held))
    return Problem(X=X, y=plain.y, held=held)


def several_targets(seed: int = 0) -> Problem:
    plain = regression(seed)
    return Problem(X=plain.X, y=np.column_stack([plain.y, plain.X[:, 2] ** 2]), held=plain.held)


def several_labels(seed: int = 0) -> Problem:
    plain = multiclass(seed)
    return Problem(X=plain.X, y=np.column_stack([plain.y, np.roll(plain.y, 1)]), held=plain.held)


def assert_path_equals_fits(path: Path, estimator: Any, values: Sequence[Any], problem: Problem) -> list[Any]:
    """Compare every response at every value with a separate fit; the separately fitted are returned."""
    alone = [clone(estimator).set_params(**{path.parameter: value}) for value in values]
    assert all(path.takes(one) for one in alone)
    assert [path.value_of(one) for one in alone] == list(values)
    assert len({path.lane(value) for value in values}) == 1
    assert path.refusal(alone) is None
    first = alone[path.cut(values)[0][0]]
    before = repr(first.get_params())
    unfitted = path.start(first, values)
    assert repr(first.get_params()) == before
    with threadpool_limits(1), joblib.parallel_config(backend="sequential"):
        fitted = unfitted.fit(problem.X, problem.y, **problem.fit)
        for one in alone:
            one.fit(problem.X, problem.y, **problem.fit)
        methods = [(name,) for name in METHODS if hasattr(alone[0], name)]
        found = list(path.responses(fitted, values, problem.held, methods))
        assert len(found) == len(values)
        for value, one, responses in zip(values, alone, found, strict=True):
            expected = ask_responses(one, problem.held, methods, np.arange(problem.held.shape[0]))
            for name in (*METHODS, "classes"):
                _assert_same(getattr(responses, name), getattr(expected, name), f"{name} at {path.parameter}={value}")
    return alone


def _assert_same(found: Any, expected: Any, what: str) -> None:
    if expected is None:
        assert found is None, what
        return
    if isinstance(expected, list):
        assert len(found) == len(expected), what
        for one, other in zip(found, expected, strict=True):
            _assert_same(one, other, what)
        return
    assert found.dtype == expected.dtype, what
    assert found.shape == expected.shape, what
    assert np.array_equal(found, expected), what


def refusal_of(path: Path, estimator: Any, values: Sequence[Any]) -> str:
    alone = [clone(estimator).set_params(**{path.parameter: value}) for value in values]
    assert all(path.takes(one) for one in alone)
    reason = path.refusal(alone)
    assert reason is not None
    return reason


Make = Callable[[], Problem]
