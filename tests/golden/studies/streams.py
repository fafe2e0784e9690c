"""Golden studies of streams and journals."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    Ridge,
    RidgeClassifier,
)
from sklearn.naive_bayes import GaussianNB

import heldout as ho
from golden.ground import (
    Ground,
    classes,
    numbers,
    study,
)
from golden.studies.learners import scaled_ridge, tree

# Streams, and journals.


def written(at: Ground, name: str, *, labelled: bool) -> str:
    """A Parquet file whose footer depends on the rows alone, as far as it can."""
    X, y = classes(name, 400, kinds=3, words=True) if labelled else numbers(name, 400)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    path = at.folder / f"{name}.parquet"
    frame.to_parquet(path, row_group_size=150, index=False, compression=None, use_dictionary=False)
    return str(path)


@study()
def streamed_ridge(at: Ground) -> Any:
    path = written(at, "ridge stream", labelled=False)
    return {
        "nested": at.study(scaled_ridge(), path, target="y", test=ho.KFold(3), final=False),
        "rows": at.study(Ridge(), path, target="y", test=ho.Holdout(0.3), options=ho.Options(rows=True), final=False),
    }


@study()
def streamed_classes(at: Ground) -> Any:
    path = written(at, "class stream", labelled=True)
    bayes = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 10.0]}, validation=ho.KFold(2), loss="log")
    return {
        "bayes": at.study(bayes, path, target="y", test=ho.KFold(2), final=False),
        "discriminants": at.study(LinearDiscriminantAnalysis(), path, target="y", test=ho.KFold(2), final=False),
        "ridge": at.study(RidgeClassifier(), path, target="y", test=ho.KFold(2), final=False),
    }


@study()
def streamed_dask_frame(at: Ground) -> Any:
    import dask
    import dask.dataframe as dd

    X, y = numbers("dask stream", 200)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(y=y)
    with dask.config.set(scheduler="synchronous"):
        parts = dd.from_pandas(frame, npartitions=3)
        return at.study(Ridge(), parts, target="y", test=ho.KFold(2), final=False)


@study()
def journaled(at: Ground) -> Any:
    """The first run, the same from its journal, and a larger space that fits only what is new."""
    X, y = classes("journaled")
    place = str(at.folder / "study.db")
    more = tree()
    more.set_params(space={"max_depth": [1, 3, 5]})
    ridge, data = scaled_ridge(), numbers("journaled ridge")
    return {
        "first": at.study(tree(), X, y, test=ho.KFold(3), journal=place),
        "again": at.study(tree(), X, y, test=ho.KFold(3), journal=place),
        "larger": at.study(more, X, y, test=ho.KFold(3), journal=place),
        "ridge": at.study(ridge, *data, test=ho.KFold(3), journal=place),
        "ridge_again": at.study(ridge, *data, test=ho.KFold(3), journal=place),
    }
