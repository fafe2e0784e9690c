"""Familiar scores of a study: equal to scikit-learn's on the same held-out rows, and to `compare` against a dummy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho

CANCER = tuple(part[:200] for part in load_breast_cancer(return_X_y=True))
IRIS = load_iris(return_X_y=True)
DIABETES = tuple(part[:150] for part in load_diabetes(return_X_y=True))
RIDGE = Ridge(alpha=0.1)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())
OF_CLASSES = ["accuracy", "balanced_accuracy", "auc", "logloss", "brier"]
OF_NUMBERS = ["rmse", "mae", "r2"]


def of(result: Any, name: str) -> dict[str, Any]:
    return next(one for one in result.summary()["metrics"] if one["name"] == name)


def by_fold(score: Any, result: Any) -> float:
    return float(np.mean([score(part) for _, part in result.predictions.groupby("fold")]))


def shares(part: pd.DataFrame) -> Any:
    return part[[name for name in part.columns if name.startswith("proba_")]].to_numpy()


# ------------------------------------------------------------------------------------------ scikit-learn's numbers


@pytest.mark.parametrize("learner", [LOGISTIC, KNeighborsClassifier(7), GaussianNB()], ids=repr)
@pytest.mark.parametrize("words", [True, False], ids=["words", "numbers"])
def test_scores_of_two_classes_are_scikit_learns(learner: Any, words: bool) -> None:
    X, y = CANCER
    y = np.where(y == 1, "well", "ill") if words else y
    last = np.unique(y)[-1]
    result = ho.evaluate(learner, X, y, test=ho.KFold(4), jobs=1)
    every = result.predictions
    expected = {
        "accuracy": by_fold(lambda part: sk.accuracy_score(part.y, part.predict), result),
        "balanced_accuracy": sk.balanced_accuracy_score(every.y, every.predict),
        "auc": by_fold(lambda part: sk.roc_auc_score(part.y, shares(part)[:, 1]), result),
        "logloss": by_fold(lambda part: sk.log_loss(part.y, shares(part)), result),
        "brier": by_fold(lambda part: sk.brier_score_loss(part.y, shares(part)[:, 1], pos_label=last), result),
    }
    assert list(result.metrics["name"]) == OF_CLASSES
    assert dict(zip(result.metrics["name"], result.metrics["value"], strict=True)) == pytest.approx(expected, rel=1e-9)
    assert (result.metrics["low"] < result.metrics["value"]).all()
    assert (result.metrics["value"] < result.metrics["high"]).all()


@pytest.mark.parametrize("learner", [LOGISTIC, KNeighborsClassifier(9), GaussianNB(), SVC(), LinearSVC()], ids=repr)
def test_auc_of_several_classes_is_one_against_the_rest(learner: Any) -> None:
    result = ho.evaluate(learner, *IRIS, test=ho.KFold(3), jobs=1)
    auc = of(result, "auc")
    if hasattr(learner, "predict_proba"):
        expected = by_fold(lambda part: sk.roc_auc_score(part.y, shares(part), multi_class="ovr"), result)
        assert auc["value"] == pytest.approx(expected, rel=1e-9)
        expected = by_fold(lambda part: sk.log_loss(part.y, shares(part)), result)
        assert of(result, "logloss")["value"] == pytest.approx(expected, rel=1e-9)
        expected = by_fold(lambda part: np.sum((shares(part) - np.eye(3)[part.y]) ** 2, axis=1).mean(), result)
        assert of(result, "brier")["value"] == pytest.approx(expected, rel=1e-9)
    else:
        assert of(result, "logloss")["reason"] == f"No value: {type(learner).__name__} gives no probabilities."
    assert auc["low"] < auc["value"] < auc["high"]
    assert auc["no_model"] == pytest.approx(0.5)
    assert auc["gain"]["verdict"] == "better"


def test_decisions_rank_as_well_as_probabilities() -> None:
    X, y = CANCER
    result = ho.evaluate(RidgeClassifier(), X, y, test=ho.KFold(4), jobs=1)
    expected = by_fold(lambda part: sk.roc_auc_score(part.y, part.decision_function), result)
    assert of(result, "auc")["value"] == pytest.approx(expected, rel=1e-9)
    assert of(result, "brier")["value"] is None


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_numbers_are_scikit_learns(weighted: bool) -> None:
    X, y = DIABETES
    weight = np.random.default_rng(0).uniform(0.5, 3, len(y)) if weighted else None
    result = ho.evaluate(RIDGE, X, y, test=ho.KFold(4), sample_weight=weight, jobs=1)
    every = result.predictions
    of_rows = None if weight is None else weight[every["row"]]
    masses = np.ones(4) if of_rows is None else np.bincount(every["fold"], weights=of_rows)
    errors = [
        sk.mean_absolute_error(part.y, part.predict, sample_weight=None if weight is None else weight[part["row"]])
        for _, part in every.groupby("fold")
    ]
    expected = {
        "rmse": sk.root_mean_squared_error(every.y, every.predict, sample_weight=of_rows),
        "mae": np.average(errors, weights=masses),
        "r2": sk.r2_score(every.y, every.predict, sample_weight=of_rows),
    }
    assert dict(zip(result.metrics["name"], result.metrics["value"], strict=True)) == pytest.approx(expected, rel=1e-9)
    assert [one["unit"] for one in result.summary()["metrics"]] == ["target", "target", ""]


def test_weights_enter_scores_of_classes() -> None:
    X, y = CANCER
    weight = np.random.default_rng(0).uniform(0.5, 3, len(y))
    result = ho.evaluate(GaussianNB(), X, y, test=ho.Holdout(0.4), sample_weight=weight, jobs=1)
    part, of_rows = result.predictions, weight[result.predictions["row"]]
    expected = {
        "accuracy": sk.accuracy_score(part.y, part.predict, sample_weight=of_rows),
        "balanced_accuracy": sk.balanced_accuracy_score(part.y, part.predict, sample_weight=of_rows),
        "auc": sk.roc_auc_score(part.y, shares(part)[:, 1], sample_weight=of_rows),
        "logloss": sk.log_loss(part.y, shares(part), sample_weight=of_rows),
        "brier": sk.brier_score_loss(part.y, shares(part)[:, 1], sample_weight=of_rows),
    }
    assert dict(zip(result.metrics["name"], result.metrics["value"], strict=True)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", [*OF_CLASSES, "f1", "precision", "recall", "ap", "mcc", "error_rate"])
def test_a_name_that_was_asked_for_has_scikit_learns_number(name: str) -> None:
    X, y = CANCER
    result = ho.evaluate(GaussianNB(), X, y, test=ho.Holdout(0.4), loss=name, jobs=1)
    part = result.predictions
    expected = {
        "accuracy": lambda: sk.accuracy_score(part.y, part.predict),
        "error_rate": lambda: 1 - sk.accuracy_score(part.y, part.predict),
        "balanced_accuracy": lambda: sk.balanced_accuracy_score(part.y, part.predict),
        "auc": lambda: sk.roc_auc_score(part.y, shares(part)[:, 1]),
        "logloss": lambda: sk.log_loss(part.y, shares(part)),
        "brier": lambda: sk.brier_score_loss(part.y, shares(part)[:, 1]),
        "f1": lambda: sk.f1_score(part.y, part.predict),
        "precision": lambda: sk.precision_score(part.y, part.predict),
        "recall": lambda: sk.recall_score(part.y, part.predict),
        "ap": lambda: sk.average_precision_score(part.y, shares(part)[:, 1]),
        "mcc": lambda: sk.matthews_corrcoef(part.y, part.predict),
    }[name]()
    assert result.risk.loss == name
    assert result.risk.value == pytest.approx(expected, rel=1e-9)
    lead = result.summary()["metrics"][0]
    assert (lead["name"], lead["decides"], lead["asked"]) == (name, True, True)
    assert lead["value"] == result.risk.value
    assert result.summary()["headline"]["metric"] == name
    assert len({one["label"] for one in result.summary()["metrics"]}) == len(result.metrics)  # nothing is told twice


@pytest.mark.parametrize("name", ["rmse", "mae", "mse", "r2", "mape", "RMSE", "mean_absolute_error"])
def test_names_of_errors_are_positive_numbers(name: str) -> None:
    result = ho.evaluate(RIDGE, *DIABETES, test=ho.Holdout(0.4), loss=name, jobs=1)
    part = result.predictions
    score = {
        "rmse": sk.root_mean_squared_error,
        "mae": sk.mean_absolute_error,
        "mse": sk.mean_squared_error,
        "r2": sk.r2_score,
        "mape": sk.mean_absolute_percentage_error,
        "RMSE": sk.root_mean_squared_error,
        "mean_absolute_error": sk.mean_absolute_error,
    }[name]
    assert result.risk.value == pytest.approx(score(part.y, part.predict), rel=1e-9)
    assert result.risk.greater_is_better == (name == "r2")


# -------------------------------------------------------------------------------------------------- against no model

DUMMIES = {"mae": DummyRegressor(strategy="median")}
TIMES = {"time": np.random.default_rng(0).permutation(150)}


def same_as_compare(learner: Any, dummy: Any, data: Any, name: str, **question: Any) -> dict[str, Any]:
    """The gain in a familiar score is the paired difference that `compare` finds against scikit-learn's dummy."""
    told = of(ho.evaluate(learner, *data, jobs=1, **question), name)
    pair = ho.compare({"learner": learner, "dummy": dummy}, *data, loss=name, jobs=1, **question).pairs[0]
    sign = 1 if told["greater_is_better"] else -1
    ends = [None if end is None else sign * end for end in (pair.difference.low, pair.difference.high)][::sign]
    gain = told["gain"]
    assert [gain[key] for key in ("value", "low", "high", "p")] == pytest.approx(
        [sign * pair.difference.value, *ends, pair.p], rel=1e-6, abs=1e-9
    )
    shown = {"better": "first better", "worse": "second better", "not shown": "no difference shown"}
    assert shown[gain["verdict"]] == str(pair.verdict)
    return told


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize("test", [ho.KFold(5), ho.KFold(3, repeats=2), ho.Holdout(0.3)], ids=str)
def test_gains_of_classes_are_those_of_compare(name: str, test: Any) -> None:
    # The order in which scores are compared is that of decisions, or of probabilities, which rank alike.
    same_as_compare(GaussianNB(), DummyClassifier(), CANCER, name, test=test)


@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.parametrize(
    ("test", "roles"),
    [
        (ho.KFold(5), {}),
        (ho.Holdout(0.3), {}),
        (ho.LeaveOneOut(), {}),
        (ho.Forward(5), TIMES),
        (ho.KFold(5), {"groups": np.arange(150) // 3}),
        (ho.KFold(5), {"sample_weight": np.random.default_rng(0).integers(1, 4, 150).astype(float)}),
    ],
    ids=["folds", "one test set", "leave one out", "time", "groups", "weights"],
)
def test_gains_of_numbers_are_those_of_compare(name: str, test: Any, roles: Any) -> None:
    told = same_as_compare(RIDGE, DUMMIES.get(name, DummyRegressor()), DIABETES, name, test=test, **roles)
    assert told["no_model_words"] == ("always the median" if name == "mae" else "always the mean")
    assert told["gain"]["low"] is not None
    assert told["gain"]["verdict"] == "better"


def test_a_constant_scores_what_the_field_expects() -> None:
    X, y = CANCER
    told = {one["name"]: one for one in ho.evaluate(LOGISTIC, X, y, test=ho.KFold(5), jobs=1).summary()["metrics"]}
    rare = np.mean(y == 1)
    assert told["accuracy"]["no_model"] == pytest.approx(max(rare, 1 - rare), abs=0.01)
    assert (told["balanced_accuracy"]["no_model"], told["auc"]["no_model"]) == (0.5, 0.5)
    entropy = -rare * np.log(rare) - (1 - rare) * np.log(1 - rare)
    assert told["logloss"]["no_model"] == pytest.approx(entropy, abs=0.01)
    assert told["brier"]["no_model"] == pytest.approx(rare * (1 - rare), abs=0.01)
    label = 1 if rare > 0.5 else 0
    assert told["accuracy"]["no_model_words"] == f"always '{label}'"
    numbers = {one["name"]: one for one in ho.evaluate(RIDGE, *DIABETES, jobs=1).summary()["metrics"]}
    assert numbers["r2"]["no_model"] == pytest.approx(0, abs=0.05)


def test_noise_is_not_better_than_no_model() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    numbers = ho.evaluate(RIDGE, X, y, jobs=1).summary()
    classes = ho.evaluate(LOGISTIC, X, y > 0.9, jobs=1).summary()
    for summary in (numbers, classes):
        assert summary["headline"]["verdict"] == "not shown"
        assert all(one["gain"]["verdict"] == "not shown" for one in summary["metrics"])


def test_a_difference_is_shown_where_intervals_of_one_contain_the_other() -> None:
    """Paired on the same folds: the interval of the RMSE may hold what no model scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1))
    y = X[:, 0] + rng.normal(scale=2, size=100)
    told = of(ho.evaluate(RIDGE, X, y, test=ho.KFold(10), jobs=1), "rmse")
    assert told["low"] < told["no_model"] < told["high"]
    assert told["gain"]["verdict"] == "better"


# ------------------------------------------------------------------------------------- what has no value, and why not


def test_leave_one_out_ranks_nothing() -> None:
    X, y = CANCER
    told = {
        m["name"]: m
        for m in ho.evaluate(GaussianNB(), X[:60], y[:60], test=ho.LeaveOneOut(), jobs=1).summary()["metrics"]
    }
    assert told["auc"]["value"] is None
    assert "not defined" in told["auc"]["reason"]
    assert told["auc"]["gain"] is None
    assert all(told[name]["low"] is not None for name in OF_CLASSES if name != "auc")


class FailsSometimes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fails to fit on training rows that lack a certain row."""

    def __init__(self, marked: float = 0.0) -> None:
        self.marked = marked

    def fit(self, X: Any, y: Any) -> FailsSometimes:
        if not (X[:, 0] == self.marked).any():
            raise ValueError("the row is not there")
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.inner_.predict(X)


def test_a_failed_fold_leaves_every_score_without_a_value() -> None:
    X, y = CANCER
    result = ho.evaluate(FailsSometimes(marked=X[0, 0]), X, y, test=ho.KFold(4), jobs=1)
    assert result.risk.value is None
    assert list(result.metrics["name"]) == OF_CLASSES
    assert result.metrics["value"].isna().all()
    assert all("1 of 4 parts failed" in one["reason"] for one in result.summary()["metrics"])
    assert result.summary()["headline"]["verdict"] is None


UNSOUND = {
    "an error": lambda shares: 1 / 0,
    "one column": lambda shares: shares[:, :1],
    "one number a row": lambda shares: shares[:, 0],
    "negative": lambda shares: 3 * shares - 1,
    "no sum of 1": lambda shares: shares / 2,
    "not a number": lambda shares: np.where(shares > 0.5, np.nan, shares),
    "objects": lambda shares: shares.astype(object),
    "text": lambda shares: shares.astype(str),
    "few rows": lambda shares: shares[:5],
}


class BadShares(GaussianNB):  # type: ignore[misc]
    """Naive Bayes that answers unsound probabilities."""

    def __init__(self, how: str = "", var_smoothing: float = 1e-9) -> None:
        super().__init__(var_smoothing=var_smoothing)
        self.how = how

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_joint_log_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        return UNSOUND[self.how](super().predict_proba(X))


@pytest.mark.parametrize("how", UNSOUND)
def test_unsound_probabilities_fail_nothing_and_are_left_out(how: str, tmp_path: Path) -> None:
    X, y = CANCER
    space = {"var_smoothing": [1e-9, 1e-3]}  # so that one more call is cheap beside the study
    tuned = ho.Tuned(BadShares(how), space, validation=ho.KFold(3), random_state=0)
    plain = ho.Tuned(GaussianNB(), space, validation=ho.KFold(3), random_state=0)
    result = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1, journal=tmp_path / "journal.db")
    assert result.risk.value == ho.evaluate(plain, X, y, test=ho.KFold(3), jobs=1).risk.value
    assert not len(result.failures)
    assert "H201" not in {one.code for one in result.findings}
    assert not any(name.startswith("proba_") for name in result.predictions.columns)
    assert of(result, "accuracy")["value"] == pytest.approx(1 - result.risk.value)
    assert of(result, "auc")["reason"] == "No value: BadShares gives no probabilities and no decisions."
    result.save(tmp_path / "study")
    assert json.dumps(ho.load(tmp_path / "study").summary()) == json.dumps(result.summary())


class Stranger(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of which nobody knows what its predictions cost."""

    def fit(self, X: Any, y: Any) -> Stranger:
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_, self.asked_ = self.inner_.classes_, 0
        return self

    def predict(self, X: Any) -> Any:
        return self.inner_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.inner_.predict_proba(X)


def test_strangers_are_asked_for_probabilities_where_that_is_cheap_or_asked_for() -> None:
    X, y = CANCER
    plain = ho.evaluate(Stranger(), X, y, test=ho.KFold(3), jobs=1)
    assert "nothing is known of what predictions of Stranger cost" in of(plain, "auc")["reason"]
    assert "Naming it as a loss does: 'logloss'." in of(plain, "logloss")["reason"]
    asked = ho.evaluate(Stranger(), X, y, test=ho.KFold(3), loss=["accuracy", "logloss"], jobs=1)
    assert of(asked, "auc")["value"] > 0.9
    tuned = ho.Tuned(Stranger(), {}, validation=ho.KFold(4))
    assert of(ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1), "auc")["value"] == of(asked, "auc")["value"]


def test_where_fits_have_limits_nothing_more_is_asked() -> None:
    X, y = CANCER
    result = ho.evaluate(GaussianNB(), X, y, test=ho.KFold(3), jobs=1, options=ho.Options(fit_timeout=100))
    assert "fits have limits of time or memory" in of(result, "auc")["reason"]


@pytest.mark.parametrize("answer", ["pass/fail:0.2", "rounded:0.05", "value"])
def test_withheld_rows_answer_no_further_score(answer: str) -> None:
    X, y = CANCER
    options = ho.Options(answer=answer, ledger=ho.audit.MemoryLedger())
    result = ho.evaluate(GaussianNB(), X, y, test=ho.Holdout(0.4), jobs=1, options=options)
    first, *others = result.summary()["metrics"]
    assert (first["name"], first["value"], first["decides"]) == ("zero_one", result.risk.value, True)
    assert [one["name"] for one in others] == OF_CLASSES
    assert all(one["value"] is None and "as answer=" in one["reason"] for one in others)
    assert all(one["gain"] is None and one["no_model"] is None for one in (first, *others))
    assert "H105" not in {finding.code for finding in result.findings}


def test_test_rows_that_were_seen_have_no_intervals_but_those_that_allow_for_it() -> None:
    X, y = CANCER
    options = ho.Options(ledger=ho.audit.MemoryLedger())
    ho.evaluate(GaussianNB(), X, y, test=ho.Holdout(0.4), jobs=1, options=options)
    result = ho.evaluate(LOGISTIC, X, y, test=ho.Holdout(0.4), jobs=1, options=options)
    told = {one["name"]: one for one in result.summary()["metrics"]}
    assert (told["accuracy"]["low"], told["accuracy"]["high"]) == (1 - result.risk.high, 1 - result.risk.low)
    assert told["auc"]["value"] > 0.9
    assert all(told[name]["low"] is None and "looked at before" in told[name]["reason"] for name in OF_CLASSES[1:])
    assert all(one["gain"]["verdict"] == "not shown" and one["gain"]["low"] is None for one in told.values())


def test_several_labels_a_row_have_an_accuracy() -> None:
    X, y = IRIS
    labels = np.stack([y == 0, y == 1], axis=1).astype(int)
    result = ho.evaluate(DecisionTreeClassifier(max_depth=2, random_state=0), X, labels, test=ho.KFold(3), jobs=1)
    assert list(result.metrics["name"]) == ["accuracy"]
    assert result.summary()["headline"]["classes"] is None


# ------------------------------------------------------------------------------------------------- which score leads


def test_the_accuracy_is_the_risk_turned_round() -> None:
    X, y = CANCER
    result = ho.evaluate(GaussianNB(), X, y, test=ho.KFold(4), jobs=1, options=ho.Options(interval="corrected-t"))
    told = of(result, "accuracy")
    assert result.risk.loss == "zero_one"
    assert told["value"] == pytest.approx(1 - result.risk.value)
    assert (told["low"], told["high"]) == pytest.approx((1 - result.risk.high, 1 - result.risk.low))
    assert told["method"] == result.risk.method == "corrected t"
    assert (told["decides"], told["asked"]) == (True, False)


def test_a_loss_that_someone_chose_leads() -> None:
    X, y = CANCER
    asked = ho.evaluate(GaussianNB(), X, y, loss=["log", "accuracy"], test=ho.KFold(3), jobs=1).summary()
    assert [one["name"] for one in asked["metrics"]] == ["log", "accuracy", "balanced_accuracy", "auc", "brier"]
    assert [one["label"] for one in asked["metrics"][:2]] == ["log loss", "accuracy"]
    assert [one["asked"] for one in asked["metrics"]] == [True, True, False, False, False]
    tuned = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, loss="neg_log_loss")
    own = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1).summary()
    assert own["headline"]["metric"] == "neg_log_loss"
    assert ho.evaluate(RIDGE, *DIABETES, jobs=1).summary()["headline"]["metric"] == "rmse"


def test_a_loss_of_ones_own_keeps_its_name() -> None:
    X, y = CANCER
    mine = ho.row_loss(lambda y_true, y_pred: (y_true != y_pred) * 2.0, low=0, high=2, name="cost")
    told = ho.evaluate(GaussianNB(), X, y, loss=mine, test=ho.KFold(3), jobs=1).summary()["metrics"][0]
    assert (told["name"], told["label"], told["unit"], told["greater_is_better"]) == ("cost", "cost", "", False)
    with pytest.raises(ho.HeldoutError, match="'auc' is the name of a known loss"):
        ho.evaluate(GaussianNB(), X, y, loss={"auc": mine})


def test_scikit_learns_names_keep_their_sign() -> None:
    result = ho.evaluate(RIDGE, *DIABETES, loss="neg_root_mean_squared_error", test=ho.KFold(3), jobs=1)
    first = result.summary()["metrics"][0]
    assert first["value"] == result.risk.value < 0
    assert of(result, "rmse")["value"] == pytest.approx(-first["value"])


def test_the_headline_says_what_was_predicted_and_how() -> None:
    X, y = CANCER
    tuned = ho.Tuned(
        {
            "bayes": (GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}),
            "knn": (KNeighborsClassifier(), {"n_neighbors": [5]}),
        }
    )
    head = ho.evaluate(tuned, X, np.where(y == 1, "well", "ill"), test=ho.KFold(3), jobs=1).summary()["headline"]
    assert (head["rows"], head["columns"], head["median"]) == (200, 30, None)
    assert [one["label"] for one in head["classes"]] == (["well", "ill"] if np.mean(y) > 0.5 else ["ill", "well"])
    assert sum(one["share"] for one in head["classes"]) == pytest.approx(1)
    assert "3-fold cross-validation" in head["procedure"]
    assert "naive Bayes in " in head["chosen"] or "nearest neighbours in " in head["chosen"]
    head = ho.evaluate(RIDGE, *DIABETES, jobs=1).summary()["headline"]
    assert (head["classes"], head["median"], head["learner"]) == (None, np.median(DIABETES[1]), "ridge")


# ------------------------------------------------------------------------------------------ doors, files and findings


def test_scores_are_saved_and_loaded(tmp_path: Path) -> None:
    X, y = CANCER
    result = ho.evaluate(KNeighborsClassifier(), X, y, test=ho.KFold(3), jobs=1)
    result.save(tmp_path / "study")
    loaded = ho.load(tmp_path / "study")
    assert json.dumps(loaded.summary()["metrics"]) == json.dumps(result.summary()["metrics"])
    assert loaded.summary()["headline"] == result.summary()["headline"]
    pd.testing.assert_frame_equal(loaded.metrics, result.metrics)
    assert {"name", "value", "low", "high", "no_model", "gain", "gain_low", "gain_high"} <= set(loaded.metrics.columns)


def rare(share: float = 0.06) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    score = X[:, 0] + rng.normal(size=600)
    return X, np.where(score > np.quantile(score, 1 - share), "yes", "no")


def test_accuracy_that_hides_a_rare_class_is_a_finding() -> None:
    X, y = rare()
    result = ho.evaluate(LOGISTIC, X, y, jobs=1)
    (found,) = [one for one in result.findings if one.code == "H105"]
    auc = of(result, "auc")
    assert found.severity == "warning"
    assert "6 % of the rows are 'yes'" in found.message
    assert f"By AUC the learner is better than chance: {auc['value']:.3f} ({auc['low']:.3f} to" in found.message
    assert "loss='auc' (--loss auc)" in found.message
    assert "H105" in [one["code"] for one in result.summary()["findings"]]
    assert "H105" in [one.code for one in ho.compare({"a": LOGISTIC, "b": GaussianNB()}, X, y, jobs=1).findings]


@pytest.mark.parametrize("how", ["by auc", "even", "many classes", "numbers"])
def test_nothing_is_found_where_accuracy_hides_nothing(how: str) -> None:
    X, y = rare(0.3) if how == "even" else rare()
    if how == "many classes":
        y = np.random.default_rng(0).integers(0, 8, len(y))
    learner = Ridge() if how == "numbers" else GaussianNB()
    result = ho.evaluate(
        learner, X, X[:, 0] if how == "numbers" else y, loss="auc" if how == "by auc" else None, jobs=1
    )
    assert "H105" not in {one.code for one in result.findings}


def test_a_tuned_learner_says_how_to_choose_by_the_loss_reported() -> None:
    X, y = CANCER
    tuned = ho.Tuned(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]})
    (found,) = [
        one for one in ho.evaluate(tuned, X, y, loss="auc", test=ho.KFold(3), jobs=1).findings if one.code == "H301"
    ]
    assert "Tuned(…, loss='auc')" in found.message
    same = ho.evaluate(tuned, X, y, loss="accuracy", test=ho.KFold(3), jobs=1).findings
    assert "H301" not in {one.code for one in same}  # the same choices


# -------------------------------------------------------------------------------------------------- the positive class


@pytest.mark.parametrize("name", ["f1", "precision", "recall", "ap"])
@pytest.mark.parametrize("positive", ["yes", "no"])
def test_a_score_speaks_of_the_class_that_was_named(name: str, positive: str) -> None:
    X, y = rare(0.3)
    result = ho.evaluate(GaussianNB(), X, y, loss=name, positive=positive, test=ho.Holdout(0.5), jobs=1)
    part = result.predictions
    expected = {
        "f1": lambda: sk.f1_score(part.y, part.predict, pos_label=positive),
        "precision": lambda: sk.precision_score(part.y, part.predict, pos_label=positive),
        "recall": lambda: sk.recall_score(part.y, part.predict, pos_label=positive),
        "ap": lambda: sk.average_precision_score(part.y, part[f"proba_{positive}"], pos_label=positive),
    }[name]()
    assert result.risk.value == pytest.approx(expected)
    assert result.record.about["positive"] == positive


def test_a_tuned_learner_chooses_by_the_score_of_that_class() -> None:
    X, y = rare(0.3)
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5, 25]}, loss="f1", validation=ho.KFold(3))
    named = ho.evaluate(tuned, X, y, positive="yes", test=ho.KFold(3), jobs=1)
    assert named.risk.loss == "f1"
    spelled = tuned.set_params(loss={"f1": sk.make_scorer(sk.f1_score, pos_label="yes")})
    other = ho.evaluate(spelled, X, y, test=ho.KFold(3), jobs=1)
    assert named.risk.value == other.risk.value
    pd.testing.assert_frame_equal(named.choices, other.choices)


@pytest.mark.parametrize(
    ("data", "positive", "words"),
    [
        (rare(), "maybe", "is no class of the target: its classes are 'no' and 'yes'"),
        (IRIS, 1, "is for a target of two classes, but this one has 3 classes"),
        (DIABETES, "yes", "names a class, but the target holds numbers"),
    ],
    ids=["unknown", "several", "numbers"],
)
def test_a_class_that_cannot_be_positive_is_refused(data: Any, positive: Any, words: str) -> None:
    learner = Ridge() if data is DIABETES else GaussianNB()
    with pytest.raises(ho.HeldoutError, match=words):
        ho.evaluate(learner, *data, positive=positive)
    with pytest.raises(ho.HeldoutError, match=words):
        ho.compare({"a": learner, "b": learner}, *data, positive=positive)


def test_words_that_need_a_positive_class_ask_for_it() -> None:
    with pytest.raises(ho.HeldoutError, match=r"labels 'no' and 'yes' is the positive one\. Use positive=\"yes\" or"):
        ho.evaluate(GaussianNB(), *rare(), loss="f1")


# ---------------------------------------------------------------------------------------------------------- comparisons


def test_a_comparison_names_the_best_the_tied_and_the_simplest() -> None:
    X, y = load_diabetes(return_X_y=True)
    learners = {
        "tree": ho.Tuned(DecisionTreeRegressor(random_state=0), {"max_depth": [2, 3]}),
        "ridge": Ridge(),
        "mean": DummyRegressor(),
    }
    found = ho.compare(learners, X, y, test=ho.KFold(5), jobs=1)
    summary = found.summary()
    verdict, rows = summary["verdict"], {one["name"]: one for one in summary["against_best"]}
    values = {name: of(result, "rmse")["value"] for name, result in found.results.items()}
    assert verdict["best"] == min(values, key=lambda name: values[name]) == "ridge"
    assert rows["mean"]["difference"] == pytest.approx(values["mean"] - values["ridge"])
    assert rows["mean"]["low"] < rows["mean"]["difference"] < rows["mean"]["high"]
    assert rows["mean"]["verdict"] == "worse"
    assert verdict["ties"] == [name for name, one in rows.items() if one["verdict"] == "not shown"]
    assert verdict["simplest"] == ("ridge" if verdict["ties"] else None)
    assert summary["headline"]["metric"] == "rmse"
    assert [one["name"] for one in summary["learners"]["ridge"]["metrics"]] == OF_NUMBERS
    pairs = ho.compare(learners, X, y, test=ho.KFold(5), loss="rmse", jobs=1).pairs
    (pair,) = [one for one in pairs if {one.first, one.second} == {"ridge", "mean"}]
    assert rows["mean"]["p"] == pytest.approx(pair.p_holm, rel=1e-6)


# ---------------------------------------------------------------------------------------------------------- streams


def parquet(folder: Path, *, words: bool, n: int = 4_000) -> tuple[str, pd.DataFrame]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    score = 2 * frame["a"] + rng.normal(size=n)
    frame["y"] = np.where(score > 1, "high", "low") if words else score
    frame.to_parquet(folder / "rows.parquet")
    return str(folder / "rows.parquet"), frame


def test_a_stream_tells_errors_of_all_its_rows(tmp_path: Path) -> None:
    path, frame = parquet(tmp_path, words=False)
    result = ho.evaluate(RIDGE, path, "y", test=ho.KFold(4))
    kept = ho.evaluate(RIDGE, path, "y", test=ho.KFold(4), options=ho.Options(rows=True)).predictions
    told = {one["name"]: one for one in result.summary()["metrics"]}
    assert told["rmse"]["value"] == pytest.approx(sk.root_mean_squared_error(kept.y, kept.predict), rel=1e-9)
    assert told["r2"]["value"] == pytest.approx(sk.r2_score(kept.y, kept.predict), rel=1e-9)
    assert told["mae"]["value"] == pytest.approx(sk.mean_absolute_error(kept.y, kept.predict), rel=1e-3)
    asked = ho.evaluate(RIDGE, path, "y", test=ho.KFold(4), loss=["rmse", "r2"]).summary()["metrics"]
    for one in asked[:2]:
        ours = told[one["name"]]
        assert [ours[key] for key in ("value", "low", "high", "no_model")] == pytest.approx(
            [one[key] for key in ("value", "low", "high", "no_model")], rel=1e-9
        )
    assert all(one["gain"]["verdict"] == "better" for one in told.values())
    assert len(frame) == result.summary()["headline"]["rows"]


def test_a_stream_of_classes_ranks_a_sample_of_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.engine.stream_passes.SAMPLE_NUMBERS", 8_000)  # numbers of the sampled rows
    path, frame = parquet(tmp_path, words=True)
    result = ho.evaluate(GaussianNB(), path, "y", test=ho.KFold(4))
    whole = ho.evaluate(GaussianNB(), frame[["a", "b", "c"]], frame["y"], test=ho.KFold(4), jobs=1)
    told = {one["name"]: one for one in result.summary()["metrics"]}
    assert told["accuracy"]["value"] == pytest.approx(1 - result.risk.value)
    assert told["accuracy"]["reason"] is None
    for name in OF_CLASSES[1:]:
        assert told[name]["reason"].startswith("From a random sample of ")
        assert told[name]["low"] < of(whole, name)["value"] < told[name]["high"]
        assert told[name]["gain"]["verdict"] == "better"
    shares = {one["label"]: one["share"] for one in result.summary()["headline"]["classes"]}
    assert shares == pytest.approx(frame["y"].value_counts(normalize=True).to_dict())


def test_a_single_test_set_of_a_stream_keeps_no_rows(tmp_path: Path) -> None:
    path, _ = parquet(tmp_path, words=True)
    told = {m["name"]: m for m in ho.evaluate(GaussianNB(), path, "y", test=ho.Holdout(0.3)).summary()["metrics"]}
    assert told["accuracy"]["value"] > 0.8
    assert "where it is asked for, as a loss: 'logloss'" in told["logloss"]["reason"]
    assert "Load the data" in told["auc"]["reason"]
