"""Generated studies for the kernel `ridge`: each must give what brute force gives, rule on and rule off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

Posed = tuple[Any, Any, Any, dict[str, Any]]
RULE, TIER = "ridge", "rounding"
ALPHAS = ho.log_grid(-4, 3, 9)


def reference(build: Callable[[], Posed]) -> float:
    """How far brute force may be from the exact answer: float32 fits, from those in float64.

    Twice their distance, since the kernel's answer may lie on the other side of the exact one.
    """
    learner, X, y, more = build()
    if getattr(X, "dtype", None) != np.float32:
        return 0.0
    off = ho.Options(rules={RULE: False})
    sides = [ho.evaluate(learner, x, y, jobs=1, progress=False, options=off, **more) for x in (X, X.astype(float))]
    single, double = (np.asarray(side.predictions["predict"], dtype=float) for side in sides)
    return float(2 * np.abs(single - double).max() / np.abs(double).max())


def studies() -> Iterator[tuple[str, Callable[[], Posed]]]:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for make in (_recipes, _shapes, _columns, _forms, _classes, _containers, _hard):
        yield from make()


def _data(n: int = 90, p: int = 5, seed: int = 0, *, targets: int | None = None) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.2, 5, p) + rng.normal(size=p) * 3
    coef = rng.normal(size=(p,) if targets is None else (p, targets))
    y = X @ coef + rng.normal(size=n if targets is None else (n, targets)) + 10
    return X, y


def _labels(X: Any, kinds: int = 3, *, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    score = X[:, :2].sum(axis=1) + rng.normal(size=len(X)) * X.std()
    return np.digitize(score, np.quantile(score, np.arange(1, kinds) / kinds))


def _ridge(**options: Any) -> ho.Tuned:
    return ho.Tuned(Ridge(), {"alpha": ALPHAS}, **{"validation": ho.KFold(4)} | options)


def _scaled(**options: Any) -> ho.Tuned:
    pipe = make_pipeline(StandardScaler(), Ridge())
    return ho.Tuned(pipe, {"ridge__alpha": ALPHAS}, **{"validation": ho.KFold(4)} | options)


def _classifier(estimator: Any = None, **options: Any) -> ho.Tuned:
    pipe = make_pipeline(StandardScaler(), RidgeClassifier() if estimator is None else estimator)
    return ho.Tuned(pipe, {"ridgeclassifier__alpha": ALPHAS}, **{"validation": ho.KFold(3)} | options)


def _recipes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    groups = np.repeat(np.arange(15), 6)
    time = np.arange(90)
    outer: dict[str, dict[str, Any]] = {
        "k-fold": {"test": ho.KFold(5)},
        "repeats": {"test": ho.KFold(3, repeats=2)},
        "resample": {"test": ho.Resample(4, 0.3)},
        "resample, most rows held out": {"test": ho.Resample(3, 0.7)},
        "holdout": {"test": ho.Holdout(0.25)},
        "given rows": {"test": ho.Given(np.arange(10, 30))},
        "groups": {"test": ho.KFold(5), "groups": groups},
        "forward in time": {"test": ho.Forward(4), "time": time},
        "scikit-learn's groups": {"test": GroupKFold(3), "groups": groups},
        "unordered training rows": {
            "test": [(np.arange(80)[::-1], np.arange(80, 90)), (np.arange(10, 90), np.arange(9))]
        },
        "shuffled training rows": {"test": ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0)},
    }
    repeated = [(np.repeat(np.arange(40), 2), np.arange(80, 90))]
    for learner in (Ridge(), make_pipeline(StandardScaler(), Ridge()), LinearRegression()):
        yield f"repeated training rows, {learner}", lambda e=learner: (e, *_data(), {"test": repeated})
    for label, arguments in outer.items():
        inside = {"validation": ho.Forward(3)} if "time" in arguments else {}
        yield f"ridge, {label}", lambda a=arguments, i=inside: (_ridge(**i), *_data(), a)
        yield f"scaler and ridge, {label}", lambda a=arguments, i=inside: (_scaled(**i), *_data(), a)
    loo = ho.LeaveOneOut()
    for label, learner in (("ridge", _ridge), ("scaler and ridge", _scaled)):
        yield f"{label}, leave-one-out", lambda f=learner: (f(validation=loo), *_data(), {"test": ho.Holdout(0.3)})
        yield (
            f"{label}, leave-one-out inside 3-fold",
            lambda f=learner: (f(validation=loo), *_data(50), {"test": ho.KFold(3)}),
        )
        yield (
            f"{label}, leave-one-group-out",
            lambda f=learner: (
                f(validation=loo),
                *_data(),
                {"test": ho.KFold(3), "groups": groups},
            ),
        )
        yield (
            f"{label}, shared blocks",
            lambda f=learner: (f(validation=ho.SharedBlocks()), *_data(), {"test": ho.KFold(4)}),
        )
        yield (
            f"{label}, kept",
            lambda f=learner: (
                f(validation=ho.Holdout(0.3), final="keep"),
                *_data(),
                {"test": ho.KFold(3)},
            ),
        )
        yield (
            f"{label}, one standard error, two losses",
            lambda f=learner: (
                f(choose="one_se", loss=["squared", "absolute", "r2"]),
                *_data(),
                {"test": ho.KFold(3)},
            ),
        )
    yield "untuned, leave-one-out", lambda: (Ridge(alpha=0.5), *_data(40), {"test": loo})
    yield "ensemble", lambda: (_scaled(final="ensemble"), *_data(), {"test": ho.KFold(3)})


def _shapes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    for n, p in ((40, 60), (30, 200), (25, 24), (24, 24), (26, 24), (60, 1)):
        yield f"ridge {n} × {p}", lambda n=n, p=p: (_ridge(), *_data(n, p), {"test": ho.KFold(4)})
        yield f"scaler and ridge {n} × {p}", lambda n=n, p=p: (_scaled(), *_data(n, p), {"test": ho.KFold(4)})
        yield (
            f"leave-one-out {n} × {p}",
            lambda n=n, p=p: (
                _scaled(validation=ho.LeaveOneOut()),
                *_data(n, p),
                {"test": ho.Holdout(0.2)},
            ),
        )
        yield f"least squares {n} × {p}", lambda n=n, p=p: (LinearRegression(), *_data(n, p), {"test": ho.KFold(4)})
    for targets in (1, 3):
        for label, learner in (
            ("ridge", _ridge()),
            ("scaled", _scaled(validation=ho.LeaveOneOut())),
            ("ols", LinearRegression()),
        ):
            yield (
                f"{label}, {targets} targets",
                lambda t=targets, f=learner: (f, *_data(60, targets=t), {"test": ho.KFold(3)}),
            )


def _columns() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def spoiled(kind: str) -> tuple[Any, Any]:
        X, y = _data(80, 6)
        if kind == "constant":
            X[:, 2] = 0.1
        elif kind == "constant in a training part":
            X[:, 2] = 0.0
            X[:3, 2] = [1.0, 2.0, 3.0]
        elif kind == "one row alone":
            X[:, 2] = 0.3
            X[17, 2] = 1.0
        elif kind == "rare":
            X[:, 2] = 0.0
            X[[5, 33], 2] = 1.0
        elif kind == "collinear":
            X[:, 3] = X[:, 1] + X[:, 2]
        elif kind == "nearly collinear":
            X[:, 3] = X[:, 1] + 1e-7 * np.random.default_rng(1).normal(size=80)
        elif kind == "offset 1e6":
            X += 1e6
        elif kind == "outliers":
            X[4, 1], y[9] = 1e6, 1e7
        elif kind == "nearly constant":
            X[:, 2] = 1e6 + 1e-6 * np.random.default_rng(1).normal(size=80)
        elif kind == "scales far apart":
            X = X * np.logspace(-6, 6, 6)
        elif kind == "constant target":
            y = np.full(80, 3.0)
        return X, y

    kinds = ("constant", "constant in a training part", "one row alone", "rare", "collinear", "nearly collinear")
    kinds += ("offset 1e6", "outliers", "nearly constant", "scales far apart", "constant target")
    for kind in kinds:
        yield f"ridge, {kind}", lambda k=kind: (_ridge(), *spoiled(k), {"test": ho.KFold(4)})
        yield f"scaler and ridge, {kind}", lambda k=kind: (_scaled(), *spoiled(k), {"test": ho.KFold(4)})
        yield f"least squares, {kind}", lambda k=kind: (LinearRegression(), *spoiled(k), {"test": ho.KFold(4)})
        for label, learner in (("ridge", _ridge), ("scaler and ridge", _scaled)):
            yield (
                f"{label} leave-one-out, {kind}",
                lambda k=kind, f=learner: (
                    f(validation=ho.LeaveOneOut()),
                    *spoiled(k),
                    {"test": ho.Holdout(0.2)},
                ),
            )


def _forms() -> Iterator[tuple[str, Callable[[], Posed]]]:
    both = [True, False]
    pipe = make_pipeline(StandardScaler(), Ridge())
    # With an intercept, centring before it changes nothing but rounding: such candidates would tie.
    with_intercept = {"ridge__alpha": [0.01, 1.0, 100.0], "standardscaler__with_std": both}
    without = with_intercept | {"ridge__fit_intercept": [False], "standardscaler__with_mean": both}
    space = [with_intercept, without]
    weight = np.random.default_rng(5).uniform(0.2, 3, 70)
    holes = np.where(np.arange(70) % 5 == 0, 0.0, weight)
    for validation, recipe in (("k-fold", ho.KFold(4)), ("leave-one-out", ho.LeaveOneOut())):
        for label, rows in (("", None), ("weights", weight), ("weights with zeros", holes)):
            if rows is holes and validation == "leave-one-out":
                continue  # a held-out row of weight 0 has no mean loss
            yield (
                f"every form, {validation}, {label}",
                lambda v=recipe, w=rows: (
                    ho.Tuned(pipe, space, validation=v),
                    *_data(70, 4),
                    {"test": ho.Holdout(0.3), "sample_weight": w},
                ),
            )
    mixed = {"standardscaler": [StandardScaler(), "passthrough"], "ridge__alpha": ALPHAS}
    yield "scaler on and off", lambda: (ho.Tuned(pipe, mixed, validation=ho.KFold(3)), *_data(), {"test": ho.KFold(3)})
    yield (
        "alpha 0",
        lambda: (ho.Tuned(Ridge(), {"alpha": [0, 1]}, validation=ho.KFold(3)), *_data(), {"test": ho.KFold(3)}),
    )
    yield "svd", lambda: (ho.Tuned(Ridge(solver="svd"), {"alpha": ALPHAS}), *_data(), {"test": ho.KFold(3)})
    yield "few alphas", lambda: (ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}), *_data(), {"test": ho.KFold(3)})
    yield "an iterative solver", lambda: (Ridge(solver="lsqr", tol=1e-10), *_data(), {"test": ho.KFold(3)})
    yield "positive", lambda: (Ridge(positive=True), *_data(), {"test": ho.KFold(3)})
    yield (
        "least squares, weights",
        lambda: (
            make_pipeline(StandardScaler(), LinearRegression()),
            *_data(70, 4),
            {"test": ho.KFold(3), "sample_weight": weight},
        ),
    )
    yield "least squares, leave-one-out", lambda: (LinearRegression(), *_data(40), {"test": ho.LeaveOneOut()})
    yield (
        "random search",
        lambda: (
            ho.Tuned(pipe, ho.Sample(7, {"ridge__alpha": ALPHAS, "ridge__fit_intercept": both}), random_state=3),
            *_data(),
            {"test": ho.KFold(3)},
        ),
    )


def _classes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def task(n: int = 80, kinds: int = 3, p: int = 4) -> tuple[Any, Any]:
        X, _ = _data(n, p)
        return X, _labels(X, kinds)

    weight = np.random.default_rng(5).uniform(0.2, 3, 80)
    for kinds in (2, 3):
        weights: dict[str, Any] = {"": None, "balanced": "balanced", "dict": {0: 2.0, 1: 0.5}}
        for label, class_weight in weights.items():
            for validation, recipe in (("k-fold", ho.KFold(3)), ("leave-one-out", ho.LeaveOneOut())):
                yield (
                    f"{kinds} classes, {label}, {validation}",
                    lambda k=kinds, c=class_weight, v=recipe: (
                        _classifier(RidgeClassifier(class_weight=c), validation=v),
                        *task(kinds=k),
                        {"test": ho.KFold(3)},
                    ),
                )
        yield (
            f"{kinds} classes, balanced and weighted",
            lambda k=kinds: (
                _classifier(RidgeClassifier(class_weight="balanced")),
                *task(kinds=k),
                {"test": ho.KFold(3), "sample_weight": weight},
            ),
        )
        yield (
            f"{kinds} classes, more columns than rows",
            lambda k=kinds: (
                _classifier(RidgeClassifier(class_weight="balanced")),
                *task(50, k, 80),
                {"test": ho.KFold(3)},
            ),
        )
    words = np.array(["no", "perhaps", "yes"])
    yield "text labels", lambda: (_classifier(), task()[0], words[task()[1]], {"test": ho.KFold(3)})
    yield "true and false", lambda: (_classifier(), task()[0], task()[1] > 0, {"test": ho.KFold(3)})
    yield (
        "area under the curve",
        lambda: (
            _classifier(loss=["zero_one", "roc_auc"]),
            *task(kinds=2),
            {"test": ho.KFold(3), "loss": ["roc_auc", "zero_one"]},
        ),
    )

    def rare() -> tuple[Any, Any]:
        X, y = task()
        y = np.where(y == 2, 0, y)
        y[[7, 50]] = 2
        return X, y

    for label, recipe in (("k-fold", ho.KFold(4, stratify=False)), ("leave-one-out", ho.LeaveOneOut())):
        yield (
            f"absent classes, {label}",
            lambda v=recipe: (
                _classifier(RidgeClassifier(class_weight="balanced"), validation=v),
                *rare(),
                {"test": ho.KFold(3, stratify=False)},
            ),
        )


def _containers() -> Iterator[tuple[str, Callable[[], Posed]]]:
    names = ["a", "b", "c", "d", "e"]
    columns = ColumnTransformer([("scaled", StandardScaler(), ["d", "a"]), ("kept", "passthrough", ["b"])])
    rest = ColumnTransformer(
        [("gone", "drop", [1]), ("mean", StandardScaler(with_std=False), slice(2, 4))], remainder=StandardScaler()
    )
    chosen = ColumnTransformer([("floats", StandardScaler(), make_column_selector(dtype_include="float64"))])

    def frame(kind: str) -> tuple[Any, Any]:
        X, y = _data()
        table = pd.DataFrame(X, columns=names)
        if kind == "mixed":
            table["b"] = table["b"].round().astype("int32")
            table["c"] = table["c"] > table["c"].median()
        return (pl.from_pandas(table) if kind == "polars" else table), y

    for kind in ("pandas", "polars", "mixed"):
        for label, before in (("scaler", StandardScaler()), ("columns", columns), ("the rest", rest)):
            yield (
                f"{kind}, {label}",
                lambda k=kind, b=before: (
                    ho.Tuned(make_pipeline(b, Ridge()), {"ridge__alpha": ALPHAS}, validation=ho.KFold(3)),
                    *frame(k),
                    {"test": ho.KFold(3)},
                ),
            )
    yield (
        "a selector of columns",
        lambda: (
            ho.Tuned(make_pipeline(chosen, Ridge()), {"ridge__alpha": ALPHAS}, validation=ho.LeaveOneOut()),
            *frame("mixed"),
            {"test": ho.Holdout(0.3)},
        ),
    )
    for dtype in (np.int64, np.int8, bool, np.float32, np.float16):
        yield (
            f"X of type {np.dtype(dtype)}",
            lambda t=dtype: (_scaled(), _data()[0].astype(t), _data()[1], {"test": ho.KFold(3)}),
        )
    yield "whole numbers as y", lambda: (_ridge(), _data()[0], _data()[1].round().astype(int), {"test": ho.KFold(3)})
    yield "X in columns", lambda: (_scaled(), np.asfortranarray(_data()[0]), _data()[1], {"test": ho.KFold(3)})
    yield "sparse", lambda: (_ridge(), sparse.csr_matrix(_data()[0]), _data()[1], {"test": ho.KFold(3)})


def _hard() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def indicators() -> tuple[Any, Any]:
        rng = np.random.default_rng(0)
        one, two = rng.integers(0, 4, 90), rng.integers(0, 3, 90)
        X = np.column_stack([np.eye(4)[one], np.eye(3)[two], rng.normal(size=90)])
        return X, one + 2.0 * two + rng.normal(size=90)

    def noiseless() -> tuple[Any, Any]:
        X, _ = _data()
        return X, X @ np.arange(5.0) + 2

    tiny = {"alpha": [1e-10, 1e-6, 1e-2]}
    for label, data in (("indicators", indicators), ("noiseless", noiseless)):
        for validation, recipe in (("k-fold", ho.KFold(4)), ("leave-one-out", ho.LeaveOneOut())):
            yield (
                f"{label}, tiny alphas, {validation}",
                lambda d=data, v=recipe: (
                    ho.Tuned(Ridge(), tiny, validation=v),
                    *d(),
                    {"test": ho.Holdout(0.2)},
                ),
            )
            yield (
                f"{label}, {validation}",
                lambda d=data, v=recipe: (_scaled(validation=v), *d(), {"test": ho.Holdout(0.2)}),
            )
        yield f"least squares, {label}", lambda d=data: (LinearRegression(), *d(), {"test": ho.KFold(4)})
