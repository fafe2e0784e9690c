"""The golden studies: small, quick, and together over every recipe, role, kernel, loss, choice and final predictor.

Data are made here, rounded so that their bits are the same everywhere, and each study has rows of its own. Grids are
coarse, so that no choice hangs on a last bit.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.metrics import fbeta_score, get_scorer_names, hamming_loss, hinge_loss, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, RandomizedSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.model_selection import KFold as SklearnKFold
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from golden.ground import (
    STUDIES,
    Ground,
    add,
    classes,
    counts,
    days_of,
    groups_of,
    numbers,
    rates,
    rng_of,
    rounded,
    study,
    weights_of,
)
from golden.seen import digest, plain, seen, seen_estimates, seen_predictor

__all__ = ["STUDIES"]

ALPHAS = ho.log_grid(-3, 3, 4)
SOLVER = ho.Options(precision="solver")
ITERATED = 1e-6


def scaled_ridge(**options: Any) -> Any:
    pipe = make_pipeline(StandardScaler(), Ridge())
    return ho.Tuned(pipe, {"ridge__alpha": ALPHAS}, **{"validation": ho.KFold(3)} | options)


def tree(**options: Any) -> Any:
    space = {"max_depth": [1, 3]}
    return ho.Tuned(DecisionTreeClassifier(random_state=0), space, **{"validation": ho.KFold(3)} | options)


# Recipes.


@study(exact=True, drawn=True)
def holdout(at: Ground) -> Any:
    return at.study(
        DecisionTreeClassifier(max_depth=3, random_state=0), *classes("holdout"), test=ho.Holdout(0.3, stratify=False)
    )


@study()
def given_rows(at: Ground) -> Any:
    return at.study(Ridge(0.5), *numbers("given_rows"), test=ho.Given(np.arange(0, 60, 3)))


@study(exact=True)
def given_folds(at: Ground) -> Any:
    folds = np.arange(60) % 4 - (np.arange(60) % 12 == 0) * 9  # some rows are never held out
    return at.study(KNeighborsRegressor(3), *numbers("given_folds"), test=ho.Given(folds=folds))


@study()
def kfold_repeats(at: Ground) -> Any:
    test = ho.KFold(4, repeats=2)
    return at.study(LinearRegression(), *numbers("kfold_repeats"), test=test, loss=["absolute", "squared"])


@study()
def kfold_contiguous(at: Ground) -> Any:
    return at.study(GaussianNB(), *classes("contiguous"), test=ho.KFold(4, shuffle=False, stratify=False))


@study()
def leave_one_out(at: Ground) -> Any:
    return at.study(make_pipeline(StandardScaler(), Ridge()), *numbers("leave_one_out", 40), test=ho.LeaveOneOut())


@study(exact=True)
def resample(at: Ground) -> Any:
    learner = DecisionTreeRegressor(max_depth=3, random_state=0)
    return at.study(learner, *numbers("resample"), test=ho.Resample(6, held_out=0.25))


@study()
def forward(at: Ground) -> Any:
    X, y = numbers("forward", 90)
    learner = scaled_ridge(validation=ho.Forward(2, buffer=2))
    return at.study(learner, X, y, time=days_of("forward", 90), test=ho.Forward(3, buffer=3), loss="absolute")


@study(exact=True)
def default_splits_in_time(at: Ground) -> Any:
    X, y = classes("defaults in time", 90)
    return at.study(tree(validation=None), X, y, time=np.arange(90) * 1.5)


INNER = {
    "holdout": ho.Holdout(0.3),
    "kfold": ho.KFold(3),
    "repeats": ho.KFold(3, repeats=2),
    "leave_one_out": ho.LeaveOneOut(),
    "resample": ho.Resample(4, held_out=0.25),
    "number": 3,
    "splitter": ShuffleSplit(3, test_size=0.3, random_state=0),
}


def nested(at: Ground, *, inner: str) -> Any:
    return at.study(scaled_ridge(validation=INNER[inner]), *numbers(f"nested {inner}", 48), test=ho.KFold(3))


def nested_trees(at: Ground, *, inner: str) -> Any:
    return at.study(tree(validation=INNER[inner]), *classes(f"nested trees {inner}", 60), test=ho.KFold(3))


for _inner in INNER:
    add(f"nested_{_inner}", partial(nested, inner=_inner), drawn=_inner == "kfold")
for _inner in ("holdout", "resample"):
    add(f"nested_trees_{_inner}", partial(nested_trees, inner=_inner), exact=True, drawn=_inner == "resample")


@study()
def nested_random_resampling(at: Ground) -> Any:
    learner = scaled_ridge(validation=ho.Resample(3))
    return at.study(learner, *numbers("nested random"), test=ho.Resample(4, held_out=0.3))


@study(exact=True, drawn=True)
def shared_blocks(at: Ground) -> Any:
    return at.study(tree(validation=ho.SharedBlocks()), *classes("shared_blocks"), test=ho.KFold(4))


@study()
def shared_blocks_ridge(at: Ground) -> Any:
    return at.study(scaled_ridge(validation=ho.SharedBlocks()), *numbers("shared ridge"), test=ho.KFold(5))


@study()
def someone_elses_splits(at: Ground) -> Any:
    X, y = numbers("foreign")
    pairs = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    return {
        "pairs": at.study(Ridge(), X, y, test=pairs),
        "splitter": at.study(Ridge(), X, y, test=SklearnKFold(3), final=False),
        "groups": at.study(Ridge(), X, y, test=GroupKFold(3), groups=groups_of("foreign", 60), final=False),
    }


@study()
def grid_search(at: Ground) -> Any:
    space = {"ridge__alpha": [0.01, 1.0, 100.0]}
    search = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), space, cv=3, scoring="neg_mean_absolute_error")
    return at.study(search, *numbers("grid search"), test=ho.KFold(3))


@study(exact=True)
def randomized_search(at: Ground) -> Any:
    space = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5, 9]}
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    learner = DecisionTreeClassifier(random_state=0)
    search = RandomizedSearchCV(learner, space, n_iter=4, cv=inner, random_state=1, n_jobs=2)
    return at.study(search, *classes("randomized search"), test=ho.Holdout(0.3))


def smallest_depth(results: dict[str, Any]) -> int:
    """A choice of someone's own: the first candidate within 0.05 of the best."""
    means = np.asarray(results["mean_test_score"])
    return int(np.flatnonzero(means >= means.max() - 0.05)[0])


@study(exact=True)
def grid_search_as_black_box(at: Ground) -> Any:
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=3, refit=smallest_depth)
    return at.study(search, *classes("black box search"), test=ho.KFold(3))


# Roles.


@study(drawn=True)
def groups(at: Ground) -> Any:
    X, y = numbers("groups")
    return at.study(scaled_ridge(), X, y, groups=groups_of("groups", 60), test=ho.KFold(4))


@study(exact=True)
def groups_one_test_set(at: Ground) -> Any:
    X, y = classes("grouped holdout")
    rows = groups_of("grouped holdout", 72)
    return at.study(tree(), X, y, groups=rows, test=ho.Holdout(0.3))


@study()
def groups_and_classes(at: Ground) -> Any:
    X, y = classes("grouped classes", kinds=3, words=True)
    test = ho.KFold(3, stratify=True)
    return at.study(GaussianNB(), X, y, groups=groups_of("grouped classes", 72), test=test, loss=["log", "zero_one"])


@study()
def groups_and_time(at: Ground) -> Any:
    X, y = numbers("panel", 120)
    roles = {"groups": groups_of("panel", 120), "time": days_of("panel", 120)}
    learner = scaled_ridge(validation=ho.KFold(2))
    return at.study(learner, X, y, **roles, test=ho.KFold(2, buffer="5d"))


@study()
def time_spans(at: Ground) -> Any:
    X, y = numbers("spans", 90)
    begin = days_of("spans", 90)
    end = begin + np.arange(90) % 5
    learner = scaled_ridge(validation=ho.KFold(2))
    return at.study(learner, X, y, time=(begin, end), test=ho.KFold(3, buffer="2d", embargo="4d"))


@study()
def weights(at: Ground) -> Any:
    X, y = numbers("weights")
    return at.study(scaled_ridge(), X, y, sample_weight=weights_of("weights", 60), test=ho.KFold(3))


@study(exact=True)
def weights_one_test_set(at: Ground) -> Any:
    X, y = classes("weighted holdout")
    return at.study(tree(), X, y, sample_weight=weights_of("weighted holdout", 72), test=ho.Holdout(0.3))


@study()
def strata(at: Ground) -> Any:
    X, y = numbers("strata")
    region = np.array(["north", "south", "west"])[groups_of("strata", 60) % 3]
    return at.study(scaled_ridge(), X, y, strata=region, test=ho.KFold(3))


# Kernels of ridge and its kin.


@study(drawn=True)
def ridge_inside_leave_one_out(at: Ground) -> Any:
    return at.study(scaled_ridge(validation=ho.LeaveOneOut()), *numbers("ridge loo", 36), test=ho.Holdout(0.3))


@study()
def ridge_wide(at: Ground) -> Any:
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, validation=ho.KFold(3))
    return at.study(learner, *numbers("wide", 30, 50), test=ho.KFold(3))


@study()
def ridge_of_two_targets(at: Ground) -> Any:
    learner = ho.Tuned(Ridge(fit_intercept=False), {"alpha": ALPHAS}, validation=ho.KFold(3))
    return at.study(learner, *numbers("two targets", targets=2), test=ho.KFold(3), loss=["squared", "r2"])


@study()
def ridge_classifier(at: Ground) -> Any:
    pipe = make_pipeline(StandardScaler(), RidgeClassifier(class_weight="balanced"))
    learner = ho.Tuned(pipe, {"ridgeclassifier__alpha": [0.01, 3.0, 300.0]}, validation=ho.KFold(3))
    return at.study(learner, *classes("ridge classifier", kinds=3, words=True), test=ho.KFold(3))


@study()
def least_squares(at: Ground) -> Any:
    space = {"linearregression__fit_intercept": [True, False]}
    learner = ho.Tuned(make_pipeline(StandardScaler(), LinearRegression()), space, validation=ho.KFold(3))
    return at.study(learner, *numbers("least squares"), test=ho.KFold(4))


@study(drawn=True)
def kernel_ridge(at: Ground) -> Any:
    space = {"alpha": [0.01, 1.0, 100.0], "gamma": [0.05, 0.5]}
    learner = ho.Tuned(KernelRidge(kernel="rbf"), space, validation=ho.KFold(3))
    return at.study(learner, *numbers("kernel ridge"), test=ho.KFold(3))


@study()
def gaussian_process(at: Ground) -> Any:
    learner = GaussianProcessRegressor(kernels.RBF(2.0), alpha=0.5, optimizer=None, normalize_y=True)
    return at.study(learner, *numbers("process", 40), test=ho.LeaveOneOut())


# Bayes, discriminants, partial least squares, neighbours.

BAYES = {
    "gaussian": (GaussianNB(), {"var_smoothing": [1e-9, 0.1, 10.0]}),
    "multinomial": (MultinomialNB(), {"alpha": [0.01, 1.0, 100.0]}),
    "complement": (ComplementNB(), {"alpha": [0.01, 1.0, 100.0]}),
    "bernoulli": (BernoulliNB(binarize=1.0), {"alpha": [0.01, 1.0, 100.0]}),
    "categorical": (CategoricalNB(min_categories=12), {"alpha": [0.01, 1.0, 100.0]}),
}


def bayes(at: Ground, *, kind: str) -> Any:
    X, y = counts(f"bayes {kind}")
    learner = ho.Tuned(*BAYES[kind], validation=ho.KFold(3), loss=["log", "zero_one"])
    return at.study(learner, X.astype(float) if kind == "gaussian" else X, y, test=ho.KFold(3))


for _kind in BAYES:
    add(f"bayes_{_kind}", partial(bayes, kind=_kind), drawn=_kind == "multinomial")


@study()
def bayes_leave_one_out(at: Ground) -> Any:
    learner = make_pipeline(StandardScaler(), GaussianNB())
    return at.study(learner, *classes("bayes loo", 40), test=ho.LeaveOneOut(), loss="brier")


@study()
def discriminants(at: Ground) -> Any:
    data = classes("discriminants", 90, kinds=3, words=True)
    shrunk = ho.Tuned(
        LinearDiscriminantAnalysis(solver="lsqr"),
        {"shrinkage": [0.01, 0.3, 0.9]},
        validation=ho.KFold(3),
        loss=["log", "zero_one"],
    )
    return {
        "linear": at.study(LinearDiscriminantAnalysis(), *data, test=ho.KFold(4), loss="log"),
        "shrunk": at.study(shrunk, *data, test=ho.KFold(3)),
        "leave_one_out": at.study(LinearDiscriminantAnalysis(), *data, test=ho.LeaveOneOut(), final=False),
    }


@study()
def quadratic_discriminants(at: Ground) -> Any:
    space = {"reg_param": [0.0, 0.3, 0.9]}
    learner = ho.Tuned(QuadraticDiscriminantAnalysis(), space, validation=ho.KFold(3), loss="log")
    return at.study(learner, *classes("quadratic", 90), test=ho.KFold(3))


@study()
def quadratic_discriminants_leave_one_out(at: Ground) -> Any:
    return at.study(QuadraticDiscriminantAnalysis(), *classes("quadratic loo", 60), test=ho.LeaveOneOut(), loss="log")


@study(drawn=True)
def partial_least_squares(at: Ground) -> Any:
    learner = ho.Tuned(PLSRegression(), {"n_components": [1, 2, 4]}, validation=ho.KFold(3))
    return at.study(learner, *numbers("pls", p=6), test=ho.KFold(3))


@study(drawn=True)
def neighbours(at: Ground) -> Any:
    space = {"n_neighbors": [1, 5, 11], "weights": ["uniform", "distance"]}
    learner = ho.Tuned(KNeighborsClassifier(), space, validation=ho.KFold(3))
    return at.study(learner, *classes("neighbours", 80, kinds=3), test=ho.KFold(4))


@study()
def neighbours_leave_one_out(at: Ground) -> Any:
    learner = ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 4, 9]}, validation=ho.LeaveOneOut())
    return at.study(learner, *numbers("neighbours loo", 45), test=ho.KFold(3), loss="absolute")


# Learners that iterate: by scikit-learn itself, and by kernels of the tier `solver` where that is asked.


@study(near=ITERATED)
def lasso(at: Ground) -> Any:
    pipe = make_pipeline(StandardScaler(), Lasso())
    learner = ho.Tuned(pipe, {"lasso__alpha": [0.01, 0.3, 3.0]}, validation=ho.KFold(3))
    return at.study(learner, *numbers("lasso", p=6), test=ho.KFold(3))


@study(near=ITERATED)
def elastic_net(at: Ground) -> Any:
    space = {"alpha": [0.01, 0.3, 3.0], "l1_ratio": [0.2, 0.8]}
    learner = ho.Tuned(ElasticNet(), space, validation=ho.KFold(3))
    return at.study(learner, *numbers("elastic net", p=6), test=ho.KFold(3))


@study(near=ITERATED)
def logistic(at: Ground) -> Any:
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    space = {"logisticregression__C": [0.001, 0.1, 10.0]}
    learner = ho.Tuned(pipe, space, validation=ho.KFold(3), loss=["log", "zero_one"])
    return at.study(learner, *classes("logistic", 90, kinds=3), test=ho.KFold(3))


@study(near=ITERATED)
def poisson(at: Ground) -> Any:
    learner = ho.Tuned(PoissonRegressor(), {"alpha": [0.01, 1.0, 100.0]}, validation=ho.KFold(3), loss="poisson")
    return at.study(learner, *rates("poisson"), test=ho.KFold(3))


@study(near=ITERATED)
def vectors(at: Ground) -> Any:
    space = {"C": [0.1, 10.0], "gamma": [0.01, 0.5]}
    return {
        "classes": at.study(
            ho.Tuned(make_pipeline(StandardScaler(), SVC()), {f"svc__{k}": v for k, v in space.items()}, validation=3),
            *classes("svc"),
            test=ho.KFold(3),
        ),
        "numbers": at.study(ho.Tuned(SVR(), space, validation=3), *numbers("svr"), test=ho.KFold(3), loss="absolute"),
    }


@study(near=ITERATED)
def solver_precision(at: Ground) -> Any:
    """Kernels of the tier `solver`, which is to be retired: then this study says what stands in its place."""
    lasso_pipe = make_pipeline(StandardScaler(), Lasso())
    logistic_pipe = make_pipeline(StandardScaler(), LogisticRegression())
    return {
        "lasso": at.study(
            ho.Tuned(lasso_pipe, {"lasso__alpha": [0.01, 0.3, 3.0]}, validation=3),
            *numbers("lasso by kernel", p=6),
            test=ho.KFold(3),
            options=SOLVER,
        ),
        "logistic": at.study(
            ho.Tuned(logistic_pipe, {"logisticregression__C": [0.01, 1.0]}, validation=3, loss="log"),
            *classes("logistic by kernel"),
            test=ho.KFold(3),
            options=SOLVER,
        ),
        "vectors": at.study(
            ho.Tuned(SVC(), {"C": [0.1, 10.0]}, validation=3),
            *classes("svc by kernel"),
            test=ho.KFold(3),
            options=SOLVER,
        ),
    }


@study(near=ITERATED)
def approximate_leave_one_out(at: Ground) -> Any:
    options = ho.Options(precision="approximate")
    X, y = classes("approximate", 50)
    return at.study(LogisticRegression(), X, y, test=ho.LeaveOneOut(), loss="log", options=options)


# Inside one training set: paths of ensembles, pruning, Pipelines.

PATHS = {
    "forest": (RandomForestClassifier(random_state=0), {"n_estimators": [2, 5, 9]}, classes),
    "extra_trees": (ExtraTreesClassifier(random_state=0, bootstrap=True), {"n_estimators": [2, 7]}, classes),
    "bagging": (
        BaggingRegressor(DecisionTreeRegressor(max_depth=2), random_state=0),
        {"n_estimators": [2, 5]},
        numbers,
    ),
    "adaboost": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), random_state=0),
        {"n_estimators": [2, 6]},
        classes,
    ),
    "gradient_boosting": (GradientBoostingClassifier(random_state=0), {"n_estimators": [2, 10]}, classes),
    "hist_boosting": (
        HistGradientBoostingRegressor(random_state=0, min_samples_leaf=5),
        {"max_iter": [2, 10]},
        numbers,
    ),
    "pruning": (DecisionTreeRegressor(random_state=0), {"ccp_alpha": [0.0, 0.2, 2.0]}, numbers),
    "leaves": (DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 4, 8]}, classes),
}


def path(at: Ground, *, kind: str) -> Any:
    learner, space, data = PATHS[kind]
    return at.study(ho.Tuned(learner, space, validation=ho.KFold(2)), *data(f"path {kind}"), test=ho.KFold(3))


for _kind in PATHS:
    # Boosting of classes takes exponentials, whose last bit is the processor's.
    _exact = _kind not in ("adaboost", "gradient_boosting")
    add(f"path_{_kind}", partial(path, kind=_kind), exact=_exact, drawn=_kind == "forest")


@study()
def other_boosters(at: Ground) -> Any:
    from catboost import CatBoostRegressor
    from lightgbm import LGBMRegressor
    from xgboost import XGBRegressor

    space = {"n_estimators": [3, 8]}
    light = LGBMRegressor(random_state=0, min_child_samples=5, verbose=-1, n_jobs=1)
    extreme = XGBRegressor(random_state=0, max_depth=2, n_jobs=1)
    cat = CatBoostRegressor(random_seed=0, depth=2, verbose=False, thread_count=1, allow_writing_files=False)
    X, y = numbers("boosters")
    learners = {"lightgbm": (light, space), "xgboost": (extreme, space), "catboost": (cat, {"iterations": [3, 8]})}
    return {
        name: at.study(ho.Tuned(learner, space, validation=2), X, y, test=ho.KFold(2))
        for name, (learner, space) in learners.items()
    }


@study(drawn=True)
def pipeline_prefixes(at: Ground) -> Any:
    last = DecisionTreeClassifier(random_state=0)
    pipe = make_pipeline(StandardScaler(), PCA(random_state=0), SelectKBest(f_classif), last)
    space = {"pca__n_components": [3, 4], "selectkbest__k": [1, 2], "decisiontreeclassifier__max_depth": [1, 3]}
    return at.study(ho.Tuned(pipe, space, validation=ho.KFold(2)), *classes("prefixes", p=6), test=ho.KFold(3))


# Races.

RACERS = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 4, 12]}


def race(at: Ground, *, kind: str) -> Any:
    learner = ho.Tuned(DecisionTreeClassifier(random_state=0), RACERS, validation=ho.KFold(8))
    data = classes(f"race {kind}", 96)
    return at.study(learner, *data, test=ho.KFold(2), options=ho.Options(race=kind, race_level=0.2))


for _kind in ("exact", "hoeffding", "bernstein", "paired"):
    add(f"race_{_kind}", partial(race, kind=_kind), exact=True, drawn=_kind == "exact")


# Losses and scores.


@study()
def several_losses(at: Ground) -> Any:
    losses = ["log", "brier", "zero_one", "roc_auc", "f1", "neg_brier_score", "balanced_accuracy"]
    return at.study(GaussianNB(), *classes("several losses", 90), test=ho.KFold(3), loss=losses)


@study()
def several_losses_one_test_set(at: Ground) -> Any:
    losses = {"ours": "brier", "area": "roc_auc", "theirs": "accuracy"}
    test = ho.Holdout(0.4, stratify=False)
    return at.study(GaussianNB(), *classes("several losses once", 90), test=test, loss=losses)


@study()
def area_under_the_curve(at: Ground) -> Any:
    learner = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 10.0]}, validation=ho.KFold(3), loss="roc_auc")
    return at.study(learner, *classes("area", 90), test=ho.KFold(3))


@study()
def pooled_and_not(at: Ground) -> Any:
    X, y = numbers("pooled")
    return {
        str(pool): at.study(Ridge(), X, y, test=ho.KFold(3), loss=loss, options=ho.Options(pool=pool), final=False)
        for pool, loss in ((None, ["r2", "neg_root_mean_squared_error"]), (True, "squared"), (False, "r2"))
    }


@study()
def losses_of_numbers(at: Ground) -> Any:
    losses = ["pinball:0.8", "absolute", "neg_mean_absolute_percentage_error", "neg_max_error"]
    return at.study(
        make_pipeline(StandardScaler(), Ridge()), *numbers("numbers' losses"), test=ho.KFold(3), loss=losses
    )


@study()
def losses_of_counts(at: Ground) -> Any:
    losses = ["poisson", "tweedie:1.5", "squared"]
    return at.study(DummyRegressor(), *rates("count losses"), test=ho.KFold(3), loss=losses)


def scores_seen(at: Ground, learner: Any, X: Any, y: Any, names: list[Any]) -> Any:
    """The estimate and the folds of each loss, asked by itself; the kind of error where it is refused."""
    found: dict[str, Any] = {}
    for name in names:
        loss, label = (name, name) if isinstance(name, str) else (name, str(name))
        try:
            result = at.evaluate(learner, X, y, test=ho.KFold(2), loss=loss)
        except ho.HeldoutError as error:
            found[label] = type(error).__name__
        else:
            summary = result.summary()
            told = {
                key: summary["risk"][key] for key in ("loss", "value", "low", "high", "method", "greater_is_better")
            }
            found[label] = {**told, "folds": [list(fold.values())[-1] for fold in summary["folds"]]}
    return found


OURS = ["zero_one", "log", "brier", "squared", "absolute", "poisson", "gamma", "pinball:0.9", "tweedie:1.5"]


@study()
def every_score(at: Ground) -> Any:
    """Every loss of ours and every scoring name of scikit-learn: for two classes, for three, for numbers above 0."""
    names = [*OURS, *sorted(get_scorer_names())]
    several = [name for name in names if name.endswith(("_macro", "_ovr", "_ovo", "accuracy", "log_loss", "brier"))]
    margins = [make_scorer(hinge_loss, greater_is_better=False, response_method="decision_function")]
    margins += [make_scorer(hamming_loss, greater_is_better=False)]
    X, y = numbers("every score of numbers")
    above = y - y.min() + 1
    return {
        "two": scores_seen(at, GaussianNB(), *classes("every score of two"), names),
        "three": scores_seen(at, GaussianNB(), *classes("every score of three", 90, kinds=3, words=True), several),
        "margins": scores_seen(at, LinearDiscriminantAnalysis(), *classes("every margin"), margins),
        "numbers": scores_seen(at, DecisionTreeRegressor(max_depth=2, random_state=0), X, above, names),
    }


def huber(y_true: Any, y_pred: Any) -> Any:
    error = np.abs(y_true - y_pred)
    return np.where(error < 2, error**2 / 4, error - 1)


def halves_and_wholes(y_true: Any, y_pred: Any) -> Any:
    """A loss between 0 and 1."""
    return np.where(y_true == y_pred, 0.0, np.where(np.asarray(y_true) == 1, 1.0, 0.5))


def own_score(estimator: Any, X: Any, y: Any) -> float:
    """A scorer that asks the estimator itself."""
    return float(np.mean(estimator.predict(X) == y)) - 0.25


@study(exact=True)
def own_losses(at: Ground) -> Any:
    costs = ho.row_loss(halves_and_wholes, low=0, high=1, name="costs")
    X, y = classes("own losses")
    return {
        "classes": at.study(tree(loss=costs), X, y, test=ho.Holdout(0.4, stratify=False)),
        "numbers": at.study(
            DecisionTreeRegressor(max_depth=2, random_state=0),
            *numbers("own loss"),
            test=ho.KFold(3),
            loss=[ho.row_loss(huber, low=0), "squared"],
        ),
        "scorers": at.study(
            DecisionTreeClassifier(max_depth=2, random_state=0),
            *classes("own scorers"),
            test=ho.KFold(3),
            loss={"f2": make_scorer(fbeta_score, beta=2), "own": own_score},
        ),
    }


# Choices and final predictors.


@study()
def one_standard_error(at: Ground) -> Any:
    return at.study(scaled_ridge(choose="one_se", validation=ho.KFold(5)), *numbers("one se"), test=ho.KFold(3))


def middle(results: dict[str, Any]) -> int:
    return int(np.argsort(results["rank_test_score"], kind="stable")[1])


@study()
def own_choice(at: Ground) -> Any:
    return at.study(scaled_ridge(choose=middle), *numbers("own choice"), test=ho.KFold(3))


@study(exact=True)
def simplest_by_name(at: Ground) -> Any:
    learner = tree(choose="one_se", simplest={"max_depth": "smaller"}, validation=ho.KFold(4))
    return at.study(learner, *classes("simplest"), test=ho.KFold(2))


@study()
def ensemble_and_collapse(at: Ground) -> Any:
    X, y = numbers("ensemble")
    told = at.study(scaled_ridge(final="ensemble"), X, y, test=ho.KFold(3))
    tuned = scaled_ridge(final="ensemble").fit(X, y)
    collapsed = tuned.best_estimator_.collapse()
    return {"study": told, "tuned": seen(tuned), "collapsed": seen_predictor(collapsed, X)}


@study()
def ensemble_of_probabilities(at: Ground) -> Any:
    learner = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, validation=3, loss="log", final="ensemble")
    return at.study(learner, *classes("ensemble of probabilities"), test=ho.Holdout(0.3))


@study(exact=True)
def kept(at: Ground) -> Any:
    X, y = classes("kept", 90)
    learner = tree(validation=ho.Holdout(0.4, stratify=False), final="keep")
    return {"study": at.study(learner, X, y, test=ho.KFold(2)), "tuned": seen(learner.fit(X, y))}


@study()
def tuned_alone(at: Ground) -> Any:
    X, y = numbers("tuned alone")
    weighted = scaled_ridge(loss=["absolute", "squared"], random_state=3, jobs=at.jobs)
    found = {
        "plain": seen(scaled_ridge(jobs=at.jobs).fit(X, y)),
        "roles": seen(weighted.fit(X, y, groups=groups_of("tuned alone", 60), sample_weight=weights_of("tuned", 60))),
        "score": plain(weighted.score(X, y)),
    }
    return {**found, "predict": digest(weighted.predict(X))}


@study()
def families(at: Ground) -> Any:
    competing = {
        "ridge": (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0]}),
        "neighbours": (KNeighborsRegressor(), {"n_neighbors": [3, 9]}),
        "mean": DummyRegressor(),
    }
    return at.study(ho.Tuned(competing, validation=ho.KFold(3)), *numbers("families"), test=ho.KFold(3))


@study()
def sampled_space(at: Ground) -> Any:
    from scipy.stats import loguniform

    space = ho.Sample(5, {"alpha": loguniform(1e-3, 1e3), "fit_intercept": [True, False]})
    learner = ho.Tuned(Ridge(), space, validation=ho.KFold(3), random_state=4)
    return at.study(learner, *numbers("sampled"), test=ho.KFold(3))


@study(exact=True)
def list_of_spaces(at: Ground) -> Any:
    space = [{"criterion": ["gini"], "max_depth": [1, 3]}, {"criterion": ["entropy"], "min_samples_leaf": [3]}]
    learner = ho.Tuned(DecisionTreeClassifier(random_state=0), space, validation=ho.KFold(2))
    return at.study(learner, *classes("list of spaces"), test=ho.KFold(2))


# Failed fits, warnings, black boxes.


class Grumbling(ClassifierMixin, BaseEstimator):
    """Answers the commonest class of its training rows; refuses or warns where it is told to."""

    def __init__(self, refuses_below: int = 0, warns: bool = False) -> None:
        self.refuses_below = refuses_below
        self.warns = warns

    def fit(self, X: Any, y: Any) -> Grumbling:
        if self.warns:
            warnings.warn("this does not converge", ConvergenceWarning, stacklevel=2)
        if len(X) < self.refuses_below:
            raise ValueError(f"{len(X)} rows are too few")
        self.classes_, many = np.unique(y, return_counts=True)
        self.commonest_ = self.classes_[many.argmax()]
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.commonest_)


class Shrunk(RegressorMixin, BaseEstimator):
    """The mean of the training rows times a factor: a learner that no kernel knows."""

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def fit(self, X: Any, y: Any) -> Shrunk:
        self.mean_ = float(np.mean(y)) * self.factor
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


@study(exact=True)
def failed_fits(at: Ground) -> Any:
    X, y = classes("failed fits", 61)
    learner = ho.Tuned(Grumbling(), {"refuses_below": [0, 1000], "warns": [False, True]}, validation=ho.KFold(2))
    uneven = [(np.arange(20, 61), np.arange(20)), (np.arange(30), np.arange(30, 61))]
    return {
        "candidate": at.study(learner, X, y, test=ho.KFold(2)),
        "test_cell": at.study(Grumbling(refuses_below=35), X, y, test=uneven, final=False),
    }


@study(exact=True)
def black_boxes(at: Ground) -> Any:
    X, y = classes("black boxes")
    voting = VotingClassifier(
        [("tree", DecisionTreeClassifier(max_depth=2, random_state=0)), ("no", DummyClassifier())]
    )
    frozen = FrozenEstimator(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:40], y[:40]))
    return {
        "voting": at.study(voting, X, y, test=ho.KFold(3)),
        "own": at.study(
            ho.Tuned(Shrunk(), {"factor": [0.5, 1.0]}, validation=3), *numbers("black box"), test=ho.KFold(3)
        ),
        "frozen": at.study(frozen, X, y, test=ho.Given(np.arange(40, 72))),
        "unseeded": at.study(RandomForestRegressor(4), *numbers("unseeded"), test=ho.KFold(2), seed=5),
    }


# Tables, sparse data, several labels.


def mixed_table(name: str, n: int = 72) -> Any:
    rng = rng_of(name)
    frame = pd.DataFrame(rounded(rng.normal(size=(n, 2))), columns=["size", "age"])
    frame["colour"] = rng.choice(["red", "green", "blue"], n)
    frame["price"] = rounded(frame["size"] * 2 + (frame["colour"] == "red") + 0.3 * rng.normal(size=n))
    frame["who"] = groups_of(name, n)
    return frame


@study()
def tables(at: Ground) -> Any:
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder=StandardScaler())
    learner = ho.Tuned(make_pipeline(encode, Ridge()), {"ridge__alpha": [0.1, 10.0]}, validation=ho.KFold(3))
    frame = mixed_table("tables")
    X, y = numbers("polars")
    columns = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(pl.Series("y", y))
    return {
        "pandas": at.study(learner, frame.drop(columns="who"), "price", test=ho.KFold(3), final=False),
        "groups_by_name": at.study(learner, frame, target="price", groups="who", test=ho.KFold(3), final=False),
        "polars": at.study(Ridge(), columns, "y", test=ho.KFold(3), final=False),
    }


@study()
def sparse_data(at: Ground) -> Any:
    X, y = counts("sparse", p=12)
    learner = ho.Tuned(MultinomialNB(), {"alpha": [0.1, 10.0]}, validation=ho.KFold(2))
    return at.study(learner, sparse.csr_matrix(X), y, test=ho.KFold(3))


@study(exact=True)
def several_labels(at: Ground) -> Any:
    X, y = classes("labels", kinds=4)
    labels = np.column_stack([y % 2, y // 2])
    learner = DecisionTreeClassifier(max_depth=3, random_state=0)
    return {
        "plain": at.study(learner, X, labels, test=ho.KFold(3), loss=["zero_one", "f1_samples"]),
        "stratified": at.study(learner, X, labels, test=ho.KFold(3, stratify=True), final=False),
    }


# Intervals, learning curves, looks at one test set.


class Halves:
    """Both halves of the rows, drawn several times, each split in two on its own."""

    def __init__(self, times: int) -> None:
        self.times = times

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        for time in range(self.times):
            rows = np.random.default_rng(time).permutation(len(X))
            for half in np.array_split(rows, 2):
                for held in np.array_split(half, 2):
                    yield np.setdiff1d(half, held), np.sort(held)


INTERVALS = {
    "wilson": ("classes", ho.Holdout(0.5, stratify=False)),
    "clopper-pearson": ("classes", ho.Holdout(0.5, stratify=False)),
    "betting": ("classes", ho.Holdout(0.5, stratify=False)),
    "maurer-pontil": ("classes", ho.Holdout(0.5, stratify=False)),
    "hoeffding": ("classes", ho.Holdout(0.5, stratify=False)),
    "bootstrap-t": ("numbers", ho.Holdout(0.5)),
    "bca": ("numbers", ho.Holdout(0.5)),
    "student": ("numbers", ho.Holdout(0.5)),
    "cluster-t": ("numbers", ho.Holdout(0.5)),
    "rows": ("numbers", ho.KFold(3)),
    "corrected-t": ("numbers", ho.KFold(3)),
    "cautious-t": ("numbers", ho.KFold(3)),
    "bayle": ("numbers", ho.KFold(3)),
    "bayle-within": ("numbers", ho.KFold(3)),
    "5x2": ("numbers", ho.KFold(2, repeats=5)),
    "5x2-t": ("numbers", ho.KFold(2, repeats=5)),
    "bht": ("numbers", ho.KFold(3)),
    "ratio": ("numbers", ho.KFold(3)),
    "conservative-z": ("numbers", Halves(5)),
}


@study()
def intervals(at: Ground) -> Any:
    """Every method by name: the estimates alone, since the rest is pinned elsewhere."""
    found = {}
    for name, (kind, test) in INTERVALS.items():
        data = classes(f"interval {name}", 60) if kind == "classes" else numbers(f"interval {name}")
        learner = DecisionTreeClassifier(max_depth=2, random_state=0) if kind == "classes" else Ridge()
        options = ho.Options(interval=name, repetitions=2)
        result = at.evaluate(learner, *data, test=test, level=0.9, options=options)
        found[name] = {"estimates": seen_estimates(result.summary()["estimates"]), "lines": seen(result.plan)["lines"]}
    return found


@study()
def batch_means(at: Ground) -> Any:
    X, y = numbers("batches", 150)
    options = ho.Options(interval="batch-means")
    return at.study(Ridge(), X, y, time=np.arange(150), test=ho.Forward(3), options=options)


@study()
def learning_curve(at: Ground) -> Any:
    X, y = numbers("curve", 90)
    options = ho.Options(learning_curve=(0.3, 0.6))
    result = at.evaluate(scaled_ridge(), X, y, test=ho.KFold(3), options=options)
    return {
        "curve": plain(result.learning_curve.to_dict("list")),
        "estimates": seen_estimates(result.summary()["estimates"]),
    }


@study(exact=True)
def looks_at_one_test_set(at: Ground) -> Any:
    """Coarse answers, later looks that pay for earlier ones, and a look after everything was shown."""
    X, y = classes("looks", 160)
    test = ho.Holdout(0.5, stratify=False)
    found = {}
    for depth, answer in enumerate(("pass/fail:0.3", "rounded:0.05", "value", "full", "full"), start=1):
        learner = DecisionTreeClassifier(max_depth=depth, random_state=0)
        result = at.evaluate(learner, X, y, test=test, options=ho.Options(answer=answer))
        found[f"{depth} {answer}"] = seen_look(result)
    return found


def seen_look(result: Any) -> Any:
    summary = result.summary()
    return {"risk": summary["risk"], "verdict": summary["verdict"], "findings": summary["findings"]}


# Other verbs.


@study()
def compare(at: Ground) -> Any:
    learners = {
        "ridge": scaled_ridge(),
        "mean": DummyRegressor(),
        "neighbours": KNeighborsRegressor(5),
    }
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False}
    return seen(ho.compare(learners, *numbers("compare"), test=ho.KFold(4), loss="absolute", rope=0.5, **how))


@study(exact=True)
def compare_on_one_test_set(at: Ground) -> Any:
    learners = {"deep": DecisionTreeClassifier(random_state=0), "mean": DummyClassifier(), "grumbling": Grumbling(1000)}
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False}
    return seen(ho.compare(learners, *classes("compare once", 90), test=ho.Holdout(0.4, stratify=False), **how))


@study()
def compare_by_area(at: Ground) -> Any:
    learners = {"bayes": GaussianNB(), "flat": GaussianNB(var_smoothing=10.0)}
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False, "groups": groups_of("by area", 90)}
    X, y = classes("by area", 90)
    return {
        "area": seen(ho.compare(learners, X, y, test=ho.KFold(3, stratify=False), loss="roc_auc", **how)),
        "f1": seen(ho.compare(learners, X, y, test=ho.KFold(3), loss="f1", **how)),
    }


@study()
def chance(at: Ground) -> Any:
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False}
    data = classes("chance", 48)
    flowers = groups_of("chance", 48)
    return {
        "rows": seen(ho.chance(GaussianNB(), *data, permutations=19, test=ho.KFold(3), **how)),
        "groups": seen(
            ho.chance(DummyClassifier(), *data, permutations=9, groups=flowers, test=ho.KFold(3), seed=2, **how)
        ),
    }


@study()
def compare_across(at: Ground) -> Any:
    sets = {f"set {i}": classes(f"across {i}", 48) for i in range(4)}
    learners = {"bayes": GaussianNB(), "none": DummyClassifier(), "near": KNeighborsClassifier(5)}
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False}
    return seen(ho.compare_across(learners, sets, test=ho.KFold(3), rope=0.01, **how))


@study()
def check(at: Ground) -> Any:
    frame = mixed_table("check", 120)
    frame["copy"] = frame["price"] * 3 + 1
    frame["row_id"] = np.arange(120)
    frame["constant"] = 1
    frame.iloc[100:] = frame.iloc[:20].to_numpy()
    frame = frame.infer_objects()
    X, y = classes("clean check", 120)
    return {
        "leaky": seen(ho.check(frame, target="price")),
        "ignoring": seen(ho.check(frame, target="price", groups="who", ignore="H605,H603")),
        "clean": seen(ho.check(X, y, test=ho.Given(np.arange(30)))),
    }


@study()
def advise(at: Ground) -> Any:
    return {
        "many": seen(ho.advise(n=10_000, candidates=17, gap=0.05, width=0.1, error_rate=0.1)),
        "few": seen(ho.advise(n=120, candidates=5)),
        "fixed": seen(ho.advise(n=300, about="predictor", closed_form=True)),
        "time": seen(ho.advise(n=2_000, time=True, candidates=3, level=0.9)),
        "groups": seen(ho.advise(n=2_000, groups=40, columns=10)),
        "rows": seen(ho.advise(width=0.04, error_rate=0.1, candidates=9, gap=0.1)),
    }


DRAWN = {
    "kfold": (ho.KFold(4), {}),
    "repeats": (ho.KFold(3, repeats=2, stratify=False), {}),
    "holdout": (ho.Holdout(0.3), {}),
    "holdout_of_rows": (ho.Holdout(rows=20, stratify=False), {}),
    "resample": (ho.Resample(4, held_out=0.3), {}),
    "leave_one_out": (ho.LeaveOneOut(), {}),
    "given": (ho.Given(np.arange(10)), {}),
    "grouped": (ho.KFold(3), {"groups": True}),
    "grouped_classes": (ho.KFold(3, stratify=True), {"groups": True}),
    "grouped_resample": (ho.Resample(3), {"groups": True}),
    "groups_out": (ho.LeaveOneOut(), {"groups": True}),
    "forward": (ho.Forward(3, window=40, buffer="3d"), {"time": True}),
    "blocks": (ho.KFold(4, buffer=2, embargo=3), {"time": True}),
    "recent": (ho.Holdout(0.25, buffer="4d"), {"time": True}),
    "windows": (ho.Resample(3, held_out=0.2, buffer=1), {"time": True}),
    "panel": (ho.Forward(2, buffer="2d"), {"time": True, "groups": True}),
    "panel_blocks": (ho.KFold(2), {"time": True, "groups": True}),
    "strata": (ho.KFold(3), {"strata": True}),
    "strata_in_groups": (ho.KFold(3), {"strata": True, "groups": True}),
}


@study()
def draw(at: Ground) -> Any:
    X, y = classes("draw", 96, kinds=3)
    roles = {
        "groups": groups_of("draw", 96, 16),
        "time": days_of("draw", 96),
        "strata": groups_of("draw strata", 96, 3),
    }
    return {
        name: seen(ho.draw(strategy, X, y, seed=2, **{role: roles[role] for role in declared}))
        for name, (strategy, declared) in DRAWN.items()
    }


@study()
def explain(at: Ground) -> Any:
    X, y = numbers("explain")
    forest = ho.Tuned(RandomForestRegressor(random_state=0), {"n_estimators": [5, 50], "max_depth": [2, 4]})
    return {
        "ridge": seen(ho.explain(scaled_ridge(), X, y, test=ho.KFold(3))),
        "leave_one_out": seen(ho.explain(scaled_ridge(validation=ho.LeaveOneOut()), X, y, test=ho.LeaveOneOut())),
        "forest": seen(ho.explain(forest, X, y, test=ho.KFold(3))),
        "race": seen(ho.explain(forest, X, y, test=ho.KFold(3), options=ho.Options(race="exact"))),
        "bht": seen(ho.explain(Ridge(), X, y, test=ho.KFold(3), options=ho.Options(interval="bht"))),
        "rule_off": seen(ho.explain(scaled_ridge(), X, y, options=ho.Options(rules={"ridge": False}))),
    }


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
