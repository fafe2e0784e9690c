"""Generated studies for the kernel `lasso`: each must give what brute force gives, rule on and rule off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

Posed = tuple[Any, Any, Any, dict[str, Any]]
RULE, TIER = "lasso", "rounding"
ALPHAS = ho.log_grid(-3, 1, 7)


def studies() -> Iterator[tuple[str, Callable[[], Posed]]]:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for make in (_recipes, _forms, _columns, _containers, _hard):
        yield from make()


def _data(n: int = 90, p: int = 8, seed: int = 0, *, targets: int | None = None, rho: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for column in range(1, p):
        X[:, column] = rho * X[:, column - 1] + np.sqrt(1 - rho**2) * X[:, column]
    X = X * rng.uniform(0.2, 5, p) + rng.normal(size=p) * 3
    coef = rng.normal(size=(p,) if targets is None else (p, targets)) * (
        rng.uniform(size=p) < 0.6 if targets is None else 1
    )
    return X, X @ coef + rng.normal(size=n if targets is None else (n, targets)) + 10


def _lasso(**options: Any) -> ho.Tuned:
    return ho.Tuned(Lasso(), {"alpha": ALPHAS}, **{"validation": ho.KFold(4)} | options)


def _scaled(model: Any = None, **options: Any) -> ho.Tuned:
    model = Lasso() if model is None else model
    name = f"{type(model).__name__.lower()}__alpha"
    return ho.Tuned(make_pipeline(StandardScaler(), model), {name: ALPHAS}, **{"validation": ho.KFold(3)} | options)


def _recipes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    groups, time = np.repeat(np.arange(15), 6), np.arange(90)
    outer: dict[str, dict[str, Any]] = {
        "k-fold": {"test": ho.KFold(5)},
        "repeats": {"test": ho.KFold(3, repeats=2)},
        "resample": {"test": ho.Resample(4, 0.3)},
        "holdout": {"test": ho.Holdout(0.25)},
        "given rows": {"test": ho.Given(np.arange(10, 30))},
        "groups": {"test": ho.KFold(5), "groups": groups},
        "forward in time": {"test": ho.Forward(4), "time": time},
        "scikit-learn's groups": {"test": GroupKFold(3), "groups": groups},
        "unordered rows": {"test": [(np.arange(80)[::-1], np.arange(80, 90)), (np.arange(10, 90), np.arange(9))]},
        "shuffled rows": {"test": ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0)},
    }
    for label, arguments in outer.items():
        inside = {"validation": ho.Forward(3)} if "time" in arguments else {}
        yield f"lasso, {label}", lambda a=arguments, i=inside: (_lasso(**i), *_data(), a)
        yield f"scaler and lasso, {label}", lambda a=arguments, i=inside: (_scaled(**i), *_data(), a)
    repeated = [(np.repeat(np.arange(40), 2), np.arange(80, 90))]
    yield "repeated rows", lambda: (Lasso(0.1), *_data(), {"test": repeated})
    for label, learner in (("lasso", _lasso), ("scaler and lasso", _scaled)):
        yield (
            f"{label}, leave-one-out",
            lambda f=learner: (f(validation=ho.LeaveOneOut()), *_data(50), {"test": ho.Holdout(0.3)}),
        )
        yield (
            f"{label}, shared blocks",
            lambda f=learner: (f(validation=ho.SharedBlocks()), *_data(), {"test": ho.KFold(4)}),
        )
        yield (
            f"{label}, one standard error, several losses",
            lambda f=learner: (f(choose="one_se", loss=["squared", "absolute", "r2"]), *_data(), {"test": ho.KFold(3)}),
        )
    yield "ensemble", lambda: (_scaled(final="ensemble"), *_data(), {"test": ho.KFold(3)})
    yield "kept", lambda: (_scaled(validation=ho.Holdout(0.3), final="keep"), *_data(), {"test": ho.KFold(3)})


def _forms() -> Iterator[tuple[str, Callable[[], Posed]]]:
    weight = np.random.default_rng(1).uniform(0.1, 3, 90)
    some = weight * (np.arange(90) % 7 > 0)
    ratios = {"elasticnet__alpha": ALPHAS, "elasticnet__l1_ratio": [0.1, 0.5, 0.95, 1.0]}
    net = make_pipeline(StandardScaler(), ElasticNet())
    yield "alphas and ratios", lambda: (ho.Tuned(net, ratios, validation=ho.KFold(3)), *_data(), {"test": ho.KFold(3)})
    flat = {"alpha": ALPHAS, "l1_ratio": [0.0, 0.5]}
    yield (
        "no absolute penalty",
        lambda: (ho.Tuned(ElasticNet(), flat, validation=ho.KFold(3)), *_data(), {"test": ho.KFold(3)}),
    )
    for label, model in (
        ("no intercept", Lasso(fit_intercept=False)),
        ("positive", Lasso(positive=True)),
        ("positive net", ElasticNet(positive=True, l1_ratio=0.7)),
        ("random selection", Lasso(selection="random")),
        ("a tight tolerance", Lasso(tol=1e-11)),
        ("a loose tolerance", Lasso(tol=1e-2)),
        ("products asked for", Lasso(precompute=True)),
        ("warm start", ElasticNet(warm_start=True, copy_X=False)),
    ):
        yield label, lambda m=model: (_scaled(m), *_data(), {"test": ho.KFold(3)})
        yield (
            f"{label}, weights",
            lambda m=model: (_scaled(m), *_data(), {"test": ho.KFold(3), "sample_weight": weight}),
        )
    for label, own in (("weights", weight), ("some weights 0", some)):
        yield f"lasso, {label}", lambda w=own: (_lasso(), *_data(), {"test": ho.KFold(4), "sample_weight": w})
        yield (
            f"positive without intercept, {label}",
            lambda w=own: (
                ho.Tuned(Lasso(positive=True, fit_intercept=False), {"alpha": ALPHAS}),
                *_data(),
                {"test": ho.KFold(3), "sample_weight": w},
            ),
        )
    mixed = {"standardscaler": [StandardScaler(), "passthrough"], "lasso__alpha": ALPHAS}
    pipe = make_pipeline(StandardScaler(), Lasso())
    yield "scaler on and off", lambda: (ho.Tuned(pipe, mixed, validation=ho.KFold(3)), *_data(), {"test": ho.KFold(3)})
    for label, scaler in (("no mean", StandardScaler(with_mean=False)), ("no scale", StandardScaler(with_std=False))):
        yield (
            f"scaler, {label}",
            lambda s=scaler: (
                ho.Tuned(make_pipeline(s, Lasso(fit_intercept=False)), {"lasso__alpha": ALPHAS}),
                *_data(),
                {"test": ho.KFold(3)},
            ),
        )


def _columns() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def far() -> tuple[Any, Any]:
        X, y = _data()
        return X + 1e6, y + 1e5

    def constant() -> tuple[Any, Any]:
        X, y = _data()
        X[:, 2], X[:, 5] = 0.1, np.arange(90) == 7
        return X, y

    def twice() -> tuple[Any, Any]:
        X, y = _data()
        X[:, 3] = X[:, 1]
        return X, y

    def rows_twice() -> tuple[Any, Any]:
        X, y = _data()
        X[45:], y[45:] = X[:45], y[:45]
        return X, y

    def indicators() -> tuple[Any, Any]:
        rng = np.random.default_rng(0)
        one, two = rng.integers(0, 4, 90), rng.integers(0, 3, 90)
        return np.column_stack([np.eye(4)[one], np.eye(3)[two], rng.normal(size=90)]), one + 2.0 * two

    def units() -> tuple[Any, Any]:
        X, y = _data()
        return X * 10.0 ** np.linspace(-6, 6, 8), y

    for label, data in (
        ("columns far from 0", far),
        ("constant columns", constant),
        ("a column twice", twice),
        ("rows twice", rows_twice),
        ("indicators", indicators),
        ("columns of other units", units),
    ):
        yield f"lasso, {label}", lambda d=data: (_lasso(), *d(), {"test": ho.KFold(3)})
        yield f"scaler and lasso, {label}", lambda d=data: (_scaled(), *d(), {"test": ho.KFold(3)})
        yield f"net, {label}", lambda d=data: (_scaled(ElasticNet()), *d(), {"test": ho.KFold(3)})


def _containers() -> Iterator[tuple[str, Callable[[], Posed]]]:
    names = list("abcdefgh")
    columns = ColumnTransformer([("scaled", StandardScaler(), ["d", "a", "f"]), ("kept", "passthrough", ["b"])])

    def frame(kind: str, dtype: Any = np.float64) -> tuple[Any, Any]:
        X, y = _data()
        table = pd.DataFrame(X.astype(dtype), columns=names)
        return (pl.from_pandas(table) if kind == "polars" else table), y

    for kind in ("pandas", "polars"):
        for label, before in (("scaler", StandardScaler()), ("columns", columns)):
            yield (
                f"{kind}, {label}",
                lambda k=kind, b=before: (
                    ho.Tuned(make_pipeline(b, Lasso()), {"lasso__alpha": ALPHAS}, validation=ho.KFold(3)),
                    *frame(k),
                    {"test": ho.KFold(3)},
                ),
            )
        yield f"{kind}, float32", lambda k=kind: (_scaled(), *frame(k, np.float32), {"test": ho.KFold(3)})
    for dtype in (np.int64, np.int8, bool, np.float32):
        yield (
            f"X of type {np.dtype(dtype)}",
            lambda t=dtype: (_scaled(), _data()[0].astype(t), _data()[1], {"test": ho.KFold(3)}),
        )
    yield "whole numbers as y", lambda: (_lasso(), _data()[0], _data()[1].round().astype(int), {"test": ho.KFold(3)})
    single = _data()[1].astype(np.float32)
    yield "y of type float32", lambda: (_lasso(), _data()[0], single, {"test": ho.KFold(3)})


def _hard() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def noiseless() -> tuple[Any, Any]:
        X, _ = _data()
        return X, X @ np.arange(8.0) + 2

    tiny = {"alpha": [1e-8, 1e-6, 1e-4, 1e-2]}
    yield "noiseless, tiny alphas", lambda: (ho.Tuned(Lasso(), tiny), *noiseless(), {"test": ho.Holdout(0.3)})
    yield "tiny alphas", lambda: (ho.Tuned(Lasso(), tiny), *_data(), {"test": ho.Holdout(0.3)})
    yield "all coefficients 0", lambda: (Lasso(1e6), *_data(), {"test": ho.KFold(3)})
    yield "one column", lambda: (_lasso(), *_data(60, 1), {"test": ho.KFold(3)})
    yield "y is constant", lambda: (_lasso(), _data()[0], np.full(90, 3.5), {"test": ho.KFold(3)})
    for rho in (0.9, 0.99, 0.9999):
        for n, p in ((200, 30), (60, 40)):
            yield (
                f"correlated {rho}, {n} × {p}",
                lambda r=rho, n=n, p=p: (_scaled(), *_data(n, p, rho=r), {"test": ho.KFold(3)}),
            )
    for n, p in ((40, 60), (30, 45), (24, 20), (30, 200)):
        yield f"{n} × {p}", lambda n=n, p=p: (_scaled(), *_data(n, p), {"test": ho.KFold(3)})
    sample = ho.Sample(12, {"alpha": ALPHAS, "l1_ratio": [0.2, 0.8], "fit_intercept": [True, False]})
    yield "random search", lambda: (ho.Tuned(ElasticNet(), sample, random_state=3), *_data(), {"test": ho.KFold(3)})
