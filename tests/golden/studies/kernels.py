"""Golden studies of kernels: linear models, Bayes, discriminants, neighbours, and learners that iterate."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
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
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import heldout as ho
from golden.ground import (
    Ground,
    add,
    classes,
    counts,
    numbers,
    rates,
    study,
)
from golden.studies.learners import ALPHAS, ITERATED, scaled_ridge

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


# Learners that iterate, by kernels that follow scikit-learn's own solvers.


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
def followed_solvers(at: Ground) -> Any:
    """Learners that iterate, each answered by a kernel that takes scikit-learn's own steps."""
    lasso_pipe = make_pipeline(StandardScaler(), Lasso())
    logistic_pipe = make_pipeline(StandardScaler(), LogisticRegression())
    return {
        "lasso": at.study(
            ho.Tuned(lasso_pipe, {"lasso__alpha": [0.01, 0.3, 3.0]}, validation=3),
            *numbers("lasso by kernel", p=6),
            test=ho.KFold(3),
        ),
        "logistic": at.study(
            ho.Tuned(logistic_pipe, {"logisticregression__C": [0.01, 1.0]}, validation=3, loss="log"),
            *classes("logistic by kernel"),
            test=ho.KFold(3),
        ),
        "vectors": at.study(
            ho.Tuned(SVC(), {"C": [0.1, 10.0]}, validation=3),
            *classes("svc by kernel"),
            test=ho.KFold(3),
        ),
    }


@study(near=ITERATED)
def approximate_leave_one_out(at: Ground) -> Any:
    options = ho.Options(precision="approximate")
    X, y = classes("approximate", 50)
    return at.study(LogisticRegression(), X, y, test=ho.LeaveOneOut(), loss="log", options=options)
