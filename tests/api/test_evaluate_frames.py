"""Pandas in, pandas out; polars in, polars out; sparse and text inputs are taken as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import heldout as ho

TABLES = ("folds", "choices", "candidates", "predictions", "failures", "warnings")


def table() -> dict[str, Any]:
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    words = np.array(["setosa", "versicolor", "virginica"])[y].tolist()
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "kind": words, "site": [f"s{i // 5}" for i in range(75)]}


def learner(validation: Any = 3) -> Any:
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    return ho.Tuned(model, {"kneighborsclassifier__n_neighbors": [1, 7]}, validation=validation)


@pytest.mark.parametrize(("library", "kind"), [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame)])
def test_tables_come_back_in_the_users_own_library(library: Any, kind: Any) -> None:
    result = ho.evaluate(learner(), library(table()), "kind", groups="site", test=ho.KFold(3), jobs=1)
    for name in TABLES:
        assert isinstance(getattr(result, name), kind), name
    assert len(result.predictions) == 75
    assert result.predictions["predict"][0] in ("setosa", "versicolor", "virginica")


def test_pandas_and_polars_and_arrays_hold_the_same_numbers() -> None:
    columns = table()
    X = np.column_stack([columns["a"], columns["b"], columns["c"]])
    frames = {k: v for k, v in columns.items() if k in "abc"}
    parts = [(np.setdiff1d(np.arange(75), held), held) for held in np.array_split(np.arange(75), 3)]
    given = ho.KFold(3, shuffle=False, stratify=False)
    results = [
        ho.evaluate(learner(given), data, columns["kind"], test=parts, jobs=1)
        for data in (X, pd.DataFrame(frames), pl.DataFrame(frames))
    ]
    risks = [result.risk.value for result in results]
    assert risks[0] == risks[1] == risks[2]
    predictions = [result.predictions["predict"].to_list() for result in results]
    assert predictions[0] == predictions[1] == predictions[2]
    choices = [result.choices["candidate"].to_list() for result in results]
    assert choices[0] == choices[1] == choices[2]


def test_arrays_give_pandas() -> None:
    X, y = load_iris(return_X_y=True)
    assert isinstance(ho.evaluate(KNeighborsClassifier(), X, y, test=3, jobs=1).folds, pd.DataFrame)


def test_polars_tables_of_a_study_with_estimators_among_the_values() -> None:
    frame = pl.DataFrame({k: v for k, v in table().items() if k in "abc"})
    tuned = ho.Tuned(
        make_pipeline(StandardScaler(), KNeighborsClassifier()), {"standardscaler": [StandardScaler(), "passthrough"]}
    )
    result = ho.evaluate(tuned, frame, table()["kind"], test=ho.KFold(3), jobs=1)
    assert result.choices["param_standardscaler"].to_list()[0] in ("StandardScaler()", "passthrough")


def test_categories_and_missing_values_stay_in_the_frame() -> None:
    columns = table()
    frame = pd.DataFrame({"a": columns["a"], "site": pd.Categorical(columns["site"])})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["site"]), remainder="passthrough"),
        RidgeClassifier(),
    )
    result = ho.evaluate(
        ho.Tuned(model, {"ridgeclassifier__alpha": [0.1, 1.0]}), frame, columns["kind"], test=3, jobs=1
    )
    assert result.risk.value < 0.5


def test_sparse_and_dense_give_the_same_choices() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.where(X > 3, X, 0.0)
    tuned = ho.Tuned(LogisticRegression(max_iter=1000), {"C": [0.01, 1.0]}, validation=2)
    dense, thin = (ho.evaluate(tuned, given, y, test=ho.KFold(3), jobs=1) for given in (X, sparse.csr_matrix(X)))
    assert dense.predictions["row"].tolist() == thin.predictions["row"].tolist()
    assert dense.choices["candidate"].tolist() == thin.choices["candidate"].tolist()


def test_texts_are_rows() -> None:
    texts = ["good fine nice", "bad awful poor"] * 20
    y = np.array([1, 0] * 20)
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    result = ho.evaluate(ho.Tuned(model, {"logisticregression__C": [0.1, 1.0]}, validation=2), texts, y, test=3, jobs=1)
    assert result.risk.value == 0.0


def test_columns_of_probabilities_are_named_by_class() -> None:
    columns = table()
    frame = pd.DataFrame({k: v for k, v in columns.items() if k in "abc"})
    result = ho.evaluate(KNeighborsClassifier(), frame, columns["kind"], test=3, loss=["zero_one", "log"], jobs=1)
    names = ["proba_setosa", "proba_versicolor", "proba_virginica"]
    assert result.predictions[names].sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert {"risk", "risk_log"} <= set(result.estimates)
    assert result.estimates["risk_log"].value == pytest.approx(result.folds["log"].mean(), rel=1e-14)
    assert result.risk.loss == "zero_one"
