"""Golden studies of failed fits, black boxes, tables, sparse data and several labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    Ridge,
)
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from golden.ground import (
    Ground,
    classes,
    counts,
    groups_of,
    numbers,
    rng_of,
    rounded,
    study,
)

# Failed fits, warnings, black boxes.


class Grumbling(ClassifierMixin, BaseEstimator):
    """Answers the commonest class of its training rows; refuses or warns where it is told to."""

    def __init__(self, refuses_below: int = 0, warns: bool = False) -> None:
        self.refuses_below = refuses_below
        self.warns = warns

    def fit(self, X: Any, y: Any) -> Grumbling:
        if self.warns:
            warnings.warn("this does not converge", ConvergenceWarning, stacklevel=2)
        if len(X) < self.refuses_below:
            raise ValueError(f"{len(X)} rows are too few")
        self.classes_, many = np.unique(y, return_counts=True)
        self.commonest_ = self.classes_[many.argmax()]
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.commonest_)


class Shrunk(RegressorMixin, BaseEstimator):
    """The mean of the training rows times a factor: a learner that no kernel knows."""

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def fit(self, X: Any, y: Any) -> Shrunk:
        self.mean_ = float(np.mean(y)) * self.factor
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


@study(exact=True)
def failed_fits(at: Ground) -> Any:
    X, y = classes("failed fits", 61)
    learner = ho.Tuned(Grumbling(), {"refuses_below": [0, 1000], "warns": [False, True]}, validation=ho.KFold(2))
    uneven = [(np.arange(20, 61), np.arange(20)), (np.arange(30), np.arange(30, 61))]
    return {
        "candidate": at.study(learner, X, y, test=ho.KFold(2)),
        "test_cell": at.study(Grumbling(refuses_below=35), X, y, test=uneven, final=False),
    }


@study(exact=True)
def black_boxes(at: Ground) -> Any:
    X, y = classes("black boxes")
    voting = VotingClassifier(
        [("tree", DecisionTreeClassifier(max_depth=2, random_state=0)), ("no", DummyClassifier())]
    )
    frozen = FrozenEstimator(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:40], y[:40]))
    return {
        "voting": at.study(voting, X, y, test=ho.KFold(3)),
        "own": at.study(
            ho.Tuned(Shrunk(), {"factor": [0.5, 1.0]}, validation=3), *numbers("black box"), test=ho.KFold(3)
        ),
        "frozen": at.study(frozen, X, y, test=ho.Given(np.arange(40, 72))),
        "unseeded": at.study(RandomForestRegressor(4), *numbers("unseeded"), test=ho.KFold(2), seed=5),
    }


# Tables, sparse data, several labels.


def mixed_table(name: str, n: int = 72) -> Any:
    rng = rng_of(name)
    frame = pd.DataFrame(rounded(rng.normal(size=(n, 2))), columns=["size", "age"])
    frame["colour"] = rng.choice(["red", "green", "blue"], n)
    frame["price"] = rounded(frame["size"] * 2 + (frame["colour"] == "red") + 0.3 * rng.normal(size=n))
    frame["who"] = groups_of(name, n)
    return frame


@study()
def tables(at: Ground) -> Any:
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder=StandardScaler())
    learner = ho.Tuned(make_pipeline(encode, Ridge()), {"ridge__alpha": [0.1, 10.0]}, validation=ho.KFold(3))
    frame = mixed_table("tables")
    X, y = numbers("polars")
    columns = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(pl.Series("y", y))
    return {
        "pandas": at.study(learner, frame.drop(columns="who"), "price", test=ho.KFold(3), final=False),
        "groups_by_name": at.study(learner, frame, target="price", groups="who", test=ho.KFold(3), final=False),
        "polars": at.study(Ridge(), columns, "y", test=ho.KFold(3), final=False),
    }


@study()
def sparse_data(at: Ground) -> Any:
    X, y = counts("sparse", p=12)
    learner = ho.Tuned(MultinomialNB(), {"alpha": [0.1, 10.0]}, validation=ho.KFold(2))
    return at.study(learner, sparse.csr_matrix(X), y, test=ho.KFold(3))


@study(exact=True)
def several_labels(at: Ground) -> Any:
    X, y = classes("labels", kinds=4)
    labels = np.column_stack([y % 2, y // 2])
    learner = DecisionTreeClassifier(max_depth=3, random_state=0)
    return {
        "plain": at.study(learner, X, labels, test=ho.KFold(3), loss=["zero_one", "f1_samples"]),
        "stratified": at.study(learner, X, labels, test=ho.KFold(3, stratify=True), final=False),
    }
