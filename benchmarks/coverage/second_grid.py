"""The second grid: other learners, populations and sizes. It was written before the rules and is looked at once."""

from __future__ import annotations

from typing import Any

from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from benchmarks.coverage.populations import Classes, Counts, Gaussians, Grouped, Numbers, Series
from benchmarks.coverage.settings import AMOUNTS, COUNTS, LABELS, NUMBERS, PROBABILITIES, SEVERAL, VOTES, Setting

FOUR, EIGHT, REPEATED = "KFold(4)", "KFold(8)", "KFold(4, repeats=3)"
RESAMPLED, HELD, FORWARD, ONE_OUT = "Resample(10, 0.3)", "Holdout(0.3)", "Forward(4)", "LeaveOneOut()"

LOGISTIC = LogisticRegression(C=0.3, max_iter=1000)
BALANCED = LogisticRegression(C=0.3, max_iter=1000, class_weight="balanced")
BOOSTED = GradientBoostingClassifier(n_estimators=15, max_depth=2, random_state=0)
TUNED_LOGISTIC = ho.Tuned(LOGISTIC, {"C": [0.03, 0.3, 3.0]}, validation=ho.KFold(3), jobs=1)
TUNED_NEIGHBOURS = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [3, 7, 15, 31]}, validation=ho.KFold(4), jobs=1)
TUNED_LASSO = ho.Tuned(Lasso(), {"alpha": ho.log_grid(-3, 0, 10)}, validation=ho.KFold(4), jobs=1)
TUNED_RIDGE = ho.Tuned(Ridge(), {"alpha": ho.log_grid(-1, 3, 9)}, validation=ho.KFold(4), jobs=1)


def setting(key: str, learner: Any, population: Any, n: int, losses: Any, *recipes: str) -> Setting:
    """A setting, under KFold(4) and other recipes."""
    return Setting(key=key, learner=learner, population=population, n=n, losses=losses, recipes=(FOUR, *recipes))


def uniform(signal: float, share: float) -> Classes:
    """Two classes on the cube."""
    return Classes(p=6, signal=signal, share=share, columns="uniform")


def correlated(signal: float, share: float) -> Classes:
    """Two classes with columns that go together."""
    return Classes(p=8, signal=signal, share=share, columns="correlated")


def three(*shares: float) -> Gaussians:
    """Three or more normal classes, the later the wider."""
    return Gaussians(p=6, apart=1.5, shares=shares, wider=0.2)


SETTINGS = (
    setting("SVC 80, 35%", SVC(), uniform(1.5, 0.35), 80, LABELS, ONE_OUT),
    setting("SVC 400, 12%", SVC(C=3.0), uniform(2.5, 0.12), 400, LABELS, HELD),
    setting("boosted trees 400, 35%", BOOSTED, uniform(1.5, 0.35), 400, PROBABILITIES),
    setting("boosted trees 400, 12%", BOOSTED, correlated(1.5, 0.12), 400, PROBABILITIES),
    setting(
        "QDA 80, 35%",
        QuadraticDiscriminantAnalysis(),
        Gaussians(p=3, apart=1.0, shares=(0.65, 0.35), wider=0.5),
        80,
        PROBABILITIES,
        REPEATED,
    ),
    setting(
        "QDA 400, 12%",
        QuadraticDiscriminantAnalysis(),
        Gaussians(p=3, apart=1.0, shares=(0.88, 0.12), wider=0.5),
        400,
        PROBABILITIES,
        EIGHT,
    ),
    setting("logistic correlated 80, 35%", LOGISTIC, correlated(1.0, 0.35), 80, PROBABILITIES, ONE_OUT, RESAMPLED),
    setting("logistic correlated 400, 12%", LOGISTIC, correlated(1.0, 0.12), 400, PROBABILITIES, EIGHT, REPEATED, HELD),
    setting("balanced logistic 400, 12%", BALANCED, correlated(1.0, 0.12), 400, PROBABILITIES, RESAMPLED),
    setting("Bernoulli naive Bayes 80, 35%", BernoulliNB(), correlated(1.5, 0.35), 80, PROBABILITIES),
    setting(
        "extra trees 400, 12%", ExtraTreesClassifier(20, max_depth=6, random_state=0), uniform(2.5, 0.12), 400, VOTES
    ),
    setting("tuned logistic 400, 35%", TUNED_LOGISTIC, uniform(1.0, 0.35), 400, PROBABILITIES),
    setting("tuned logistic 400, 12%", TUNED_LOGISTIC, correlated(0.7, 0.12), 400, PROBABILITIES),
    setting(
        "tuned neighbours 400, 35%", TUNED_NEIGHBOURS, Classes(p=3, signal=1.5, share=0.35, shape="disc"), 400, VOTES
    ),
    setting("logistic, 3 classes 400", LOGISTIC, three(0.5, 0.3, 0.2), 400, SEVERAL, HELD),
    setting("LDA, 4 classes 80", LinearDiscriminantAnalysis(), three(0.25, 0.25, 0.25, 0.25), 80, SEVERAL),
    setting(
        "tree, 3 classes 400",
        DecisionTreeClassifier(max_depth=4, random_state=0),
        three(0.6, 0.3, 0.1),
        400,
        ("zero_one", "neg_brier_score", "balanced_accuracy", "f1_macro", "matthews_corrcoef"),
    ),
    setting("logistic 45 groups, 35%", LOGISTIC, Grouped(p=3, signal=1.5, effect=0.7, share=0.35), 45, PROBABILITIES),
    setting("OLS heteroscedastic 80", LinearRegression(), Numbers(p=4, fan=True), 80, NUMBERS, ONE_OUT),
    setting("Huber heteroscedastic 400", HuberRegressor(max_iter=1000), Numbers(p=4, fan=True), 400, NUMBERS),
    setting(
        "OLS uniform 400", LinearRegression(), Numbers(p=12, columns="uniform", noise="uniform"), 400, NUMBERS, HELD
    ),
    setting("OLS laplace 80, p 16", LinearRegression(), Numbers(p=16, noise="laplace"), 80, NUMBERS, EIGHT, RESAMPLED),
    setting("PLS correlated 80, p 30", PLSRegression(3), Numbers(p=30, columns="correlated"), 80, NUMBERS),
    setting(
        "boosted trees curve 400",
        GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0),
        Numbers(p=5, shape="friedman", columns="uniform"),
        400,
        NUMBERS,
    ),
    setting("SVR 80", SVR(C=3.0), Numbers(p=4, signal=1.5), 80, NUMBERS),
    setting(
        "elastic net laplace 80, p 60",
        ElasticNet(alpha=0.1),
        Numbers(p=60, shape="sparse", signal=1.5, noise="laplace", columns="correlated"),
        80,
        NUMBERS,
        REPEATED,
    ),
    setting("Bayesian ridge t5 400, p 40", BayesianRidge(), Numbers(p=40, noise="t5"), 400, NUMBERS, HELD),
    setting("tuned lasso 80, p 60", TUNED_LASSO, Numbers(p=60, shape="sparse", signal=1.5), 80, NUMBERS),
    setting("tuned ridge correlated 400, p 60", TUNED_RIDGE, Numbers(p=60, columns="correlated"), 400, NUMBERS),
    setting(
        "12 neighbours laplace 400", KNeighborsRegressor(12), Numbers(p=3, noise="laplace", signal=2.0), 400, NUMBERS
    ),
    setting("Poisson overdispersed 400", PoissonRegressor(alpha=0.01), Counts(kind="negative binomial"), 400, COUNTS),
    setting("gamma 400", GammaRegressor(alpha=0.01), Counts(kind="gamma"), 400, AMOUNTS),
    setting("OLS 40 groups", LinearRegression(), Grouped(p=8, effect=0.5), 40, NUMBERS),
    Setting(
        key="ridge in time 400, rho 0.6",
        learner=Ridge(),
        population=Series(p=6, rho=0.6),
        n=400,
        losses=("squared", "absolute", "neg_root_mean_squared_error"),
        recipes=(FORWARD,),
    ),
)
