"""What predictors are asked for intervals alone: right, at no further fits, and without a trace anywhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from heldout.api.evidence import (
    FoldResponses,
    class_weights_of,
    fold_predictor_responses,
    held_out_responses,
    is_least_squares,
)
from heldout.planner import evidence
from heldout.planner.predicting import Prices

OFF = ho.Options(rules={"evidence": False})


def numbers(n: int, columns: int = 6) -> tuple[Any, Any]:
    random = np.random.default_rng(n)
    X = random.normal(size=(n, columns))
    return X, X @ random.normal(size=columns) + random.normal(size=n)


def labels(n: int, columns: int = 6) -> tuple[Any, Any]:
    X, y = numbers(n, columns)
    return X, (y > 0.5).astype(int)


@pytest.fixture
def costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small studies are asked as much as large ones are."""
    monkeypatch.setattr(
        evidence, "prices_of", lambda study, task: Prices(study=1.0, begin=0, call=0, row=0, test_call=0)
    )


def study_of(result: ho.Result) -> tuple[Any, Any]:
    """The task and the outcome of a study, before they become a result."""
    live = result._live
    assert live is not None
    return live.task, live.outcome


def answers_of(result: ho.Result) -> list[FoldResponses]:
    found = fold_predictor_responses(*study_of(result))
    assert found is not None
    return found


def asked_of(result: ho.Result) -> Any:
    return study_of(result)[1].study.everywhere


def by_hand(result: ho.Result, learner: Any, X: Any, y: Any, one: FoldResponses) -> Any:
    """The predictor of the part, fitted again: with the chosen parameters where some were chosen."""
    held = result.predictions.loc[result.predictions["fold"] == one.part, "row"].to_numpy()
    train = np.setdiff1d(np.arange(len(y)), held)
    np.testing.assert_array_equal(one.trained, np.isin(one.rows, train))
    return clone(learner).fit(X[train], y[train])


@pytest.mark.usefixtures("costs_nothing")
class TestAnswers:
    def test_those_of_a_ridge_are_its_predictions(self) -> None:
        X, y = numbers(90)
        result = ho.evaluate(Ridge(2.0), X, y, test=ho.KFold(5))
        found = answers_of(result)
        assert [one.part for one in found] == [0, 1, 2, 3, 4]
        for one in found:
            np.testing.assert_array_equal(one.rows, np.arange(90))
            expected = by_hand(result, Ridge(2.0), X, y, one).predict(X)
            np.testing.assert_allclose(one.responses.predict, expected, rtol=1e-9)

    def test_those_of_a_tuned_ridge_are_of_the_chosen_candidate(self) -> None:
        X, y = numbers(90)
        learner = make_pipeline(StandardScaler(), Ridge())
        tuned = ho.Tuned(learner, {"ridge__alpha": [0.01, 1.0, 100.0]}, validation=ho.KFold(3))
        result = ho.evaluate(tuned, X, y, test=ho.KFold(4))
        found = answers_of(result)
        assert len(found) == 4
        for one in found:
            alpha = result.choices.loc[one.part, "param_ridge__alpha"]
            chosen = clone(learner).set_params(ridge__alpha=alpha)
            expected = by_hand(result, chosen, X, y, one).predict(X)
            np.testing.assert_allclose(one.responses.predict, expected, rtol=1e-9)

    def test_those_of_a_forest_are_its_predictions_bit_for_bit(self) -> None:
        X, y = numbers(80)
        learner = RandomForestRegressor(5, random_state=0)
        result = ho.evaluate(learner, X, y, test=ho.KFold(3))
        for one in answers_of(result):
            np.testing.assert_array_equal(one.responses.predict, by_hand(result, learner, X, y, one).predict(X))

    @pytest.mark.parametrize("precision", ["rounding", "solver"])
    def test_those_of_a_logistic_regression_have_probabilities(self, precision: str) -> None:
        X, y = labels(90)
        learner = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000)
        result = ho.evaluate(learner, X, y, test=ho.KFold(3), options=ho.Options(precision=precision))
        for one in answers_of(result):
            predictor = by_hand(result, learner, X, y, one)
            np.testing.assert_allclose(one.responses.predict_proba, predictor.predict_proba(X), atol=1e-6)
            np.testing.assert_array_equal(one.responses.predict, predictor.predict(X))

    @pytest.mark.parametrize(
        "learner",
        [PLSRegression(2), LinearRegression(), Lasso(0.1, tol=1e-12, max_iter=100_000)],
        ids=lambda one: type(one).__name__,
    )
    @pytest.mark.parametrize("test", [ho.KFold(5), ho.LeaveOneOut(), ho.KFold(15, repeats=2)], ids=repr)
    def test_kernels_answer_them(self, learner: Any, test: Any) -> None:
        X, y = numbers(60)
        result = ho.evaluate(learner, X, y, test=test, options=ho.Options(precision="solver"))
        assert "brute force" not in str(result.plan).replace("again by brute force", "")  # checks
        found = answers_of(result)
        assert len(found) == min(10, 5 if test == ho.KFold(5) else 15)
        for one in found:
            expected = by_hand(result, learner, X, y, one).predict(X)
            np.testing.assert_allclose(one.responses.predict, np.ravel(expected), rtol=1e-6, atol=1e-9)

    @pytest.mark.parametrize("learner", [GaussianNB(), LinearDiscriminantAnalysis(), RidgeClassifier()], ids=repr)
    @pytest.mark.parametrize("test", [ho.KFold(5), ho.LeaveOneOut()], ids=repr)
    def test_kernels_of_classifiers_too(self, learner: Any, test: Any) -> None:
        X, y = labels(60)
        result = ho.evaluate(learner, X, y, test=test)
        assert "brute force" not in str(result.plan).replace("again by brute force", "")  # checks
        for one in answers_of(result):
            predictor = by_hand(result, learner, X, y, one)
            np.testing.assert_array_equal(one.responses.predict, predictor.predict(X))
            if hasattr(learner, "predict_proba"):
                np.testing.assert_allclose(one.responses.predict_proba, predictor.predict_proba(X), atol=1e-9)

    @pytest.mark.parametrize("final", ["keep", "ensemble"])
    def test_of_a_kept_predictor_and_of_an_average_the_rows_it_was_trained_on(self, final: str) -> None:
        X, y = numbers(60)
        validation = ho.Holdout(0.25) if final == "keep" else ho.KFold(3)
        tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=validation, final=final)
        result = ho.evaluate(tuned, X, y, test=ho.KFold(3))
        splits = study_of(result)[1].study.splits
        for one in answers_of(result):
            inner = splits[f"inner/{one.part}"]
            rows = np.concatenate([inner.train_rows(part) for part in range(len(inner))])
            members = [
                Ridge(result.choices.loc[one.part, "param_alpha"]).fit(X[rows], y[rows]).predict(X)
                for rows in map(inner.train_rows, range(len(inner)))
            ]
            np.testing.assert_array_equal(one.trained, np.isin(np.arange(60), rows))
            np.testing.assert_allclose(one.responses.predict, np.mean(members, axis=0), rtol=1e-9)

    def test_many_rows_are_drawn_by_seed_and_content(self) -> None:
        X, y = numbers(1_500)
        first, again, other = (
            answers_of(ho.evaluate(Ridge(), X, y, test=ho.KFold(3), seed=seed))[0].rows for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first, again)
        assert len(first) == 1_000
        assert len(np.intersect1d(first, other)) < 1_000

    def test_at_most_ten_predictors_of_the_first_repeat_answer(self) -> None:
        X, y = numbers(60)
        parts = [one.part for one in answers_of(ho.evaluate(Ridge(), X, y, test=ho.KFold(20, repeats=3)))]
        assert len(parts) == 10
        assert (parts[0], parts[-1]) == (0, 19)
        assert len(answers_of(ho.evaluate(Ridge(), X, y, test=ho.Resample(30)))) == 10

    def test_groups_are_on_both_sides_and_nobody_objects(self) -> None:
        X, y = numbers(60)
        found = answers_of(ho.evaluate(Ridge(), X, y, test=ho.KFold(5), groups=np.arange(60) // 3))
        assert all(one.trained.sum() == 48 for one in found)

    def test_weights_do_not_matter(self) -> None:
        X, y = numbers(60)
        assert len(answers_of(ho.evaluate(Ridge(), X, y, test=ho.KFold(5), sample_weight=np.arange(60.0)))) == 5


STUDIES: dict[str, tuple[Any, Any, Any]] = {
    "ridge": (Ridge(), numbers(70), ho.KFold(10)),
    "least squares, leave-one-out": (LinearRegression(), numbers(70), ho.LeaveOneOut()),
    "repeats": (Ridge(), numbers(70), ho.KFold(20, repeats=8)),
    "tuned": (ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}), numbers(70), ho.KFold(5)),
    "shared": (ho.Tuned(Ridge(), {"alpha": [0.1, 9.0]}, validation=ho.SharedBlocks()), numbers(70), ho.KFold(5)),
    "resampled": (ho.Tuned(PLSRegression(), {"n_components": [1, 2, 3]}), numbers(70), ho.Resample(4)),
    "pls": (PLSRegression(2), numbers(70), ho.KFold(35)),
    "bayes": (GaussianNB(), labels(70), ho.KFold(10)),
    "bayes, leave-one-out": (GaussianNB(), labels(70), ho.LeaveOneOut()),
    "discriminants": (LinearDiscriminantAnalysis(), labels(70), ho.KFold(10)),
    "discriminants, leave-one-out": (LinearDiscriminantAnalysis(), labels(70), ho.LeaveOneOut()),
    "logistic": (LogisticRegression(), labels(70), ho.KFold(10)),
    "many rows": (LogisticRegression(), labels(1_200), ho.KFold(3)),
    "forest": (RandomForestClassifier(5), labels(70), ho.KFold(3)),
    "labels alone": (RidgeClassifier(), labels(70), ho.KFold(3)),
    "groups": (Ridge(), numbers(70), ho.KFold(5)),
    "lasso": (Lasso(0.1), numbers(70), ho.KFold(5)),
}


@pytest.mark.usefixtures("costs_nothing")
@pytest.mark.parametrize("name", STUDIES)
def test_nothing_else_in_the_result_changes(name: str) -> None:
    learner, (X, y), test = STUDIES[name]
    roles = {"groups": np.arange(70) // 2} if name == "groups" else {}
    with_it = ho.evaluate(learner, X, y, test=test, jobs=1, **roles)
    without = ho.evaluate(learner, X, y, test=test, jobs=1, options=OFF, **roles)
    assert asked_of(with_it).parts
    assert not asked_of(without).parts
    for table in ("folds", "predictions", "choices", "candidates", "failures", "warnings"):
        pd.testing.assert_frame_equal(getattr(with_it, table), getattr(without, table), check_exact=True)
    assert with_it.risk.value == without.risk.value
    lines, before = (
        [(line.level, line.rule, line.cells, line.fits) for line in one.plan.lines] for one in (with_it, without)
    )
    assert lines == before


@pytest.mark.usefixtures("costs_nothing")
@pytest.mark.parametrize("tuned", [False, True])
def test_no_fit_is_made_for_it(monkeypatch: pytest.MonkeyPatch, tuned: bool) -> None:
    fits: list[int] = []
    fit = DecisionTreeRegressor.fit

    def counted(self: Any, X: Any, y: Any, *rest: Any, **more: Any) -> Any:
        fits.append(len(y))
        return fit(self, X, y, *rest, **more)

    monkeypatch.setattr(DecisionTreeRegressor, "fit", counted)
    X, y = numbers(60)
    tree = DecisionTreeRegressor(random_state=0)
    learner = ho.Tuned(tree, {"min_samples_leaf": [1, 5]}, validation=ho.KFold(3)) if tuned else tree
    ho.evaluate(learner, X, y, test=ho.KFold(4), jobs=1, options=OFF)
    without = len(fits)
    result = ho.evaluate(learner, X, y, test=ho.KFold(4), jobs=1)
    assert len(answers_of(result)) == 4
    assert len(fits) == 2 * without == 2 * (4 * (1 + 6 * tuned))


@pytest.mark.usefixtures("costs_nothing")
@pytest.mark.parametrize("learner", [Ridge(), DecisionTreeRegressor(random_state=0)], ids=["kernel", "fits"])
def test_the_same_bits_whatever_the_jobs(learner: Any) -> None:
    X, y = numbers(60)
    ways: list[dict[str, Any]] = [{"jobs": 1}, {"jobs": 2}, {"jobs": 2, "backend": "processes"}]
    found = [answers_of(ho.evaluate(learner, X, y, test=ho.KFold(4), **way)) for way in ways]
    for one, two, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one.responses.predict, two.responses.predict)
        np.testing.assert_array_equal(one.responses.predict, three.responses.predict)


@pytest.mark.usefixtures("costs_nothing")
class TestJournals:
    @pytest.mark.parametrize("learner", [Ridge(), DecisionTreeRegressor(random_state=0)], ids=["kernel", "fits"])
    @pytest.mark.parametrize("test", [ho.KFold(4), ho.LeaveOneOut()], ids=repr)
    def test_it_comes_from_the_journal_the_next_time(self, learner: Any, test: Any, tmp_path: Path) -> None:
        X, y = numbers(40)
        first, again = (ho.evaluate(learner, X, y, test=test, journal=tmp_path / "study.db") for _ in range(2))
        assert first.journal is not None
        assert again.journal is not None
        cells = len(first.folds)
        assert (first.journal.recalled, first.journal.computed) == (0, cells)
        assert (again.journal.recalled, again.journal.computed) == (cells, 0)
        for one, two in zip(answers_of(first), answers_of(again), strict=True):
            np.testing.assert_array_equal(one.responses.predict, two.responses.predict)

    def test_validation_cells_of_a_journal_without_it_are_used(self, tmp_path: Path) -> None:
        X, y = labels(60)
        tuned = ho.Tuned(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, validation=ho.KFold(3))
        given: dict[str, Any] = {"test": ho.KFold(4), "journal": tmp_path / "study.db"}
        ho.evaluate(tuned, X, y, **given, options=OFF)
        result = ho.evaluate(tuned, X, y, **given)
        assert result.journal is not None
        assert result.journal.recalled >= 4 * 3 * 2
        assert len(answers_of(result)) == 4


@pytest.mark.usefixtures("costs_nothing")
class TestFailures:
    def test_one_that_fails_is_left_out_and_the_study_is_whole(self, monkeypatch: pytest.MonkeyPatch) -> None:
        predict = DecisionTreeRegressor.predict

        def failing(self: Any, X: Any, *rest: Any) -> Any:
            if len(X) == 60:
                raise ValueError("not on all rows")
            return predict(self, X, *rest)

        monkeypatch.setattr(DecisionTreeRegressor, "predict", failing)
        X, y = numbers(60)
        told: list[str] = []
        options = ho.Options(on_event=lambda event: told.append(event.kind))
        result = ho.evaluate(DecisionTreeRegressor(), X, y, test=ho.KFold(4), jobs=1, options=options)
        assert fold_predictor_responses(*study_of(result)) is None
        assert result.failures.empty
        assert np.isfinite(result.risk.value)
        assert "cell_failed" not in told
        assert not any(finding.code in ("H201", "H202") for finding in result.findings)

    def test_a_kernel_that_fails_its_check_leaves_right_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from heldout.kernels.ridge import answer

        values = answer.linear_values
        monkeypatch.setattr(answer, "linear_values", lambda *a: (values(*a)[0] * 2, values(*a)[1]))
        X, y = numbers(60)
        result = ho.evaluate(Ridge(), X, y, test=ho.KFold(4), jobs=1)
        assert any(finding.code == "H205" for finding in result.findings)
        for one in answers_of(result):
            np.testing.assert_array_equal(one.responses.predict, by_hand(result, Ridge(), X, y, one).predict(X))


class Stranger(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> Stranger:
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (KNeighborsClassifier(), "predictions of KNeighborsClassifier cost about as much as fits"),
        (make_pipeline(StandardScaler(), SVC()), "predictions of SVC cost about as much as fits"),
        (ho.Tuned(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression": [SVC()]}), "SVC"),
        (FixedThresholdClassifier(LogisticRegression(), threshold=0.2), "not the most probable ones"),
    ],
    ids=["neighbours", "machine", "machine as a value", "threshold"],
)
@pytest.mark.usefixtures("costs_nothing")
def test_dear_predictions_are_not_asked_for(learner: Any, reason: str) -> None:
    X, y = labels(60)
    result = ho.evaluate(learner, X, y, test=ho.KFold(3))
    assert not asked_of(result).parts
    assert not asked_of(result).tests_too
    assert reason in str(result.plan)


@pytest.mark.usefixtures("costs_nothing")
def test_learners_that_nobody_knows_are_not_asked() -> None:
    result = ho.evaluate(Stranger(), *numbers(40), test=ho.KFold(3))
    assert "nothing is known of what predictions of Stranger cost" in str(result.plan)
    assert not asked_of(result).parts


@pytest.mark.usefixtures("costs_nothing")
def test_where_fits_have_limits_predictors_are_asked_nothing_more() -> None:
    result = ho.evaluate(Ridge(), *numbers(40), test=ho.KFold(3), options=ho.Options(fit_timeout=100))
    assert not asked_of(result).parts


@pytest.mark.usefixtures("costs_nothing")
def test_a_single_test_set_has_none() -> None:
    result = ho.evaluate(Ridge(), *numbers(40), test=ho.Holdout(0.25))
    assert not asked_of(result).parts
    assert "interval:" not in str(result.plan)


def test_small_studies_of_dear_rows_are_asked_less() -> None:
    """A thousand rows of naive Bayes cost more than its sums; a search of forests can afford anything."""
    assert len(asked_of(ho.evaluate(GaussianNB(), *labels(1_000, 20), test=ho.KFold(10))).parts) < 10
    tuned = ho.Tuned(RandomForestClassifier(3, random_state=0), {"max_depth": [1, 2]}, validation=ho.KFold(3))
    assert len(asked_of(ho.evaluate(tuned, *labels(100), test=ho.KFold(3))).parts) == 3


def test_explain_says_it_in_one_line() -> None:
    X, y = numbers(500, 20)
    plan = ho.explain(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}), X, y, test=ho.KFold(5))
    lines = [line for line in str(plan).splitlines() if "interval" in line]
    assert lines == ["  interval: the predictors of 5 test parts also answer 500 rows, at no further fits"]
    without = ho.explain(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}), X, y, test=ho.KFold(5), options=OFF)
    assert (plan.fits, plan.cells, plan.fits_before) == (without.fits, without.cells, without.fits_before)


class TestHeldOut:
    @pytest.mark.usefixtures("costs_nothing")
    @pytest.mark.parametrize("n", [90, 1_200])
    @pytest.mark.parametrize("learner", [LogisticRegression(), GaussianNB()], ids=repr)
    def test_classifiers_of_two_classes_have_probabilities(self, learner: Any, n: int) -> None:
        X, y = labels(n)
        result = ho.evaluate(learner, X, y, test=ho.KFold(3))
        found = held_out_responses(*study_of(result))
        assert len(found) == 3
        for part, one in enumerate(found):
            rows = result.predictions.loc[result.predictions["fold"] == part, "row"].to_numpy()
            train = np.setdiff1d(np.arange(n), rows)
            assert one is not None
            expected = clone(learner).fit(X[train], y[train])
            np.testing.assert_array_equal(one.predict, expected.predict(X[rows]))
            np.testing.assert_allclose(one.predict_proba, expected.predict_proba(X[rows]), atol=1e-9)
        assert not any(name.startswith("proba_") for name in result.predictions.columns)

    @pytest.mark.usefixtures("costs_nothing")
    def test_what_has_none_is_asked_for_labels(self) -> None:
        result = ho.evaluate(RidgeClassifier(), *labels(90), test=ho.KFold(3))
        found = held_out_responses(*study_of(result))
        assert all(one is not None and one.predict_proba is None for one in found)

    @pytest.mark.usefixtures("costs_nothing")
    def test_three_classes_are_asked_for_labels(self) -> None:
        X, y = numbers(90)
        result = ho.evaluate(GaussianNB(), X, np.digitize(y, [-1, 1]), test=ho.KFold(3))
        assert all(one.responses.predict_proba is None for one in answers_of(result))

    def test_a_loss_that_needs_probabilities_shows_them_as_before(self) -> None:
        result = ho.evaluate(LogisticRegression(), *labels(90), test=ho.KFold(3), loss=["zero_one", "log"])
        assert "proba_1" in result.predictions.columns

    @pytest.mark.usefixtures("costs_nothing")
    def test_a_part_that_failed_has_none(self) -> None:
        result = ho.evaluate(FailsOnce(), *labels(30), test=ho.KFold(3, shuffle=False, stratify=False))
        found = held_out_responses(*study_of(result))
        assert [one is None for one in found] == [True, False, False]


class FailsOnce(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> FailsOnce:
        if X[0, 0] == labels(30)[0][10, 0]:
            raise ValueError("the first part")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        (LinearRegression(), True),
        (make_pipeline(StandardScaler(), RidgeCV()), True),
        (ho.Tuned(make_pipeline(StandardScaler(), Lasso()), {"lasso__alpha": [1.0]}), True),
        (GridSearchCV(PLSRegression(), {"n_components": [1]}), True),
        (ho.Tuned({"a": (Ridge(), None), "b": (RandomForestRegressor(), None)}), False),
        (TransformedTargetRegressor(LinearRegression()), False),
        (HuberRegressor(), True),  # weighted squares
        (RidgeClassifier(), False),
    ],
    ids=lambda one: str(one)[:40],
)
def test_which_learners_are_least_squares(learner: Any, expected: bool) -> None:
    assert is_least_squares(learner) is expected


def test_weights_of_classes() -> None:
    y = np.array(["a", "a", "a", "b"])
    balanced = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    np.testing.assert_allclose(class_weights_of(balanced, y), [2 / 3, 2])
    np.testing.assert_allclose(class_weights_of(SVC(class_weight={"a": 3.0}), y), [3, 1])
    assert class_weights_of(LogisticRegression(), y) is None
    assert class_weights_of(GaussianNB(), y) is None
