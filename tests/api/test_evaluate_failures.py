"""Fits that fail, predictors that answer nonsense, learners that cannot travel (bad inputs 14, 15, 18)."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

N = 60


def data() -> tuple[Any, Any]:
    """The first column is a row's own number."""
    X, y = load_diabetes(return_X_y=True)
    return np.column_stack([np.arange(N), X[:N]]), y[:N]


class Fussy(RegressorMixin, BaseEstimator):
    """A ridge that raises in fit when `needs` is not among its training rows, or answers nonsense about `stumbles`."""

    def __init__(
        self, alpha: float = 1.0, needs: int | None = None, stumbles: int | None = None, how: str = "nan"
    ) -> None:
        self.alpha = alpha
        self.needs = needs
        self.stumbles = stumbles
        self.how = how

    def fit(self, X: Any, y: Any) -> Fussy:
        if self.needs is not None and self.needs not in X[:, 0]:
            raise ValueError(f"I need row {self.needs}")
        self.ridge_ = Ridge(self.alpha).fit(X[:, 1:], y)
        return self

    def predict(self, X: Any) -> Any:
        answer = self.ridge_.predict(X[:, 1:])
        if self.stumbles is not None and self.stumbles in X[:, 0]:
            if self.how == "raise":
                raise RuntimeError("I stumble")
            if self.how == "short":
                return answer[:-1]
            if self.how == "short list":
                return answer[:-1].tolist()
            if self.how == "ragged":
                return [[one] * (2 if place == 3 else 1) for place, one in enumerate(answer)]
            if self.how == "list":
                return [np.nan, *answer[1:]]
            if self.how == "single":
                return 3.0
            if self.how == "wide":
                return np.column_stack([answer, answer])
            answer[0] = {"nan": np.nan, "inf": np.inf, "huge": 1e300}[self.how]
        return answer


def fold_of(row: int, result: ho.Result) -> int:
    return next(part for part, (_, held) in enumerate(result.splits) if row in held)


def test_a_fit_that_raises_in_one_fold_leaves_the_risk_without_a_value() -> None:
    X, y = data()
    result = ho.evaluate(Fussy(needs=7), X, y, test=ho.KFold(4), jobs=1)
    fold = fold_of(7, result)
    assert result.risk.value is None
    assert result.risk.low is None
    assert (
        result.risk.reason == f"No value: 1 of 4 parts failed (part {fold}), and a mean over the others would mislead."
    )
    assert np.isnan(result.folds["squared"]).tolist() == [part == fold for part in range(4)]
    assert result.failures["part"].tolist() == [fold]
    assert result.failures["error"].tolist() == ["ValueError"]
    assert result.failures["message"].tolist() == ["I need row 7"]
    assert result.failures["stage"].tolist() == ["fit"]
    assert "in fit" in result.failures["traceback"][0]
    (finding,) = result.findings
    assert finding.code == "H202"
    assert f"1 fit failed; the first: Fussy on test, part {fold}, in fit: ValueError: I need row 7" in finding.message
    assert 7 not in result.predictions["row"].tolist()
    assert "No value" in str(result)
    assert "no value" in repr(result)


def test_a_candidate_that_fails_a_validation_cell_is_not_chosen_there_and_is_listed() -> None:
    """Without its failure the first candidate would win everywhere."""
    X, y = data()
    learner = ho.Tuned(Fussy(alpha=0.1), {"needs": [7, None], "alpha": [0.1, 1e6]}, validation=ho.KFold(3))
    result = ho.evaluate(learner, X, y, test=ho.KFold(4), jobs=1)
    assert result.risk.value is not None
    table = result.candidates
    fussy = table[(table["param_needs"] == 7)]
    assert (fussy["failed_parts"] >= 1).all()
    assert np.isnan(fussy["validation_squared"]).all()
    assert result.choices["failed_candidates"].tolist() == [2, 2, 2, 2]
    assert all(needs is None or np.isnan(needs) for needs in result.choices["param_needs"])
    assert sorted({f.code for f in result.findings} - {"H302"}) == ["H202", "H203"]
    # In the fold that holds row 7 out, all of its validation cells failed; elsewhere one of three.
    fold = fold_of(7, result)
    assert fussy.groupby("fold")["failed_parts"].max().to_dict() == {
        part: 3 if part == fold else 1 for part in range(4)
    }


def test_tuned_alone_lists_its_failures() -> None:
    X, y = data()
    tuned = ho.Tuned(Fussy(), {"needs": [7, None]}, validation=ho.KFold(3), jobs=1).fit(X, y)
    assert tuned.best_params_ == {"needs": None}
    assert [f["candidate"] for f in tuned.failures_] == ["needs=7"]
    assert tuned.failures_[0]["error"] == "ValueError: I need row 7"
    assert np.isnan(tuned.cv_results_["mean_test_score"][0])
    assert tuned.cv_results_["rank_test_score"].tolist() == [2, 1]


def test_a_fold_in_which_every_candidate_fails_has_no_value() -> None:
    X, y = data()
    learner = ho.Tuned(Fussy(needs=7), {"alpha": [0.1, 1.0]}, validation=[([*range(30)], [*range(30, 60)])])
    learner.set_params(validation=ho.Holdout(rows=10, shuffle=False))
    result = ho.evaluate(learner, X, y, test=ho.KFold(4), jobs=1)
    fold = fold_of(7, result)
    assert result.choices["candidate"].tolist()[fold] == -1
    assert result.choices["candidate"].tolist().count(-1) == 1
    assert result.risk.value is None
    assert f"part {fold}" in str(result.risk.reason)
    assert result.estimates["best_validation"].value is None
    assert "nothing: every candidate failed in 1" in " ".join(str(result).split())


def test_when_nothing_works_there_is_no_result() -> None:
    X, y = data()
    with pytest.raises(ho.HeldoutError, match=r"(?s)All 3 test cells failed.*I need row 999.*Traceback"):
        ho.evaluate(Fussy(needs=999), X, y, test=ho.KFold(3), jobs=1)
    with pytest.raises(
        ho.HeldoutError, match=r"(?s)All 6 validation cells failed.*alpha=0.1 on .*I need row 999.*Traceback"
    ):
        ho.Tuned(Fussy(needs=999), {"alpha": [0.1, 1.0]}, validation=3, jobs=1).fit(X, y)
    with pytest.raises(ho.HeldoutError, match=r"I need row 999"):
        ho.evaluate(ho.Tuned(Fussy(needs=999), {"alpha": [0.1, 1.0]}, validation=3), X, y, test=ho.KFold(3), jobs=1)


def test_what_is_said_of_cells_that_failed_is_counted() -> None:
    """Not every cell failed, and an error of ours needs no traceback of ours."""
    y = np.arange(30) % 2
    y[:12] = 0  # nothing to rank in the first part
    learner = ho.Tuned(
        DummyClassifier(strategy="constant"),
        {"constant": [0, 1]},
        validation=ho.KFold(3, shuffle=False, stratify=False),
        jobs=1,
    )
    with pytest.raises(ho.HeldoutError) as caught:
        learner.set_params(loss="roc_auc").fit(np.zeros((30, 1)), y)
    said = str(caught.value)
    assert "2 of 6 validation cells failed, at least one of each candidate. The first: constant=0 on" in said
    assert "'roc_auc' is not defined on these 10 held-out rows" in said
    assert "Traceback" not in said
    assert "scoring.py" not in said


def test_a_scorer_that_misses_a_class_among_the_rows_is_told_with_the_way_out() -> None:
    y = np.array(["a", "b", "c"])[np.arange(30) % 3]
    test = ho.Given(np.flatnonzero(y != "c")[:4])
    with pytest.raises(
        ho.HeldoutError, match=r"The only test cell failed.*'neg_log_loss' failed on 4 held-out"
    ) as told:
        ho.evaluate(DummyClassifier(), np.zeros((30, 1)), y, test=test, loss="neg_log_loss", jobs=1)
    assert "They lack a class that the predictor knows: hold out more rows, stratify, or take" in str(told.value)
    assert ho.evaluate(DummyClassifier(), np.zeros((30, 1)), y, test=test, loss="log", jobs=1).risk.value is not None


NONSENSE = {
    "nan": ("PredictionError", r"predict answered NaN or infinity on 1 of 15 held-out rows"),
    "inf": ("PredictionError", r"predict answered NaN or infinity on 1 of 15 held-out rows"),
    "huge": ("PredictionError", r"not a finite number"),
    "short": ("PredictionError", r"predict answered 14 rows for 15 held-out rows"),
    "short list": ("PredictionError", r"predict answered 14 rows for 15 held-out rows"),
    "ragged": ("PredictionError", r"predict answered rows of different lengths, which make no array"),
    "list": ("PredictionError", r"predict answered NaN or infinity on 1 of 15 held-out rows"),
    "single": ("PredictionError", r"predict answered a single value for 15 held-out rows"),
    "wide": ("PredictionError", r"predict answered an array of shape \(15, 2\) for a target of shape \(15,\)"),
    "raise": ("RuntimeError", r"I stumble"),
}


@pytest.mark.parametrize("how", NONSENSE)
def test_a_predictor_that_answers_nonsense_is_named(how: str) -> None:
    X, y = data()
    result = ho.evaluate(Fussy(stumbles=7, how=how), X, y, test=ho.KFold(4), jobs=1)
    kind, message = NONSENSE[how]
    fold = fold_of(7, result)
    assert result.risk.value is None
    assert result.failures["part"].tolist() == [fold]
    assert result.failures["error"].tolist() == [kind]
    assert result.failures["message"].str.contains(message, regex=True).all(), result.failures["message"][0]
    assert result.failures["stage"][0] in ("predict", "score")


@pytest.mark.parametrize("how", ["nan", "huge", "short"])
def test_nonsense_on_the_only_test_set_is_an_error(how: str) -> None:
    X, y = data()
    with pytest.raises(ho.HeldoutError, match=r"cells? failed"):
        ho.evaluate(Fussy(stumbles=7, how=how), X, y, test=ho.Given(range(15)), jobs=1)


def test_nonsense_in_validation_bars_the_candidate() -> None:
    X, y = data()
    learner = ho.Tuned(Fussy(), {"stumbles": [7, None]}, validation=ho.KFold(3))
    tuned = learner.fit(X, y)
    assert tuned.best_params_ == {"stumbles": None}
    assert "NaN or infinity" in tuned.failures_[0]["error"]


class Blind(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are of the wrong shape."""

    def fit(self, X: Any, y: Any) -> Blind:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


def test_probabilities_of_the_wrong_shape_are_named() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ho.HeldoutError, match=r"predict_proba answered an array of shape \(50, 2\)"):
        ho.evaluate(Blind(), X, y, test=ho.KFold(3), loss="log", jobs=1)
    with pytest.raises(ho.HeldoutError, match=r"has no predict_proba, which the loss needs"):
        ho.evaluate(_without_proba(), X, y, test=ho.KFold(3), loss="log", jobs=1)


def _without_proba() -> Any:
    from sklearn.linear_model import RidgeClassifier

    return RidgeClassifier()


class Locked(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree that holds a lock, which no pickle can carry; clone makes a new one."""

    def __init__(self, max_depth: int = 2, random_state: int = 0) -> None:
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.door = threading.Lock()


def test_a_learner_that_cannot_be_pickled_is_told_which_attribute_is_at_fault() -> None:
    X, y = load_iris(return_X_y=True)
    for learner in (Locked(), ho.Tuned(Locked(), {"max_depth": [1, 2]}, validation=2)):
        with pytest.raises(ho.HeldoutError, match=r"\.door: cannot pickle '_thread.lock' object") as told:
            ho.evaluate(learner, X, y, test=ho.KFold(3), backend="processes", jobs=2)
        assert 'backend="inline"' in str(told.value)
        result = ho.evaluate(learner, X, y, test=ho.KFold(3), backend="inline")
        assert result.risk.value is not None


def test_failures_are_the_same_on_worker_processes() -> None:
    X, y = data()
    learner = ho.Tuned(Fussy(), {"needs": [7, None], "stumbles": [3, None]}, validation=ho.KFold(3))
    here, there = (
        ho.evaluate(learner, X, y, test=ho.KFold(4), **how)
        for how in ({"jobs": 1}, {"jobs": 2, "backend": "processes"})
    )
    columns = ["panel", "part", "candidate", "stage", "error", "message"]
    assert here.failures[columns].equals(there.failures[columns])
    assert here.candidates.equals(there.candidates)
    assert here.estimates == there.estimates


def test_keyboard_interrupts_are_not_failures() -> None:
    class Interrupted(Fussy):
        def fit(self, X: Any, y: Any) -> Any:
            raise KeyboardInterrupt

    X, y = data()
    with pytest.raises(KeyboardInterrupt):
        ho.evaluate(Interrupted(), X, y, test=ho.KFold(3), jobs=1)
