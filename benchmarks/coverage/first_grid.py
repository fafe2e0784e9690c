"""The first grid. It was fixed before any interval rule was tuned on it, and it is never moved.

learner × n of 50, 200, 1,000 × class balance 50, 20, 5 % × tails × groups × nested: a designed part of the product.
Every setting is asked under KFold(5), with the default stratification; some under other recipes too.
"""

from __future__ import annotations

from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from benchmarks.coverage.populations import Classes, Counts, Gaussians, Grouped, Numbers, Series
from benchmarks.coverage.settings import (
    BHT,
    COUNTS,
    FIVE,
    FORWARD,
    HELD,
    LABELS,
    NUMBERS,
    ONE_OUT,
    PROBABILITIES,
    REPEATED,
    RESAMPLED,
    TEN,
    VOTES,
    Setting,
)

WEAK, STRONG = 0.7, 2.5  # standard deviations of the log odds

LOGISTIC = LogisticRegression(max_iter=1000)
BALANCED = LogisticRegression(max_iter=1000, class_weight="balanced")
TUNED_LOGISTIC = ho.Tuned(LOGISTIC, {"C": [0.01, 0.1, 1.0, 10.0]}, validation=ho.KFold(5), jobs=1)
TUNED_NEIGHBOURS = ho.Tuned(
    KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15, 25]}, validation=ho.KFold(5), jobs=1
)
TUNED_RIDGE = ho.Tuned(Ridge(), {"alpha": ho.log_grid(-2, 4, 13)}, validation=ho.KFold(5), jobs=1)


def classes(key: str, learner: Any, population: Any, n: int, *more: str, losses: Any = PROBABILITIES) -> Setting:
    """A setting of two classes; `more` are recipes beside KFold(5)."""
    return Setting(key=key, learner=learner, population=population, n=n, losses=losses, recipes=(FIVE, *more))


def numbers(key: str, learner: Any, population: Any, n: int, *more: str, losses: Any = NUMBERS) -> Setting:
    """A setting with a number to predict."""
    return Setting(key=key, learner=learner, population=population, n=n, losses=losses, recipes=(FIVE, *more))


def weak(share: float, p: int = 5) -> Classes:
    """Two classes that overlap much."""
    return Classes(p=p, signal=WEAK, share=share)


def strong(share: float, p: int = 5) -> Classes:
    """Two classes that overlap little."""
    return Classes(p=p, signal=STRONG, share=share)


def apart(share: float) -> Gaussians:
    """Two normal classes."""
    return Gaussians(apart=1.0, shares=(1 - share, share))


def disc(share: float) -> Classes:
    """A disc of one class inside the other."""
    return Classes(p=4, signal=2.0, share=share, shape="disc")


def curve(noise: str = "normal") -> Numbers:
    """Friedman's first function on the unit cube."""
    return Numbers(p=5, shape="friedman", columns="uniform", noise=noise)


def shallow(depth: int | None) -> DecisionTreeClassifier:
    """A classification tree of this depth."""
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def regression_tree(depth: int | None) -> DecisionTreeRegressor:
    """A regression tree of this depth."""
    return DecisionTreeRegressor(max_depth=depth, random_state=0)


LINEAR_CLASSES = (
    classes("logistic weak 50, 50%", LOGISTIC, weak(0.5), 50, ONE_OUT, RESAMPLED),
    classes("logistic weak 50, 20%", LOGISTIC, weak(0.2), 50),
    classes("logistic weak 200, 50%", LOGISTIC, weak(0.5), 200, REPEATED, BHT),
    classes("logistic weak 200, 20%", LOGISTIC, weak(0.2), 200, TEN, ONE_OUT, RESAMPLED, HELD),
    classes("logistic weak 200, 5%", LOGISTIC, weak(0.05), 200, HELD),
    classes("logistic weak 1000, 50%", LOGISTIC, weak(0.5), 1000, HELD),
    classes("logistic weak 1000, 5%", LOGISTIC, weak(0.05), 1000, TEN, REPEATED, RESAMPLED, HELD),
    classes("logistic weak 2000, 6%", LOGISTIC, weak(0.06), 2000),
    classes("logistic strong 50, 50%", LOGISTIC, strong(0.5), 50),
    classes("logistic strong 200, 20%", LOGISTIC, strong(0.2), 200, TEN, REPEATED),
    classes("logistic strong 1000, 20%", LOGISTIC, strong(0.2), 1000),
    classes("logistic strong 1000, 5%", LOGISTIC, strong(0.05), 1000),
    classes("logistic weak 200, 50%, p 40", LOGISTIC, weak(0.5, p=40), 200),
    classes("balanced logistic weak 50, 50%", BALANCED, weak(0.5), 50),
    classes("balanced logistic weak 200, 20%", BALANCED, weak(0.2), 200, REPEATED),
    classes("balanced logistic strong 1000, 5%", BALANCED, strong(0.05), 1000),
    classes("balanced logistic weak 2000, 6%", BALANCED, weak(0.06), 2000, HELD),
    classes("LDA 50, 50%", LinearDiscriminantAnalysis(), apart(0.5), 50, ONE_OUT),
    classes("LDA 200, 20%", LinearDiscriminantAnalysis(), apart(0.2), 200, TEN, RESAMPLED),
    classes("LDA 1000, 5%", LinearDiscriminantAnalysis(), apart(0.05), 1000),
    classes("ridge classifier weak 50, 50%", RidgeClassifier(), weak(0.5), 50, losses=LABELS),
    classes("ridge classifier 1e3 coin 50, 50%", RidgeClassifier(1e3), Classes(signal=0, share=0.5), 50, losses=LABELS),
    classes("ridge classifier weak 200, 20%", RidgeClassifier(), weak(0.2), 200, TEN, REPEATED, losses=LABELS),
    classes("ridge classifier strong 1000, 5%", RidgeClassifier(), strong(0.05), 1000, losses=LABELS),
    classes("tuned logistic weak 200, 20%", TUNED_LOGISTIC, weak(0.2), 200),
    classes("tuned logistic weak 1000, 5%", TUNED_LOGISTIC, weak(0.05), 1000),
)

OTHER_CLASSES = (
    classes("naive Bayes 50, 20%", GaussianNB(), apart(0.2), 50, ONE_OUT),
    classes("naive Bayes 200, 5%", GaussianNB(), apart(0.05), 200),
    classes("naive Bayes 1000, 50%", GaussianNB(), weak(0.5), 1000, HELD),
    classes("5 neighbours disc 50, 50%", KNeighborsClassifier(5), disc(0.5), 50, ONE_OUT, BHT, losses=VOTES),
    classes("15 neighbours disc 200, 20%", KNeighborsClassifier(15), disc(0.2), 200, TEN, REPEATED, losses=VOTES),
    classes("15 neighbours weak 1000, 5%", KNeighborsClassifier(15), weak(0.05), 1000, losses=VOTES),
    classes("tree of depth 3 strong 200, 50%", shallow(3), strong(0.5), 200, losses=VOTES),
    classes("deep tree strong 200, 20%", shallow(None), strong(0.2), 200, RESAMPLED, losses=VOTES),
    classes("tree of depth 3 strong 1000, 5%", shallow(3), strong(0.05), 1000, losses=VOTES),
    classes("tree of depth 3 xor 200, 50%", shallow(3), Classes(signal=2.0, share=0.5, shape="xor"), 200, losses=VOTES),
    classes(
        "forest strong 200, 50%",
        RandomForestClassifier(20, max_depth=5, random_state=0),
        strong(0.5),
        200,
        losses=VOTES,
    ),
    classes(
        "forest disc 1000, 20%",
        RandomForestClassifier(20, max_depth=6, random_state=0),
        disc(0.2),
        1000,
        HELD,
        losses=VOTES,
    ),
    classes("majority 50, 50%", DummyClassifier(), weak(0.5), 50, losses=("zero_one", "log", "neg_brier_score")),
    classes("majority 50, 5%", DummyClassifier(), weak(0.05), 50, losses=("zero_one",)),
    classes(
        "majority 200, 20%", DummyClassifier(), weak(0.2), 200, HELD, losses=("zero_one", "log", "neg_brier_score")
    ),
    classes("majority 1000, 5%", DummyClassifier(), weak(0.05), 1000, losses=PROBABILITIES),
    classes("tuned neighbours disc 200, 50%", TUNED_NEIGHBOURS, disc(0.5), 200, losses=VOTES),
    classes("logistic 30 groups, 30%", LOGISTIC, Grouped(share=0.3), 30),
    classes("logistic 60 groups, 30%", LOGISTIC, Grouped(share=0.3), 60, TEN),
    classes("15 neighbours 60 groups, 50%", KNeighborsClassifier(15), Grouped(share=0.5), 60, losses=VOTES),
)

LINEAR_NUMBERS = (
    numbers("OLS 50", LinearRegression(), Numbers(), 50, ONE_OUT),
    numbers("OLS 200", LinearRegression(), Numbers(), 200, TEN, REPEATED, RESAMPLED, HELD, BHT),
    numbers("OLS 1000", LinearRegression(), Numbers(), 1000, HELD),
    numbers("OLS 50, p 25", LinearRegression(), Numbers(p=25), 50, TEN, ONE_OUT),
    numbers("OLS 200, p 80", LinearRegression(), Numbers(p=80), 200, RESAMPLED),
    numbers("OLS t3 50", LinearRegression(), Numbers(noise="t3"), 50),
    numbers("OLS t3 200", LinearRegression(), Numbers(noise="t3"), 200, TEN, REPEATED, HELD),
    numbers("OLS t3 1000", LinearRegression(), Numbers(noise="t3"), 1000),
    numbers("OLS lognormal 50", LinearRegression(), Numbers(noise="lognormal"), 50, ONE_OUT),
    numbers("OLS lognormal 200", LinearRegression(), Numbers(noise="lognormal"), 200, TEN, RESAMPLED),
    numbers("OLS lognormal 1000", LinearRegression(), Numbers(noise="lognormal"), 1000, HELD),
    numbers("ridge 50, p 20", Ridge(), Numbers(p=20), 50, ONE_OUT),
    numbers("ridge 200, p 200", Ridge(10.0), Numbers(p=200, signal=2.0), 200),
    numbers("tuned ridge 50, p 40", TUNED_RIDGE, Numbers(p=40), 50),
    numbers("tuned ridge 200, p 50", TUNED_RIDGE, Numbers(p=50), 200, TEN, REPEATED, HELD),
    numbers("tuned ridge t3 200, p 50", TUNED_RIDGE, Numbers(p=50, noise="t3"), 200),
    numbers("tuned ridge 1000, p 20", TUNED_RIDGE, Numbers(p=20), 1000),
    numbers("lasso 50, p 100", Lasso(0.3), Numbers(p=100, shape="sparse", signal=2.0), 50),
    numbers(
        "lasso lognormal 200, p 100",
        Lasso(0.1),
        Numbers(p=100, shape="sparse", noise="lognormal"),
        200,
        RESAMPLED,
    ),
    numbers("lasso 1000, p 20", Lasso(0.05), Numbers(p=20, shape="sparse"), 1000),
    numbers("mean lognormal 200", DummyRegressor(), Numbers(signal=0.0, noise="lognormal"), 200),
)

OTHER_NUMBERS = (
    numbers("5 neighbours curve 50", KNeighborsRegressor(5), curve(), 50, ONE_OUT),
    numbers("5 neighbours curve 200", KNeighborsRegressor(5), curve(), 200, RESAMPLED),
    numbers("10 neighbours curve t3 1000", KNeighborsRegressor(10), curve("t3"), 1000, HELD),
    numbers("tree of depth 3 curve 50", regression_tree(3), curve(), 50),
    numbers("tree of depth 4 curve 200", regression_tree(4), curve(), 200, TEN, REPEATED),
    numbers("deep tree curve 1000", regression_tree(None), curve(), 1000, HELD),
    numbers("forest curve 200", RandomForestRegressor(20, max_depth=6, random_state=0), curve(), 200),
    numbers("Poisson 50", PoissonRegressor(alpha=0.01), Counts(), 50, losses=COUNTS),
    numbers("Poisson 200", PoissonRegressor(alpha=0.01), Counts(), 200, TEN, HELD, losses=COUNTS),
    numbers("Poisson 1000", PoissonRegressor(alpha=0.01), Counts(), 1000, RESAMPLED, losses=COUNTS),
    numbers("ridge 30 groups", Ridge(), Grouped(), 30),
    numbers("ridge 60 groups", Ridge(), Grouped(), 60, TEN, HELD),
    numbers("tree of depth 3, 60 groups", regression_tree(3), Grouped(effect=0.7), 60),
    *(
        Setting(
            key=f"OLS in time {n}, rho {rho}",
            learner=LinearRegression(),
            population=Series(rho=rho),
            n=n,
            losses=("squared", "absolute", "neg_root_mean_squared_error"),
            recipes=(FORWARD,),
        )
        for n in (200, 1000)
        for rho in (0.0, 0.5, 0.8)
    ),
)

SETTINGS = (*LINEAR_CLASSES, *OTHER_CLASSES, *LINEAR_NUMBERS, *OTHER_NUMBERS)
