"""Lasso: nested against scikit-learn, and against the specialists' paths on their own ground.

celer and skglm are wanted (``pip install celer skglm``); their rows are left out where they are not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Lasso, LassoCV, lasso_path
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from benchmarks.table import ALPHAS, JOBS, Row, nested, numbers

INNER = KFold(5, shuffle=True, random_state=1)
OUTER = KFold(5, shuffle=True, random_state=0)
SCORE = "neg_mean_squared_error"
TIGHT = 1e-8  # the specialists' tolerance: looser, and their objectives are well above ours
Path = Callable[[Any, Any, Any], Any]  # X, y, alphas → columns × alphas


def correlated(n: int, p: int, rho: float = 0.95) -> tuple[Any, Any]:
    """Columns each of which is mostly the one before it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    for column in range(1, p):
        X[:, column] = rho * X[:, column - 1] + np.sqrt(1 - rho**2) * X[:, column]
    coef = np.zeros(p)
    coef[rng.choice(p, p // 2, replace=False)] = rng.uniform(0, 100, p // 2)
    return X, X @ coef + 20 * rng.normal(size=n)


def _nested_grid(words: str, floor: float, data: Callable[[], tuple[Any, Any]]) -> Row:
    pipe = make_pipeline(StandardScaler(), Lasso())
    learner = (pipe, {"lasso__alpha": ALPHAS})
    return nested(words, floor, learner, data(), folds=(5, 5), score=SCORE)


def falling(X: Any, y: Any) -> Any:
    """The alphas that the specialists take: from the one at which all coefficients are 0 down to its thousandth."""
    highest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    return np.geomspace(highest, highest / 1000, 30)


def sklearn_path(X: Any, y: Any, alphas: Any) -> Any:
    return lasso_path(X, y, alphas=alphas)[1]


def celer_path(X: Any, y: Any, alphas: Any) -> Any:
    from celer import celer_path as path

    return path(np.asfortranarray(X), y, pb="lasso", alphas=alphas, tol=TIGHT)[1]


def skglm_path(X: Any, y: Any, alphas: Any) -> Any:
    from skglm import Lasso as SkglmLasso

    model = SkglmLasso(tol=TIGHT, fit_intercept=False, warm_start=True)
    return np.asarray(model.path(np.asfortranarray(X), y, alphas)[1])


class PathCV(RegressorMixin, BaseEstimator):
    """What LassoCV does, by any path: folds, the best alpha, and a fit on all rows; X and y centred for each."""

    def __init__(self, path: Path, alphas: Any, jobs: int | None = None) -> None:
        self.path, self.alphas, self.jobs = path, alphas, jobs

    def fit(self, X: Any, y: Any) -> PathCV:
        own = Parallel(n_jobs=self.jobs)(
            delayed(_fold_errors)(self.path, X, y, self.alphas, fold) for fold in INNER.split(X)
        )
        self.mse_path_ = np.stack(own, axis=1)
        best = int(self.mse_path_.mean(axis=1).argmin())
        x_mean, y_mean = X.mean(axis=0), y.mean()
        self.coef_ = self.path(X - x_mean, y - y_mean, self.alphas[best : best + 1])[:, 0]
        self.intercept_ = y_mean - x_mean @ self.coef_
        return self

    def predict(self, X: Any) -> Any:
        return X @ self.coef_ + self.intercept_


def _fold_errors(path: Path, X: Any, y: Any, alphas: Any, fold: tuple[Any, Any]) -> Any:
    train, test = fold
    x_mean, y_mean = X[train].mean(axis=0), y[train].mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coefs = path(X[train] - x_mean, y[train] - y_mean, alphas)
    return ((y[test, None] - y_mean - (X[test] - x_mean) @ coefs) ** 2).mean(axis=0)


def _tuned(alphas: Any) -> ho.Tuned:
    return ho.Tuned(Lasso(), {"alpha": alphas}, validation=INNER, loss=SCORE, jobs=JOBS)


def _evaluated(alphas: Any, X: Any, y: Any, pairs: Any) -> Any:
    return ho.evaluate(_tuned(alphas), X, y, test=pairs, jobs=JOBS, progress=False)


def _paths(peer: str, floor: float, data: Callable[[], tuple[Any, Any]], path: Path, outer: list[Any]) -> Row:
    """Folds, alphas, the fit on all their rows and its test, by heldout and the peer: once, or in each outer fold."""
    X, y = data()
    train = outer[0][0]
    alphas = falling(X[train], y[train])

    def ours() -> tuple[Any, int]:
        if len(outer) == 1:
            fitted = _tuned(alphas).fit(X[train], y[train])
            return [fitted.score(X[outer[0][1]], y[outer[0][1]])], fitted.plan_.fits
        result = _evaluated(alphas, X, y, outer)
        return result.folds[SCORE].to_numpy(), result.plan.fits

    def theirs(outside: int | None, inside: int | None) -> Any:
        one = LassoCV(alphas=alphas, cv=INNER, n_jobs=inside)
        learner = one if path is sklearn_path else PathCV(path, alphas, inside)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cross_val_score(learner, X, y, cv=outer, scoring=SCORE, n_jobs=outside)

    theirs(None, None)  # what compiles at its first call does so outside the clock
    ways = {
        "outer": partial(theirs, JOBS, None),
        "inner": partial(theirs, None, JOBS),
        "none": partial(theirs, None, None),
    }
    if len(outer) == 1:
        del ways["outer"]
    plan = partial(ho.explain, _tuned(alphas), X, y, test=outer)
    return Row(f"{peer}, 5 folds × 30 α", floor, ours, ways, plan)


def _rows() -> Iterator[tuple[str, Callable[[], Row]]]:
    independent, strong = partial(numbers, 5000, 200), partial(correlated, 5000, 200)
    size = "5,000 × 200, 17 α, nested 5×5"
    yield "lasso", partial(_nested_grid, f"scaler+Lasso, {size}", 25, independent)
    yield "lasso-correlated", partial(_nested_grid, f"the same, strongly correlated columns, {size}", 12, strong)
    peers: dict[str, Path] = {"LassoCV": sklearn_path}
    if find_spec("celer"):
        peers["celer"] = celer_path
    if find_spec("skglm"):
        peers["skglm"] = skglm_path
    once = [next(OUTER.split(np.zeros(6250)))]
    larger = {"": partial(numbers, 6250, 200), " correlated": partial(correlated, 6250, 200)}
    smaller = {"": independent, " correlated": strong}
    pairs = list(OUTER.split(np.zeros(5000)))
    for peer, path in peers.items():
        for kind in ("", " correlated"):
            floor = 0.833 if kind else 1.0  # within 1.2 times
            yield (
                f"{peer}{kind}".replace(" ", "-").lower(),
                partial(_paths, peer + kind, floor, larger[kind], path, once),
            )
            words = f"nested {peer}{kind}"
            yield words.replace(" ", "-").lower(), partial(_paths, words, 1.0, smaller[kind], path, pairs)


ROWS: dict[str, Callable[[], Row]] = dict(_rows())
