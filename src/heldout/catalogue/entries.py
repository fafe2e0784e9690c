"""Lists the learners of the catalogue: their names, how their columns are prepared, and which values are searched.

The spaces let one computation serve many candidates: all alphas of ridge come from one decomposition, all numbers of
neighbours from one search, all sizes of trees and all numbers of rounds from the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.catalogue.boosters import from_library
from heldout.catalogue.preparation import CODED, MEASURED, NOTHING, SCALED, UNSCALED, Table
from heldout.search.search import log_grid

Space = dict[str, Any]
STRENGTHS = (-6, 4, 21)  # exponents of ten, in half steps: from hardly any shrinkage to nearly complete shrinkage
SMALL = 1_000  # rows
LARGE = 5_000  # rows times classes from which on slow learners search fewer values
MOST_ROWS = 10_000  # with more rows, `all` leaves out learners whose time grows with their square


def _nothing(_: Table) -> Space:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A learner of the catalogue. `space` and `settings` depend on the table; their names are model parameters."""

    name: str
    words: str
    classifier: Callable[[], Any] | None = None
    regressor: Callable[[], Any] | None = None
    space: Callable[[Table], Space] = _nothing
    settings: Callable[[Table], Space] = _nothing  # values that suit the table and are not searched
    preparation: str = SCALED
    most_rows: int | None = None  # `all` leaves it out for tables of more rows
    package: str | None = None  # a package it needs besides scikit-learn; `all` leaves such learners out

    def suits(self, *, classification: bool) -> bool:
        """Check whether this learner supports classification, or regression if `classification` is false."""
        return (self.classifier if classification else self.regressor) is not None


def _on_unit_target(model: Any) -> TransformedTargetRegressor:
    """Return the model on a standardised target, so that its penalties do not depend on the target's unit."""
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def _is_large(table: Table) -> bool:
    return table.rows * max(1, table.classes) > LARGE


def _neighbours(table: Table) -> Space:
    # An inner training part may be far smaller than the table, and more neighbours than rows would fail.
    counts = [count for count in (1, 3, 5, 9, 15, 25, 41) if count <= max(1, table.rows // 6)]
    return {"n_neighbors": counts, "weights": ["uniform", "distance"]}


def _trees(table: Table) -> Space:
    # A tree grown best first contains all smaller ones; the largest is fully grown on most tables.
    return {"max_leaf_nodes": [16, 64, max(256, table.rows // 4)], "max_features": _shares(table)}


def _shares(table: Table) -> list[Any]:
    return ["sqrt", 0.3] if table.classes else [0.3, 1.0]


def _rounds(table: Table, *, count: str, leaves: str, deepest: list[int]) -> Space:
    """Return the space of a boosting learner; smaller with many classes, since each round grows one tree per class."""
    if table.classes > 5:
        return {"learning_rate": [0.2], leaves: deepest[:1], count: [15, 30, 60]}
    rates = [0.1] if _is_large(table) else [0.1, 0.3]
    return {"learning_rate": rates, leaves: deepest, count: [25, 50, 100]}


def _small_leaves(table: Table, parameter: str) -> Space:
    """Return fewer rows per leaf for small tables: the default of boosting, 20, leaves them with hardly a split."""
    return {parameter: 5} if table.rows < SMALL else {}


def _kernels(table: Table) -> Space:
    # Two rows differ by about √2 in each scaled column, so a suitable gamma falls with the number of columns.
    widths = [0.25, 1.0] if _is_large(table) else [0.1, 0.3, 1.0, 3.0]
    strengths = log_grid(0, 2, 3) if _is_large(table) else log_grid(-1, 2, 4)
    return {"C": strengths, "gamma": [width / max(1, table.columns) for width in widths]}


_LINEAR = (
    Entry(name="linear", words="least squares, nothing to tune", regressor=LinearRegression),
    Entry(
        name="ridge",
        words="linear, squared penalty",
        classifier=RidgeClassifier,
        regressor=Ridge,
        space=lambda _: {"alpha": log_grid(*STRENGTHS)},
    ),
    Entry(
        name="lasso",
        words="linear, few columns used",
        regressor=lambda: _on_unit_target(Lasso(max_iter=100_000)),
        space=lambda _: {"alpha": log_grid(-4, 0, 9)},
    ),
    Entry(
        name="elastic_net",
        words="linear, between ridge and lasso",
        regressor=lambda: _on_unit_target(ElasticNet(max_iter=100_000)),
        space=lambda _: {"alpha": log_grid(-4, 0, 9), "l1_ratio": [0.2, 0.5, 0.8]},
    ),
    Entry(
        name="logistic",
        words="linear, probabilities of classes",
        classifier=lambda: LogisticRegression(max_iter=10_000),
        space=lambda _: {"C": log_grid(-4, 4, 9)},
    ),
    Entry(
        name="lda",
        words="linear discriminant, one spread for all classes",
        classifier=lambda: LinearDiscriminantAnalysis(solver="lsqr"),
        space=lambda _: {"shrinkage": [0.0, 0.01, 0.1, 0.3, 0.6, 0.9]},
        preparation=MEASURED,
    ),
    Entry(
        name="bayes",
        words="naive Bayes, columns independent within a class",
        classifier=GaussianNB,
        space=lambda _: {"var_smoothing": log_grid(-9, 0, 4)},
        preparation=MEASURED,
    ),
)
_OTHERS = (
    Entry(
        name="knn",
        words="nearest neighbours",
        classifier=KNeighborsClassifier,
        regressor=KNeighborsRegressor,
        space=_neighbours,
        preparation=MEASURED,
    ),
    Entry(
        name="tree",
        words="one decision tree",
        classifier=DecisionTreeClassifier,
        regressor=DecisionTreeRegressor,
        space=lambda _: {"max_leaf_nodes": [2, 4, 8, 16, 32, 64, 128], "min_samples_leaf": [1, 5]},
        preparation=UNSCALED,
    ),
    Entry(
        name="forest",
        words="random forest of 100 trees",
        classifier=RandomForestClassifier,
        regressor=RandomForestRegressor,
        space=_trees,
        preparation=UNSCALED,
    ),
    Entry(
        name="extra_trees",
        words="forest of 100 trees that split at random",
        classifier=ExtraTreesClassifier,
        regressor=ExtraTreesRegressor,
        space=_trees,
        preparation=UNSCALED,
    ),
    Entry(
        name="boosting",
        words="gradient-boosted trees",
        classifier=HistGradientBoostingClassifier,
        regressor=HistGradientBoostingRegressor,
        space=lambda table: _rounds(table, count="max_iter", leaves="max_leaf_nodes", deepest=[6, 16]),
        settings=lambda table: _small_leaves(table, "min_samples_leaf"),
        preparation=CODED,
    ),
    Entry(
        name="svm",
        words="support vectors, Gaussian kernel",
        classifier=SVC,
        regressor=lambda: _on_unit_target(SVR()),
        space=_kernels,
        most_rows=MOST_ROWS,
    ),
    Entry(
        name="dummy",
        words="ignores the columns: what any learner must beat",
        classifier=DummyClassifier,
        regressor=DummyRegressor,
        preparation=NOTHING,
    ),
)


def _of_library(package: str, library: str, prefix: str, settings: Callable[[Table], Space], **rounds: Any) -> Entry:
    return Entry(
        name=package,
        words=f"gradient-boosted trees of {library}",
        classifier=lambda: from_library(package, f"{prefix}Classifier"),
        regressor=lambda: from_library(package, f"{prefix}Regressor"),
        space=lambda table: _rounds(table, **rounds),
        settings=settings,
        preparation=CODED,
        package=package,
    )


_LIBRARIES = (
    _of_library(
        "lightgbm",
        "LightGBM",
        "LGBM",
        lambda table: _small_leaves(table, "min_child_samples"),
        count="n_estimators",
        leaves="num_leaves",
        deepest=[6, 16],
    ),
    _of_library("xgboost", "XGBoost", "XGB", _nothing, count="n_estimators", leaves="max_depth", deepest=[3, 5]),
    _of_library("catboost", "CatBoost", "CatBoost", _nothing, count="iterations", leaves="depth", deepest=[4, 6]),
)
CATALOGUE: Mapping[str, Entry] = {entry.name: entry for entry in (*_LINEAR, *_OTHERS, *_LIBRARIES)}
