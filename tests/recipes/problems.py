"""Small real data and the learners of the recipes: each problem is data, a loss and candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from plain_loop import Candidate, squared, zero_one
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor


@dataclass(frozen=True)
class Problem:
    name: str
    X: Any
    y: Any
    classification: bool
    estimator: Any
    space: dict[str, Any]

    @property
    def loss(self) -> Callable[..., Any]:
        return zero_one if self.classification else squared

    @property
    def loss_name(self) -> str:
        return "zero_one" if self.classification else "squared"

    def first(self, n: int) -> Problem:
        """The same problem on its first n rows."""
        return replace(self, X=self.X[:n], y=self.y[:n])

    @property
    def candidates(self) -> list[Candidate]:
        return [(self.estimator, params) for params in ParameterGrid(self.space)]

    def __str__(self) -> str:
        return self.name


@cache
def data(kind: str) -> tuple[Any, Any]:
    """Seventy-odd rows, with the classes mixed; columns standardised so that every solver converges at once."""
    loader = {"regression": load_diabetes, "binary": load_breast_cancer, "multiclass": load_iris}[kind]
    X, y = loader(return_X_y=True)
    rows = np.random.default_rng(5).permutation(len(y))[:72]
    return scale(X[rows][:, :5]), y[rows]


def _problem(kind: str, word: str, estimator: Any, space: dict[str, Any]) -> Problem:
    X, y = data(kind)
    return Problem(f"{kind}-{word}", X, y, kind != "regression", estimator, space)


NEIGHBOURS = {"n_neighbors": [1, 3, 9]}
DEPTHS = {"max_depth": [1, 2, 4]}
PROBLEMS = [
    _problem("regression", "ridge", Ridge(), {"alpha": [0.1, 10.0, 200.0]}),
    _problem("regression", "knn", KNeighborsRegressor(), NEIGHBOURS),
    _problem("regression", "tree", DecisionTreeRegressor(random_state=3), DEPTHS),
    _problem("regression", "pipeline", make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0, 200.0]}),
    _problem("binary", "logistic", LogisticRegression(), {"C": [0.001, 0.1, 10.0]}),
    _problem("binary", "knn", KNeighborsClassifier(), NEIGHBOURS),
    _problem("binary", "tree", DecisionTreeClassifier(random_state=3), DEPTHS),
    _problem(
        "binary",
        "pipeline",
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.001, 0.1, 10.0]},
    ),
    _problem("multiclass", "logistic", LogisticRegression(), {"C": [0.001, 0.1, 10.0]}),
    _problem("multiclass", "knn", KNeighborsClassifier(), NEIGHBOURS),
    _problem("multiclass", "tree", DecisionTreeClassifier(random_state=3), DEPTHS),
    _problem(
        "multiclass",
        "pipeline",
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 3, 9]},
    ),
]
