"""The contract of a kernel: on every study it may claim it gives what brute force gives, at its stated tier.

A new kernel passes `check_kernel` when it is registered in ``heldout.kernels.perform.KERNELS``. Where none of the
studies here reaches it, the contract fails and asks for one that does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.api.question import prepare
from heldout.engine.run import Outcome, Running, run_study
from heldout.kernels.perform import ACROSS
from heldout.kernels.step import TIERS
from heldout.planner.checked_cells import APPROXIMATE
from heldout.planner.passes import PASSES, make_plan
from heldout.results.study_record import Request
from heldout.study.study import TEST

BRUTE = "brute"
ALL_OFF = dict.fromkeys([name for name, _ in PASSES], False)
ROUNDING = 1e-9  # of the largest response
OPTED = (APPROXIMATE,)  # tiers that run only where they are asked for


@dataclass(frozen=True)
class Learner:
    """A learner with candidates, and whether it takes weights."""

    name: str
    estimator: Any
    space: dict[str, Any]
    classes: int = 0  # 0: numbers are predicted
    weights: bool = True


LEARNERS = (
    Learner("ridge", Ridge(), {"alpha": [0.01, 1.0, 100.0]}),
    Learner("scaled ridge", make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.01, 1.0, 100.0]}),
    Learner("partial least squares", PLSRegression(), {"n_components": [1, 2, 4]}, weights=False),
    Learner("neighbours", KNeighborsRegressor(), {"n_neighbors": [1, 3, 7]}, weights=False),
    Learner("neighbours of classes", KNeighborsClassifier(), {"n_neighbors": [1, 4]}, classes=3, weights=False),
    Learner("lasso", Lasso(), {"alpha": [0.03, 0.3]}),
    Learner(
        "discriminants", LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.1, 0.6]}, classes=3, weights=False
    ),
    Learner("Gaussian naive Bayes", GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, classes=3),
    Learner("Bernoulli naive Bayes", BernoulliNB(), {"alpha": [0.1, 1.0]}, classes=2),
    Learner("kernel ridge", KernelRidge(kernel="rbf", gamma=0.01), {"alpha": [0.1, 1.0], "gamma": [0.01, 0.1]}),
    Learner("tree", DecisionTreeRegressor(), {"max_depth": [1, 3], "ccp_alpha": [0.0, 0.01]}),
    Learner("forest", RandomForestClassifier(3), {"n_estimators": [2, 5]}, classes=2),
    Learner(
        "selection",
        make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression()),
        {"selectkbest__k": [1, 3], "logisticregression__C": [0.1, 10.0]},
        classes=2,
    ),
    Learner("vectors", make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 10.0]}, classes=2),
    Learner("vectors of numbers", SVR(), {"C": [0.1, 10.0]}),
    Learner(
        "logistic regression",
        make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-10)),
        {"logisticregression__C": [0.03, 1.0, 30.0]},
        classes=3,
    ),
    Learner("two classes", LogisticRegression(solver="newton-cholesky", tol=1e-10), {"C": [0.1, 10.0]}, classes=2),
)
RECIPES = (
    {"test": ho.KFold(3), "validation": ho.KFold(3)},
    {"test": ho.Holdout(0.3), "validation": ho.Resample(3)},
    {"test": ho.KFold(4), "validation": ho.SharedBlocks()},
    {"test": ho.LeaveOneOut(), "validation": None},
)


def generated_studies(seed: int) -> Iterator[tuple[str, Any]]:
    """Questions about small random data: every learner under every recipe, some with weights and repeated rows."""
    random = np.random.default_rng(seed)
    for learner in LEARNERS:
        for number, recipe in enumerate(RECIPES):
            n = int(random.integers(24, 40))
            X = random.normal(size=(n, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 100]
            X[-3:] = X[:3]  # duplicates: ties between neighbours, and rows told apart by their numbers alone
            signal = X[:, 0] + X[:, 1] / 10 + random.normal(size=n) / 2
            y = signal if not learner.classes else np.argsort(np.argsort(signal)) * learner.classes // n
            weight = random.uniform(0.5, 2, n) if learner.weights and number % 2 else None
            made = learner.estimator
            if recipe["validation"] is not None:
                made = ho.Tuned(made, learner.space, validation=recipe["validation"], random_state=seed)
            request = Request(test=recipe["test"], roles={"sample_weight": weight}, seed=seed)
            yield f"{learner.name} {recipe}", prepare(made, X, y, request)


def check_kernel(kernel: str, *, seed: int) -> None:
    """Assert that the kernel's rule, alone, changes nothing but the last bits that its tier allows, and is used."""
    tiers: set[str] = set()
    tier = next((one.tier for one in ACROSS if one.name == kernel), "rounding")
    precision = tier if tier in OPTED else "rounding"
    for words, asked in generated_studies(seed):
        rules = ALL_OFF | ({} if kernel == BRUTE else {kernel: True})
        plan = make_plan(asked.study, asked.task, done=frozenset(), rules=rules, precision=precision)
        own = {step.tier for step in plan.steps if step.kernel == kernel}
        tiers |= own
        if own and kernel != BRUTE:
            loosest = max(own, key=TIERS.index)
            check = _check_told if loosest == APPROXIMATE else _check_same
            check(_run(asked, ALL_OFF), _run(asked, rules, precision), loosest, words)
    assert tiers, f"No study of the contract reaches the kernel {kernel!r}. Add a learner that does to LEARNERS."
    assert tiers <= ({tier} if tier in OPTED else {"identical", "rounding"}), (
        f"By default only identical and rounding run, not {tiers}."
    )


def _run(asked: Any, rules: dict[str, bool], precision: str = "rounding") -> Outcome:
    return run_study(asked.study, asked.task, Running(jobs=1, options=ho.Options(rules=rules, precision=precision)))


def _check_told(brute: Outcome, other: Outcome, tier: str, words: str) -> None:
    """Of an approximation: it is near on the whole, and its distance from twenty exact cells is told."""
    assert all(check.passed for check in other.checks), words
    assert {check.tier for check in other.checks} == {tier}, words
    for level in {check.level for check in other.checks}:
        assert sum(check.level == level for check in other.checks) >= 20, words
    for key, table in brute.tables.panels.items():
        assert abs(other.tables[key].losses.mean() - table.losses.mean()) < 0.1, words


def _check_same(brute: Outcome, other: Outcome, tier: str, words: str) -> None:
    assert all(check.passed for check in other.checks), words
    assert other.tables.panels.keys() == brute.tables.panels.keys(), words
    assert {k: c.candidate for k, c in other.study.chosen.items()} == {
        k: c.candidate for k, c in brute.study.chosen.items()
    }, words
    for key, table in brute.tables.panels.items():
        within = {"identical": 0.0, "rounding": ROUNDING}[tier]
        losses = {"identical": 0.0, "rounding": 1e-6}.get(tier, 1e-3)
        np.testing.assert_allclose(other.tables[key].losses, table.losses, rtol=losses, err_msg=words)
        for candidate in table.candidates if key.startswith(TEST) else ():
            for part in table.parts:
                ours, theirs = other.tables[key].responses(candidate, part), table.responses(candidate, part)
                _check_responses(ours, theirs, within, words)


def _check_responses(ours: Any, theirs: Any, within: float, words: str) -> None:
    assert (ours is None) == (theirs is None), words
    for method in ("predict", "predict_proba", "decision_function"):
        one, other = getattr(ours, method), getattr(theirs, method)
        assert (one is None) == (other is None), words
        if one is not None and (within == 0 or np.asarray(one).dtype.kind not in "f"):
            np.testing.assert_array_equal(one, other, err_msg=words)
        elif one is not None:
            np.testing.assert_allclose(one, other, rtol=0, atol=within * np.abs(other).max(), err_msg=words)
