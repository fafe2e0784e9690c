"""Generated studies for the kernel `pls`: each must give what brute force gives, rule on and rule off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho

Posed = tuple[Any, Any, Any, dict[str, Any]]
Study = tuple[str, Callable[[], Posed]]
RULE, TIER = "pls", "rounding"


def studies() -> Iterator[Study]:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for make in (_recipes, _shapes, _columns, _forms, _containers, _hard):
        yield from make()


def data(n: int = 90, p: int = 6, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.2, 5, p) + rng.normal(size=p) * 3
    return X, X @ rng.normal(size=p) + 2 * rng.normal(size=n) + 10


def plain(most: int = 6, **options: Any) -> ho.Tuned:
    space = {"n_components": list(range(1, most + 1)), "scale": [True, False]}
    return ho.Tuned(PLSRegression(), space, **{"validation": ho.KFold(4)} | options)


def _scaled(most: int = 6, **options: Any) -> ho.Tuned:
    pipe = make_pipeline(StandardScaler(), PLSRegression(scale=False))
    space = {"plsregression__n_components": list(range(1, most + 1))}
    return ho.Tuned(pipe, space, **{"validation": ho.KFold(4)} | options)


def _recipes() -> Iterator[Study]:
    groups = np.repeat(np.arange(15), 6)
    outer: dict[str, dict[str, Any]] = {
        "k-fold": {"test": ho.KFold(5)},
        "repeats": {"test": ho.KFold(3, repeats=2)},
        "resample": {"test": ho.Resample(4, 0.3)},
        "resample, most rows held out": {"test": ho.Resample(3, 0.7)},
        "holdout": {"test": ho.Holdout(0.25)},
        "groups": {"test": ho.KFold(5), "groups": groups},
        "forward in time": {"test": ho.Forward(4), "time": np.arange(90)},
        "scikit-learn's groups": {"test": GroupKFold(3), "groups": groups},
        "unordered training rows": {
            "test": [(np.arange(80)[::-1], np.arange(80, 90)), (np.arange(10, 90), np.arange(9))]
        },
        "shuffled training rows": {"test": ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0)},
    }
    for label, arguments in outer.items():
        inside = {"validation": ho.Forward(3)} if "time" in arguments else {}
        for name, learner in (("pls", plain), ("scaler and pls", _scaled)):
            yield f"{name}, {label}", lambda f=learner, a=arguments, i=inside: (f(**i), *data(), a)
    repeated = [(np.repeat(np.arange(40), 2), np.arange(80, 90))]
    yield "repeated training rows", lambda: (PLSRegression(3), *data(), {"test": repeated})
    inner: dict[str, dict[str, Any]] = {
        "leave-one-out": {"validation": ho.LeaveOneOut()},
        "shared blocks": {"validation": ho.SharedBlocks()},
        "kept": {"validation": ho.Holdout(0.3), "final": "keep"},
        "ensemble": {"final": "ensemble"},
        "several losses": {"loss": ["absolute", "squared", "r2"]},
    }
    for label, options in inner.items():
        for name, learner in (("pls", plain), ("scaler and pls", _scaled)):
            yield f"{name}, {label}", lambda f=learner, o=options: (f(**o), *data(60), {"test": ho.KFold(3)})
    wary = {"choose": "one_se", "simplest": {"plsregression__n_components": "smaller"}}
    yield "one standard error", lambda: (_scaled(**wary), *data(), {"test": ho.KFold(3)})
    yield "untuned, leave-one-out", lambda: (PLSRegression(2), *data(40), {"test": ho.LeaveOneOut()})


def _shapes() -> Iterator[Study]:
    for n, p, most in ((40, 60, 10), (30, 200, 12), (25, 24, 8), (18, 24, 8), (60, 1, 1), (300, 40, 30), (26, 24, 24)):
        for name, learner in (("pls", plain), ("scaler and pls", _scaled)):
            yield (
                f"{name} {n} × {p}, up to {most}",
                lambda f=learner, n=n, p=p, k=most: (f(k), *data(n, p), {"test": ho.KFold(4)}),
            )
    yield "more components than columns", lambda: (plain(9), *data(), {"test": ho.KFold(3)})
    yield "more components than rows", lambda: (plain(14), *data(16, 30), {"test": ho.KFold(3)})
    yield "y as one column", lambda: (plain(), data()[0], data()[1][:, None], {"test": ho.KFold(3)})
    both = np.column_stack([data()[1], data(seed=1)[1]])
    yield "two targets", lambda: (plain(), data()[0], both, {"test": ho.KFold(3)})


def _spoiled(kind: str) -> tuple[Any, Any]:
    X, y = data(80, 6)
    rng = np.random.default_rng(1)
    if kind == "constant":
        X[:, 2] = 0.1
    elif kind == "constant whole number":
        X[:, 2] = 7.0
    elif kind == "zeros in a training part":
        X[:, 2] = 0.0
        X[:3, 2] = [1.0, 2.0, 3.0]
    elif kind == "constant in a training part":
        X[:, 2] = 0.3
        X[17, 2] = 1.0
    elif kind == "collinear":
        X[:, 3] = X[:, 1] + X[:, 2]
    elif kind == "nearly collinear":
        X[:, 3] = X[:, 1] + 1e-7 * rng.normal(size=80)
    elif kind == "offset 1e3":
        X += 1e3
    elif kind == "offset 1e6":
        X += 1e6
    elif kind == "offset 1e6 of y":
        y += 1e6
    elif kind == "outliers":
        X[4, 1], y[9] = 1e6, 1e7
    elif kind == "nearly constant":
        X[:, 2] = 1e6 + 1e-6 * rng.normal(size=80)
    elif kind == "scales far apart":
        X = X * np.logspace(-6, 6, 6)
    elif kind == "constant target":
        y = np.full(80, 3.0)
    elif kind == "tiny target":
        y = y * 1e-8
    elif kind == "huge target":
        y = y * 1e14
    elif kind == "noiseless":
        y = X @ np.arange(6.0) + 2
    elif kind == "duplicated rows":
        X[40:], y[40:] = X[:40], y[:40]
    elif kind == "indicators":
        X = np.column_stack([np.eye(4)[rng.integers(0, 4, 80)], np.eye(3)[rng.integers(0, 3, 80)]])
        y = X @ np.arange(7.0) + rng.normal(size=80)
    elif kind == "uncorrelated":
        y = rng.normal(size=80)
    return X, y


KINDS = (
    "constant", "constant whole number", "zeros in a training part", "constant in a training part", "collinear",
    "nearly collinear", "offset 1e3", "offset 1e6", "offset 1e6 of y", "outliers", "nearly constant",
    "scales far apart", "constant target", "tiny target", "huge target", "noiseless", "duplicated rows", "indicators",
    "uncorrelated",
)  # fmt: skip


def _columns() -> Iterator[Study]:
    for kind in KINDS:
        for name, learner in (("pls", plain), ("scaler and pls", _scaled)):
            if kind == "noiseless" and learner is plain:
                continue  # scaled or not, all columns fit such data, and rounding errors choose between the two
            yield f"{name}, {kind}", lambda f=learner, k=kind: (f(), *_spoiled(k), {"test": ho.KFold(4)})
        yield (
            f"leave-one-out, {kind}",
            lambda k=kind: (plain(3, validation=ho.LeaveOneOut()), *_spoiled(k), {"test": ho.Holdout(0.5)}),
        )


def _forms() -> Iterator[Study]:
    for scale in (True, False):
        yield (
            f"noiseless, scale={scale}",
            lambda s=scale: (PLSRegression(6, scale=s), *_spoiled("noiseless"), {"test": 4}),
        )
    pipe = make_pipeline(StandardScaler(), PLSRegression())
    whole = {
        "standardscaler": [StandardScaler(), StandardScaler(with_mean=False), "passthrough"],
        "plsregression__n_components": [1, 3, 5],
        "plsregression__scale": [True, False],
    }
    yield "every form", lambda: (ho.Tuned(pipe, whole, validation=ho.KFold(3)), *data(), {"test": ho.KFold(3)})
    yield (
        "another scaler",
        lambda: (make_pipeline(MinMaxScaler(), PLSRegression(3)), *data(), {"test": ho.KFold(3)}),
    )
    yield "max_iter 1", lambda: (PLSRegression(3, max_iter=1), *data(), {"test": ho.KFold(3)})
    yield "copy=False", lambda: (PLSRegression(3, copy=False), *data(), {"test": ho.KFold(3)})
    sample = ho.Sample(5, {"n_components": [1, 2, 3, 4, 5, 6], "scale": [True, False]})
    yield "random search", lambda: (ho.Tuned(PLSRegression(), sample, random_state=3), *data(), {"test": ho.KFold(3)})


def _containers() -> Iterator[Study]:
    names = list("abcdef")
    columns = ColumnTransformer([("scaled", StandardScaler(), ["d", "a", "f"]), ("kept", "passthrough", ["b"])])

    def frame(kind: str) -> tuple[Any, Any]:
        X, y = data()
        table = pd.DataFrame(X, columns=names)
        if kind == "mixed":
            table["b"] = table["b"].round().astype("int32")
            table["c"] = table["c"] > table["c"].median()
        return (pl.from_pandas(table) if kind == "polars" else table), y

    for kind in ("pandas", "polars", "mixed"):
        for label, before in (("scaler", StandardScaler()), ("columns", columns)):
            space = {"plsregression__n_components": [1, 2, 3, 4]}
            yield (
                f"{kind}, {label}",
                lambda k=kind, b=before, s=space: (
                    ho.Tuned(make_pipeline(b, PLSRegression()), s, validation=ho.KFold(3)),
                    *frame(k),
                    {"test": ho.KFold(3)},
                ),
            )
    yield "X of type bool", lambda: (plain(), data()[0] > 2, data()[1], {"test": ho.KFold(3)})
    for dtype in (np.int64, np.int8, np.float32, np.float16):
        yield (
            f"X of type {np.dtype(dtype)}",
            lambda t=dtype: (_scaled(), data()[0].astype(t), data()[1], {"test": ho.KFold(3)}),
        )
    yield "whole numbers as y", lambda: (plain(), data()[0], data()[1].round().astype(int), {"test": ho.KFold(3)})
    yield "single precision y", lambda: (plain(), data()[0], data()[1].astype(np.float32), {"test": ho.KFold(3)})
    yield "X in columns", lambda: (_scaled(), np.asfortranarray(data()[0]), data()[1], {"test": ho.KFold(3)})


def _hard() -> Iterator[Study]:
    def spectra(n: int, p: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(4)
        X = np.cumsum(np.cumsum(rng.normal(size=(n, p)), axis=1), axis=1) / p
        return X, X @ rng.normal(size=p) / p + rng.normal(size=n)

    def low_rank() -> tuple[Any, Any]:
        rng = np.random.default_rng(4)
        X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 30)) + 1e-6 * rng.normal(size=(80, 30))
        return X, X.sum(axis=1) + rng.normal(size=80)

    def decaying() -> tuple[Any, Any]:
        rng = np.random.default_rng(4)
        X = rng.normal(size=(150, 25)) * np.logspace(0, -4, 25)
        return X @ np.linalg.qr(rng.normal(size=(25, 25)))[0], X.sum(axis=1) + rng.normal(size=150)

    for n, p in ((60, 200), (200, 40)):
        for name, learner in (("pls", plain), ("scaler and pls", _scaled)):
            yield f"{name}, spectra {n} × {p}", lambda f=learner, n=n, p=p: (f(20), *spectra(n, p), {"test": 3})
    for label, make in (("low rank", low_rank), ("decaying", decaying)):
        for name, learner in (("pls", plain), ("scaler and pls", _scaled)):
            yield f"{name}, {label}", lambda f=learner, m=make: (f(20), *m(), {"test": 3})
