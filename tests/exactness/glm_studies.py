"""Generated studies for the kernel `glm`, compared with scikit-learn's own fits at their default tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

Posed = tuple[Any, Any, Any, dict[str, Any]]
RULE, TIER = "glm", "rounding"
CS = ho.log_grid(-3, 3, 5)
ALPHAS = ho.log_grid(-3, 2, 4)


def studies() -> Iterator[tuple[str, Callable[[], Posed]]]:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for make in (_recipes, _forms, _shapes, _columns, _counts, _labels, _containers, _refused):
        yield from make()


def _X(n: int = 90, p: int = 4, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * rng.uniform(0.3, 3, p) + rng.normal(size=p)


def _classes(kinds: int = 2, n: int = 90, p: int = 4, seed: int = 0) -> tuple[Any, Any]:
    X, rng = _X(n, p, seed), np.random.default_rng(seed + 1)
    score = (X - X.mean(axis=0))[:, :2].sum(axis=1) / X[:, :2].std() + 1.5 * rng.normal(size=n)
    return X, np.argsort(np.argsort(score)) * kinds // n


def _numbers(power: float = 1.0, n: int = 90, p: int = 4, seed: int = 0) -> tuple[Any, Any]:
    X, rng = _X(n, p, seed), np.random.default_rng(seed + 1)
    mean = np.exp(0.3 * (X - X.mean(axis=0)) @ rng.normal(size=p) + 0.5)
    return X, rng.poisson(mean).astype(float) if power < 2 else rng.gamma(2.0, mean / 2) + 1e-3


def _logistic(before: Any = StandardScaler, *, validation: Any = None, **options: Any) -> ho.Tuned:
    model = LogisticRegression(**options)
    estimator = model if before is None else make_pipeline(before(), model)
    name = "C" if before is None else "logisticregression__C"
    validation = ho.KFold(3) if validation is None else validation
    return ho.Tuned(estimator, {name: CS}, validation=validation, loss="log")


def _regressor(model: Any, *, scaled: bool = True) -> ho.Tuned:
    estimator = make_pipeline(StandardScaler(), model) if scaled else model
    name = f"{type(model).__name__.lower()}__alpha" if scaled else "alpha"
    return ho.Tuned(estimator, {name: ALPHAS}, validation=ho.KFold(3))


def _recipes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    groups, time = np.repeat(np.arange(15), 6), np.arange(90)
    backwards = [(np.arange(80)[::-1], np.arange(80, 90)), (np.arange(10, 90), np.arange(9))]
    outer: dict[str, dict[str, Any]] = {
        "k-fold": {"test": ho.KFold(4)},
        "repeats": {"test": ho.KFold(3, repeats=2)},
        "resample": {"test": ho.Resample(3, 0.3)},
        "most rows held out": {"test": ho.Resample(3, 0.7)},
        "groups": {"test": ho.KFold(3), "groups": groups},
        "forward": {"test": ho.Forward(3), "time": time},
        "scikit-learn's groups": {"test": GroupKFold(3), "groups": groups},
        "unordered rows": {"test": backwards},
        "shuffled rows": {"test": ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0)},
        "given rows": {"test": ho.Given(np.arange(10, 30))},
    }
    for label, arguments in outer.items():
        inside = ho.Forward(2) if "time" in arguments else ho.KFold(3)
        for kinds in (2, 3):
            yield (
                f"{kinds} classes, {label}",
                lambda a=arguments, i=inside, k=kinds: (_logistic(validation=i), *_classes(k), a),
            )
    for kinds in (2, 3):
        yield (
            f"{kinds} classes, shared blocks",
            lambda k=kinds: (_logistic(validation=ho.SharedBlocks()), *_classes(k), {"test": ho.KFold(4)}),
        )
        yield (
            f"{kinds} classes, leave-one-out",
            lambda k=kinds: (_logistic(validation=ho.LeaveOneOut()), *_classes(k, 40), {"test": ho.Holdout(0.3)}),
        )
    repeated = [(np.repeat(np.arange(40), 2), np.arange(80, 90))]
    for learner in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        yield f"repeated rows, {learner}", lambda e=learner: (e, *_classes(), {"test": repeated})
        yield f"untuned, leave-one-out, {learner}", lambda e=learner: (e, *_classes(2, 30), {"test": ho.LeaveOneOut()})
    yield (
        "kept",
        lambda: (
            ho.Tuned(LogisticRegression(), {"C": CS}, validation=ho.Holdout(0.3), final="keep"),
            *_classes(3),
            {"test": ho.KFold(3)},
        ),
    )


def _forms() -> Iterator[tuple[str, Callable[[], Posed]]]:
    weight = np.random.default_rng(5).uniform(0.2, 3, 90)
    holes = np.where(np.arange(90) % 5 == 0, 0.0, weight)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    every = {
        "logisticregression__C": [0.01, 1.0, 30.0],
        "logisticregression__fit_intercept": [True, False],
        "standardscaler__with_mean": [True, False],
        "standardscaler__with_std": [True, False],
    }
    for kinds in (2, 3):
        for label, rows in (
            ("", None),
            (", weights", weight),
            (", weights with zeros", holes),
            (", heavy", 1e6 * weight),
        ):
            yield (
                f"every form, {kinds} classes{label}",
                lambda k=kinds, w=rows: (
                    ho.Tuned(pipe, every, validation=ho.KFold(3)),
                    *_classes(k),
                    {"test": ho.KFold(3), "sample_weight": w},
                ),
            )
        weights: dict[str, Any] = {"balanced": "balanced", "named": {0: 3.0, 1: 0.5}}
        for label, chosen in weights.items():
            for rows in (None, weight):
                yield (
                    f"{kinds} classes, {label}, weights {rows is not None}",
                    lambda k=kinds, c=chosen, w=rows: (
                        _logistic(class_weight=c),
                        *_classes(k),
                        {"test": ho.KFold(3), "sample_weight": w},
                    ),
                )
        for solver in ("newton-cg", "newton-cholesky", "sag", "saga"):
            yield (
                f"{kinds} classes, {solver}",
                lambda k=kinds, s=solver: (_logistic(solver=s, max_iter=500), *_classes(k), {"test": ho.KFold(3)}),
            )
    yield (
        "scaler on and off",
        lambda: (
            ho.Tuned(pipe, {"standardscaler": [StandardScaler(), "passthrough"], "logisticregression__C": CS}),
            *_classes(),
            {"test": ho.KFold(3)},
        ),
    )
    yield "no penalty", lambda: (LogisticRegression(C=np.inf), *_classes(), {"test": ho.KFold(3)})
    yield "one C", lambda: (LogisticRegression(C=1e3), *_classes(3), {"test": ho.KFold(3)})
    yield (
        "several losses",
        lambda: (
            ho.Tuned(pipe, {"logisticregression__C": CS}, loss=["log", "zero_one", "roc_auc"]),
            *_classes(),
            {"test": ho.KFold(3), "loss": ["roc_auc", "log"]},
        ),
    )


def _shapes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    for n, p in ((40, 60), (60, 1), (60, 70), (30, 29), (300, 100)):
        yield f"{n} × {p}, scaled", lambda n=n, p=p: (_logistic(), *_classes(2, n, p), {"test": ho.KFold(3)})
        yield f"{n} × {p}", lambda n=n, p=p: (_logistic(None), *_classes(3, n, p), {"test": ho.KFold(3)})
    yield "six classes", lambda: (_logistic(), *_classes(6, 150), {"test": ho.KFold(3)})

    def many_rows(kinds: int) -> tuple[Any, Any]:
        X, y = _classes(kinds, 3000, 6)
        X[:, 5] = X[:, 1] - X[:, 2]
        return X, y

    for kinds in (2, 3):
        yield f"3,000 rows, {kinds} classes", lambda k=kinds: (_logistic(), *many_rows(k), {"test": ho.KFold(3)})


def _columns() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def spoiled(kind: str, kinds: int) -> tuple[Any, Any]:
        X, y = _classes(kinds)
        rng = np.random.default_rng(3)
        if kind == "constant":
            X[:, 2] = 0.1
        elif kind == "constant in a training part":
            X[:, 2] = 0.0
            X[:3, 2] = [1.0, 2.0, 3.0]
        elif kind == "one row alone":
            X[:, 2] = 0.3
            X[17, 2] = 1.0
        elif kind == "collinear":
            X[:, 3] = X[:, 1] + X[:, 2]
        elif kind == "nearly collinear":
            X[:, 3] = X[:, 1] + 1e-7 * rng.normal(size=90)
        elif kind == "offset 1e6":
            X += 1e6
        elif kind == "outliers":
            X[4, 1] = 1e4
        elif kind == "nearly constant":
            X[:, 2] = 1e6 + 1e-6 * rng.normal(size=90)
        elif kind == "scales far apart":
            X = X * np.logspace(-3, 3, 4)
        elif kind == "duplicated rows":
            X[45:], y[45:] = X[:45], y[:45]
        elif kind == "separable":
            y = (X[:, 0] > np.median(X[:, 0])).astype(int) if kinds == 2 else np.argsort(np.argsort(X[:, 0])) * 3 // 90
        return X, y

    kinds = ("constant", "constant in a training part", "one row alone", "collinear", "nearly collinear", "offset 1e6")
    kinds += ("outliers", "nearly constant", "scales far apart", "duplicated rows", "separable")
    for kind in kinds:
        yield f"{kind}, scaled", lambda k=kind: (_logistic(), *spoiled(k, 2), {"test": ho.KFold(3)})
        yield f"{kind}, scaled, 3 classes", lambda k=kind: (_logistic(), *spoiled(k, 3), {"test": ho.KFold(3)})
        yield f"{kind}", lambda k=kind: (_logistic(None), *spoiled(k, 2), {"test": ho.KFold(3)})
    huge = {"C": [1e2, 1e6, 1e12]}
    yield (
        "separable, huge C",
        lambda: (ho.Tuned(LogisticRegression(max_iter=5000), huge), *spoiled("separable", 2), {"test": ho.KFold(3)}),
    )


def _counts() -> Iterator[tuple[str, Callable[[], Posed]]]:
    weight = np.random.default_rng(5).uniform(0.2, 3, 90)
    models = (PoissonRegressor(), GammaRegressor(), TweedieRegressor(power=1.5), TweedieRegressor(power=1))
    models += (PoissonRegressor(fit_intercept=False), GammaRegressor(solver="newton-cholesky"))
    for model in models:
        power = 2.0 if isinstance(model, GammaRegressor) else 1.0
        for scaled in (True, False):
            for label, rows in (("", None), (", weights", weight)):
                yield (
                    f"{model}, scaled {scaled}{label}",
                    lambda m=model, s=scaled, w=rows, q=power: (
                        _regressor(m, scaled=s),
                        *_numbers(q),
                        {"test": ho.KFold(3), "sample_weight": w},
                    ),
                )
    rare = np.where(np.arange(90) < 3, 2.0, 0.0)
    yield "few counts", lambda: (_regressor(PoissonRegressor()), _X(), rare, {"test": ho.KFold(3)})
    yield "large counts", lambda: (_regressor(PoissonRegressor()), _X(), 1e5 * _numbers()[1], {"test": ho.KFold(3)})
    yield "alpha 0", lambda: (PoissonRegressor(alpha=0), *_numbers(), {"test": ho.KFold(3)})
    yield "leave-one-out, Poisson", lambda: (PoissonRegressor(), *_numbers(1.0, 30), {"test": ho.LeaveOneOut()})
    for power in (0, 1, 1.2, 3):
        yield (
            f"Tweedie of power {power}",
            lambda q=power: (_regressor(TweedieRegressor(power=q)), *_numbers(2.0), {"test": ho.KFold(3)}),
        )


def _labels() -> Iterator[tuple[str, Callable[[], Posed]]]:
    words = np.array(["no", "perhaps", "yes"])
    yield "text", lambda: (_logistic(), _X(), words[_classes(3)[1]], {"test": ho.KFold(3)})
    yield "true and false", lambda: (_logistic(), _X(), _classes()[1] > 0, {"test": ho.KFold(3)})
    yield "text, log loss", lambda: (_logistic(), _X(), words[_classes(2)[1]], {"test": ho.KFold(3), "loss": "log"})

    def rare() -> tuple[Any, Any]:
        X, y = _classes(2)
        y[[7, 50]] = 2
        return X, y

    for balance in (None, "balanced"):
        yield (
            f"absent classes, {balance}",
            lambda b=balance: (
                _logistic(class_weight=b, validation=ho.KFold(4, stratify=False)),
                *rare(),
                {"test": ho.KFold(3, stratify=False)},
            ),
        )


def _containers() -> Iterator[tuple[str, Callable[[], Posed]]]:
    names = ["a", "b", "c", "d"]
    some = ColumnTransformer([("scaled", StandardScaler(), ["d", "a"]), ("kept", "passthrough", ["b"])])
    for kind in (pd.DataFrame, pl.DataFrame):
        frame = kind(dict(zip(names, _X().T, strict=True)))
        yield kind.__module__.split(".")[0], lambda f=frame: (_logistic(), f, _classes()[1], {"test": ho.KFold(3)})
        yield (
            f"{kind.__module__.split('.')[0]}, some columns",
            lambda f=frame: (
                ho.Tuned(make_pipeline(some, LogisticRegression()), {"logisticregression__C": CS}),
                f,
                _classes(3)[1],
                {"test": ho.KFold(3)},
            ),
        )
    for dtype in (np.int64, np.float32):
        yield (
            f"X of type {np.dtype(dtype)}",
            lambda t=dtype: (_logistic(), (5 * _X()).astype(t), _classes()[1], {"test": ho.KFold(3)}),
        )
    yield "X in columns", lambda: (_logistic(), np.asfortranarray(_X()), _classes()[1], {"test": ho.KFold(3)})


def _refused() -> Iterator[tuple[str, Callable[[], Posed]]]:
    yield "sparse", lambda: (_logistic(None), sparse.csr_matrix(_X()), _classes()[1], {"test": ho.KFold(3)})
    for label, options in (
        ("liblinear", {"solver": "liblinear"}),
        ("l1", {"solver": "saga", "l1_ratio": 1.0}),
        ("few iterations", {"max_iter": 3}),
        ("loose", {"tol": 0.5}),
    ):
        yield label, lambda o=options: (_logistic(**o), *_classes(), {"test": ho.KFold(3)})
