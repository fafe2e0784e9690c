"""The switches of a tuned learner's own fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Lasso
from sklearn.svm import SVC

import heldout as ho
from heldout.base.errors import OptionError

NUMBERS = make_regression(120, 8, n_informative=4, noise=5.0, random_state=0)
CLASSES = make_classification(200, 8, n_informative=6, class_sep=1.5, random_state=0)
ALPHAS = ho.log_grid(-2, 1, 7)


def lasso(**how):
    return ho.Tuned(Lasso(), {"alpha": ALPHAS}, validation=ho.KFold(5), jobs=1, **how)


def test_exact_bits_may_be_asked_for_and_no_path_is_solved_together():
    usual, exact = (lasso(options=options).fit(*NUMBERS) for options in (None, ho.Options(precision="identical")))
    assert exact.plan_.fits == 5 * len(ALPHAS)
    assert usual.plan_.fits == 5
    assert {line.tier for line in usual.plan_.lines} == {"rounding"}
    assert exact.best_params_ == usual.best_params_
    np.testing.assert_allclose(exact.cv_results_["mean_test_score"], usual.cv_results_["mean_test_score"], rtol=1e-9)
    np.testing.assert_array_equal(exact.predict(NUMBERS[0]), usual.predict(NUMBERS[0]))


def test_the_precision_that_is_gone_is_refused_with_the_reason():
    with pytest.raises(OptionError, match="kernels now follow scikit-learn's own solvers"):
        ho.Options(precision="solver")


def test_an_exact_race_leaves_candidates_unfinished_and_chooses_the_same():
    space = {"C": ho.log_grid(-2, 3, 6), "gamma": ho.log_grid(-4, 1, 4)}
    tuned = ho.Tuned(SVC(), space, validation=ho.KFold(10), jobs=1)
    whole = clone(tuned).fit(*CLASSES)
    raced = clone(tuned).set_params(options=ho.Options(race="exact")).fit(*CLASSES)
    assert (raced.best_index_, raced.best_score_) == (whole.best_index_, whole.best_score_)
    means = raced.cv_results_["mean_test_score"]
    assert np.isnan(means).any()
    done = np.isfinite(means)
    np.testing.assert_array_equal(means[done], whole.cv_results_["mean_test_score"][done])
    assert raced.cv_results_["rank_test_score"][~done].min() > raced.cv_results_["rank_test_score"][done].max()
    assert raced.estimates_["best_validation"].value == whole.estimates_["best_validation"].value


def test_rules_are_switched():
    assert lasso(options=ho.Options(rules={"lasso": False})).fit(*NUMBERS).plan_.fits == 35


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ho.Options(pool=True), r"Options\(pool=…\) has no meaning where a learner is fitted by itself"),
        (ho.Options(timeout=5.0), r"Options\(timeout=…\)"),
        (ho.Options(learning_curve=True), r"Tuned takes precision, race"),
        (ho.Options(rules={"laso": False}), "no rule 'laso'.*lasso"),
        (ho.Options(race="hoeffding"), "bounded range"),
        ({"precision": "identical"}, r"options= takes heldout.Options\(…\), not dict"),
    ],
)
def test_what_a_fit_cannot_mean_is_refused(options, words):
    with pytest.raises(OptionError, match=words):
        lasso(options=options).fit(*NUMBERS)


def test_a_study_has_its_own_options_and_says_so():
    learner = lasso(options=ho.Options(precision="identical"))
    plan = ho.explain(learner, *NUMBERS, test=ho.KFold(3))
    assert plan.fits == 18
    assert "its options are those of its own fit" in str(plan)
    identical = ho.explain(learner, *NUMBERS, test=ho.KFold(3), options=ho.Options(precision="identical"))
    assert identical.fits == 3 * 5 * len(ALPHAS) + 3
