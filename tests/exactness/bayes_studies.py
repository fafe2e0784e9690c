"""Generated studies for the kernel `bayes`: each must give what brute force gives, rule on and rule off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho

Posed = tuple[Any, Any, Any, dict[str, Any]]
Studies = Iterator[tuple[str, Callable[[], Posed]]]
RULE, TIER = "bayes", "rounding"
SMOOTHINGS = [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0]
ALPHAS = [1e-10, 1e-3, 0.1, 0.5, 1.0, 10.0]
PROBA = ["log", "accuracy"]
COUNTS = (MultinomialNB(), ComplementNB(), ComplementNB(norm=True), BernoulliNB(binarize=1.0))


def studies() -> Studies:
    """Every study as a label and a function that builds (learner, X, y, arguments of evaluate)."""
    for make in (_recipes, _forms, _labels, _containers, _columns, _counts, _hard):
        yield from make()


def _numbers(n: int = 90, p: int = 5, kinds: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % kinds
    rng.shuffle(y)
    means = rng.normal(size=(kinds, p))
    X = (rng.normal(size=(n, p)) + means[y]) * rng.uniform(0.2, 5, p) + rng.normal(size=p) * 3
    return X, y


def _words(n: int = 90, p: int = 12, kinds: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % kinds
    rng.shuffle(y)
    rates = rng.gamma(1.0, 1.5, size=(kinds, p))
    return rng.poisson(rates[y]).astype(float), y


def _gaussian(estimator: Any = None, **options: Any) -> ho.Tuned:
    model = GaussianNB() if estimator is None else estimator
    name = "gaussiannb__var_smoothing" if hasattr(model, "steps") else "var_smoothing"
    return ho.Tuned(model, {name: SMOOTHINGS[1:]}, **{"validation": ho.KFold(4), "loss": PROBA} | options)


def _discrete(estimator: Any = None, **options: Any) -> ho.Tuned:
    model = MultinomialNB() if estimator is None else estimator
    return ho.Tuned(model, {"alpha": ALPHAS}, **{"validation": ho.KFold(4), "loss": PROBA} | options)


def _scaled(**options: Any) -> Any:
    return make_pipeline(StandardScaler(**options), GaussianNB())


def _recipes() -> Studies:
    groups, time = np.repeat(np.arange(15), 6), np.arange(90)
    loo = ho.LeaveOneOut()
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
    for label, arguments in outer.items():
        inside = {"validation": ho.Forward(3)} if "time" in arguments else {}
        yield f"Gaussian, {label}", lambda a=arguments, i=inside: (_gaussian(**i), *_numbers(), a)
        yield f"scaler and Gaussian, {label}", lambda a=arguments, i=inside: (_gaussian(_scaled(), **i), *_numbers(), a)
        yield f"multinomial, {label}", lambda a=arguments, i=inside: (_discrete(**i), *_words(), a)
    repeated = {"test": [(np.repeat(np.arange(40), 2), np.arange(80, 90))]}
    yield "Gaussian, repeated training rows", lambda: (_scaled(), *_numbers(), repeated)
    yield "multinomial, repeated training rows", lambda: (MultinomialNB(), *_words(), repeated)
    pairs: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "Gaussian": (_gaussian, _numbers),
        "multinomial": (_discrete, _words),
    }
    for label, (learner, data) in pairs.items():
        yield f"{label}, leave-one-out", lambda f=learner, d=data: (f(validation=loo), *d(), {"test": ho.Holdout(0.3)})
        yield f"{label}, leave-one-out, untuned", lambda d=data, f=learner: (f().estimator, *d(40), {"test": loo})
        yield (
            f"{label}, leave-one-group-out",
            lambda f=learner, d=data: (f(validation=loo), *d(), {"test": ho.KFold(3), "groups": groups}),
        )
        shared = {"validation": ho.SharedBlocks()}
        yield f"{label}, shared blocks", lambda f=learner, d=data, o=shared: (f(**o), *d(), {"test": ho.KFold(4)})
        kept = {"validation": ho.Holdout(0.3), "final": "keep"}
        yield f"{label}, kept", lambda f=learner, d=data, o=kept: (f(**o), *d(), {"test": ho.KFold(3)})
        yield f"{label}, ensemble", lambda f=learner, d=data: (f(final="ensemble"), *d(), {"test": ho.KFold(3)})
    simple = {"choose": "one_se", "simplest": {"alpha": "larger"}}
    yield "Gaussian, one standard error", lambda: (_gaussian(choose="one_se"), *_numbers(), {"test": 4})
    yield "multinomial, one standard error", lambda: (_discrete(**simple), *_words(), {"test": 4})


def _forms() -> Studies:
    weight = np.random.default_rng(5).uniform(0.2, 3, 90)
    rare = np.where(np.arange(90) % 7 == 0, 0.0, weight)
    whole = np.arange(90) % 4 + 1.0
    for words, rows in (("weights", weight), ("weights of zero", rare), ("whole weights", whole)):
        more = {"test": ho.KFold(3), "sample_weight": rows}
        yield f"Gaussian, {words}", lambda m=more: (_gaussian(), *_numbers(), m)
        yield f"scaler and Gaussian, {words}", lambda m=more: (_gaussian(_scaled()), *_numbers(), m)
        for model in COUNTS:
            yield f"{model}, {words}", lambda e=model, m=more: (_discrete(e), *_words(), m)
    for with_mean in (False, True):
        for with_std in (False, True):
            pipe = _scaled(with_mean=with_mean, with_std=with_std)
            for loss in ("accuracy", PROBA):
                yield (
                    f"scaler {with_mean} {with_std}, {loss}",
                    lambda e=pipe, s=loss: (_gaussian(e, loss=s), *_numbers(), {"test": ho.KFold(3)}),
                )
    space = {"var_smoothing": SMOOTHINGS, "priors": [None, [0.2, 0.3, 0.5], np.array([0.1, 0.1, 0.8])]}
    yield "priors", lambda: (ho.Tuned(GaussianNB(), space, validation=3), *_numbers(), {"test": 3})
    wrong = {"priors": [None, [0.5, 0.5], [0.5, 0.5, 0.5], [0.0, 0.5, 0.5]]}
    yield "priors that do not fit", lambda: (ho.Tuned(GaussianNB(), wrong, validation=3), *_numbers(), {"test": 3})
    for model in COUNTS:
        every = {"alpha": [0.0, 1e-12, *ALPHAS], "fit_prior": [False, True], "force_alpha": [False, True]}
        every["class_prior"] = [None, [0.5, 0.3, 0.2]]
        for loss in ("accuracy", PROBA):
            yield (
                f"{model}, every form, {loss}",
                lambda e=model, g=every, s=loss: (
                    ho.Tuned(e, g, validation=3, loss=s),
                    *_words(),
                    {"test": ho.KFold(3)},
                ),
            )
    for bound in (None, 0.0, 0.5, 2, np.float32(0.1)):
        yield (
            f"binarize {bound!r}",
            lambda b=bound: (_discrete(BernoulliNB(binarize=b)), _words()[0] / 7, _words()[1], {"test": 3}),
        )
    arrays = {"alpha": [np.full(12, 0.5), 1.0]}
    yield "alpha by column", lambda: (ho.Tuned(MultinomialNB(), arrays, validation=3), *_words(), {"test": 3})
    yield "categories", lambda: (_discrete(CategoricalNB(min_categories=40)), *_words(), {"test": 3})
    other = make_pipeline(MinMaxScaler(), GaussianNB())
    yield "another step in front", lambda: (_gaussian(other), *_numbers(), {"test": 3})
    many = {"n": (MultinomialNB(), {"alpha": ALPHAS}), "g": (_scaled(), {"gaussiannb__var_smoothing": SMOOTHINGS[1:]})}
    yield "families", lambda: (ho.Tuned(many, validation=3), *_words(), {"test": 3})


def _labels() -> Studies:
    words, objects = np.array(["no", "perhaps", "yes"]), np.array(["no", "perhaps", "yes"], dtype=object)
    for kinds in (2, 3, 7):
        for loss in ("accuracy", PROBA):
            more = {"test": ho.KFold(3)}
            label = f"{kinds} classes, {loss}"
            yield (
                f"Gaussian, {label}",
                lambda k=kinds, s=loss, m=more: ((_gaussian(loss=s), *_numbers(120, kinds=k), m)),
            )
            for model in COUNTS:
                yield (
                    f"{model}, {label}",
                    lambda e=model, k=kinds, s=loss, m=more: (_discrete(e, loss=s), *_words(120, kinds=k), m),
                )
    for label, names in (("text", words), ("objects", objects), ("int8", np.array([3, 5, 9], dtype=np.int8))):
        yield f"labels: {label}", lambda n=names: (_gaussian(), _numbers()[0], n[_numbers()[1]], {"test": 3})
        yield f"labels of counts: {label}", lambda n=names: (_discrete(), _words()[0], n[_words()[1]], {"test": 3})
    yield "true and false", lambda: (_gaussian(), _numbers()[0], _numbers()[1] > 0, {"test": 3})
    auc = {"test": ho.KFold(3), "loss": ["roc_auc", "zero_one"]}
    yield "area under the curve", lambda: (_gaussian(loss=["roc_auc"]), *_numbers(kinds=2), auc)
    yield "area, counts", lambda: (_discrete(loss=["roc_auc"]), *_words(kinds=2), auc)

    def absent(make: Callable[..., Any]) -> tuple[Any, Any]:
        X, y = make()
        y = np.where(y == 2, 0, y)
        y[[7, 50]] = 2
        return X, y

    for label, recipe in (("k-fold", ho.KFold(4, stratify=False)), ("leave-one-out", ho.LeaveOneOut())):
        more = {"test": ho.KFold(3, stratify=False)}
        yield (
            f"rare class, {label}",
            lambda v=recipe, m=more: (_gaussian(validation=v, loss="accuracy"), *absent(_numbers), m),
        )
        yield (
            f"rare class of counts, {label}",
            lambda v=recipe, m=more: (_discrete(validation=v, loss="accuracy"), *absent(_words), m),
        )


def _containers() -> Studies:
    def frame(kind: str) -> tuple[Any, Any]:
        X, y = _numbers()
        table = pd.DataFrame(X, columns=list("abcde"))
        if kind == "mixed":
            table["b"] = table["b"].round().astype("int32")
            table["c"] = table["c"] > table["c"].median()
        return (pl.from_pandas(table) if kind == "polars" else table), y

    for kind in ("pandas", "polars", "mixed"):
        yield f"{kind}", lambda k=kind: (_gaussian(_scaled()), *frame(k), {"test": 3})
        yield f"{kind}, Bernoulli", lambda k=kind: (_discrete(BernoulliNB(binarize=0.3)), *frame(k), {"test": 3})
    for dtype in (np.int8, np.uint8, bool, np.float32, np.float16):
        yield f"{np.dtype(dtype)}", lambda t=dtype: (_gaussian(), _words()[0].astype(t), _words()[1], {"test": 3})
        for model in COUNTS:
            yield (
                f"{model}, {np.dtype(dtype)}",
                lambda e=model, t=dtype: (_discrete(e), _words()[0].astype(t), _words()[1], {"test": 3}),
            )
    yield "X in columns", lambda: (_gaussian(), np.asfortranarray(_numbers()[0]), _numbers()[1], {"test": 3})
    for form in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
        for model in (*COUNTS, BernoulliNB(binarize=None)):
            most = 1.0 if model.get_params().get("binarize", 0) is None else 9.0
            yield (
                f"{form.__name__}, {model}",
                lambda f=form, e=model, m=most: (_discrete(e), f(np.minimum(_words()[0], m)), _words()[1], {"test": 3}),
            )
    for dtype in (np.int32, bool, np.float32):
        yield (
            f"sparse {np.dtype(dtype)}",
            lambda t=dtype: (_discrete(), sparse.csr_array(_words()[0].astype(t)), _words()[1], {"test": 3}),
        )
    yield "negative, Bernoulli", lambda: (_discrete(BernoulliNB()), *_numbers(), {"test": 3})


def _columns() -> Studies:
    def spoiled(kind: str) -> tuple[Any, Any]:
        X, y = _numbers()
        if kind == "constant":
            X[:, 2] = 0.1
        elif kind == "constant in a class":
            X[y == 1, 2] = 0.1
        elif kind == "constant in a training part":
            X[:, 2] = 0.0
            X[:3, 2] = [1.0, 2.0, 3.0]
        elif kind == "one row alone":
            X[:, 2] = 0.3
            X[17, 2] = 1.0
        elif kind == "offset":
            X += 1e6
        elif kind == "far offset":
            X += 1e9
        elif kind == "classes far apart":
            X += 1e5 * y[:, None]
        elif kind == "units":
            X *= 10.0 ** np.arange(-8, 7, 3)
        elif kind == "huge":
            X *= 1e150
        elif kind == "tiny":
            X *= 1e-150
        elif kind == "outlier":
            X[5] = 1e8
        elif kind == "doubled":
            X[45:], y[45:] = X[:45], y[:45]
        return X, y

    kinds = ("constant", "constant in a class", "constant in a training part", "one row alone", "offset", "far offset",
             "classes far apart", "units", "huge", "tiny", "outlier", "doubled")  # fmt: skip
    for kind in kinds:
        for label, learner in (("Gaussian", GaussianNB()), ("scaler", _scaled())):
            for loss in ("accuracy", PROBA):
                yield (
                    f"{label}, {kind}, {loss}",
                    lambda e=learner, k=kind, s=loss: (_gaussian(e, loss=s), *spoiled(k), {"test": ho.KFold(4)}),
                )
        loo = {"validation": ho.LeaveOneOut(), "loss": "accuracy"}
        yield f"leave-one-out, {kind}", lambda k=kind, o=loo: (_gaussian(**o), *spoiled(k), {"test": ho.Holdout(0.3)})
    zero = {"var_smoothing": [0.0, 1.0]}
    for kind in kinds[:4]:
        yield f"no smoothing, {kind}", lambda k=kind: (ho.Tuned(GaussianNB(), zero), *spoiled(k), {"test": 4})
    for n, p in ((40, 60), (30, 200), (60, 1)):
        yield f"{n} × {p}", lambda n=n, p=p: (_gaussian(_scaled()), *_numbers(n, p), {"test": 3})
        yield f"counts {n} × {p}", lambda n=n, p=p: (_discrete(), *_words(n, p), {"test": 3})


def _counts() -> Studies:
    def kind(name: str) -> tuple[Any, Any]:
        X, y = _words(120, 30)
        if name == "fractions":
            X /= np.maximum(X.sum(axis=1, keepdims=True), 1) * 0.7
        elif name == "rare words":
            X[:, 10:] = 0.0
            X[np.arange(20), np.arange(10, 30)] = 0.1
        elif name == "empty texts":
            X[::5] = 0.0
        elif name == "always there":
            X[:, :4] = 1.0
            X[3, :4] = 0.0
        elif name == "large":
            X *= 1e6
        elif name == "no words":
            X[:] = 0.0
        elif name == "alike":
            X, y = np.repeat(X[:60], 2, axis=0), np.repeat(y[:60], 2)
            y[::2] = 0
        return X, y

    for name in ("fractions", "rare words", "empty texts", "always there", "large", "no words", "alike"):
        for model in (*COUNTS, BernoulliNB()):
            for container in (np.asarray, sparse.csr_array):
                loss = "accuracy" if container is np.asarray else PROBA
                yield (
                    f"{name}, {model}, {container.__name__}, {loss}",
                    lambda e=model, k=name, c=container, s=loss: (
                        _discrete(e, loss=s),
                        c(kind(k)[0]),
                        kind(k)[1],
                        {"test": ho.KFold(4)},
                    ),
                )
        loo = {"validation": ho.LeaveOneOut(), "loss": "accuracy"}
        yield f"leave-one-out, {name}", lambda k=name, o=loo: (_discrete(**o), *kind(k), {"test": ho.Holdout(0.3)})


def _hard() -> Studies:
    def mirrored() -> tuple[Any, Any]:
        X = np.random.default_rng(0).normal(size=(40, 3))
        return np.vstack([X, -X]), np.repeat([0, 1], 40)

    for recipe in (ho.KFold(4), ho.LeaveOneOut(), ho.KFold(4, shuffle=False)):
        yield f"mirrored classes, {recipe}", lambda r=recipe: (_gaussian(validation=r), *mirrored(), {"test": 4})
    bits = np.random.default_rng(1).integers(0, 2, (200, 3))
    for model in COUNTS:
        yield (
            f"ties, {model}",
            lambda e=model: (_discrete(e, loss="accuracy"), bits.astype(float), bits.sum(axis=1) % 2, {"test": 5}),
        )
    yield "one row in a class", lambda: (_gaussian(), *_few(), {"test": ho.Given(np.arange(30, 60))})
    yield "many classes", lambda: (_gaussian(), *_numbers(300, kinds=40), {"test": 3})
    yield "many classes of counts", lambda: (_discrete(), *_words(300, kinds=40), {"test": 3})


def _few() -> tuple[Any, Any]:
    X, y = _numbers(60, kinds=2)
    y[:30] = 0
    y[:4] = 1
    return X, y
