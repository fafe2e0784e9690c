"""The settings: a population whose risks are known, a learner, and how many rows it gets.

A population gives rows, and what a predictor loses on average at a point: the label is averaged out by its known
distribution, so that a risk is a mean over points alone. For lines on normal points not even that is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

import heldout as ho

Floats = NDArray[np.float64]
POINTS = 4000  # at which a risk is averaged, where there is no formula


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A population, a learner and a number of rows."""

    words: str
    n: int
    learner: Callable[[], Any]
    draw: Callable[[np.random.Generator, int], tuple[Floats, NDArray[Any]]]
    risks: dict[str, Callable[[Any], float]]  # by loss, of a predictor
    known: Callable[[int], float] | None = None  # the expected risk at a training size, in closed form
    replications: int = 600
    training_sets: int = 1000  # drawn for the expected risk, at each size
    bht: bool = False
    limit: bool = False  # beyond what the rule can promise: shown, and not judged


# --- lines on standard normal points ----------------------------------------------------------------------------------


def draw_line(
    rng: np.random.Generator, n: int, *, beta: Floats, noise: Callable[[np.random.Generator, int], Floats]
) -> tuple[Floats, Floats]:
    """Rows of a linear population."""
    X = rng.standard_normal((n, len(beta)))
    return X, X @ beta + noise(rng, n)


def normal_noise(rng: np.random.Generator, n: int) -> Floats:
    """Of variance 1."""
    return rng.standard_normal(n)


def student_noise(rng: np.random.Generator, n: int, *, df: float) -> Floats:
    """Of variance df/(df − 2); its square has none when df is at most 4."""
    return rng.standard_t(df, n)


def line_risk(model: Any, *, beta: Floats, variance: float) -> float:
    """‖β̂ − β‖² + intercept² + σ²: the squared risk of a linear predictor."""
    return float(np.sum((model.coef_ - beta) ** 2) + model.intercept_**2 + variance)


def ols_risk(m: int, *, p: int) -> float:
    """The expected squared risk of least squares with intercept, trained on m rows with noise of variance 1.

    >>> round(ols_risk(100, p=20), 4)
    1.269
    """
    return (1 + 1 / m) * (m - 2) / (m - p - 2)


def line(
    words: str, *, n: int, beta: Floats, learner: Callable[[], Any], df: float | None = None, **more: Any
) -> Setting:
    """A linear population with normal noise, or Student noise of `df` degrees of freedom."""
    noise = normal_noise if df is None else partial(student_noise, df=df)
    variance = 1.0 if df is None else df / (df - 2)
    return Setting(
        words=words,
        n=n,
        learner=learner,
        draw=partial(draw_line, beta=beta, noise=noise),
        risks={"squared": partial(line_risk, beta=beta, variance=variance)},
        **more,
    )


def sparse(p: int, few: int) -> Floats:
    """Coefficients of which only the first few matter."""
    return np.where(np.arange(p) < few, 1.0, 0.0)


def tuned_ridge() -> Any:
    """Ridge with its penalty chosen by 5-fold cross-validation."""
    return ho.Tuned(Ridge(), {"alpha": ho.log_grid(-2, 4, 13)}, validation=ho.KFold(5))


# --- two classes, and a curve -----------------------------------------------------------------------------------------


@cache
def normal_points(p: int) -> Floats:
    """Where risks are averaged."""
    return np.random.default_rng(20_000 + p).standard_normal((POINTS, p))


def draw_classes(
    rng: np.random.Generator, n: int, *, p: int, odds: Callable[[Floats], Floats]
) -> tuple[Floats, NDArray[np.int64]]:
    """Rows with labels 0 and 1, of the odds given (as logarithms)."""
    X = rng.standard_normal((n, p))
    return X, (rng.random(n) < expit(odds(X))).astype(np.int64)


def error_risk(model: Any, *, p: int, odds: Callable[[Floats], Floats]) -> float:
    """The probability of a wrong label."""
    X = normal_points(p)
    chance = expit(odds(X))
    return float(np.mean(np.where(model.predict(X) == 1, 1 - chance, chance)))


def log_risk(model: Any, *, p: int, odds: Callable[[Floats], Floats]) -> float:
    """The mean log loss."""
    X = normal_points(p)
    chance, said = expit(odds(X)), np.clip(model.predict_proba(X), 1e-15, 1)
    return float(-np.mean(chance * np.log(said[:, 1]) + (1 - chance) * np.log(said[:, 0])))


def straight_odds(X: Floats) -> Floats:
    """Four columns matter."""
    return np.asarray(X[:, :4] @ np.array([1.5, -1.0, 1.0, 0.5]))


def round_odds(X: Floats) -> Floats:
    """A disc of one class inside the other."""
    return np.asarray(3 - 2 * (X[:, 0] ** 2 + X[:, 1] ** 2))


def friedman(X: Floats) -> Floats:
    """The first function of Friedman (1991), on points of the unit cube."""
    return np.asarray(10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4])


def draw_friedman(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Rows of it, with noise of variance 1."""
    X = rng.random((n, 5))
    return X, friedman(X) + rng.standard_normal(n)


@cache
def cube_points() -> Floats:
    """Where risks are averaged."""
    return np.random.default_rng(20_000).random((POINTS, 5))


def friedman_risk(model: Any) -> float:
    """The mean squared loss."""
    X = cube_points()
    return float(np.mean((model.predict(X) - friedman(X)) ** 2) + 1)


def product(X: Floats) -> Floats:
    """A step, a product and a bend, on standard normal points."""
    return np.asarray(2.0 * (X[:, 0] > 0) + X[:, 1] * X[:, 2] + np.abs(X[:, 3]))


def draw_product(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Rows of it, with noise of variance 1."""
    X = rng.standard_normal((n, 5))
    return X, product(X) + rng.standard_normal(n)


def product_risk(model: Any) -> float:
    """The mean squared loss."""
    X = normal_points(5)
    return float(np.mean((model.predict(X) - product(X)) ** 2) + 1)


SETTINGS = {
    "ols": line(
        "least squares, n=100, p=20",
        n=100,
        beta=np.zeros(20),
        learner=LinearRegression,
        known=partial(ols_risk, p=20),
        bht=True,
    ),
    "logistic": Setting(
        words="logistic regression, n=100, p=20",
        n=100,
        learner=partial(LogisticRegression, max_iter=1000),
        draw=partial(draw_classes, p=20, odds=straight_odds),
        risks={
            "zero_one": partial(error_risk, p=20, odds=straight_odds),
            "log": partial(log_risk, p=20, odds=straight_odds),
        },
        replications=300,
        training_sets=600,
    ),
    "lasso": line("lasso, n=100, p=500", n=100, beta=sparse(500, 5), learner=partial(Lasso, 0.3), replications=400),
    "tuned ridge": line(
        "ridge tuned by 5-fold, n=60, p=50",
        n=60,
        beta=np.full(50, 1 / np.sqrt(50)),
        learner=tuned_ridge,
        replications=300,
        training_sets=600,
    ),
    "knn": Setting(
        words="5 nearest neighbours, 0/1 loss, n=100, p=4",
        n=100,
        learner=KNeighborsClassifier,
        draw=partial(draw_classes, p=4, odds=round_odds),
        risks={"zero_one": partial(error_risk, p=4, odds=round_odds)},
        replications=500,
        bht=True,
    ),
    "heavy": line(
        "heavy-tailed noise (Student, 2.5 df), least squares, n=500, p=5",
        n=500,
        beta=np.zeros(5),
        learner=LinearRegression,
        df=2.5,
    ),
    "tree": Setting(
        words="regression tree of depth 4, n=150, p=5",
        n=150,
        learner=partial(DecisionTreeRegressor, max_depth=4, random_state=0),
        draw=draw_friedman,
        risks={"squared": friedman_risk},
        replications=500,
    ),
    "saturated": line(
        "least squares, n=40, p=20",
        n=40,
        beta=np.zeros(20),
        learner=LinearRegression,
        known=partial(ols_risk, p=20),
        replications=300,
        limit=True,
    ),
    "few and heavy": line(
        "heavy-tailed noise (Student, 3 df), least squares, n=100, p=5",
        n=100,
        beta=np.zeros(5),
        learner=LinearRegression,
        df=3.0,
        replications=300,
        limit=True,
    ),
    "small lasso": line(
        "lasso, n=60, p=300",
        n=60,
        beta=sparse(300, 5),
        learner=partial(Lasso, 0.3),
        replications=300,
        limit=True,
    ),
    "strong ridge": line(
        "ridge tuned by 5-fold, n=60, p=50, four times the signal",
        n=60,
        beta=np.full(50, 4 / np.sqrt(50)),
        learner=tuned_ridge,
        replications=150,
        training_sets=400,
        limit=True,
    ),
    "product tree": Setting(
        words="regression tree of depth 4, n=150, p=5, a target with a product of normal columns",
        n=150,
        learner=partial(DecisionTreeRegressor, max_depth=4, random_state=0),
        draw=draw_product,
        risks={"squared": product_risk},
        replications=300,
        limit=True,
    ),
}
