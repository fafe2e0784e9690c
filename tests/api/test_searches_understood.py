"""GridSearchCV and RandomizedSearchCV as learners: evaluate gives what scikit-learn's cross_val_score gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import heldout as ho

pytestmark = pytest.mark.usefixtures("identical_rules")

OUTER = KFold(3, shuffle=True, random_state=0)


def binary() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:120, :5], y[:120]


def flowers() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


def numbers() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:120], y[:120]


KNN = (KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]})
TREE = (DecisionTreeClassifier(random_state=0), [{"max_depth": [1, 3]}, {"min_samples_leaf": [1, 5, 20]}])
RIDGE = (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0, 1000.0]})
SEARCHES: dict[str, tuple[Any, Any]] = {
    "scoring none": (GridSearchCV(*KNN, cv=3), flowers),
    "scoring none, regression": (GridSearchCV(*RIDGE, cv=3), numbers),
    "a list of grids": (GridSearchCV(*TREE, cv=3), flowers),
    "roc_auc": (GridSearchCV(*KNN, cv=3, scoring="roc_auc"), binary),
    "neg_mean_squared_error": (GridSearchCV(*RIDGE, cv=3, scoring="neg_mean_squared_error"), numbers),
    "own scorer": (
        GridSearchCV(*RIDGE, cv=3, scoring=make_scorer(mean_absolute_error, greater_is_better=False)),
        numbers,
    ),
    "scoring a function": (
        GridSearchCV(*KNN, cv=3, scoring=lambda e, X, y: float((e.predict(X) == y).mean())),
        flowers,
    ),
    "several scores": (GridSearchCV(*KNN, cv=3, scoring=["accuracy", "roc_auc"], refit="roc_auc"), binary),
    "a dict of scores": (GridSearchCV(*KNN, cv=3, scoring={"a": "neg_log_loss", "b": "f1"}, refit="b"), binary),
    "one score and refit by a word": (GridSearchCV(*KNN, cv=3, scoring="accuracy", refit="any truth will do"), flowers),
    "cv none": (GridSearchCV(*KNN), flowers),
    "cv a splitter": (GridSearchCV(*KNN, cv=StratifiedKFold(3, shuffle=True, random_state=1)), flowers),
    "cv with a state": (GridSearchCV(*KNN, cv=KFold(3, shuffle=True, random_state=np.random.RandomState(3))), flowers),
    "repeated cv": (GridSearchCV(*KNN, cv=RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)), flowers),
    "shuffle split": (GridSearchCV(*KNN, cv=ShuffleSplit(3, random_state=0)), flowers),
    "noted and ignored": (GridSearchCV(*KNN, cv=3, n_jobs=1, pre_dispatch=4, return_train_score=True), flowers),
    "randomized": (
        RandomizedSearchCV(LogisticRegression(tol=0.1), {"C": loguniform(1e-3, 1e3)}, n_iter=4, cv=2, random_state=0),
        flowers,
    ),
    "randomized with a state": (
        RandomizedSearchCV(
            KNeighborsClassifier(), {"n_neighbors": range(1, 40)}, n_iter=4, cv=2, random_state=np.random.RandomState(4)
        ),
        flowers,
    ),
}


@pytest.mark.parametrize("case", SEARCHES)
def test_evaluate_gives_what_cross_val_score_gives(case: str) -> None:
    search, data = SEARCHES[case]
    X, y = data()
    result = ho.evaluate(search, X, y, test=OUTER, jobs=1, options=ho.Options(pool=False))
    with threadpool_limits(1):
        scores = cross_val_score(search, X, y, cv=OUTER)
    assert result.folds[result.risk.loss].tolist() == scores.tolist()
    assert result.risk.value == float(np.mean(scores))
    assert result.risk.greater_is_better


@pytest.mark.parametrize("case", SEARCHES)
def test_choices_are_those_of_the_search(case: str) -> None:
    search, data = SEARCHES[case]
    X, y = data()
    result = ho.evaluate(search, X, y, test=OUTER, jobs=1)
    for fold, (train, _) in enumerate(OUTER.split(X)):
        with threadpool_limits(1):
            again = clone(search).fit(X[train], y[train])
        assert result.choices["candidate"][fold] == again.best_index_
        if not again.multimetric_:
            shown = result.choices[f"validation_{result.risk.loss}"][fold]
            assert shown == pytest.approx(again.best_score_, rel=1e-14)


def test_groups_reach_the_searchs_own_cv() -> None:
    X, y = numbers()
    groups = np.arange(len(y)) // 6
    search = GridSearchCV(*RIDGE, cv=GroupKFold(3))
    result = ho.evaluate(search, X, y, groups=groups, test=GroupKFold(4), jobs=1)
    with threadpool_limits(1):
        scores = cross_val_score(search, X, y, groups=groups, cv=GroupKFold(4), params={"groups": groups})
    assert result.folds["score"].tolist() == scores.tolist()


def test_a_group_cv_without_groups_is_refused() -> None:
    X, y = numbers()
    with pytest.raises(ho.HeldoutError, match="GroupKFold needs groups, but the task has none"):
        ho.evaluate(GridSearchCV(*RIDGE, cv=GroupKFold(3)), X, y, test=OUTER)


class Fragile(ClassifierMixin, BaseEstimator):
    """A classifier that some of its parameters break."""

    def __init__(self, breaks: bool = False, depth: int = 1) -> None:
        self.breaks = breaks
        self.depth = depth

    def fit(self, X: Any, y: Any) -> Fragile:
        if self.breaks:
            raise ValueError("this one breaks")
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)


@pytest.mark.parametrize("error_score", [np.nan, 0.0, -5.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test scores")
def test_error_score_is_kept(error_score: float) -> None:
    X, y = flowers()
    search = GridSearchCV(Fragile(), {"breaks": [True, False], "depth": [1, 2]}, cv=3, error_score=error_score)
    result = ho.evaluate(search, X, y, test=OUTER, jobs=1, options=ho.Options(pool=False))
    with threadpool_limits(1):
        scores = cross_val_score(search, X, y, cv=OUTER)
    assert result.folds["score"].tolist() == scores.tolist()
    assert len(result.failures) == 3 * 2 * 3
    shown = result.candidates[result.candidates["param_breaks"].astype(bool)]["validation_score"]
    assert np.array_equal(shown, [error_score] * 6, equal_nan=True)


def test_a_good_error_score_is_chosen_as_scikit_learn_would_and_then_fails_in_the_open() -> None:
    X, y = flowers()
    search = GridSearchCV(Fragile(), {"breaks": [True, False]}, cv=3, error_score=1.5)
    with pytest.raises(ho.HeldoutError, match="this one breaks"):
        ho.evaluate(search, X, y, test=OUTER, jobs=1)


def test_error_score_raise_raises() -> None:
    X, y = flowers()
    search = GridSearchCV(Fragile(), {"breaks": [False, True]}, cv=3, error_score="raise")
    with pytest.raises(ho.HeldoutError, match=r'breaks=True failed .*this one breaks.*error_score="raise"'):
        ho.evaluate(search, X, y, test=OUTER, jobs=1)
    with pytest.raises(ho.HeldoutError, match=r"breaks=True failed"):
        ho.evaluate(search, X, y, test=OUTER, backend="processes", jobs=2)


def test_unset_seeds_of_a_search_come_from_the_study() -> None:
    X, y = flowers()
    search = RandomizedSearchCV(RandomForestClassifier(3), {"max_depth": range(1, 30)}, n_iter=3, cv=2)
    first, second = (ho.evaluate(search, X, y, test=OUTER, jobs=1) for _ in range(2))
    assert first.candidates.equals(second.candidates)
    assert first.predictions.equals(second.predictions)
    other = ho.evaluate(search, X, y, test=OUTER, jobs=1, seed=1)
    assert not first.candidates.equals(other.candidates)


def test_a_searchs_own_generator_is_not_used_up() -> None:
    X, y = flowers()
    search, _ = SEARCHES["randomized with a state"]
    first, second = (ho.evaluate(search, X, y, test=OUTER, jobs=1) for _ in range(2))
    assert first.candidates.equals(second.candidates)


def best_of(results: Any) -> int:
    return int(np.argmin(results["rank_test_score"]))


def test_a_callable_refit_is_run_as_a_black_box() -> None:
    X, y = flowers()
    search = GridSearchCV(*KNN, cv=3, refit=best_of)
    result = ho.evaluate(search, X, y, test=OUTER, jobs=1, options=ho.Options(pool=False))
    with threadpool_limits(1):
        scores = cross_val_score(search, X, y, cv=OUTER)
    assert result.folds[result.risk.loss].tolist() == scores.tolist()
    assert len(result.choices) == 0
    plan = ho.explain(search, X, y, test=OUTER)
    assert "GridSearchCV with a callable refit is run as a black box" in str(plan)
    assert plan.fits == 3


def two_scores(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    right = float((estimator.predict(X) == y).mean())
    return {"wrong": right - 1, "right": right}


def test_a_function_that_gives_several_scores_is_run_as_a_black_box() -> None:
    X, y = flowers()
    search = GridSearchCV(*KNN, cv=3, scoring=two_scores, refit="wrong")
    result = ho.evaluate(search, X, y, test=OUTER, jobs=1, options=ho.Options(pool=False))
    with threadpool_limits(1):
        scores = cross_val_score(search, X, y, cv=OUTER)
    assert result.folds[result.risk.loss].tolist() == scores.tolist()
    assert "a callable scoring that gives several scores is run as a black box" in str(
        ho.explain(search, X, y, test=OUTER)
    )


def test_what_is_ignored_is_noted() -> None:
    X, y = flowers()
    plan = ho.explain(GridSearchCV(*KNN, cv=3, n_jobs=2, verbose=1), X, y, test=OUTER)
    assert "GridSearchCV: n_jobs=2, verbose=1 noted and ignored" in str(plan)
    assert "noted" not in str(ho.explain(GridSearchCV(*KNN, cv=3), X, y, test=OUTER))


def test_without_refit_there_is_nothing_to_evaluate() -> None:
    X, y = flowers()
    with pytest.raises(
        ho.HeldoutError, match=r"GridSearchCV\(refit=False\) gives no predictor to evaluate. Use refit=True"
    ):
        ho.evaluate(GridSearchCV(*KNN, refit=False), X, y, test=OUTER)


def test_several_scores_need_a_name_that_chooses() -> None:
    X, y = flowers()
    search = GridSearchCV(*KNN, scoring=["accuracy", "f1_macro"])
    with pytest.raises(ho.HeldoutError, match="several scores needs refit= to name the one that chooses"):
        ho.evaluate(search, X, y, test=OUTER)
    search.set_params(refit="precision")
    with pytest.raises(ho.HeldoutError, match=r"refit='precision' is not among the scores \['accuracy', 'f1_macro'\]"):
        ho.evaluate(search, X, y, test=OUTER)


@pytest.mark.parametrize("test", [OUTER, ho.Holdout(0.2)], ids=["folds", "holdout"])
def test_index_pairs_as_cv_are_refused_under_an_outer_level(test: Any) -> None:
    X, y = flowers()
    pairs = list(KFold(3).split(X))
    for cv in (pairs, iter(pairs)):
        with pytest.raises(ho.HeldoutError, match=r"cannot split the training part of a level above"):
            ho.evaluate(GridSearchCV(*KNN, cv=cv), X, y, test=test)


def test_a_subclass_of_a_search_is_a_black_box() -> None:
    class Mine(GridSearchCV):
        pass

    X, y = flowers()
    search = Mine(*KNN, cv=3)
    result = ho.evaluate(search, X, y, test=OUTER, jobs=1, options=ho.Options(pool=False))
    with threadpool_limits(1):
        scores = cross_val_score(search, X, y, cv=OUTER)
    assert result.folds[result.risk.loss].tolist() == scores.tolist()
    assert len(result.choices) == 0


def test_the_predictor_of_a_search_is_its_best_estimator_on_all_rows() -> None:
    X, y = flowers()
    search = GridSearchCV(*KNN, cv=3)
    result = ho.evaluate(search, X, y, test=OUTER, jobs=1)
    with threadpool_limits(1):
        again = search.fit(X, y)
    assert result.predictor.get_params() == again.best_estimator_.get_params()
    assert (result.predictor.predict(X) == again.predict(X)).all()
