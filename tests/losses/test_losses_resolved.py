"""What a user may say for a loss, and what is refused with a way out."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, get_scorer, make_scorer, max_error
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.base.errors import LossError
from heldout.base.responses import Responses
from heldout.losses import (
    BUILT_IN,
    SQUARED,
    ZERO_ONE,
    call_scorer,
    mean_loss,
    resolve_losses,
    score_loss,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
LABELS = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
NUMBERS = X[:, 0] + rng.normal(size=40)


def resolve(loss, **options):
    return resolve_losses(loss, **{"classification": True, **options})


def own_scorer(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y))


def test_nothing_said_is_zero_one_for_classes_and_squared_for_numbers():
    assert resolve(None) == (ZERO_ONE,)
    assert resolve(None, classification=False) == (SQUARED,)


def test_names_lists_dicts_and_losses_themselves():
    assert resolve("log") == (BUILT_IN["log"],)
    assert [loss.name for loss in resolve(["zero_one", "accuracy", own_scorer])] == [
        "zero_one",
        "accuracy",
        "own_scorer",
    ]
    named = resolve({"right": "accuracy", "own": own_scorer, "wrong": "zero_one"})
    assert [loss.name for loss in named] == ["right", "own", "wrong"]
    assert resolve(list(named)) == named


def test_signs_and_ranges_inside():
    accuracy, log, auc = resolve(["accuracy", "neg_log_loss", "roc_auc"])
    assert (accuracy.sign, accuracy.low, accuracy.high) == (-1, -1.0, 0.0)
    assert (log.sign, log.low, log.high) == (-1, 0.0, np.inf)
    assert (auc.low, auc.high) == (-1.0, 0.0)
    (r2,) = resolve("r2")
    assert (r2.low, r2.high) == (-1.0, np.inf)
    (free,) = resolve(make_scorer(lambda y, p: 0.0))
    assert free.name == "scorer"
    assert (free.low, free.high) == (-np.inf, np.inf)


def test_only_losses_convex_in_what_is_averaged_say_so():
    convex = resolve(["squared", "absolute", "log", "neg_mean_squared_error", "neg_log_loss", "neg_brier_score"])
    assert all(loss.convex for loss in convex)
    rest = resolve(["zero_one", "accuracy", "roc_auc", "r2", "neg_mean_squared_log_error", "neg_median_absolute_error"])
    assert not any(loss.convex for loss in rest)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("sqared", "There is no loss 'sqared'. Did you mean 'squared'"),
        ("acuracy", "'accuracy'"),
        ("nonsense", "Usual names: accuracy, balanced_accuracy, auc, logloss, brier, f1, precision, recall, ap, mcc.$"),
        ([], "No loss was given"),
        ({}, "No loss was given"),
        ({"accuracy", "f1"}, "the first loss chooses"),
        (["accuracy", "accuracy"], "Two losses are called 'accuracy'"),
        ([make_scorer(f1_score), make_scorer(f1_score, average="macro")], "Two losses are called 'f1_score'"),
        ({1: "accuracy"}, "named by strings"),
        (3.5, "3.5 is a float"),
        ("score", "There is no loss 'score'"),
        ("scores", r"^(?!.*'score').*There is no loss 'scores'"),  # what cannot be had is not proposed
    ],
)
def test_what_cannot_be_a_loss_is_refused(asked, words):
    with pytest.raises(LossError, match=words):
        resolve(asked)


def two_arguments(truth, answer):
    return 0.0


def weighing(y_true, y_pred, sample_weight=None):
    return 0.0


def optional_third(truth, answer, weight=None):
    return 0.0


@pytest.mark.parametrize(
    "metric",
    [accuracy_score, two_arguments, weighing, optional_third, functools.partial(f1_score, average="macro")],
)
def test_a_bare_metric_must_declare_its_direction(metric):
    name = getattr(metric, "func", metric).__name__
    with pytest.raises(LossError, match=rf"make_scorer\({name}, greater_is_better=True\)"):
        resolve(metric)


def optional_y(estimator, X, y=None):
    return 1.0


def other_words(model, data, target=None):
    return 1.0


class ScorerObject:
    def __call__(self, estimator, X, y, sample_weight=None):
        return 1.0


def anything(*arguments):
    return 1.0


@pytest.mark.parametrize("scorer", [own_scorer, optional_y, other_words, ScorerObject(), anything])
def test_callables_with_a_scorers_signature_ask_the_predictor(scorer):
    (loss,) = resolve(scorer)
    assert loss.asks_predictor
    assert loss.methods == ()
    assert loss.sign == -1


def test_asked_losses_are_turned_round_and_found_by_name():
    estimator = LogisticRegression().fit(X, LABELS)
    (loss,) = resolve({"mine": own_scorer})
    value = call_scorer(loss, estimator, X, LABELS)
    assert value == -estimator.score(X, LABELS)
    assert mean_loss(loss, LABELS, Responses(asked={"mine": value})) == value
    with pytest.raises(LossError, match="'mine' asks the predictor itself"):
        mean_loss(loss, LABELS, Responses())


@pytest.mark.parametrize(
    ("answer", "words"),
    [({"a": 1.0, "b": 2.0}, "several scores"), (np.ones(2), "ndarray where one number"), (np.nan, "not defined")],
)
def test_answers_that_are_not_one_number_are_refused(answer, words):
    def odd(estimator, X, y):
        return answer

    (loss,) = resolve(odd)
    with pytest.raises(LossError, match=words):
        call_scorer(loss, None, X, LABELS)


def test_a_scorer_that_raises_is_named():
    def broken(estimator, X, y):
        raise KeyError("no such column")

    (loss,) = resolve(broken)
    with pytest.raises(LossError, match="'broken' failed on 40 held-out rows: 'no such column'"):
        call_scorer(loss, None, X, LABELS)


def test_weights_reach_scorers_that_take_them_and_others_are_refused():
    weight = np.linspace(1, 2, 40)
    estimator = LogisticRegression().fit(X, LABELS)
    score = score_loss(LassoLike())
    assert call_scorer(score, estimator, X, LABELS, weight) == -estimator.score(X, LABELS, sample_weight=weight)
    for scorer in (own_scorer, make_scorer(max_error, greater_is_better=False)):
        (loss,) = resolve(scorer)
        with pytest.raises(LossError, match="takes no sample_weight"):
            call_scorer(loss, estimator, X, LABELS, weight)


class LassoLike(ClassifierMixin, BaseEstimator):
    """A classifier with a score of its own."""

    def score(self, X, y, sample_weight=None):
        return 0.25


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression())),
        FrozenEstimator(LogisticRegression()),
    ],
)
def test_an_unchanged_score_is_replayed_accuracy(estimator):
    loss = score_loss(estimator)
    fitted = LogisticRegression().fit(X, LABELS)
    recorded = Responses(predict=fitted.predict(X), classes=fitted.classes_)
    assert not loss.asks_predictor
    assert loss.name == "score"
    assert mean_loss(loss, LABELS, recorded) == -fitted.score(X, LABELS)


def test_an_unchanged_regressors_score_is_replayed_r2():
    fitted = LinearRegression().fit(X, NUMBERS)
    loss = score_loss(LinearRegression())
    assert not loss.asks_predictor
    assert mean_loss(loss, NUMBERS, Responses(predict=fitted.predict(X))) == -fitted.score(X, NUMBERS)


@pytest.mark.parametrize("estimator", [LassoLike(), MultiOutputClassifier(LogisticRegression()), KMeans()])
def test_a_score_of_its_own_asks_the_predictor(estimator):
    loss = score_loss(estimator)
    assert loss.asks_predictor
    assert pickle.loads(pickle.dumps(loss)) == loss


def test_an_estimator_without_a_score_is_refused():
    with pytest.raises(LossError, match="StandardScaler has no score"):
        score_loss(StandardScaler())


def test_a_scorer_by_name_equals_the_scorer_itself():
    (by_name,), (by_object,) = resolve("accuracy"), resolve(get_scorer("accuracy"))
    assert (by_name.rows, by_name.low, by_name.methods) == (by_object.rows, by_object.low, by_object.methods)
