from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.naive_bayes import GaussianNB

import heldout as ho
from heldout.base.errors import FitFailed
from heldout.kernels.perform import perform
from heldout.kernels.step import Work, plan_brute_force
from heldout.planner.plan import ready_panels
from heldout.study.study import TEST, VALIDATION

X, y = (part[:40] for part in load_diabetes(return_X_y=True))


class Troubled(RegressorMixin, BaseEstimator):
    """Fails, warns or answers nonsense as it is told."""

    def __init__(self, trouble="none"):
        self.trouble = trouble

    def fit(self, X, y):
        if self.trouble == "fit":
            raise ValueError("no fit today")
        if self.trouble == "warns":
            warnings.warn("careful\x1b[31m", UserWarning, stacklevel=1)
            warnings.warn("careful\x1b[31m", UserWarning, stacklevel=1)
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        if self.trouble == "predict":
            raise RuntimeError("no answer")
        if self.trouble == "warns":
            warnings.warn("unsure", RuntimeWarning, stacklevel=1)
        answer = np.full(len(X), self.mean_)
        return {"nan": answer * np.nan, "short": answer[1:], "scalar": self.mean_}.get(self.trouble, answer)


def work_of(question, *, keep=False, **more):
    study = question.study
    panels = frozenset(panel.key for panel in study.panels) if keep else frozenset()
    return Work(
        task=question.task,
        search=more.pop("search", study.search),
        splits=study.splits,
        losses={TEST: study.reported, VALIDATION: study.search.losses},
        keep_rows=panels,
        keep_responses=panels,
        **more,
    )


def answers_of(question, **more):
    work = work_of(question, **more)
    steps = plan_brute_force(ready_panels(question.study, frozenset()))
    return [answer for step in steps for answer in perform(step, work)]


def test_each_cell_is_clone_fit_predict(asked):
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=ho.KFold(4))
    question = asked(learner, X, y, test=ho.Holdout(0.25))
    inner = question.study.splits["inner/0"]
    answers = answers_of(question, keep=True)
    cells = [(c, p) for p in range(4) for c in range(2)]
    assert [list(a.cells) for a in answers] == [[cell] for cell in cells]
    for (candidate, part), answer in zip(cells, answers, strict=True):
        train, held = inner.train_rows(part), inner.held_rows(part)
        predicted = clone(Ridge()).set_params(alpha=[0.1, 10.0][candidate]).fit(X[train], y[train]).predict(X[held])
        np.testing.assert_array_equal(answer.responses[0].predict, predicted)
        np.testing.assert_array_equal(answer.rows[0], [(y[held] - predicted) ** 2])
        assert answer.losses.tolist() == [[[float(np.mean((y[held] - predicted) ** 2))]]]


def test_only_what_is_asked_for_is_kept(asked):
    (answer, *_) = answers_of(asked(Ridge(), X, y))
    assert answer.rows is None
    assert answer.responses is None


def test_an_averaged_training_answers_by_the_average(asked):
    learner = ho.Tuned(Ridge(), {"alpha": [1.0]}, validation=ho.KFold(3), final="ensemble")
    question = asked(learner, X, y, test=ho.Holdout(0.25))
    (test,) = question.study.of_level(TEST)
    (step,) = plan_brute_force([replace(test, candidates=range(1))])
    (answer,) = perform(step, work_of(question, keep=True))
    inner, outer = question.study.splits["inner/0"], question.study.splits["outer"]
    held = outer.held_rows(0)
    members = [Ridge(alpha=1.0).fit(X[inner.train_rows(p)], y[inner.train_rows(p)]).predict(X[held]) for p in range(3)]
    np.testing.assert_array_equal(answer.responses[0].predict, np.mean(members, axis=0))


@pytest.mark.parametrize(
    ("trouble", "stage", "kind", "words"),
    [
        ("fit", "fit", "ValueError", "no fit today"),
        ("predict", "predict", "RuntimeError", "no answer"),
        ("nan", "predict", "PredictionError", "NaN or infinity on 14 of 14 held-out rows"),
        ("short", "predict", "PredictionError", "13 rows for 14 held-out rows"),
        ("scalar", "predict", "PredictionError", "a single value for 14 held-out rows"),
    ],
)
def test_a_failure_has_a_name_and_a_place(asked, trouble, stage, kind, words):
    answer, *_ = answers_of(asked(Troubled(trouble), X, y))
    assert np.isnan(answer.losses).all()
    (failure,) = answer.failures.values()
    assert (failure.stage, failure.kind) == (stage, kind)
    assert words in failure.message
    assert ("Traceback" in failure.traceback) == (kind != "PredictionError")  # an error of ours needs none


def test_a_failure_of_one_candidate_leaves_the_others(asked):
    learner = ho.Tuned(Troubled(), {"trouble": ["none", "fit", "none"]}, validation=ho.KFold(3))
    answers = answers_of(asked(learner, X, y, test=ho.Holdout(0.25)))
    assert {cell for a in answers for cell in a.failures} == {(1, part) for part in range(3)}
    assert len(answers) == 9


def test_warnings_are_collected_once_a_cell_and_not_shown(asked):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = answers_of(asked(Troubled("warns"), X, y))
    for answer in answers:
        (told,) = answer.warnings.values()
        assert [(w.category, w.message) for w in told] == [
            ("UserWarning", "careful\x1b[31m"),
            ("RuntimeWarning", "unsure"),
        ]


@pytest.mark.parametrize(("error_score", "loss"), [(None, np.nan), (-99.0, 99.0), (0.0, 0.0)])
def test_error_score_stands_for_a_failed_validation_cell(asked, error_score, loss):
    learner = ho.Tuned(Troubled(), {"trouble": ["fit"]}, validation=ho.KFold(3), loss="r2")
    question = asked(learner, X, y, test=ho.Holdout(0.25))
    answers = answers_of(question, search=replace(question.study.search, error_score=error_score))
    np.testing.assert_array_equal([a.losses for a in answers], [[[[loss]]]] * 3)
    assert all(a.failures for a in answers)


def test_a_failed_test_cell_has_no_number_whatever_error_score_says(asked):
    question = asked(Troubled("fit"), X, y)
    answer, *_ = answers_of(question, search=replace(question.study.search, error_score=-99.0))
    assert np.isnan(answer.losses).all()


def test_error_score_raise_raises_with_the_fit_named(asked):
    learner = ho.Tuned(Troubled(), {"trouble": ["fit"]}, validation=ho.KFold(3))
    question = asked(learner, X, y, test=ho.Holdout(0.25))
    with pytest.raises(FitFailed, match=r"trouble=fit failed \(ValueError: no fit today\)"):
        answers_of(question, search=replace(question.study.search, error_score="raise"))


def ask_for_coefficients(estimator, X, y):
    return -float(np.abs(estimator.coef_).sum())


def test_a_scorer_that_calls_the_estimator_gets_it_fitted(asked):
    question = asked(Ridge(), X, y, loss=ask_for_coefficients)
    outer = question.study.splits["outer"]
    for part, answer in enumerate(answers_of(question)):
        train = outer.train_rows(part)
        assert answer.losses.tolist() == [[[float(np.abs(Ridge().fit(X[train], y[train]).coef_).sum())]]]


def test_weights_enter_fits_and_mean_losses(asked):
    weight = np.linspace(0.5, 5, 40)
    question = asked(
        Ridge(), X, y, sample_weight=weight, loss=["squared", make_scorer(mean_squared_error, greater_is_better=False)]
    )
    outer = question.study.splits["outer"]
    for part, answer in enumerate(answers_of(question)):
        train, held = outer.train_rows(part), outer.held_rows(part)
        predicted = Ridge().fit(X[train], y[train], sample_weight=weight[train]).predict(X[held])
        mean = np.average((y[held] - predicted) ** 2, weights=weight[held])
        np.testing.assert_allclose(answer.losses, mean, rtol=1e-12)


def test_steps_run_under_the_configuration_of_the_question(asked):
    class Asks(Troubled):
        def fit(self, X, y):
            assert sklearn.get_config()["assume_finite"]
            return super().fit(X, y)

    question = asked(Asks(), X, y)
    assert all(a.failures for a in answers_of(question))
    assert not any(a.failures for a in answers_of(question, config={"assume_finite": True}))


def test_probabilities_are_asked_for_only_where_a_loss_needs_them(asked):
    F, kinds = load_iris(return_X_y=True)
    plain, *_ = answers_of(asked(GaussianNB(), F, kinds), keep=True)
    assert plain.responses[0].predict_proba is None
    logs, *_ = answers_of(asked(GaussianNB(), F, kinds, loss="log"), keep=True)
    assert logs.responses[0].predict_proba.shape == (50, 3)
