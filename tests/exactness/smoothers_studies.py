"""Generated studies for the kernel `smoothers`: each must give what brute force gives, rule on and rule off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

Posed = tuple[Any, Any, Any, dict[str, Any]]
RULE, TIER = "smoothers", "rounding"
ALPHAS = [1e-4, 1e-2, 1.0, 100.0]


def studies() -> Iterator[tuple[str, Callable[[], Posed]]]:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for make in (_recipes, _kernels, _processes, _hard, _containers):
        yield from make()


def _data(n: int = 72, p: int = 4, seed: int = 0, *, targets: int | None = None) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.4, 2, p)
    signal = np.sin(2 * X[:, :1]) + X @ rng.normal(size=(p, targets or 1))
    Y = signal + 0.3 * rng.normal(size=(n, targets or 1)) + 3
    return X, Y if targets else Y[:, 0]


def _tuned(estimator: Any = None, space: Any = None, **options: Any) -> ho.Tuned:
    estimator = KernelRidge(kernel="rbf") if estimator is None else estimator
    space = {"alpha": ALPHAS, "gamma": [0.05, 0.3]} if space is None else space
    return ho.Tuned(estimator, space, **{"validation": ho.KFold(6)} | options)


def _process(kernel: Any = None, **options: Any) -> Any:
    kernel = kernels.RBF(1.5) + kernels.WhiteKernel(0.1) if kernel is None else kernel
    return GaussianProcessRegressor(kernel, **{"optimizer": None} | options)


def _recipes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    groups = np.repeat(np.arange(12), 6)
    outer: dict[str, dict[str, Any]] = {
        "k-fold": {"test": ho.KFold(6)},
        "repeats": {"test": ho.KFold(4, repeats=2)},
        "resample": {"test": ho.Resample(4, 0.2)},
        "resample, most rows held out": {"test": ho.Resample(3, 0.7)},
        "holdout": {"test": ho.Holdout(0.25)},
        "given rows": {"test": ho.Given(np.arange(10, 30))},
        "groups": {"test": ho.KFold(4), "groups": groups},
        "forward in time": {"test": ho.Forward(4), "time": np.arange(72)},
        "unordered training rows": {"test": [(np.arange(64)[::-1], np.arange(64, 72))]},
        "shuffled training rows": {"test": ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0)},
        "weights": {"test": ho.KFold(6), "sample_weight": np.random.default_rng(5).uniform(0.2, 3, 72)},
        "weights far apart": {"test": ho.KFold(6), "sample_weight": np.logspace(-5, 2, 72)},
        "weights with zeros": {"test": ho.KFold(4), "sample_weight": np.where(np.arange(72) % 5 == 0, 0.0, 1.0)},
    }
    for label, arguments in outer.items():
        inside = {"validation": ho.Forward(3)} if "time" in arguments else {}
        yield f"kernel ridge, {label}", lambda a=arguments, i=inside: (_tuned(**i), *_data(), a)
    for label in ("k-fold", "resample, most rows held out", "groups"):
        yield (
            f"process, {label}",
            lambda a=outer[label]: (_tuned(_process(normalize_y=True), {"alpha": [1e-3, 0.1]}), *_data(), a),
        )
    repeated = {"test": [(np.repeat(np.arange(40), 2), np.arange(60, 72))]}
    yield "repeated training rows", lambda: (KernelRidge(kernel="rbf"), *_data(), repeated)
    loo = ho.LeaveOneOut()
    for label, learner in (
        ("kernel ridge", lambda **o: _tuned(**o)),
        ("process", lambda **o: _tuned(_process(normalize_y=True), {"alpha": [1e-3, 0.1]}, **o)),
    ):
        yield f"{label}, leave-one-out", lambda f=learner: (f(validation=loo), *_data(), {"test": ho.Holdout(0.3)})
        yield (
            f"{label}, leave-one-out inside 3-fold",
            lambda f=learner: (f(validation=loo), *_data(40), {"test": ho.KFold(3)}),
        )
        yield (
            f"{label}, shared blocks",
            lambda f=learner: (f(validation=ho.SharedBlocks()), *_data(), {"test": ho.KFold(5)}),
        )
        yield (
            f"{label}, kept, two losses",
            lambda f=learner: (
                f(validation=ho.Holdout(0.3), final="keep", loss=["squared", "absolute", "r2"]),
                *_data(),
                {"test": ho.KFold(3)},
            ),
        )
    weight = np.random.default_rng(7).uniform(0.2, 3, 40)
    yield "weights, leave-one-out", lambda: (KernelRidge(), *_data(40), {"test": loo, "sample_weight": weight})
    yield "untuned, leave-one-out", lambda: (KernelRidge(alpha=0.5, kernel="rbf"), *_data(40), {"test": loo})
    yield "ensemble", lambda: (_tuned(final="ensemble"), *_data(), {"test": ho.KFold(3)})


def _kernels() -> Iterator[tuple[str, Callable[[], Posed]]]:
    spaces: dict[str, dict[str, Any]] = {
        "linear": {"alpha": ALPHAS},
        "rbf": {"alpha": ALPHAS, "gamma": [None, 0.5, 3.0]},
        "laplacian": {"alpha": ALPHAS, "gamma": [None, 0.5]},
        "polynomial": {"alpha": ALPHAS, "degree": [2, 3, 2.5], "coef0": [1, 10.0]},
        "poly": {"alpha": ALPHAS, "gamma": [0.1, 1.0]},
        "sigmoid": {"alpha": [*ALPHAS, 1e3], "gamma": [0.01, 1.0], "coef0": [-0.5, 1.0]},
        "cosine": {"alpha": ALPHAS},
        "chi2": {"alpha": ALPHAS, "gamma": [0.1, 1.0]},
        "additive_chi2": {"alpha": [*ALPHAS, 1e4]},
    }
    for name, space in spaces.items():
        for label, recipe in (("k-fold", ho.KFold(6)), ("leave-one-out", ho.LeaveOneOut())):

            def build(name: str = name, space: Any = space, recipe: Any = recipe) -> Posed:
                X, y = _data(48)
                X = np.abs(X) if "chi2" in name else X
                return _tuned(KernelRidge(kernel=name), space, validation=recipe), X, y, {"test": ho.KFold(3)}

            yield f"{name}, {label}", build
    yield (
        "several kernels at once, named by step",
        lambda: (
            _tuned(
                make_pipeline("passthrough", KernelRidge()),
                {"kernelridge__alpha": ALPHAS, "kernelridge__kernel": ["rbf", "linear", "laplacian"]},
            ),
            *_data(),
            {"test": ho.KFold(4)},
        ),
    )
    yield "a function as kernel", lambda: (KernelRidge(kernel=np.dot), *_data(), {"test": ho.KFold(3)})
    yield (
        "a process's kernel",
        lambda: (KernelRidge(kernel=kernels.RBF(2.0) + kernels.WhiteKernel(1.0)), *_data(), {"test": ho.KFold(6)}),
    )
    scaled = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    yield "behind a scaler", lambda: (scaled, *_data(), {"test": ho.KFold(3)})
    yield "an alpha a target", lambda: (KernelRidge(alpha=[0.1, 1.0]), *_data(targets=2), {"test": ho.KFold(3)})
    for targets in (1, 3):
        for label, recipe in (("k-fold", ho.KFold(6)), ("leave-one-out", ho.LeaveOneOut())):
            yield (
                f"{targets} targets, {label}",
                lambda t=targets, v=recipe: (_tuned(validation=v), *_data(targets=t), {"test": ho.KFold(4)}),
            )
            yield (
                f"process, {targets} targets, {label}",
                lambda t=targets, v=recipe: (
                    _tuned(_process(normalize_y=True), {"alpha": [1e-3, 0.1]}, validation=v),
                    *_data(targets=t),
                    {"test": ho.KFold(4)},
                ),
            )


def _processes() -> Iterator[tuple[str, Callable[[], Posed]]]:
    kinds = {
        "rbf": kernels.RBF([1.0, 2.0, 0.5, 3.0]),
        "matern": 2.0 * kernels.Matern(1.5, nu=1.5),
        "matern, rough": kernels.Matern(1.5, nu=0.7),
        "rational": kernels.RationalQuadratic(1.0, 0.5),
        "periodic": kernels.ExpSineSquared(1.0, 3.0) + kernels.WhiteKernel(0.5),
        "products": kernels.DotProduct(1.0) ** 2 + kernels.WhiteKernel(0.5),
    }
    for label, kernel in kinds.items():
        for normal in (True, False):
            yield (
                f"process, {label}, normalize_y={normal}",
                lambda k=kernel, m=normal: (
                    _tuned(_process(k, normalize_y=m), {"alpha": [1e-2, 1.0]}),
                    *_data(48, 1 if isinstance(k, kernels.Sum) and "ExpSine" in str(k) else 4),
                    {"test": ho.KFold(4)},
                ),
            )
    fixed = kernels.ConstantKernel(2.0, "fixed") * kernels.RBF(1.0, "fixed")
    yield "process, fixed", lambda: (GaussianProcessRegressor(fixed, alpha=0.1), *_data(), {"test": ho.KFold(6)})
    yield "process, default", lambda: (_process(None), *_data(), {"test": ho.KFold(6)})
    yield "process, tiny alpha", lambda: (_process(kernels.RBF(3.0)), *_data(), {"test": ho.KFold(6)})
    yield "process, optimised", lambda: (_process(optimizer="fmin_l_bfgs_b"), *_data(40), {"test": ho.KFold(3)})
    yield (
        "process, a parameter of its kernel that is called alpha",
        lambda: (
            _tuned(_process(kernels.RationalQuadratic(), alpha=0.1), {"kernel__alpha": [0.3, 3.0]}),
            *_data(48),
            {"test": ho.KFold(4)},
        ),
    )
    yield (
        "process, kernels as candidates",
        lambda: (
            _tuned(_process(alpha=0.1), {"kernel": [kernels.RBF(0.5), kernels.RBF(2.0), kernels.Matern()]}),
            *_data(),
            {"test": ho.KFold(4)},
        ),
    )


def _hard() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def spoiled(kind: str) -> tuple[Any, Any]:
        X, y = _data(60)
        if kind == "copies":
            X[30:], y[30:45] = X[:30], y[:15]
        elif kind == "constant column":
            X[:, 2] = 0.1
        elif kind == "offset 1e6":
            X += 1e6
        elif kind == "offset 100":
            X += 100
        elif kind == "outliers":
            X[4, 1], y[9] = 1e4, 1e7
        elif kind == "constant target":
            y = np.full(60, 3.0)
        elif kind == "target 0":
            y = np.zeros(60)
        elif kind == "target far from 0":
            y = y + 1e8
        elif kind == "more columns than rows":
            X, y = _data(30, 80)
        elif kind == "a row of zeros":
            X[7] = 0.0
        return X, y

    kinds = ("copies", "constant column", "offset 1e6", "offset 100", "outliers", "constant target", "target 0")
    kinds += ("target far from 0", "more columns than rows", "a row of zeros")
    wide = {"alpha": [1e-10, 1e-6, 1e-2, 1.0, 1e6, 1e12], "kernel": ["rbf", "linear", "cosine"]}
    for kind in kinds:
        for label, recipe in (("k-fold", ho.KFold(5)), ("leave-one-out", ho.LeaveOneOut())):
            yield (
                f"{kind}, {label}",
                lambda k=kind, v=recipe: (
                    _tuned(KernelRidge(), wide, validation=v),
                    *spoiled(k),
                    {"test": ho.KFold(3)},
                ),
            )
        yield (
            f"process, {kind}",
            lambda k=kind: (
                _tuned(_process(normalize_y=True), {"alpha": [1e-10, 1e-2]}),
                *spoiled(k),
                {"test": ho.KFold(3)},
            ),
        )
    for alpha in (0.0, 1e-12, 1e-8, 1e4, 1e9):
        for label, recipe in (("k-fold", ho.KFold(10)), ("leave-one-out", ho.LeaveOneOut())):
            yield (
                f"alpha {alpha:g}, {label}",
                lambda a=alpha, v=recipe: (KernelRidge(alpha=a, kernel="rbf", gamma=0.1), *_data(50), {"test": v}),
            )


def _containers() -> Iterator[tuple[str, Callable[[], Posed]]]:
    def frame(kind: str) -> tuple[Any, Any]:
        X, y = _data()
        table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
        if kind == "mixed":
            table["b"] = table["b"].round().astype("int32")
            table["c"] = table["c"] > table["c"].median()
        return (pl.from_pandas(table) if kind == "polars" else table), y

    for kind in ("pandas", "polars", "mixed"):
        yield kind, lambda k=kind: (_tuned(), *frame(k), {"test": ho.KFold(4)})
    for dtype in (np.int64, np.int8, bool, np.float32):
        yield f"X of type {np.dtype(dtype)}", lambda t=dtype: (
            _tuned(), _data()[0].astype(t), _data()[1], {"test": ho.KFold(4)}
        )  # fmt: skip
    yield "whole numbers as y", lambda: (_tuned(), _data()[0], _data()[1].round().astype(int), {"test": ho.KFold(4)})
    yield "X in columns", lambda: (_tuned(), np.asfortranarray(_data()[0]), _data()[1], {"test": ho.KFold(4)})
