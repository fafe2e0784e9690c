"""Generated studies for rule `within`: Pipelines whose candidates share prefixes, sizes and equal last steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, SelectPercentile, f_classif, f_regression, mutual_info_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC

import heldout as ho

RULE, TIER = "within", "identical"
Study = tuple[str, Callable[[], tuple[Any, Any, Any, dict[str, Any]]]]


def _classes(seed: int, n: int = 90, p: int = 8, k: int = 2) -> tuple[Any, Any]:
    return make_classification(n, p, n_informative=4, n_classes=k, random_state=seed)


def _numbers(seed: int, n: int = 80, p: int = 7) -> tuple[Any, Any]:
    return make_regression(n, p, noise=5.0, random_state=seed)


def _classifier(seed: int) -> tuple[Any, dict[str, Any]]:
    select = [
        SelectKBest(f_classif),
        SelectPercentile(f_classif),
        SelectKBest(partial(mutual_info_classif, random_state=0)),
    ]
    one = select[seed % 3]
    name = type(one).__name__.lower()
    size = (
        {"selectkbest__k": [1, 3, "all"]} if name == "selectkbest" else {"selectpercentile__percentile": [20, 60, 100]}
    )
    last = [LogisticRegression(max_iter=300), GaussianNB(), LinearSVC()][seed % 3]
    own = [
        {"logisticregression__C": [0.1, 1.0]},
        {"gaussiannb__var_smoothing": [1e-9, 1e-2]},
        {"linearsvc__C": [0.1, 1.0]},
    ]
    return make_pipeline(StandardScaler(), one, last), {**size, **own[seed % 3]}


def _regressor(seed: int) -> tuple[Any, dict[str, Any]]:
    steps: list[tuple[Any, dict[str, Any]]] = [
        (PCA(svd_solver="full"), {"pca__n_components": [1, 3, 5]}),
        (PCA(), {"pca__n_components": [1, 2, 4], "pca__whiten": [True, False]}),
        (PCA(svd_solver="covariance_eigh"), {"pca__n_components": [1, 3, 5]}),
        (PCA(svd_solver="randomized"), {"pca__n_components": [1, 3]}),
        (SelectKBest(f_regression), {"selectkbest__k": [1, 2, 5]}),
        (PolynomialFeatures(), {"polynomialfeatures__degree": [1, 2]}),
    ]
    step, space = steps[seed % 6]
    last = [Ridge(), KNeighborsRegressor(), ElasticNet(alpha=0.1)][seed % 3]
    own = [
        {"ridge__alpha": [0.1, 10.0]},
        {"kneighborsregressor__n_neighbors": [2, 5]},
        {"elasticnet__alpha": [0.1, 1.0]},
    ]
    return make_pipeline(MinMaxScaler(), step, last), {**space, **own[seed % 3]}


def _double_in_place(X: Any) -> Any:
    X *= 2.0
    return X


def _recipes() -> list[tuple[Any, Any]]:
    return [
        (ho.KFold(3), ho.KFold(3)),
        (ho.Holdout(0.3), ho.KFold(3)),
        (ho.Holdout(0.25), ho.Holdout(0.2)),
        (ho.Resample(3, 0.3), ho.Resample(2, 0.3)),
        (ho.SharedBlocks(), ho.KFold(4)),
        (ho.KFold(2, repeats=2), ho.KFold(2)),
    ]


def studies() -> Iterator[Study]:
    """Label and a function that gives learner, X, y and the rest of the question."""
    for seed in range(24):
        validation, test = _recipes()[seed % 6]
        yield f"classifier {seed}", partial(_tuned, _classifier(seed), _classes(seed, k=2 + seed % 2), validation, test)
        yield f"regressor {seed}", partial(_tuned, _regressor(seed), _numbers(seed), validation, test)
    yield from _odd_ones()


def _tuned(learner: Any, data: Any, validation: Any, test: Any, **more: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
    estimator, space = learner
    return ho.Tuned(estimator, space, validation=validation, **more), *data, {"test": test}


def _odd_ones() -> Iterator[Study]:
    k3 = ho.KFold(3)
    X, y = _classes(100)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    frame["city"] = np.array(["rome", "oslo", "lima"])[np.arange(len(X)) % 3]
    frame.loc[::7, "c0"] = np.nan
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), [f"c{i}" for i in range(8)]),
            ("city", OneHotEncoder(), ["city"]),
        ]
    )
    mixed = (
        Pipeline([("columns", columns), ("last", LogisticRegression())]),
        {"columns__numbers__simpleimputer__strategy": ["mean", "median"], "last__C": [0.1, 1.0, 10.0]},
    )
    yield "columns, pandas", partial(_tuned, mixed, (frame, y), k3, k3)
    yield "columns, polars", partial(_tuned, mixed, (pl.from_pandas(frame), y), k3, k3)
    yield "labels are words", partial(_tuned, _classifier(0), (X, np.array(["no", "yes"])[y]), k3, k3)
    yield "probability loss", partial(_tuned, _classifier(0), (X, y), k3, k3, loss=["log", "roc_auc", "zero_one"])
    yield "float32", partial(_tuned, _regressor(0), (lambda d: (d[0].astype("float32"), d[1]))(_numbers(5)), k3, k3)
    yield (
        "fortran order",
        partial(_tuned, _regressor(1), (lambda d: (np.asfortranarray(d[0]), d[1]))(_numbers(6)), k3, k3),
    )
    counts = sparse.random(90, 30, density=0.3, random_state=0, format="csr")
    svd = make_pipeline(TruncatedSVD(4, random_state=0), SVC()), {"svc__C": [1.0, 10.0], "svc__gamma": [0.1, 1.0]}
    yield "sparse", partial(_tuned, svd, (counts, y), k3, k3)
    step = (
        make_pipeline(StandardScaler(), Ridge()),
        {"standardscaler": [StandardScaler(), "passthrough"], "ridge__alpha": [1, 2]},
    )
    yield "a step on or off", partial(_tuned, step, _numbers(7), k3, k3)
    union = FeatureUnion([("a", PCA(2)), ("b", SelectKBest(f_classif, k=2))])
    joined = (
        make_pipeline(union, LogisticRegression()),
        {"featureunion__a__n_components": [1, 2], "logisticregression__C": [1, 5]},
    )
    yield "union", partial(_tuned, joined, (X, y), k3, k3)
    writes = FunctionTransformer(_double_in_place)
    inplace = make_pipeline(writes, StandardScaler(copy=False), Ridge()), {"ridge__alpha": [0.1, 1.0, 10.0]}
    yield "writes into its input", partial(_tuned, inplace, _numbers(8), k3, k3)
    wide = make_pipeline(PCA(svd_solver="full"), Ridge()), {"pca__n_components": [2, 10, 500], "ridge__alpha": [1.0]}
    yield "a size too large fails alone", partial(_tuned, wide, _numbers(9, n=60, p=90), k3, k3)
    twice = make_pipeline(StandardScaler(), Ridge()), [{"ridge__alpha": [1.0, 2.0]}, {"ridge__alpha": [1.0]}]
    yield "equal candidates", partial(_tuned, twice, _numbers(10), k3, k3)
    yield "keep", partial(_tuned, _classifier(3), (X, y), ho.Holdout(0.3), k3, final="keep")
    yield "ensemble", partial(_tuned, _regressor(4), _numbers(11), k3, ho.Holdout(0.3), final="ensemble")
