"""`result.predictor`, `result.covers`, `result.findings` and the words around the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import heldout as ho
from heldout.report.show import as_text


def numbers() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:100], y[:100]


def flowers() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


FOREST = RandomForestClassifier(4)
LEARNERS = {
    "fixed": FOREST,
    "retrain": ho.Tuned(FOREST, {"max_depth": [1, 3]}, validation=ho.Holdout(0.25)),
    "ensemble": ho.Tuned(FOREST, {"max_depth": [1, 3]}, validation=ho.KFold(3), final="ensemble"),
    "keep": ho.Tuned(FOREST, {"max_depth": [1, 3]}, validation=ho.Holdout(0.25), final="keep"),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("test", [ho.Holdout(0.2), ho.Given(range(0, 150, 4))], ids=["holdout", "given"])
def test_the_predictor_of_a_test_set_is_the_one_that_was_tested(name: str, test: Any) -> None:
    X, y = flowers()
    result = ho.evaluate(LEARNERS[name], X, y, test=test, jobs=1)
    table = result.predictions
    assert (result.predictor.predict(X[table["row"]]) == table["predict"]).all()
    assert result.covers.exactly
    assert result.covers.estimate == "risk"
    assert result.findings == ()
    assert result.predictor is result.predictor


def test_the_words_of_covers() -> None:
    X, y = flowers()
    said = {name: str(ho.evaluate(LEARNERS[name], X, y, test=ho.Holdout(0.2), jobs=1).covers) for name in LEARNERS}
    assert all("this very predictor" in words for words in said.values())
    assert "no development-set bound holds for it" in said["retrain"]
    assert "the development-set bound, if any, holds for it too" in said["keep"]
    assert "bound" not in said["fixed"]
    folds = ho.Tuned(FOREST, {"max_depth": [1, 3]}, validation=ho.KFold(3))  # which have no development rows
    assert "development" not in str(ho.evaluate(folds, X, y, test=ho.Holdout(0.2), jobs=1).covers)


@pytest.mark.parametrize("test", [ho.KFold(3), ho.Resample(3), ho.LeaveOneOut()], ids=str)
def test_the_predictor_of_folds_is_the_learner_on_all_rows(test: Any) -> None:
    X, y = flowers()
    X, y = X[::5], y[::5]
    tree = DecisionTreeClassifier(random_state=0)
    result = ho.evaluate(tree, X, y, test=test, jobs=1)
    with threadpool_limits(1):
        assert (result.predictor.predict(X) == clone(tree).fit(X, y).predict(X)).all()
    assert not result.covers.exactly
    assert "trained on all 30 rows" in str(result.covers)


def test_the_predictor_of_a_nested_study_is_what_fitting_the_learner_gives() -> None:
    X, y = flowers()
    learner = ho.Tuned(FOREST, {"max_depth": [1, 3]}, validation=ho.KFold(3), jobs=1)
    result = ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=1)
    fitted = clone(learner).fit(X, y)
    assert result.predictor.get_params() == fitted.best_estimator_.get_params()
    assert (result.predictor.predict_proba(X) == fitted.predict_proba(X)).all()


def test_a_learner_that_is_not_deterministic_is_found_out() -> None:
    class Dice(KNeighborsRegressor):  # type: ignore[misc]
        def predict(self, X: Any) -> Any:
            return super().predict(X) + np.random.default_rng().normal(size=len(X))

    X, y = numbers()
    result = ho.evaluate(Dice(), X, y, test=ho.Holdout(0.2), jobs=1)
    before = [f.code for f in result.findings]
    assert result.predictor is not None
    added = [f for f in result.findings if f.code not in before]
    assert [f.code for f in added] == ["H204"]
    assert "differs on 20 of 20 test rows: the learner is not deterministic" in added[0].message


def test_rounding_in_single_precision_is_not_blamed_on_the_learner() -> None:
    X, y = numbers()
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, validation=ho.KFold(3))
    result = ho.evaluate(learner, X.astype(np.float32), y, test=ho.Holdout(0.2), jobs=1)
    recorded = result.predictions["predict"].to_numpy()
    again = result.predictor.predict(X.astype(np.float32)[result.predictions["row"]])
    assert (again != recorded).any()
    assert not any(finding.code == "H204" for finding in result.findings)


def test_warnings_of_fits_are_collected_by_cell_and_not_shown() -> None:
    X, y = flowers()
    result = ho.evaluate(LogisticRegression(max_iter=2), X, y, test=ho.KFold(3), jobs=1)  # warnings are errors here
    assert result.warnings["category"].tolist() == ["ConvergenceWarning"] * 3
    assert result.warnings["part"].tolist() == [0, 1, 2]
    (finding,) = result.findings
    assert finding.code == "H201"
    assert "3 fits gave ConvergenceWarning" in finding.message


def test_choosing_by_one_loss_and_reporting_another_is_said() -> None:
    X, y = flowers()
    learner = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, loss="log", validation=2)
    result = ho.evaluate(learner, X, y, test=ho.KFold(3), loss="zero_one", jobs=1)
    assert result.risk.loss == "zero_one"
    assert "validation_log" in result.choices
    (finding,) = result.findings
    assert finding.code == "H301"
    assert "chosen by 'log', the learner's own loss; the risk reported is 'zero_one'" in finding.message


def test_every_estimate_says_what_it_is() -> None:
    X, y = numbers()
    result = ho.evaluate(ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}, validation=4), X, y, test=ho.KFold(5), jobs=1)
    corrections = {"best_validation_bbc", "best_validation_tt"}
    assert set(result.estimates) == {"risk", "fold_predictors", "best_validation"} | corrections
    for estimate in result.estimates.values():
        assert estimate.estimand
        assert estimate.train_size
        assert (estimate.low is None) == (estimate.method is None) == (estimate.guarantee is None)
        assert estimate.low is not None or estimate.reason
    assert result.risk.estimand == "expected squared risk of the tuned learner trained on 80 rows"
    assert result.risk.low < result.risk.value < result.risk.high
    assert result.risk.method == "t over rows, log scale"
    assert result.estimates["best_validation"].train_size == 75
    assert result.estimates["best_validation"].optimistic
    assert result.estimates["fold_predictors"].value == result.risk.value


def test_pooling_takes_the_mean_over_rows() -> None:
    X, y = numbers()
    parts = [(np.arange(50, 100), np.arange(10)), (np.arange(50), np.arange(50, 100))]
    apart = ho.evaluate(Ridge(), X, y, test=parts, jobs=1)
    pooled = ho.evaluate(Ridge(), X, y, test=parts, jobs=1, options=ho.Options(pool=True))
    assert apart.risk.value == apart.folds["squared"].mean()
    assert pooled.risk.value == pytest.approx(pooled.predictions["loss_squared"].mean(), rel=1e-14)
    assert pooled.risk.value != apart.risk.value


def test_the_printed_result_names_risk_interval_and_choice() -> None:
    X, y = flowers()
    result = ho.evaluate(ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 9]}), X, y, test=ho.KFold(3), jobs=1)
    text = str(result)
    for words in ("accuracy 9", "95 % interval", "the tuned learner trained on 100 rows", "n_neighbors="):
        assert words in text
    text = as_text("whole result", result.summary())
    for words in ("zero_one", "Wilson over rows, heuristic", "the tuned learner trained on 100 rows", "optimistic"):
        assert words in text
    assert result.summary()["risk"]["value"] == result.risk.value


def test_terminal_codes_in_what_users_name_never_reach_the_terminal() -> None:
    """Bad input 8, as far as texts of results go."""
    X, y = flowers()
    with pytest.raises(ho.HeldoutError, match="has control characters in it"):
        ho.evaluate(ho.Tuned({"knn\x1b[31m": KNeighborsClassifier()}, validation=2), X, y)

    class Loud(KNeighborsClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            if len(y) < 100:
                raise ValueError("red\x1b[31m")
            return super().fit(X, y)

    result = ho.evaluate(Loud(), X, y, test=[(range(40), range(40, 60)), (range(120), range(120, 150))], jobs=1)
    assert "red" in str(result)
    assert "\x1b" not in str(result)


def test_explain_fits_nothing_and_tells_the_plan() -> None:
    class Never(Ridge):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            raise AssertionError("fitted")

    X, y = numbers()
    plan = ho.explain(ho.Tuned(Never(), {"alpha": [0.1, 1.0, 10.0]}, validation=4), X, y, test=ho.KFold(5))
    assert (plan.candidates, plan.cells, plan.fits_before) == (3, 5 * 4 * 3 + 5, 5 * 4 * 3 + 5)
    for words in ("Plan for Never", "5-fold, shuffled", "4-fold, shuffled", "brute force  identical"):
        assert words in str(plan)
