"""Replayed scorers give scikit-learn's own numbers, for every scoring name that suits the target."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import make_classification, make_multilabel_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score, get_scorer, get_scorer_names, log_loss, make_scorer, precision_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from heldout.base.errors import LossError
from heldout.base.responses import METHODS, Responses
from heldout.losses import Replay, check_losses, mean_loss, needed_methods, resolve_losses, row_losses

NAMES = get_scorer_names()


def responses_of(estimator, X, methods=METHODS):
    answers = {m: getattr(estimator, m)(X) for m in methods if hasattr(estimator, m)}
    return Responses(**answers, classes=getattr(estimator, "classes_", None))


def binary():
    X, y = make_classification(160, n_features=6, flip_y=0.3, random_state=0)
    return LogisticRegression().fit(X[:80], y[:80]), X[80:], y[80:]


def binary_without_decision():
    X, y = make_classification(160, n_features=6, flip_y=0.3, random_state=0)
    return KNeighborsClassifier().fit(X[:80], y[:80]), X[80:], y[80:]


def text_labels():
    _, X, y = binary()
    words = np.array(["no", "yes"])
    return LogisticRegression().fit(X, words[y]), X, words[y]


def multiclass():
    X, y = make_classification(240, n_features=6, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
    return LogisticRegression().fit(X[:120], y[:120]), X[120:], y[120:]


def regression():
    X, y = make_regression(120, n_features=5, noise=20, random_state=0)
    y = np.exp(y / 200)  # deviances and logarithms need positive values
    estimator = LinearRegression().fit(X[:60], y[:60])
    keep = np.flatnonzero(estimator.predict(X) > 0.01)[-40:]
    return estimator, X[keep], y[keep]


def multilabel_list():
    X, y = make_multilabel_classification(120, n_features=6, n_classes=3, random_state=0)
    return RandomForestClassifier(5, random_state=0).fit(X[:60], y[:60]), X[60:], y[60:]


def multilabel_decision():
    X, y = make_multilabel_classification(120, n_features=6, n_classes=3, random_state=0)
    return RidgeClassifier().fit(X[:60], y[:60]), X[60:], y[60:]


SETTINGS = [binary, binary_without_decision, text_labels, multiclass, regression, multilabel_list, multilabel_decision]


def sklearn_says(scorer, estimator, X, y, weight):
    """scikit-learn's number, or None where it has none for this estimator and target."""
    options = {} if weight is None else {"sample_weight": weight}
    try:
        value = scorer(estimator, X, y, **options)
    except Exception:
        return None
    return value if np.isfinite(value) else None


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_every_scoring_name_gives_scikit_learns_number_bit_for_bit(setting, weighted):
    estimator, X, y = setting()
    responses = responses_of(estimator, X)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    scored = 0
    for name in NAMES:
        (loss,) = resolve_losses(name, classification=setting is not regression)
        expected = sklearn_says(get_scorer(name), estimator, X, y, weight)
        if expected is None:
            with pytest.raises(LossError, match=name):
                mean_loss(loss, y, responses, weight)
            continue
        value = mean_loss(loss, y, responses, weight)
        assert value == -expected, name
        assert loss.low <= value <= loss.high, name
        scored += 1
    assert scored >= 12


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.filterwarnings("ignore")
def test_the_check_before_fitting_refuses_what_scikit_learn_cannot_score_and_nothing_else(setting):
    estimator, X, y = setting()
    needs_estimator = [name for name in METHODS if not hasattr(estimator, name)]
    for name in NAMES:
        (loss,) = resolve_losses(name, classification=setting is not regression)
        if all(method in needs_estimator for method in loss.methods[0]):
            continue
        expected = sklearn_says(get_scorer(name), estimator, X, y, None)
        if expected is None:
            with pytest.raises(LossError, match=name):
                check_losses([loss], y, setting is not regression)
        else:
            check_losses([loss], y, setting is not regression)


def test_stacked_probabilities_of_several_outputs_are_replayed_as_the_list_they_were():
    estimator, X, y = multilabel_list()
    (loss,) = resolve_losses("roc_auc", classification=True)
    as_list = responses_of(estimator, X, ("predict_proba",))
    stacked = Responses(predict_proba=np.stack(as_list.predict_proba, axis=1), classes=as_list.classes)
    assert mean_loss(loss, y, stacked) == mean_loss(loss, y, as_list) == -get_scorer("roc_auc")(estimator, X, y)


def test_a_replay_has_only_what_was_recorded():
    replay = Replay(Responses(predict=np.array([1.0])))
    assert is_regressor(replay)
    assert not hasattr(replay, "predict_proba")
    assert not hasattr(replay, "classes_")
    assert is_classifier(Replay(Responses(predict=np.array([1]), classes=np.array([0, 1]))))


def test_the_preferred_method_is_replayed_where_both_are_recorded():
    estimator, X, y = binary()
    both = responses_of(estimator, X)
    turned = Responses(
        predict_proba=both.predict_proba, decision_function=-both.decision_function, classes=both.classes
    )
    (loss,) = resolve_losses("roc_auc", classification=True)
    assert mean_loss(loss, y, turned) == pytest.approx(-1 - mean_loss(loss, y, both))


def test_own_scorers_keep_their_options_and_their_sign():
    estimator, X, y = text_labels()
    scorer = make_scorer(f1_score, pos_label="no")
    (loss,) = resolve_losses(scorer, classification=True)
    assert mean_loss(loss, y, responses_of(estimator, X)) == -f1_score(y, estimator.predict(X), pos_label="no")
    assert (loss.name, loss.sign, loss.low, loss.high) == ("f1_score", -1, -1.0, 0.0)
    falling = make_scorer(f1_score, greater_is_better=False, pos_label="no")
    (turned,) = resolve_losses(falling, classification=True)
    assert mean_loss(turned, y, responses_of(estimator, X)) == -mean_loss(loss, y, responses_of(estimator, X))
    assert (turned.name, turned.low, turned.high) == ("neg_f1_score", 0.0, 1.0)


def test_positive_label_turns_decisions_as_scikit_learn_does():
    estimator, X, y = text_labels()
    scorer = make_scorer(precision_at_zero, response_method="decision_function", pos_label="no")
    (loss,) = resolve_losses(scorer, classification=True)
    assert mean_loss(loss, y, responses_of(estimator, X)) == -scorer(estimator, X, y)


def precision_at_zero(y_true, y_score, pos_label):
    return precision_score(y_true == pos_label, y_score > 0)


@pytest.mark.parametrize("name", ["accuracy", "neg_mean_squared_error", "neg_mean_absolute_error", "neg_log_loss"])
@pytest.mark.parametrize("weighted", [False, True])
def test_row_losses_of_known_scorers_average_to_the_scorers_number(name, weighted):
    numbers = "error" in name
    estimator, X, y = regression() if numbers else multiclass()
    (loss,) = resolve_losses(name, classification=not numbers)
    responses = responses_of(estimator, X)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    rows = row_losses(loss, y, responses)
    assert np.average(rows, weights=weight) == pytest.approx(mean_loss(loss, y, responses, weight), rel=1e-12)


def test_set_scores_and_changed_means_have_no_row_losses():
    for loss in (
        "roc_auc",
        "r2",
        make_scorer(log_loss, greater_is_better=False, response_method="predict_proba", normalize=False),
    ):
        (resolved,) = resolve_losses(loss, classification=True)
        assert resolved.rows is None
    assert resolved.high == np.inf


def test_needed_methods_names_each_alternative_once():
    losses = resolve_losses(["roc_auc", "average_precision", "accuracy", "f1", "neg_log_loss"], classification=True)
    assert needed_methods(losses) == (("decision_function", "predict_proba"), ("predict",), ("predict_proba",))


def test_losses_survive_pickling():
    estimator, X, y = multiclass()
    for loss in resolve_losses(["zero_one", "log", "accuracy", "roc_auc_ovr"], classification=True):
        again = pickle.loads(pickle.dumps(loss))
        assert mean_loss(again, y, responses_of(estimator, X)) == mean_loss(loss, y, responses_of(estimator, X))
        assert again.rows is loss.rows


def test_a_score_that_is_not_defined_on_the_rows_is_an_error_and_not_nan():
    (loss,) = resolve_losses("r2", classification=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(LossError, match="'r2' is not defined on these 1 held-out rows"):
            mean_loss(loss, np.array([1.0]), Responses(predict=np.array([2.0])))


def test_a_predictor_without_the_method_is_named():
    X, y = make_classification(40, random_state=0)
    responses = responses_of(LinearSVC().fit(X, y), X)
    (loss,) = resolve_losses("neg_log_loss", classification=True)
    with pytest.raises(LossError, match="predict_proba"):
        mean_loss(loss, y, responses)
