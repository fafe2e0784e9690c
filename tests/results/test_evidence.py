"""What predictors are asked for intervals alone: right, at no further fits, and without a trace anywhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from asked_predictors import OFF, answers_of, asked_of, by_hand, labels, numbers, study_of
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from heldout.base.errors import FitFailed
from heldout.results.evidence import fold_predictor_responses


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

    @pytest.mark.parametrize("precision", ["identical", "rounding"])
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
        result = ho.evaluate(learner, X, y, test=test)
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
        shown, plain = getattr(with_it, table), getattr(without, table)  # predictions have probabilities besides
        pd.testing.assert_frame_equal(
            shown[plain.columns] if table == "predictions" else shown, plain, check_exact=True
        )
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
        assert not fold_predictor_responses(study_of(result)[1])
        assert result.failures.empty
        assert np.isfinite(result.risk.value)
        assert "cell_failed" not in told
        assert not any(finding.code in ("H201", "H202") for finding in result.findings)

    def test_a_kernel_that_fails_its_check_leaves_right_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from heldout.kernels.ridge.kernel import KERNEL

        respond = KERNEL.kernel.respond

        def twice(*given: Any) -> Any:
            (numbers,), reliable = respond(*given)
            return (2 * numbers,), reliable

        monkeypatch.setattr(KERNEL.kernel, "respond", twice)
        X, y = numbers(60)
        result = ho.evaluate(Ridge(), X, y, test=ho.KFold(4), jobs=1)
        assert any(finding.code == "H205" for finding in result.findings)
        for one in answers_of(result):
            np.testing.assert_array_equal(one.responses.predict, by_hand(result, Ridge(), X, y, one).predict(X))


@pytest.mark.parametrize("test", [ho.LeaveOneOut(), ho.KFold(3, repeats=2)])
@pytest.mark.usefixtures("costs_nothing")
def test_probabilities_that_only_intervals_wish_for_fail_no_cell(test: Any) -> None:
    """A column of one value gives GaussianNB probabilities of NaN; its labels are as good as they were."""
    y = np.array([0] * 16 + [1] * 4)
    X = np.full((20, 1), 3.0)
    wishing, plain = (ho.evaluate(GaussianNB(), X, y, test=test, options=one) for one in (ho.Options(), OFF))
    assert not len(wishing.failures)
    assert wishing.risk.value == plain.risk.value
    assert (wishing.risk.low, wishing.risk.high) == (plain.risk.low, plain.risk.high)


@pytest.mark.usefixtures("costs_nothing")
def test_a_predict_proba_that_raises_fails_no_cell_of_a_loss_of_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(self: Any, X: Any) -> Any:
        raise NotImplementedError("no probabilities")

    monkeypatch.setattr(LogisticRegression, "predict_proba", raising)
    X, y = labels(30)
    result = ho.evaluate(LogisticRegression(), X, y, test=ho.LeaveOneOut())
    assert result.risk.value == ho.evaluate(LogisticRegression(), X, y, test=ho.LeaveOneOut(), options=OFF).risk.value
    assert not len(result.failures)


@pytest.mark.usefixtures("costs_nothing")
def test_probabilities_that_a_loss_needs_must_be_sound_still() -> None:
    X, y = np.full((20, 1), 3.0), np.array([0] * 16 + [1] * 4)
    with pytest.raises(FitFailed, match="predict_proba answered NaN"):
        ho.evaluate(GaussianNB(), X, y, test=ho.KFold(3), loss=["zero_one", "log"])
