"""Better than no model: the paired difference with a constant from the training rows, told alike at every door."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, max_error, mean_pinball_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.base.responses import Responses
from heldout.losses import mean_loss, resolve_losses
from heldout.report.show import as_view
from heldout.report.terminal import open_console
from heldout.report.words import verdict_words

DIABETES = tuple(part[:150] for part in load_diabetes(return_X_y=True))
CANCER = load_breast_cancer(return_X_y=True)
OF_SHARES = ("log", "neg_brier_score", "roc_auc")  # losses of probabilities
RIDGE, NEIGHBOURS = Ridge(alpha=0.1), KNeighborsClassifier(7)
TIMES = {"time": np.random.default_rng(0).permutation(150)}
GROUPS = {"groups": np.arange(150) // 3}
WEIGHTS = {"sample_weight": np.random.default_rng(0).integers(1, 4, 150).astype(float)}


def said(summary):
    """What a first screen says of the learner against no model."""
    return " ".join(verdict_words(summary))


def same_as_compare(learner, dummy, data, **question):
    """What `evaluate` says against no model is what `compare` says against scikit-learn's dummy."""
    result = ho.evaluate(learner, *data, **question)
    told = result.summary()["verdict"]["no_model"]
    pair = ho.compare({"learner": learner, "dummy": dummy}, *data, **question).pairs[0]
    ours = [told[key] for key in ("difference", "low", "high", "p")]
    theirs = [pair.difference.value, pair.difference.low, pair.difference.high, pair.p]
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert told["method"] == pair.difference.method
    shown = {"better": "first better", "worse": "second better", "not shown": "no difference shown"}
    assert shown[told["verdict"]] == str(pair.verdict)
    return told


@pytest.mark.parametrize(
    ("test", "roles"),
    [
        (ho.KFold(5), {}),
        (ho.KFold(4, repeats=3), {}),
        (ho.LeaveOneOut(), {}),
        (ho.Resample(8), {}),
        (ho.Holdout(0.3), {}),
        (ho.Forward(5), TIMES),
        (ho.KFold(5), GROUPS),
        (ho.KFold(5), WEIGHTS),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("loss", "dummy"), [("squared", DummyRegressor()), ("absolute", DummyRegressor(strategy="median"))]
)
def test_numbers_against_their_mean_or_median(test, roles, loss, dummy):
    told = same_as_compare(RIDGE, dummy, DIABETES, test=test, loss=loss, options=ho.Options(ledger=_own()), **roles)
    assert told["words"].startswith("always answering the me")
    assert told["difference"] < 0


def _own():
    from heldout.audit import MemoryLedger

    return MemoryLedger()


@pytest.mark.parametrize("test", [ho.KFold(5), ho.KFold(5, stratify=False), ho.Resample(6)], ids=str)
@pytest.mark.parametrize("loss", ["zero_one", "accuracy", "f1", "balanced_accuracy", *OF_SHARES])
def test_classes_against_the_commonest_or_their_shares(test, loss):
    told = same_as_compare(NEIGHBOURS, DummyClassifier(strategy="prior"), CANCER, test=test, loss=loss)
    assert told["words"] == (
        "always giving each class its share of the training rows" if loss in OF_SHARES else "always answering '1'"
    )


@pytest.mark.parametrize("loss", ["r2", "neg_root_mean_squared_error"])
@pytest.mark.parametrize("test", [ho.KFold(5), ho.LeaveOneOut()], ids=str)
def test_pooled_scores_against_the_mean(loss, test):
    told = same_as_compare(RIDGE, DummyRegressor(), DIABETES, test=test, loss=loss)
    assert told["verdict"] == "better"


@pytest.mark.parametrize("test", [None, ho.Holdout(0.3)], ids=str)
def test_an_area_is_held_to_a_half(test):
    verdict = ho.evaluate(NEIGHBOURS, *CANCER, test=test, loss="roc_auc", options=ho.Options(ledger=_own())).summary()[
        "verdict"
    ]
    assert verdict["no_model"]["value"] == 0.5
    assert verdict["no_model"]["words"] == "always giving each class its share of the training rows"
    assert verdict["no_model"]["verdict"] == "better"
    assert verdict["no_model"]["low"] > 0.3


def test_a_balanced_accuracy_without_spread_is_not_said_to_be_the_same():
    X = np.repeat([[-1.0], [1.0]], 30, axis=0)
    told = ho.evaluate(NEIGHBOURS, X, (X[:, 0] > 0).astype(int), loss="balanced_accuracy").summary()
    assert told["verdict"]["no_model"]["difference"] == 0.5
    assert "the difference is the same on all 60 rows" in said(told)


def test_a_score_of_absolute_errors_against_the_median():
    dummy = DummyRegressor(strategy="median")
    told = same_as_compare(RIDGE, dummy, DIABETES, test=ho.KFold(5), loss="d2_absolute_error_score")
    assert told["words"] == "always answering the median of the training rows"


def huber(y_true, y_pred):
    error = np.abs(y_true - y_pred)
    return np.where(error < 50, error**2 / 100, error - 25)


def late_costs_ten_times(y_true, y_pred):
    return np.where(y_pred > y_true, 10.0, 1.0) * np.abs(y_pred - y_true)


MEAN, SEARCHED = "the mean of the training rows", "the number that loses least on the training rows"


@pytest.mark.parametrize("roles", [{}, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("poisson", MEAN),
        ("gamma", MEAN),
        ("tweedie:1.5", MEAN),
        ("neg_mean_poisson_deviance", MEAN),
        ("pinball:0.9", "the 0.9 quantile of the training rows"),
        (make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.2), "the 0.2 quantile of the training rows"),
        ("neg_mean_absolute_percentage_error", SEARCHED),
        ("neg_mean_squared_log_error", SEARCHED),
        ("neg_root_mean_squared_log_error", SEARCHED),
        (ho.row_loss(huber), SEARCHED),
        (ho.row_loss(late_costs_ten_times, low=0), SEARCHED),
        (ho.row_loss("squared", low=0, high=360**2), MEAN),
    ],
    ids=str,
)
def test_the_constant_loses_as_little_as_any(loss, words, roles):
    """It costs on the held-out rows what the best constant of a fine grid costs, chosen on the training rows."""
    X, y = DIABETES
    result = ho.evaluate(RIDGE, X, y, test=ho.KFold(3), loss=loss, options=ho.Options(pool=False), **roles)
    told = result.summary()["verdict"]["no_model"]
    assert told["words"] == f"always answering {words}"
    (own,) = resolve_losses(loss, classification=False)
    weight = roles.get("sample_weight", np.ones(150))
    means = []
    for train, held in result.splits:
        grid = np.linspace(y.min(), y.max(), 1_001)
        lost = [own_loss(own, y[train], number, weight[train]) for number in grid]
        means.append(own_loss(own, y[held], grid[int(np.argmin(lost))], weight[held]))
    by_hand = own.sign * np.average(means, weights=[weight[held].sum() for _, held in result.splits])
    assert told["value"] == pytest.approx(by_hand, rel=2e-3)


def own_loss(loss, y, number, weight):
    return mean_loss(loss, y, Responses(predict=np.full(len(y), number)), weight)


def missed_costs_ten(y_true, y_pred):
    return np.where(y_true == y_pred, 0.0, np.where(y_true == 0, 10.0, 1.0))


def test_the_class_that_costs_least_is_the_constant_of_a_users_own_loss():
    """37 % of the rows are of class 0, and missing one costs ten times as much as missing one of class 1."""
    told = ho.evaluate(NEIGHBOURS, *CANCER, test=ho.KFold(5), loss=ho.row_loss(missed_costs_ten)).summary()["verdict"]
    assert told["no_model"]["words"] == "always answering '0'"
    assert told["no_model"]["value"] == pytest.approx(np.mean(CANCER[1] == 1), abs=2e-3)


def minus_log_of_truth(y_true, proba):
    return -np.log(proba[np.arange(len(y_true)), y_true])


@pytest.mark.parametrize("loss", ["brier", "log", ho.row_loss(minus_log_of_truth, response="predict_proba")], ids=str)
def test_probabilities_are_held_to_the_base_rates(loss):
    learner = LogisticRegression(C=1e-4, max_iter=10_000)
    told = same_as_compare(learner, DummyClassifier(strategy="prior"), CANCER, test=ho.KFold(5), loss=loss)
    assert told["words"] == "always giving each class its share of the training rows"


def test_constants_that_a_loss_does_not_take_have_its_reason():
    X, y = DIABETES
    narrow = ho.row_loss("squared", low=0, high=160**2)
    told = ho.evaluate(RIDGE, X, y, test=ho.KFold(5), loss=narrow).summary()["verdict"]["no_model"]
    assert "is said to lie between 0 and 25600" in told["reason"]
    two = np.stack([y, y**2], axis=1)
    own = ho.row_loss(both)
    told = ho.evaluate(RIDGE, X, two, test=ho.KFold(5), loss=own).summary()["verdict"]["no_model"]
    assert "several targets together" in told["reason"]
    signed = ho.row_loss(one_for_wrong_side, response="decision_function")
    told = ho.evaluate(LogisticRegression(C=1e-4), *CANCER, loss=signed).summary()["verdict"]["no_model"]
    assert "no constant decision is known" in told["reason"]


def both(y_true, y_pred):
    return np.abs(y_true - y_pred).sum(axis=1)


def one_for_wrong_side(y_true, decision):
    return ((decision > 0) != (y_true == 1)).astype(float)


def weak_signal():
    """A risk whose interval holds what no model costs, though on the same rows the learner is plainly better."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 1))
    return X, 0.25 * X[:, 0] + rng.normal(size=800)


def test_overlap_does_not_decide():
    """Paired, a small gain on noisy rows is seen; the interval of the risk alone holds what no model costs."""
    X, y = weak_signal()
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(10))
    summary = result.summary()
    told = summary["verdict"]
    assert result.risk.low < told["no_model"]["value"] < result.risk.high
    assert told["no_model"]["verdict"] == "better"
    assert told["no_model"]["words"] == "always answering the mean of the training rows"
    assert said(summary).startswith("Better than no model by ")


def test_the_constant_comes_from_the_training_rows():
    """Sorted halves: the mean of the test rows would cost far less than that of the training rows."""
    X, y = np.zeros((40, 1)), np.repeat([0.0, 1.0], 20)
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(2, shuffle=False))
    assert result.summary()["verdict"]["no_model"]["value"] == pytest.approx(1.0)
    labels = np.repeat(["no", "yes"], 20)
    told = ho.evaluate(DecisionTreeClassifier(), X, labels, test=ho.KFold(2, shuffle=False, stratify=False)).summary()[
        "verdict"
    ]["no_model"]
    assert told["value"] == 1.0
    assert told["words"] == "always answering the commonest class of the training rows"


def test_every_door_says_the_same_sentence(tmp_path):
    result = ho.evaluate(NEIGHBOURS, *CANCER, test=ho.KFold(5))
    sentence = said(result.summary())
    assert re.fullmatch(r"Better than no model by \d+ points \(\d+ to \d+ on the same folds\)\.", sentence)
    assert 'always "1": 62.7 %' in str(result)
    assert sentence in str(result)
    assert sentence in unescape(result._repr_html_())
    console = open_console()
    console.width = 400
    with console.capture() as captured:
        console.print(as_view("result", result.summary()))
    assert sentence in captured.get()
    result.save(tmp_path / "result.heldout")
    loaded = ho.load(tmp_path / "result.heldout")
    assert loaded.summary()["verdict"] == json.loads(json.dumps(result.summary()["verdict"]))
    result.report(tmp_path / "page.html")
    assert sentence in unescape((tmp_path / "page.html").read_text())


def test_a_learner_that_is_no_better_is_not_called_so():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 2, 120)
    told = ho.evaluate(LogisticRegression(), X, y, test=ho.KFold(5))
    assert re.match("(Not shown to be|No) better than no model [(]", said(told.summary()))
    same = ho.evaluate(DummyClassifier(), X, y, test=ho.KFold(5)).summary()
    assert said(same).startswith("No better than no model: the same score on every row")
    assert "found nothing in these columns that tells" in said(same)
    assert "lost the same on all 120 rows" in same["verdict"]["no_model"]["reason"]


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (make_scorer(max_error, greater_is_better=False), "no constant answer is known to be good by it"),
        (lambda model, X, y: -np.abs(model.predict(X) - y).mean(), "asks the predictor itself"),
    ],
)
def test_where_no_model_has_no_meaning_the_reason_is_told(loss, words):
    told = ho.evaluate(RIDGE, *DIABETES, loss={"own": loss}).summary()
    assert words in told["verdict"]["no_model"]["reason"]
    assert said(told).startswith("Not compared with no model. ")
    assert words in said(told)


def test_several_labels_a_row_have_no_commonest_class():
    X, _ = CANCER
    y = np.stack([X[:, 0] > 14, X[:, 1] > 18], axis=1).astype(int)
    told = ho.evaluate(NEIGHBOURS, X, y).summary()["verdict"]
    assert "Several labels a row" in told["no_model"]["reason"]


def test_several_targets_have_a_mean_each():
    X, y = DIABETES
    two = np.stack([y, y**2], axis=1)
    told = same_as_compare(RIDGE, DummyRegressor(), (X, two), test=ho.KFold(3), loss="squared")
    assert told["verdict"] == "better"


def test_a_second_look_shows_nothing_against_no_model():
    options = ho.Options(ledger=_own())
    first = ho.evaluate(RIDGE, *DIABETES, test=ho.Holdout(0.3), options=options).summary()
    second = ho.evaluate(Ridge(alpha=2.0), *DIABETES, test=ho.Holdout(0.3), options=options).summary()
    assert said(first).startswith("Better than")
    assert said(second).startswith("Not shown to be better than")
    assert "looked at before" in said(second)
    assert second["verdict"]["no_model"]["low"] is None


def test_a_second_look_keeps_the_reason_why_nothing_was_compared():
    options, loss = ho.Options(ledger=_own()), {"own": make_scorer(max_error, greater_is_better=False)}
    first, second = (
        ho.evaluate(Ridge(alpha), *DIABETES, test=ho.Holdout(0.3), loss=loss, options=options) for alpha in (1.0, 2.0)
    )
    assert "no constant answer is known" in second.summary()["verdict"]["no_model"]["reason"]
    assert "Not compared with no model. 'own' belongs to whole sets" in str(first)


def test_withheld_rows_are_compared_with_nothing():
    options = ho.Options(answer="rounded:0.05", ledger=_own())
    told = ho.evaluate(NEIGHBOURS, *CANCER, test=ho.Holdout(0.3), options=options).summary()
    assert said(told).startswith("Not compared with no model. ")
    assert told["verdict"]["no_model"]["value"] is None


def test_a_frozen_predictor_is_held_to_the_rows_it_could_have_been_trained_on():
    X, y = CANCER
    frozen = FrozenEstimator(KNeighborsClassifier().fit(X[:300], y[:300]))
    told = ho.evaluate(frozen, X, y, test=ho.Given(np.arange(300, 569)), options=ho.Options(ledger=_own()))
    assert told.summary()["verdict"]["no_model"]["verdict"] == "better"


@pytest.mark.parametrize("score", ["f1", "recall", "precision"])
def test_no_model_is_the_constant_that_scores_best(score):
    """Answers at random must not look better than no model, only because another class is commoner."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 2)), np.where(rng.random(300) < 0.45, "yes", "no")
    learner = DummyClassifier(strategy="uniform", random_state=0)
    result = ho.evaluate(learner, X, y, test=ho.KFold(3), loss=score, positive="yes", progress=False)
    (metric,) = [one for one in result.summary()["metrics"] if one["decides"]]
    assert metric["no_model_words"] == "always 'yes'"
    assert metric["gain"]["verdict"] != "better"
