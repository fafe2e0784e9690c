"""The same question and seed give the same numbers bit for bit, however the study is run (invariant 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

TABLES = ("folds", "choices", "candidates", "predictions", "failures", "warnings")


def regression() -> tuple[Any, Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return ho.Tuned(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ho.log_grid(-3, 3, 4)}), X[:120], y[:120]


def classification() -> tuple[Any, Any, Any]:
    """Seeds are left unset here, so they come from the study's own."""
    X, y = load_iris(return_X_y=True)
    return ho.Tuned(RandomForestClassifier(3), {"max_depth": [1, 3]}, validation=3), X[::2], y[::2]


def families() -> tuple[Any, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    knn = (make_pipeline(StandardScaler(), KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": [1, 7]})
    learner = ho.Tuned({"knn": knn, "forest": RandomForestClassifier(3)}, validation=ho.Resample(3))
    return learner, X[:90], y[:90]


STUDIES = {"regression": regression, "classification": classification, "families": families}
WAYS: dict[str, dict[str, Any]] = {
    "two-jobs": {"jobs": 2},
    "processes": {"backend": "processes", "jobs": 2},
    "inline": {"backend": "inline", "jobs": 2},
    "shuffled": {"jobs": 1, "options": ho.Options(queue_seed=3)},
    "shuffled-processes": {"backend": "processes", "jobs": 2, "options": ho.Options(queue_seed=4)},
    "no-rules": {"jobs": 1, "options": ho.Options(rules={"share_fits": False})},
}


@pytest.mark.parametrize("study", STUDIES)
def test_how_a_study_is_run_changes_no_number(study: str) -> None:
    learner, X, y = STUDIES[study]()
    first = ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=1)
    for how in WAYS.values():
        other = ho.evaluate(learner, X, y, test=ho.KFold(3), **how)
        assert other.estimates == first.estimates
        assert other.findings == first.findings
        for name in TABLES:
            pd.testing.assert_frame_equal(getattr(other, name), getattr(first, name), check_exact=True)


@pytest.mark.usefixtures("identical_rules")
def test_shared_blocks_give_the_same_numbers_without_sharing() -> None:
    learner, X, y = regression()
    learner.set_params(validation=ho.SharedBlocks())
    shared = ho.evaluate(learner, X, y, test=ho.KFold(4), jobs=1)
    alone = ho.evaluate(learner, X, y, test=ho.KFold(4), jobs=1, options=ho.Options(rules={"share_fits": False}))
    assert shared.plan.fits < alone.plan.fits
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(shared, name), getattr(alone, name), check_exact=True)


def test_the_predictor_is_the_same_however_it_was_made() -> None:
    learner, X, y = classification()
    predictors = [ho.evaluate(learner, X, y, test=ho.KFold(3), **how).predictor for how in ({"jobs": 1}, {"jobs": 2})]
    assert (predictors[0].predict_proba(X) == predictors[1].predict_proba(X)).all()


def test_warnings_of_fits_come_in_the_same_order() -> None:
    """A finding names the first cell that warned: first in the study, not first to finish."""
    X, y = load_breast_cancer(return_X_y=True)
    learner = ho.Tuned(LogisticRegression(max_iter=3), {"C": [0.1, 1.0]}, validation=2)
    results = [
        ho.evaluate(learner, X[:80], y[:80], test=ho.KFold(2), jobs=1, options=ho.Options(queue_seed=seed))
        for seed in (None, 1, 2)
    ]
    assert [f.code for f in results[0].findings] == ["H201", "H702"]
    assert results[0].findings == results[1].findings == results[2].findings
    pd.testing.assert_frame_equal(results[0].warnings, results[1].warnings)


@pytest.mark.parametrize(
    "learner",
    [
        CalibratedClassifierCV(KNeighborsClassifier(), cv=StratifiedKFold(3, shuffle=True)),
        GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=ShuffleSplit(2), refit=lambda results: 0),
        ho.Tuned(
            CalibratedClassifierCV(KNeighborsClassifier(), cv=StratifiedKFold(3, shuffle=True)),
            {
                "estimator__n_neighbors": [1, 9],
                "cv": [StratifiedKFold(2, shuffle=True), StratifiedKFold(3, shuffle=True)],
            },
            validation=ShuffleSplit(2),
        ),
    ],
    ids=["inside", "a black box", "among the values"],
)
def test_splitters_inside_a_learner_draw_by_the_study(learner: Any) -> None:
    X, y = load_iris(return_X_y=True)
    first, second = (ho.evaluate(learner, X, y, test=ho.KFold(3), loss="log", jobs=1) for _ in range(2))
    assert first.predictions.equals(second.predictions)
    other = ho.evaluate(learner, X, y, test=ho.KFold(3), loss="log", jobs=1, seed=1)
    assert first.risk.value != other.risk.value


def test_a_splitter_of_the_users_own_is_left_alone() -> None:
    X, y = load_iris(return_X_y=True)
    splitter = StratifiedKFold(3, shuffle=True)
    ho.evaluate(CalibratedClassifierCV(KNeighborsClassifier(), cv=splitter), X, y, test=ho.KFold(3), jobs=1)
    assert splitter.random_state is None


def test_another_seed_draws_other_rows() -> None:
    learner, X, y = regression()
    rows = [ho.evaluate(learner, X, y, test=ho.KFold(3), seed=s, jobs=1).predictions["row"].tolist() for s in (0, 1)]
    assert rows[0] != rows[1]


def test_a_second_evaluation_of_one_learner_object_is_the_first() -> None:
    """A RandomState in a learner is copied, as clone does, not used up."""
    _, X, y = classification()
    state = np.random.RandomState(5)
    learner = ho.Tuned(RandomForestClassifier(3), {"max_depth": [1, 3]}, validation=3, random_state=state)
    first, second = (ho.evaluate(learner, X, y, test=ho.KFold(3), jobs=1) for _ in range(2))
    pd.testing.assert_frame_equal(first.predictions, second.predictions)
    pd.testing.assert_frame_equal(first.candidates, second.candidates)
