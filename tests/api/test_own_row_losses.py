"""A row loss of the user's own in every verb, with its range, its failures, its workers and its journal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer, max_error

import heldout as ho
from heldout.base.errors import LossError
from heldout.base.responses import Responses
from heldout.losses import check_losses, mean_loss, on_target, resolve_losses, row_losses

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:120], Y[:120] / 100
FLOWERS, KINDS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[KINDS]
QUIET = {"progress": False, "jobs": 1}


def huber(y_true, y_pred):
    error = np.abs(y_true - y_pred)
    return np.where(error < 0.5, error**2 / 2, 0.5 * (error - 0.25))


def surprise(y_true, proba):
    """Minus the log of the probability of the true class, of three named flowers."""
    column = np.searchsorted(["setosa", "versicolor", "virginica"], y_true)
    return -np.log(proba[np.arange(len(y_true)), column].clip(1e-15))


def cost(y_true, y_pred):
    return np.where(y_true == y_pred, 0, np.where(y_true == "virginica", 1, 0.2))


def test_it_is_the_mean_over_rows_with_an_interval():
    result = ho.evaluate(Ridge(), X, Y, test=ho.KFold(5), loss=ho.row_loss(huber, low=0), **QUIET)
    predictions = result.predictions
    rows = huber(predictions.y.to_numpy(), predictions.predict.to_numpy())
    means = [rows[predictions.fold == fold].mean() for fold in range(5)]
    assert result.risk.value == pytest.approx(np.mean(means), rel=1e-12)
    assert result.risk.loss == "huber"
    assert result.risk.estimand == "expected huber risk of the learner trained on 96 rows"
    assert result.risk.low < result.risk.value < result.risk.high
    assert predictions.loss_huber.to_numpy() == pytest.approx(rows)


def test_in_lists_and_dicts_and_in_every_verb():
    own = ho.row_loss(huber)
    result = ho.evaluate(Ridge(), X, Y, loss=["squared", own], **QUIET)
    assert set(result.estimates) >= {"risk", "risk_huber"}
    named = ho.evaluate(Ridge(), X, Y, loss={"robust": own}, **QUIET)
    assert named.risk.loss == "robust"
    assert named.risk.value == result.estimates["risk_huber"].value
    tuned = ho.Tuned(Ridge(), {"alpha": [0.01, 100.0]}, loss=own).fit(X, Y)
    assert tuned.best_params_ == {"alpha": 0.01}
    assert clone(tuned).loss.rows == own.rows
    assert tuned.score(X, Y) == pytest.approx(-huber(Y, tuned.predict(X)).mean())
    found = ho.compare({"weak": Ridge(0.01), "strong": Ridge(100)}, X, Y, loss=own, **QUIET)
    assert found.pairs


def test_a_bounded_range_makes_bounded_intervals_of_one_test_set():
    loss = ho.row_loss(cost, low=0, high=1)
    result = ho.evaluate(LogisticRegression(max_iter=500), FLOWERS, NAMES, test=ho.Holdout(0.4), loss=loss, **QUIET)
    assert result.risk.method == "betting"
    assert result.risk.high <= 1


def test_the_development_bound_of_a_squared_loss_with_a_known_range():
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.Holdout(0.4), final="keep")
    free = clone(learner).set_params(loss="squared").fit(X, Y)
    known = clone(learner).set_params(loss=ho.row_loss("squared", low=0, high=25)).fit(X, Y)
    assert free.estimates_["development_chosen"].low is None
    chosen = known.estimates_["development_chosen"]
    assert chosen.value == pytest.approx(free.estimates_["development_chosen"].value, rel=1e-12)
    assert chosen.guarantee == "finite-sample"
    assert 0 <= chosen.low < chosen.value < chosen.high <= 25
    assert known.best_score_ == pytest.approx(free.best_score_, rel=1e-12)


def test_a_loss_outside_its_range_is_a_named_failure():
    loss = ho.row_loss("squared", low=0, high=0.01)
    with pytest.raises(ho.HeldoutError, match=r"'squared' is said to lie between 0 and 0.01, but \d+ of 24 held-out"):
        ho.evaluate(Ridge(), X, Y, loss=loss, **QUIET)
    score = ho.row_loss("accuracy", low=0.5, high=1)
    with pytest.raises(LossError, match=r"between 0\.5 and 1, but 1 of 2 held-out rows are outside, one at 0"):
        row_losses(score, np.array([0, 1]), Responses(predict=np.array([0, 0])))


def test_rounding_error_outside_the_range_is_set_to_its_end():
    loss = ho.row_loss(lambda y, p: np.array([-1e-14, 1.0 + 1e-14]), low=0, high=1)
    assert row_losses(loss, np.zeros(2), Responses(predict=np.zeros(2))).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda y, p: np.mean((y - p) ** 2), r"gave one number for 120 held-out rows.*not their mean"),
        (lambda y, p: (y - p)[:5], r"an array of shape \(5,\) for 120 held-out rows"),
        (lambda y, p: np.array(["a"] * len(y)), "no numbers"),
        (lambda y, p: y["price"], "failed on 120 held-out rows"),
    ],
)
def test_what_is_no_loss_of_each_row_is_refused_before_any_fit(function, words):
    class Never(Ridge):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("nothing is fitted")

    with pytest.raises(LossError, match=words):
        ho.evaluate(Never(), X, Y, loss=ho.row_loss(function, name="mine"), **QUIET)


def test_numbers_that_are_not_finite_are_a_named_failure():
    loss = ho.row_loss(lambda y, p: np.where(p == y, 0, np.nan), name="mine")
    check_losses([loss], Y, classification=False)
    with pytest.raises(ho.HeldoutError, match="'mine' gave NaN or infinity on 24 of 24 held-out rows"):
        ho.evaluate(Ridge(), X, Y, loss=loss, **QUIET)


def test_a_function_cannot_change_what_other_losses_see():
    def greedy(y, p):
        p -= y
        return p**2

    with pytest.raises(LossError, match="read-only"):
        ho.evaluate(Ridge(), X, Y, loss=ho.row_loss(greedy), **QUIET)


def test_probabilities_have_a_column_for_each_class_of_the_target():
    loss = ho.row_loss(surprise, low=0, response="predict_proba")
    learner = LogisticRegression(max_iter=500)
    result = ho.evaluate(learner, FLOWERS, NAMES, test=ho.KFold(3), loss=[loss, "log"], **QUIET)
    assert result.risk.value == pytest.approx(result.estimates["risk_log"].value, rel=1e-9)
    (known,) = on_target([loss], np.unique(NAMES))
    two = Responses(predict_proba=np.array([[0.25, 0.75]]), classes=np.array(["setosa", "virginica"]))
    assert row_losses(known, np.array(["virginica"]), two) == pytest.approx(-np.log(0.75))
    assert row_losses(known, np.array(["versicolor"]), two) == pytest.approx(-np.log(1e-15))
    turned = Responses(
        predict_proba=np.array([[0.1, 0.2, 0.7]]), classes=np.array(["virginica", "setosa", "versicolor"])
    )
    assert row_losses(known, np.array(["virginica"]), turned) == pytest.approx(-np.log(0.1))


class Unsorted(ClassifierMixin, BaseEstimator):
    """A classifier of the user's own that does not sort its classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)[::-1]
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.tile([0.6, 0.3, 0.1], (len(X), 1))


def test_classes_that_a_learner_does_not_sort_are_sorted_for_the_function():
    loss = ho.row_loss(surprise, response="predict_proba")
    result = ho.evaluate(Unsorted(), FLOWERS, NAMES, test=ho.KFold(3), loss=[loss, "log"], **QUIET)
    assert result.risk.value == pytest.approx(result.estimates["risk_log"].value, rel=1e-12)


def test_a_loss_of_probabilities_is_refused_for_numbers():
    loss = ho.row_loss(surprise, response="predict_proba")
    with pytest.raises(LossError, match="needs predict_proba, which a learner that predicts numbers has not"):
        ho.evaluate(Ridge(), X, Y, loss=loss, **QUIET)


def test_names_of_scores_keep_their_sign():
    loss = ho.row_loss("neg_mean_squared_error", low=-25, high=0)
    assert (loss.name, loss.sign, loss.low, loss.high) == ("neg_mean_squared_error", -1, 0, 25)
    assert repr(loss) == "row_loss('neg_mean_squared_error', low=-25, high=0, name='neg_mean_squared_error')"
    result = ho.evaluate(Ridge(), X, Y, loss=loss, **QUIET)
    plain = ho.evaluate(Ridge(), X, Y, loss="neg_mean_squared_error", **QUIET)
    assert result.risk.value == pytest.approx(plain.risk.value, rel=1e-12)
    pinball = ho.row_loss("pinball:0.9", low=0, high=10, name="late")
    assert (pinball.name, pinball.high) == ("late", 10)
    assert ho.row_loss(get_scorer("neg_mean_absolute_error"), low=-9, high=0).high == 9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("roc_auc",), "'roc_auc' belongs to whole sets"),
        ((make_scorer(max_error, greater_is_better=False),), "belongs to whole sets"),
        ((3,), "takes a function of true and predicted values, or a name, not 3"),
        ((huber, 2, 1), "2 is not below 1"),
        ((huber, "0"), "are numbers, not '0'"),
        ((huber, float("nan")), "are numbers, not nan"),
        ((huber, 0, 1, ""), "no printable text"),
    ],
)
def test_arguments_are_checked(arguments, words):
    with pytest.raises(LossError, match=words):
        ho.row_loss(*arguments)


def test_responses_are_checked():
    with pytest.raises(LossError, match="response= is 'predict', 'predict_proba' or 'decision_function', not 'proba'"):
        ho.row_loss(huber, response="proba")
    with pytest.raises(LossError, match="Leave response= out"):
        ho.row_loss("log", response="predict_proba")


def test_a_bare_metric_is_told_of_row_loss():
    with pytest.raises(LossError, match=r"row_loss\(huber\)"):
        resolve_losses(huber, classification=False)


def test_weights_make_a_weighted_mean():
    (loss,) = resolve_losses(ho.row_loss(huber), classification=False)
    y, weight = np.array([0.0, 1.0]), np.array([3.0, 1.0])
    assert mean_loss(loss, y, Responses(predict=np.array([0.0, 0.6])), weight) == pytest.approx(0.08 / 4)
    check_losses([loss], y, classification=False, weighted=True)


def test_workers_and_the_journal_know_it(tmp_path):
    loss = ho.row_loss(huber, low=0)
    assert pickle.loads(pickle.dumps(loss)) == loss
    asked = {"test": ho.KFold(4), "loss": loss, "progress": False}
    learner = ho.Tuned(Ridge(), {"alpha": [0.01, 1.0]}, loss=loss)
    here = ho.evaluate(learner, X, Y, jobs=1, **asked)
    there = ho.evaluate(learner, X, Y, jobs=2, backend="processes", **asked)
    assert there.risk.value == here.risk.value
    journal = tmp_path / "study.db"
    first = ho.evaluate(learner, X, Y, jobs=1, journal=journal, **asked)
    again = ho.evaluate(learner, X, Y, jobs=1, journal=journal, **asked)
    assert again.journal.computed == 0 < again.journal.recalled
    assert again.risk == first.risk
    nameless = ho.row_loss(lambda y, p: (y - p) ** 2, name="mine")
    with pytest.raises(ho.HeldoutError, match="is a lambda"):
        ho.evaluate(Ridge(), X, Y, journal=journal, loss=nameless, **QUIET)


def test_a_report_can_be_asked_again_with_it():
    result = ho.evaluate(Ridge(), X, Y, loss=ho.row_loss(huber, low=0, name="robust"), **QUIET)
    assert "from heldout import evaluate, row_loss" in result.summary()["about"]["call"]
    assert "loss=row_loss(huber, low=0, name='robust')" in result.summary()["about"]["call"]


def test_scores_by_name_have_intervals_of_rows():
    learner = LogisticRegression(max_iter=500)
    result = ho.evaluate(learner, FLOWERS, NAMES, test=ho.Holdout(0.4), loss="brier", **QUIET)
    assert result.risk.method == "betting"
    one = ho.evaluate(Ridge(), X, Y, test=ho.Holdout(0.4), loss="neg_mean_absolute_percentage_error", **QUIET)
    assert one.risk.low < one.risk.value < one.risk.high
    assert "loss_neg_mean_absolute_percentage_error" in one.predictions


def cost_of_an_error(y, predicted):
    return 5.0 * (y != predicted)


@pytest.mark.parametrize(
    "loss",
    [ho.row_loss(cost_of_an_error, name="zero_one"), {"accuracy": ho.row_loss(cost_of_an_error)}],
    ids=["name", "dict"],
)
def test_the_name_of_a_known_loss_is_not_given_to_another(loss):
    """A cost of 5 an error, called zero_one, was said to be the share of rows that are wrong."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(LossError, match="is the name of a known loss"):
        ho.evaluate(LogisticRegression(), X, (X[:, 0] > 0).astype(int), loss=loss)
