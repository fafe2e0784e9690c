"""Generated studies for the kernel `discriminants`: each must give what brute force gives, rule on and rule off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho

Posed = tuple[Any, Any, Any, dict[str, Any]]
RULE, TIER = "discriminants", "rounding"
SHARES = [0.0, 0.1, 0.5, 1.0]


def studies() -> Iterator[tuple[str, Callable[[], Posed]]]:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for make in (_recipes, _forms, _columns, _shapes, _labels, _refused):
        yield from make()


def _data(n: int = 72, p: int = 4, kinds: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % kinds
    rng.shuffle(y)
    X = rng.normal(size=(n, p)) * rng.uniform(0.3, 3, p) + rng.normal(size=p) * 2
    return X + 0.8 * rng.normal(size=(kinds, p))[y], y


def _tuned(kind: str, *, scaled: bool = False, more: dict[str, Any] | None = None, **options: Any) -> Any:
    """A search over the shrinkage of one kind of discriminant."""
    solver = kind.split()[-1]
    if kind.startswith("linear"):
        model: Any = LinearDiscriminantAnalysis(solver=solver, **more or {})
        name = "tol" if solver == "svd" else "shrinkage"
    else:
        model = QuadraticDiscriminantAnalysis(solver=solver, **more or {})
        name = "reg_param" if solver == "svd" else "shrinkage"
    space = {name: [1e-4, 1e-3] if name == "tol" else SHARES}
    if scaled:
        model = make_pipeline(StandardScaler(), model)
        space = {f"{model.steps[-1][0]}__{name}": values for name, values in space.items()}
    return ho.Tuned(model, space, **{"validation": ho.KFold(3), "loss": ["log", "zero_one"]} | options)


KINDS = ("linear svd", "linear lsqr", "linear eigen", "quadratic svd", "quadratic eigen")


def _recipes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    groups, time = np.repeat(np.arange(18), 4), np.arange(72)
    outer: dict[str, dict[str, Any]] = {
        "repeats": {"test": ho.KFold(3, repeats=2)},
        "resample": {"test": ho.Resample(3, 0.3)},
        "given rows": {"test": ho.Given(np.arange(10, 30))},
        "groups": {"test": GroupKFold(3), "groups": groups},
        "forward in time": {"test": ho.Forward(3), "time": time},
        "unordered training rows": {
            "test": [(np.arange(60)[::-1], np.arange(60, 72)), (np.arange(9, 72), np.arange(9))]
        },
        "shuffled training rows": {"test": ShuffleSplit(2, test_size=0.2, train_size=0.6, random_state=0)},
    }
    for number, (label, arguments) in enumerate(outer.items()):
        inside = {"validation": ho.Forward(2)} if "time" in arguments else {}
        for kind in (KINDS[number % 3], KINDS[3 + number % 2]):
            yield f"{kind}, {label}", lambda a=arguments, k=kind, i=inside: (_tuned(k, **i), *_data(), a)
    loo = ho.LeaveOneOut()
    for kind in KINDS:
        for kinds in (2, 3):
            yield (
                f"{kind}, {kinds} classes, leave-one-out",
                lambda k=kind, c=kinds: (_tuned(k, validation=loo), *_data(60, 4, c), {"test": ho.Holdout(0.3)}),
            )
        yield (
            f"{kind}, shared blocks",
            lambda k=kind: (_tuned(k, validation=ho.SharedBlocks()), *_data(kinds=2), {"test": ho.KFold(3)}),
        )
        yield f"scaled {kind}", lambda k=kind: (_tuned(k, scaled=True), *_data(), {"test": ho.KFold(3)})
        yield (
            f"scaled {kind}, leave-one-out",
            lambda k=kind: (_tuned(k, scaled=True, validation=loo), *_data(40), {"test": ho.Holdout(0.3)}),
        )
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(reg_param=0.1)):
        yield f"untuned {model}", lambda m=model: (m, *_data(45), {"test": loo, "loss": "log"})
        repeated = [(np.repeat(np.arange(40), 2), np.arange(60, 72))]
        yield f"repeated training rows, {model}", lambda m=model, t=repeated: (m, *_data(), {"test": t, "loss": "log"})


def _forms() -> Iterator[tuple[str, Callable[[], Posed]]]:
    priors = [0.2, 0.3, 0.5]
    for kind in KINDS:
        for label, validation in (("k-fold", ho.KFold(3)), ("leave-one-out", ho.LeaveOneOut())):
            yield (
                f"{kind}, priors, {label}",
                lambda k=kind, v=validation: (
                    _tuned(k, more={"priors": priors}, validation=v),
                    *_data(60),
                    {"test": ho.Holdout(0.3)},
                ),
            )
        yield (
            f"{kind}, area under the curve",
            lambda k=kind: (_tuned(k, loss=["roc_auc", "zero_one"]), *_data(kinds=2), {"test": ho.KFold(3)}),
        )
        yield f"{kind}, labels alone", lambda k=kind: (_tuned(k, loss="zero_one"), *_data(), {"test": ho.KFold(3)})
    every = {"solver": ["svd", "lsqr", "eigen"], "priors": [None, priors, [1, 1, 1]]}
    yield (
        "every solver and priors",
        lambda: (ho.Tuned(LinearDiscriminantAnalysis(), every, loss="log"), *_data(), {"test": ho.KFold(3)}),
    )
    pipe = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(solver="lsqr"))
    flags = {"standardscaler__with_mean": [True, False], "standardscaler__with_std": [True, False]}
    space = flags | {"lineardiscriminantanalysis__shrinkage": [0.1, 0.7]}
    yield "every scaler", lambda: (ho.Tuned(pipe, space, loss="log"), *_data(), {"test": ho.KFold(3)})
    drop = LinearDiscriminantAnalysis(tol=0.4)  # so coarse that directions are dropped
    yield "coarse tolerance", lambda: (drop, *_data(kinds=4), {"test": ho.KFold(4), "loss": "log"})


def _columns() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def spoiled(kind: str) -> tuple[Any, Any]:
        X, y = _data(66, 5)
        rng = np.random.default_rng(1)
        if kind == "constant":
            X[:, 2] = 0.1
        elif kind == "zeros":
            X[:, 2] = 0.0
        elif kind == "constant in a training part":
            X[:, 2] = 0.0
            X[:3, 2] = [1.0, 2.0, 3.0]
        elif kind == "constant in a class":
            X[y == 1, 2] = 3.0
        elif kind == "a class a value":
            X[:, 2] = y
        elif kind == "collinear":
            X[:, 3] = X[:, 1] + X[:, 2]
        elif kind == "nearly collinear":
            X[:, 3] = X[:, 1] + 1e-6 * rng.normal(size=66)
        elif kind == "offset 1e6":
            X += 1e6
        elif kind == "outlier":
            X[4, 1] = 1e6
        elif kind == "nearly constant":
            X[:, 2] = 1e6 + 1e-6 * rng.normal(size=66)
        elif kind == "scales far apart":
            X *= np.logspace(-4, 4, 5)
        elif kind == "classes far apart":
            X += 1e4 * y[:, None]
        elif kind == "duplicated rows":
            X[33:], y[33:] = X[:33], y[:33]
        elif kind == "rounded":
            X = X.round()
        return X, y

    kinds = ("constant", "zeros", "constant in a training part", "constant in a class", "a class a value", "collinear",
             "nearly collinear", "offset 1e6", "outlier", "nearly constant", "scales far apart", "classes far apart",
             "duplicated rows", "rounded")  # fmt: skip
    for number, kind in enumerate(kinds):
        for model in KINDS:
            scaled = bool(number % 2) and kind != "classes far apart"  # after a scaler every fit would fail
            yield (
                f"{kind}, {'scaled ' if scaled else ''}{model}",
                lambda k=kind, m=model, s=scaled: (_tuned(m, scaled=s), *spoiled(k), {"test": ho.KFold(3)}),
            )
            yield (
                f"{kind}, {model}, leave-one-out",
                lambda k=kind, m=model: (
                    _tuned(m, validation=ho.LeaveOneOut()),
                    *spoiled(k),
                    {"test": ho.Holdout(0.3)},
                ),
            )


def _shapes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    for n, p in ((40, 60), (30, 28), (45, 1), (90, 12)):
        for model in KINDS:
            if model == "quadratic svd" and n < 8 * p:
                continue  # fewer rows in a class than columns: every fit fails
            yield f"{model} {n} × {p}", lambda n=n, p=p, m=model: (_tuned(m), *_data(n, p), {"test": ho.KFold(3)})
    yield "many classes", lambda: (_tuned("linear svd"), *_data(120, 3, 8), {"test": ho.KFold(3)})


def _labels() -> Iterator[tuple[str, Callable[[], Posed]]]:
    words = np.array(["no", "perhaps", "yes, of course"])
    X, y = _data()
    for model in ("linear lsqr", "quadratic svd"):
        for label, labels in (
            ("text", words[y]),
            ("objects", words[y].astype(object)),
            ("true and false", y > 0),
            ("whole floats", y * 2.0 - 1),
        ):
            yield f"{model}, {label} labels", lambda m=model, t=labels: (_tuned(m), X, t, {"test": ho.KFold(3)})
        table = pd.DataFrame(X, columns=list("abcd"))
        whole = table.assign(b=table["b"].round().astype("int32"))
        for label, frame in (("pandas", table), ("polars", pl.from_pandas(table)), ("whole numbers too", whole)):
            yield f"{model}, {label}", lambda m=model, f=frame: (_tuned(m, scaled=True), f, y, {"test": ho.KFold(3)})
        for dtype in (np.int64, np.int8, np.float32):
            yield (
                f"{model}, {np.dtype(dtype)}",
                lambda m=model, t=dtype: (
                    _tuned(m),
                    (X * 9).astype(t),
                    y,
                    {"test": ho.KFold(3)},
                ),
            )
    rare = np.where(y == 2, 0, y)
    rare[[7, 50]] = 2
    for model in KINDS:
        for label, recipe in (("k-fold", ho.KFold(3, stratify=False)), ("leave-one-out", ho.LeaveOneOut())):
            yield (
                f"{model}, rare class, {label}",
                lambda m=model, v=recipe: (_tuned(m, validation=v), X, rare, {"test": ho.KFold(3, stratify=False)}),
            )


def _refused() -> Iterator[tuple[str, Callable[[], Posed]]]:
    linear, quadratic = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    for label, model in (
        ("automatic shrinkage", linear(solver="lsqr", shrinkage="auto")),
        ("an estimator of covariances", linear(solver="eigen", covariance_estimator=LedoitWolf())),
        ("another scaler", make_pipeline(MinMaxScaler(), linear())),
        ("a prior of 0", linear(priors=[0.0, 0.5, 0.5])),
        ("automatic shrinkage of classes", quadratic(solver="eigen", shrinkage="auto")),
    ):
        yield label, lambda m=model: (m, *_data(), {"test": ho.KFold(3), "loss": "zero_one"})
