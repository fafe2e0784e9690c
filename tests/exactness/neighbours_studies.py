"""Generated studies of nearest neighbours: each is answered with the rule on and off, and must not differ by a bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho

RULE, TIER = "neighbours", "identical"
Study = tuple[Any, Any, Any, dict[str, Any]]

K = [1, 2, 3, 4, 5, 8, 11, 15]
BOTH = ["uniform", "distance"]
WORDS = np.array(["a", "bb", "ccc"])


def data(n: int, p: int, *, seed: int = 0, kind: str = "plain") -> Any:
    """A matrix of n rows and p columns: plain, rounded (ties), twins (duplicates), shifted, collinear, constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if kind == "rounded":
        X = np.round(X)
    elif kind == "tenths":
        X = np.round(X, 1)
    elif kind == "twins":
        X = X[rng.integers(0, n // 2, n)]
    elif kind == "shifted":
        X = X + 1e6
    elif kind == "collinear":
        X[:, 1] = 2 * X[:, 0]
        X[:, -1] = 3.0
    elif kind == "outlier":
        X[0] *= 1e7
    elif kind == "tiny":
        X = X * 1e-160
    return X


def classes(X: Any, count: int = 2, *, seed: int = 1, noise: float = 1.0) -> Any:
    """Labels 0 … count − 1 that depend on the first columns."""
    rng = np.random.default_rng(seed)
    signal = np.nan_to_num(np.asarray(X, dtype=float))
    signal = signal[:, 0] / (signal[:, 0].std() or 1.0) + noise * rng.normal(size=len(signal))
    return np.searchsorted(np.quantile(signal, np.arange(1, count) / count), signal)


def numbers(X: Any, *, seed: int = 1) -> Any:
    """A target of full mantissas."""
    rng = np.random.default_rng(seed)
    return np.asarray(X, dtype=float)[:, 0] * 1.37 + 0.1 * rng.normal(size=len(X))


class Bootstrap:
    """A splitter of the user's own: training rows drawn with replacement, tested on the rows never drawn."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return 3

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        rng = np.random.default_rng(3)
        for _ in range(3):
            train = rng.integers(0, len(X), len(X))
            yield train, np.setdiff1d(np.arange(len(X)), train)


def tuned(estimator: Any, space: Any, **options: Any) -> Any:
    return ho.Tuned(estimator, space, random_state=0, **{"validation": ho.KFold(4), **options})


def classifier(X: Any, y: Any, *, options: Any = None, test: Any = None, **keywords: Any) -> Study:
    space = {"n_neighbors": K, "weights": BOTH}
    estimator = KNeighborsClassifier(**keywords)
    return tuned(estimator, space, **(options or {})), X, y, {"test": test or ho.KFold(3)}


def regressor(X: Any, y: Any, *, options: Any = None, test: Any = None, **keywords: Any) -> Study:
    space = {"n_neighbors": K, "weights": BOTH}
    estimator = KNeighborsRegressor(**keywords)
    return tuned(estimator, space, **(options or {})), X, y, {"test": test or ho.KFold(3)}


def both_kinds(label: str, X: Any, **keywords: Any) -> Iterator[tuple[str, Callable[[], Study]]]:
    yield f"classes, {label}", lambda: classifier(X, classes(X, 3), **keywords)
    yield f"numbers, {label}", lambda: regressor(X, numbers(X), **keywords)


def studies() -> Iterator[tuple[str, Callable[[], Study]]]:
    """Labels, and what builds the study: learner, X, y and the other arguments of evaluate."""
    for kind in ("plain", "rounded", "tenths", "twins", "shifted", "collinear", "outlier", "tiny"):
        for columns in (3, 18):
            yield from both_kinds(f"{kind} {columns} columns", data(150, columns, kind=kind))
    yield from both_kinds("more columns than rows", data(60, 100))
    yield from both_kinds("single precision, tree", data(150, 4).astype(np.float32))
    yield from both_kinds("single precision, brute", data(150, 18).astype(np.float32))
    yield from both_kinds("whole numbers, tree", data(150, 4, kind="rounded").astype(int))
    yield from both_kinds("whole numbers, brute", (100 * data(150, 18)).astype(int))
    yield from both_kinds("column order", np.asfortranarray(data(150, 18)))
    for algorithm in ("brute", "kd_tree", "ball_tree"):
        yield from both_kinds(f"algorithm {algorithm}", data(120, 6), algorithm=algorithm)
    yield from metric_studies()
    yield from container_studies()
    yield from recipe_studies()
    yield from target_studies()
    yield from pipeline_studies()


def metric_studies() -> Iterator[tuple[str, Callable[[], Study]]]:
    low, high = data(120, 4), data(120, 17)
    for p in (1, 1.5, 3, np.inf):
        yield from both_kinds(f"Minkowski {p}, tree", low, p=p)
        yield from both_kinds(f"Minkowski {p}, brute", high, p=p)
    yield from both_kinds("manhattan, rounded", data(120, 4, kind="rounded"), metric="manhattan")
    yield from both_kinds("weighted Minkowski", low, metric="minkowski", metric_params={"w": np.arange(1.0, 5.0)})
    yield from both_kinds("standardised", low, metric="seuclidean", metric_params={"V": np.arange(1.0, 5.0)})
    for metric in ("cosine", "correlation", "canberra", "braycurtis", "chebyshev", "sqeuclidean"):
        yield from both_kinds(metric, np.abs(high) + 0.1, metric=metric)
    yield from both_kinds("hamming", data(100, 5, kind="rounded"), metric="hamming")
    yield from both_kinds("single precision manhattan", high.astype(np.float32), metric="manhattan")
    gaps = data(100, 4)
    gaps[::7, 1] = np.nan
    yield "missing values, nan_euclidean", lambda: classifier(gaps, classes(low[:100]), metric="nan_euclidean")


def container_studies() -> Iterator[tuple[str, Callable[[], Study]]]:
    for columns in (4, 18):
        X = data(120, columns)
        names = [f"x{j}" for j in range(columns)]
        yield f"pandas, {columns} columns", lambda X=X, n=names: classifier(pd.DataFrame(X, columns=n), classes(X))
        yield f"polars, {columns} columns", lambda X=X, n=names: regressor(pl.DataFrame(X, schema=n), numbers(X))
    X = data(120, 18)
    X[np.abs(X) < 1] = 0.0
    yield "sparse classes", lambda: classifier(sparse.csr_array(X), classes(X))
    yield "sparse numbers", lambda: regressor(sparse.csr_array(X), numbers(X))
    yield "sparse manhattan", lambda: classifier(sparse.csr_array(X), classes(X), metric="manhattan")


def recipe_studies() -> Iterator[tuple[str, Callable[[], Study]]]:
    for columns in (3, 17):
        X = data(90, columns)
        y, z = classes(X, 3), numbers(X)
        end = f", {columns} columns"
        yield (
            "leave-one-out classes" + end,
            lambda X=X, y=y: (
                tuned(KNeighborsClassifier(), {"n_neighbors": K}, validation=ho.LeaveOneOut()),
                X,
                y,
                {"test": ho.Holdout(0.2)},
            ),
        )
        yield (
            "leave-one-out numbers" + end,
            lambda X=X, z=z: (
                tuned(KNeighborsRegressor(), {"n_neighbors": K[:6], "weights": BOTH}, validation=ho.LeaveOneOut()),
                X,
                z,
                {"test": ho.KFold(2)},
            ),
        )
        yield (
            "repeats" + end,
            lambda X=X, y=y: classifier(
                X, y, options={"validation": ho.KFold(3, repeats=2)}, test=ho.KFold(2, repeats=2)
            ),
        )
        yield (
            "resample" + end,
            lambda X=X, z=z: regressor(
                X, z, options={"validation": ho.Resample(4, held_out=0.3)}, test=ho.Resample(3, held_out=0.2)
            ),
        )
        yield (
            "development set kept" + end,
            lambda X=X, y=y: classifier(
                X, y, options={"validation": ho.Holdout(0.3), "final": "keep"}, test=ho.Holdout(0.2)
            ),
        )
        yield "ensemble" + end, lambda X=X, z=z: regressor(X, z, options={"final": "ensemble"})
        yield "given rows" + end, lambda X=X, y=y: classifier(X, y, test=ho.Given(np.arange(60, 90)))
        yield (
            "shared blocks" + end,
            lambda X=X, y=y: classifier(X, y, options={"validation": ho.SharedBlocks()}, test=ho.KFold(4)),
        )
        yield (
            "rows in an order of their own" + end,
            lambda X=X, y=y: classifier(X, y, options={"validation": ShuffleSplit(3, random_state=1)}),
        )
        yield (
            "training rows named twice" + end,
            lambda X=X, z=z: regressor(X, z, options={"validation": Bootstrap()}),
        )
        yield (
            "leave-one-out of one candidate" + end,
            lambda X=X, y=y: (
                KNeighborsClassifier(7),
                X,
                y,
                {"test": ho.LeaveOneOut()},
            ),
        )
        yield (
            "groups" + end,
            lambda X=X, y=y: (*classifier(X, y)[:3], {"test": ho.KFold(3), "groups": np.arange(90) // 5}),
        )
        yield (
            "time" + end,
            lambda X=X, z=z: (
                tuned(KNeighborsRegressor(), {"n_neighbors": K}, validation=ho.Forward(3)),
                X,
                z,
                {"test": ho.Forward(3), "time": np.arange(90)},
            ),
        )


def target_studies() -> Iterator[tuple[str, Callable[[], Study]]]:
    for columns in (3, 17):
        X = data(120, columns, kind="tenths")
        z = numbers(X)
        end = f", {columns} columns"
        yield "texts" + end, lambda X=X: classifier(X, WORDS[classes(X, 3)])
        yield "texts as objects" + end, lambda X=X: classifier(X, WORDS.astype(object)[classes(X, 3)])
        rare = classes(X, 3)
        rare[rare == 2] = 1
        rare[:4] = 2
        yield (
            "a class absent from some training sets" + end,
            lambda X=X, y=rare: classifier(
                X,
                y,
                options={"validation": ho.KFold(4, shuffle=False, stratify=False)},
                test=ho.KFold(3, shuffle=False, stratify=False),
            ),
        )
        yield "many classes" + end, lambda X=X: classifier(X, classes(X, 12, noise=0.1))
        yield "log loss" + end, lambda X=X: classifier(X, classes(X, 3), options={"loss": "log"})
        yield "AUC" + end, lambda X=X: classifier(X, classes(X), options={"loss": "roc_auc"})
        yield "several losses" + end, lambda X=X: (*classifier(X, classes(X))[:3], {"loss": ["zero_one", "log"]})
        yield (
            "several class outputs" + end,
            lambda X=X: classifier(
                X, np.stack([classes(X, 3), classes(X, 3, seed=5)], axis=1), test=ho.KFold(3, stratify=False)
            ),
        )
        yield "several outputs" + end, lambda X=X, z=z: regressor(X, np.stack([z, z * z], axis=1))
        yield "whole targets" + end, lambda X=X, z=z: regressor(X, np.round(z * 5))
        yield "integer targets" + end, lambda X=X, z=z: regressor(X, np.round(z * 5).astype(int))
        yield "single precision targets" + end, lambda X=X, z=z: regressor(X, z.astype(np.float32))
        yield "absolute loss" + end, lambda X=X, z=z: regressor(X, z, options={"loss": "absolute"})
        yield (
            "most neighbours" + end,
            lambda X=X: (
                tuned(KNeighborsClassifier(), {"n_neighbors": [1, 20, 39, 40, 41, 42, 50], "weights": [*BOTH, None]}),
                X,
                classes(X),
                {"test": ho.KFold(3)},
            ),
        )
        yield (
            "too many neighbours" + end,
            lambda X=X: (
                tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5, 70]}),
                X,
                classes(X),
                {"test": ho.KFold(3)},
            ),
        )


def pipeline_studies() -> Iterator[tuple[str, Callable[[], Study]]]:
    space = {"kneighborsclassifier__n_neighbors": K, "kneighborsclassifier__weights": BOTH}
    numbers_space = {"kneighborsregressor__n_neighbors": K, "kneighborsregressor__weights": BOTH}
    for columns in (4, 18):
        for kind in ("plain", "rounded"):
            X = data(120, columns, kind=kind) * np.arange(1, columns + 1)
            y, z = classes(X, 3), numbers(X)
            end = f", {kind} {columns} columns"
            for scaler in (StandardScaler(), MinMaxScaler()):
                name = type(scaler).__name__
                yield (
                    f"{name}, classes" + end,
                    lambda X=X, y=y, s=scaler: (
                        tuned(make_pipeline(s, KNeighborsClassifier()), space),
                        X,
                        y,
                        {"test": ho.KFold(3)},
                    ),
                )
                yield (
                    f"{name}, numbers" + end,
                    lambda X=X, z=z, s=scaler: (
                        tuned(make_pipeline(s, KNeighborsRegressor()), numbers_space),
                        X,
                        z,
                        {"test": ho.KFold(3)},
                    ),
                )
        onoff = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier())])
        yield (
            f"scaler on and off, {columns} columns",
            lambda X=X, y=y, e=onoff: (
                tuned(e, {"scale": [StandardScaler(), "passthrough"], "knn__n_neighbors": K}),
                X,
                y,
                {"test": ho.KFold(3)},
            ),
        )
        yield (
            f"scaler on a frame, {columns} columns",
            lambda X=X, y=y: (
                tuned(make_pipeline(StandardScaler().set_output(transform="pandas"), KNeighborsClassifier()), space),
                pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
                y,
                {"test": ho.KFold(3)},
            ),
        )
    X = data(120, 18)
    y = classes(X, 3)
    gaps = X.copy()
    gaps[::5, 2] = np.nan
    yield (
        "imputer",
        lambda: (
            tuned(make_pipeline(SimpleImputer(), KNeighborsClassifier()), space),
            gaps,
            y,
            {"test": ho.KFold(3)},
        ),
    )
    yield (
        "selection and PCA",
        lambda: (
            tuned(make_pipeline(SelectKBest(k=10), PCA(5), KNeighborsClassifier()), space),
            X,
            y,
            {"test": ho.KFold(3)},
        ),
    )
    yield (
        "randomised PCA",
        lambda: (
            tuned(make_pipeline(PCA(5, svd_solver="randomized"), KNeighborsClassifier()), space),
            X,
            y,
            {"test": ho.KFold(3)},
        ),
    )
    yield (
        "columns by kind",
        lambda: (
            tuned(
                make_pipeline(
                    ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", MinMaxScaler(), [2, 3])]),
                    KNeighborsClassifier(),
                ),
                space,
            ),
            X,
            y,
            {"test": ho.KFold(3)},
        ),
    )
    yield (
        "scaler, leave-one-out",
        lambda: (
            tuned(make_pipeline(StandardScaler(), KNeighborsClassifier()), space, validation=ho.LeaveOneOut()),
            X[:40],
            y[:40],
            {"test": ho.Holdout(0.3)},
        ),
    )
