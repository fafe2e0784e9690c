"""Generated studies for the kernel `vectors`, compared with scikit-learn's own fits at their default tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from compare import ROUNDING, Comparison, counts, recorded_calls, refusals, response_difference, run, same_choices
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

import heldout as ho
from heldout.kernels.vectors import kernel as vectors_kernel

Posed = tuple[Any, Any, Any, dict[str, Any]]
Made = Iterator[tuple[str, Callable[[], Posed]]]
RULE, TIER = "vectors", "rounding"
CS = [0.01, 1.0, 30.0, 1000.0]


def studies() -> Made:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for make in (_recipes, _models, _kernels, _pipelines, _classes, _containers, _hard):
        yield from make()


def check(label: str, build: Callable[[], Posed]) -> Comparison:
    """One study with the rule on and off. The kernel calls `fit` itself, so what it answers is counted apart."""
    with recorded_calls(vectors_kernel, "solve_machines") as calls:
        on = run(build, RULE, ho.Options())
    off = run(build, RULE, ho.Options(rules={RULE: False}))
    answered = {(job[0].trains, candidate) for (job, _), sides in calls for one in sides for candidate in one}
    counted = counts(on, off, RULE) | {"fallback_fits": max(0, off.fits - len(answered))}
    return Comparison(
        label=label,
        **counted,
        difference=response_difference(on.result, off.result),
        allowed=ROUNDING,
        same_choices=same_choices(on.result, off.result),
        refusals=refusals(on, RULE),
        examined=len(answered),
    )


def _data(n: int = 90, p: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, p) + rng.normal(size=p)
    return X, X[:, 0] + np.sin(X[:, 1]) + rng.normal(size=n) / 2


def _labelled(kinds: int = 2, n: int = 90, p: int = 4, seed: int = 0) -> tuple[Any, Any]:
    X, score = _data(n, p, seed)
    return X, np.digitize(score, np.quantile(score, np.arange(1, kinds) / kinds))


def _svc(**options: Any) -> ho.Tuned:
    pipe = make_pipeline(StandardScaler(), SVC())
    space = {"svc__C": CS, "svc__gamma": [0.2, "scale"]}
    return ho.Tuned(pipe, space, **{"validation": ho.KFold(3)} | options)


def _svr(**options: Any) -> ho.Tuned:
    return ho.Tuned(SVR(), {"C": CS, "epsilon": [0.05, 0.2]}, **{"validation": ho.KFold(3)} | options)


def _recipes() -> Made:
    groups = np.repeat(np.arange(15), 6)
    outer: dict[str, dict[str, Any]] = {
        "k-fold": {"test": ho.KFold(4)},
        "repeats": {"test": ho.KFold(3, repeats=2)},
        "resample": {"test": ho.Resample(3, 0.3)},
        "holdout": {"test": ho.Holdout(0.25)},
        "given rows": {"test": ho.Given(np.arange(10, 30))},
        "groups": {"test": ho.KFold(5), "groups": groups},
        "forward in time": {"test": ho.Forward(3), "time": np.arange(90)},
        "scikit-learn's groups": {"test": GroupKFold(3), "groups": groups},
        "unordered training rows": {
            "test": [(np.arange(80)[::-1], np.arange(80, 90)), (np.arange(10, 90), np.arange(9))]
        },
        "shuffled training rows": {"test": ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=0)},
        "weights": {"test": ho.KFold(3), "sample_weight": np.random.default_rng(1).uniform(0.2, 3, 90)},
        "some weights of 0": {"test": ho.KFold(3), "sample_weight": np.arange(90) % 7.0},
    }
    for label, arguments in outer.items():
        inside = {"validation": ho.Forward(2)} if "time" in arguments else {}
        yield f"scaled SVC, {label}", lambda a=arguments, i=inside: (_svc(**i), *_labelled(), a)
        yield f"SVR, {label}", lambda a=arguments, i=inside: (_svr(**i), *_data(), a)
    loo, auc = ho.LeaveOneOut(), ["roc_auc", "accuracy"]
    for name, learner, data in (("scaled SVC", _svc, _labelled), ("SVR", _svr, _data)):
        yield (
            f"{name}, leave-one-out",
            lambda f=learner, d=data: (f(validation=loo), *d(n=40), {"test": ho.Holdout(0.3)}),
        )
        yield (
            f"{name}, shared blocks",
            lambda f=learner, d=data: (f(validation=ho.SharedBlocks()), *d(), {"test": ho.KFold(4)}),
        )
    yield "SVR, one standard error", lambda: (_svr_at(choose="one_se"), *_data(), {"test": ho.KFold(3)})
    repeated = {"test": [(np.repeat(np.arange(40), 2), np.arange(80, 90))]}
    for model in (SVC(), make_pipeline(StandardScaler(), SVC(C=100))):
        yield f"repeated training rows, {model}", lambda m=model: (m, *_labelled(), repeated)
    yield "repeated training rows, SVR", lambda: (SVR(), *_data(), repeated)
    yield "untuned SVC, leave-one-out", lambda: (SVC(), *_labelled(n=40), {"test": loo})
    yield "untuned SVR, leave-one-out", lambda: (SVR(C=3), *_data(n=40), {"test": loo})
    yield "ranked by AUC", lambda: (_svc(loss=auc), *_labelled(), {"test": ho.KFold(3)})
    yield "two losses", lambda: (_svr(loss=["absolute", "squared", "r2"]), *_data(), {"test": ho.KFold(3)})
    yield "probabilities asked", lambda: (SVC(), *_labelled(), {"test": ho.KFold(3), "loss": "average_precision"})


def _models() -> Made:
    for seed in range(4):
        tests = {"test": ho.KFold(3)}
        yield (
            f"SVC {seed}",
            lambda s=seed, t=tests: (
                ho.Tuned(SVC(), {"C": CS, "gamma": [0.1, 1.0, "auto"]}, validation=ho.KFold(3)),
                *_labelled(seed=s),
                t,
            ),
        )
        yield (
            f"NuSVC {seed}",
            lambda s=seed, t=tests: (
                ho.Tuned(NuSVC(), {"nu": [0.1, 0.3, 0.6], "gamma": [0.1, 1.0]}, validation=ho.KFold(3), loss="roc_auc"),
                *_labelled(seed=s),
                t,
            ),
        )
        yield (
            f"SVR {seed}",
            lambda s=seed, t=tests: (
                ho.Tuned(SVR(), {"C": CS, "epsilon": [0.0, 0.1], "gamma": ["scale", 0.3]}, validation=ho.KFold(3)),
                *_data(seed=s),
                t,
            ),
        )
        yield (
            f"NuSVR {seed}",
            lambda s=seed, t=tests: (
                ho.Tuned(NuSVR(), {"nu": [0.2, 0.7], "C": [0.1, 1.0, 10.0]}, validation=ho.KFold(3)),
                *_data(seed=s),
                t,
            ),
        )
    yield (
        "nu that no solution has",
        lambda: (
            ho.Tuned(NuSVC(), {"nu": [0.2, 0.95]}, validation=ho.KFold(3)),
            *_labelled(kinds=3),
            {"test": ho.KFold(3)},
        ),
    )
    for tol in (1e-1, 1e-5):
        yield f"tol={tol}", lambda t=tol: (_svr_at(tol=t), *_data(), {"test": ho.KFold(3)})
    yield "no shrinking", lambda: (_svr_at(shrinking=False), *_data(), {"test": ho.KFold(3)})
    yield "small cache", lambda: (_svr_at(cache_size=0.01), *_data(), {"test": ho.KFold(3)})
    yield "max_iter", lambda: (_svr_at(max_iter=20), *_data(), {"test": ho.KFold(3)})


def _svr_at(choose: str = "best", **params: Any) -> ho.Tuned:
    return ho.Tuned(SVR(**params), {"C": CS}, validation=ho.KFold(3), choose=choose)


def _kernels() -> Made:
    for kernel, space in (
        ("linear", {"C": [0.1, 1.0, 10.0]}),
        ("poly", {"C": [0.1, 1.0], "degree": [0, 2, 3], "coef0": [0.0, 1.0]}),
        ("sigmoid", {"C": [0.1, 1.0], "gamma": [0.01, "scale"], "coef0": [-0.5, 0.0]}),
        ("rbf", {"C": CS, "gamma": [0.0, 0.2, "auto"]}),
    ):
        for model, data in ((SVC(kernel=kernel), _labelled), (SVR(kernel=kernel), _data)):
            space_of = {f"m__{name}": value for name, value in space.items()}
            pipe = Pipeline([("s", StandardScaler()), ("m", model)])
            yield (
                f"{kernel}, {model}, scaled",
                lambda p=pipe, s=space_of, d=data: (
                    ho.Tuned(p, s, validation=ho.KFold(3)),
                    *d(n=60),
                    {"test": ho.KFold(3)},
                ),
            )
            yield (
                f"{kernel}, {model}",
                lambda m=model, s=space, d=data: (
                    ho.Tuned(m, s, validation=ho.KFold(3)),
                    *d(n=60, p=2),
                    {"test": ho.KFold(3)},
                ),
            )
    several = {"kernel": ["linear", "rbf", "poly"], "C": [0.1, 1.0]}
    yield "kernels side by side", lambda: (ho.Tuned(SVC(), several), *_labelled(n=60), {"test": ho.KFold(3)})
    yield "a function", lambda: (SVC(kernel=_own), *_labelled(n=60), {"test": ho.KFold(3)})


def _own(a: Any, b: Any) -> Any:
    return np.asarray(a) @ np.asarray(b).T


def _pipelines() -> Made:
    def learner(before: Any, **space: Any) -> ho.Tuned:
        return ho.Tuned(Pipeline([*before, ("svc", SVC())]), {"svc__C": CS, **space}, validation=ho.KFold(3))

    chains: dict[str, Any] = {
        "scaling without means": [("s", StandardScaler(with_mean=False))],
        "ranges": [("s", MinMaxScaler())],
        "scaling and components": [("s", StandardScaler()), ("p", PCA(2))],
        "drawn components": [("p", PCA(2, svd_solver="randomized"))],
        "nothing": [("s", "passthrough")],
        "nested": [("s", make_pipeline(StandardScaler(), MinMaxScaler()))],
    }
    for label, before in chains.items():
        yield label, lambda b=before: (learner(b), *_labelled(), {"test": ho.KFold(3)})
    sizes = {"p__n_components": [1, 2, 3], "s": [StandardScaler(), MinMaxScaler(), "passthrough"]}
    yield (
        "steps of the space",
        lambda: (learner(chains["scaling and components"], **sizes), *_labelled(n=60), {"test": ho.KFold(3)}),
    )
    yield (
        "families",
        lambda: (
            ho.Tuned(
                {"svc": (SVC(), {"C": CS}), "nu": (make_pipeline(StandardScaler(), NuSVC()), {"nusvc__nu": [0.2, 0.5]})}
            ),
            *_labelled(),
            {"test": ho.KFold(3)},
        ),
    )


def _classes() -> Made:
    for kinds in (3, 4):
        for shape in ("ovr", "ovo"):
            for ties in (False, True) if shape == "ovr" else (False,):
                model = SVC(decision_function_shape=shape, break_ties=ties)
                yield (
                    f"{kinds} classes, {shape}, break_ties={ties}",
                    lambda m=model, k=kinds: (
                        ho.Tuned(m, {"C": CS, "gamma": [0.1, 1.0]}, validation=ho.KFold(3)),
                        *_labelled(k),
                        {"test": ho.KFold(3)},
                    ),
                )
    yield (
        "three classes, ranked",
        lambda: (
            ho.Tuned(NuSVC(nu=0.3), {"gamma": [0.1, 1.0]}, validation=ho.KFold(3), loss=["accuracy", "f1_macro"]),
            *_labelled(3),
            {"test": ho.KFold(3)},
        ),
    )
    for weight in ("balanced", {0: 1.0, 1: 5.0}, {1: 0.2}):
        yield (
            f"class_weight={weight}",
            lambda w=weight: (
                ho.Tuned(SVC(class_weight=w), {"C": CS}, validation=ho.KFold(3)),
                *_labelled(),
                {"test": ho.KFold(3), "sample_weight": np.random.default_rng(1).uniform(0.2, 3, 90)},
            ),
        )
    names = {
        "words": np.array(["spam", "ham", "eggs"]),
        "objects": np.array(["a", "bb", "ccc"], dtype=object),
        "bool": np.array([False, True]),
    }
    for label, labels in names.items():
        yield (
            f"labels that are {label}",
            lambda v=labels: (
                _svc(),
                _labelled(len(v))[0],
                v[_labelled(len(v))[1]],
                {"test": ho.KFold(3)},
            ),
        )

    def rare() -> tuple[Any, Any]:
        X, y = _labelled()
        y[:2] = 7
        return X, y

    yield "a class that some trainings lack", lambda: (_svc(), *rare(), {"test": ho.KFold(3, stratify=False)})


def _containers() -> Made:
    X, y = _labelled()
    frame = pd.DataFrame(X, columns=list("abcd"))
    yield "pandas", lambda: (_svc(), frame, pd.Series(y), {"test": ho.KFold(3)})
    yield "polars", lambda: (_svc(), pl.DataFrame(frame.to_dict("list")), y, {"test": ho.KFold(3)})
    columns = ColumnTransformer([("one", OneHotEncoder(sparse_output=False), ["k"])], remainder="passthrough")
    mixed = frame.assign(k=np.where(X[:, 0] > 0, "u", "v"))
    yield "columns of words", lambda: (make_pipeline(columns, SVC()), mixed, y, {"test": ho.KFold(3)})
    thin = ColumnTransformer([("one", OneHotEncoder(), ["k"])], sparse_threshold=1.0)
    yield "sparse after the first step", lambda: (make_pipeline(thin, SVC()), mixed, y, {"test": ho.KFold(3)})
    for dtype in (int, bool, np.float32):
        yield f"X of type {np.dtype(dtype)}", lambda t=dtype: (_svc(), (X * 3).astype(t), y, {"test": ho.KFold(3)})
        yield (
            f"X of type {np.dtype(dtype)}, SVR",
            lambda t=dtype: (_svr(), (X * 3).astype(t), _data()[1], {"test": ho.KFold(3)}),
        )
    yield "X in columns", lambda: (_svc(), np.asfortranarray(X), y, {"test": ho.KFold(3)})
    yield "whole numbers as y", lambda: (_svr(), X, _data()[1].round().astype(int), {"test": ho.KFold(3)})
    yield "sparse", lambda: (SVC(), sparse.csr_matrix(X), y, {"test": ho.KFold(3)})


def _hard() -> Made:
    def spoiled(kind: str, labelled: bool) -> tuple[Any, Any]:
        X, y = _labelled() if labelled else _data()
        if kind == "offset":
            X = X + 1e6
        elif kind == "constant columns":
            X[:, 1] = 3.0
            X[:, 2] = 0.0
        elif kind == "duplicates":
            X[30:60], X[60:] = X[:30], X[:30]
        elif kind == "all rows equal":
            X[:] = 1.0
        elif kind == "tiny":
            X *= 1e-8
        elif kind == "whole":
            X = X.round()
        return X, y

    for kind in ("offset", "constant columns", "duplicates", "all rows equal", "tiny", "whole"):
        yield (
            f"{kind}, scaled SVC",
            lambda k=kind: (_svc(loss=["roc_auc", "accuracy"]), *spoiled(k, True), {"test": ho.KFold(3)}),
        )
        yield (
            f"{kind}, SVC",
            lambda k=kind: (
                ho.Tuned(SVC(), {"C": CS, "gamma": ["scale", 0.1]}, validation=ho.KFold(3)),
                *spoiled(k, True),
                {"test": ho.KFold(3)},
            ),
        )
        yield f"{kind}, SVR", lambda k=kind: (_svr(), *spoiled(k, False), {"test": ho.KFold(3)})
    for n, p in ((30, 60), (24, 200), (60, 1)):
        yield f"SVC {n} × {p}", lambda n=n, p=p: (_svc(), *_labelled(2, n, max(p, 2), 0), {"test": ho.KFold(3)})
        yield f"SVR {n} × {p}", lambda n=n, p=p: (_svr(), *_data(n, max(p, 2)), {"test": ho.KFold(3)})
    yield "300 rows", lambda: (_svc(loss="roc_auc"), *_labelled(n=300, p=8), {"test": ho.KFold(3)})
    yield "300 rows, SVR", lambda: (_svr(), *_data(n=300, p=8), {"test": ho.KFold(3)})
