"""Leave-one-out in closed form is said to be one, and no number of fits is made up for it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import heldout as ho

N = 120
X = np.random.default_rng(0).normal(size=(N, 4))
Y = X[:, 0] + np.random.default_rng(1).normal(size=N)
CLASSES = np.where(Y > 0, "yes", "no")


@pytest.mark.parametrize(
    ("learner", "y"),
    [
        (Ridge(), Y),
        (RidgeClassifier(), CLASSES),
        (KernelRidge(), Y),
        (LinearDiscriminantAnalysis(), CLASSES),
        (GaussianNB(), CLASSES),
        (KNeighborsRegressor(), Y),
    ],
    ids=repr,
)
def test_leave_one_out_without_fits_counts_none(learner, y):
    plan = ho.explain(learner, X, y, test=ho.LeaveOneOut())
    assert (plan.fits, plan.fits_before, plan.cells) == (0, N, N)
    text = str(plan)
    assert "  fits        closed form instead of 120\n" in text
    assert "   120  closed form  " in text
    assert ": 120 fits → closed form\n" in text
    assert "closed form" in plan._repr_html_()
    assert ho.explain(learner, X, y, test=ho.KFold(N, stratify=False)).fits == 0  # by whatever name


def test_every_text_says_so():
    result = ho.evaluate(Ridge(), X, Y, test=ho.LeaveOneOut(), jobs=1)
    assert "work        120 fits asked for, none needed (closed form), " in str(result)
    assert "none needed (closed form)" in result._repr_html_()
    assert sum(line["fits"] for line in result.summary()["plan"]["lines"]) == 0


def test_what_is_fitted_is_still_counted():
    one_out, inside = {"test": ho.LeaveOneOut()}, {"validation": ho.LeaveOneOut()}
    assert ho.explain(DecisionTreeRegressor(), X, Y, **one_out).fits == N
    assert ho.explain(Ridge(), X[:, :1].repeat(2 * N, axis=1), Y, **one_out).fits == N  # more columns than rows
    plan = ho.explain(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, **inside), X, Y, test=ho.KFold(5))
    assert (plan.fits, plan.fits_before) == (5, 2 * 4 * N + 5)
    assert "fits        5 instead of 965" in str(plan)
    approximate = ho.Options(precision="approximate")
    assert ho.explain(LogisticRegression(), X, CLASSES, options=approximate, **one_out).fits == 1
    groups = np.arange(N) // 2
    assert ho.explain(Ridge(), X, Y, groups=groups, **one_out).fits == N // 2
