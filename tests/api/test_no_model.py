"""Better than no model: the paired difference with a constant from the training rows, told alike at every door."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.report.terminal import open_console, result_view

DIABETES = tuple(part[:150] for part in load_diabetes(return_X_y=True))
CANCER = load_breast_cancer(return_X_y=True)
RIDGE, NEIGHBOURS = Ridge(alpha=0.1), KNeighborsClassifier(7)
TIMES = {"time": np.random.default_rng(0).permutation(150)}
GROUPS = {"groups": np.arange(150) // 3}
WEIGHTS = {"sample_weight": np.random.default_rng(0).integers(1, 4, 150).astype(float)}


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
@pytest.mark.parametrize("loss", ["zero_one", "accuracy", "f1", "balanced_accuracy", "log", "neg_brier_score"])
def test_classes_against_the_commonest_or_their_shares(test, loss):
    told = same_as_compare(NEIGHBOURS, DummyClassifier(strategy="prior"), CANCER, test=test, loss=loss)
    assert told["words"] == (
        "always giving each class its share of the training rows"
        if loss in ("log", "neg_brier_score")
        else "always answering '1'"
    )


@pytest.mark.parametrize("loss", ["r2", "neg_root_mean_squared_error"])
@pytest.mark.parametrize("test", [ho.KFold(5), ho.LeaveOneOut()], ids=str)
def test_pooled_scores_against_the_mean(loss, test):
    told = same_as_compare(RIDGE, DummyRegressor(), DIABETES, test=test, loss=loss)
    assert told["verdict"] == "better"


def weak_signal():
    """A risk whose interval holds what no model costs, though on the same rows the learner is plainly better."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 1))
    return X, 0.25 * X[:, 0] + rng.normal(size=800)


def test_overlap_does_not_decide():
    """Paired, a small gain on noisy rows is seen; the interval of the risk alone holds what no model costs."""
    X, y = weak_signal()
    result = ho.evaluate(Ridge(), X, y, test=ho.KFold(10))
    told = result.summary()["verdict"]
    assert result.risk.low < told["no_model"]["value"] < result.risk.high
    assert told["no_model"]["verdict"] == "better"
    assert told["against"].startswith("Better than always answering the mean of the training rows by ")


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
    sentence = result.summary()["verdict"]["against"]
    assert sentence.startswith("Better than always answering '1' by ")
    assert "points, on the same folds); that would be wrong 37.3% of the time." in sentence
    assert sentence in str(result)
    assert sentence in unescape(result._repr_html_())
    console = open_console()
    console.width = 400
    with console.capture() as captured:
        console.print(result_view(result.summary()))
    assert sentence in captured.get()
    result.save(tmp_path / "result.heldout")
    loaded = ho.load(tmp_path / "result.heldout")
    assert loaded.summary()["verdict"] == json.loads(json.dumps(result.summary()["verdict"]))
    result.report(tmp_path / "page.html")
    assert sentence in unescape((tmp_path / "page.html").read_text())


def test_a_learner_that_is_no_better_is_not_called_so():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 2, 120)
    told = ho.evaluate(LogisticRegression(), X, y, test=ho.KFold(5)).summary()["verdict"]
    assert told["against"].startswith("Not shown to be better than always answering")
    same = ho.evaluate(DummyClassifier(), X, y, test=ho.KFold(5)).summary()["verdict"]
    assert "lost the same on all 120 rows" in same["against"]


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.9), "No constant answer is known"),
        (lambda model, X, y: -np.abs(model.predict(X) - y).mean(), "asks the predictor itself"),
    ],
)
def test_where_no_model_has_no_meaning_the_reason_is_told(loss, words):
    told = ho.evaluate(RIDGE, *DIABETES, loss={"own": loss}).summary()["verdict"]
    assert told["against"] is None
    assert words in told["no_model"]["reason"]


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
    first = ho.evaluate(RIDGE, *DIABETES, test=ho.Holdout(0.3), options=options).summary()["verdict"]
    second = ho.evaluate(Ridge(alpha=2.0), *DIABETES, test=ho.Holdout(0.3), options=options).summary()["verdict"]
    assert first["against"].startswith("Better than")
    assert second["against"].startswith("Not shown to be better than")
    assert "looked at before" in second["against"]
    assert second["no_model"]["low"] is None


def test_withheld_rows_are_compared_with_nothing():
    options = ho.Options(answer="rounded:0.05", ledger=_own())
    told = ho.evaluate(NEIGHBOURS, *CANCER, test=ho.Holdout(0.3), options=options).summary()["verdict"]
    assert told["against"] is None
    assert told["no_model"]["value"] is None


def test_a_frozen_predictor_is_held_to_the_rows_it_could_have_been_trained_on():
    X, y = CANCER
    frozen = FrozenEstimator(KNeighborsClassifier().fit(X[:300], y[:300]))
    told = ho.evaluate(frozen, X, y, test=ho.Given(np.arange(300, 569)), options=ho.Options(ledger=_own()))
    assert told.summary()["verdict"]["no_model"]["verdict"] == "better"
