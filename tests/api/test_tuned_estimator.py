"""`Tuned` is a scikit-learn estimator: its checks, cloning, parameters, pickling, pipelines."""

from __future__ import annotations

import pickle
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import heldout as ho

pytestmark = pytest.mark.usefixtures("identical_rules")

CHECKED = {
    "classifier": (LogisticRegression(), {"C": [0.1, 1.0]}, None),
    "regressor": (Ridge(), {"alpha": [0.1, 1.0]}, None),
    "regressor by R²": (Ridge(), {"alpha": [0.1, 1.0]}, "r2"),
}


def statuses(estimator: Any) -> dict[str, set[str]]:
    """The outcome of each of scikit-learn's checks, by name; nothing is expected to fail."""
    found = defaultdict(set)
    with warnings.catch_warnings(), threadpool_limits(1):  # many tiny fits: more threads only wait for each other
        warnings.simplefilter("ignore")  # what the checks provoke
        for check in check_estimator(estimator, on_skip=None, on_fail=None):
            found[check["check_name"]].add(check["status"])
    return found


@pytest.mark.parametrize("kind", CHECKED)
def test_scikit_learns_checks_pass_where_grid_search_passes(kind: str) -> None:
    inner, space, loss = CHECKED[kind]
    ours = statuses(ho.Tuned(inner, space, validation=2, loss=loss, jobs=1))
    theirs = statuses(GridSearchCV(inner, space, cv=2))
    passed = {name for name, found in theirs.items() if found == {"passed"}}
    assert len(passed) > 40
    assert {name for name in passed if ours.get(name) != {"passed"}} == set()
    assert {name for name, found in ours.items() if "failed" in found or "xfail" in found} == set()
    # What is skipped is skipped for grid search too: array libraries that are not there.
    assert all(theirs[name] == {"skipped"} for name, found in ours.items() if "skipped" in found)


def test_the_tag_that_a_score_is_no_r2_is_honest() -> None:
    assert ho.Tuned(Ridge()).__sklearn_tags__().regressor_tags.poor_score
    assert not ho.Tuned(Ridge(), loss="r2").__sklearn_tags__().regressor_tags.poor_score


def flowers() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


def numbers() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:100], y[:100]


EVERY_ARGUMENT = {
    "estimator": Ridge(),
    "space": {"alpha": [1.0]},
    "validation": ho.KFold(3),
    "loss": "absolute",
    "choose": "one_se",
    "final": "ensemble",
    "simplest": {"alpha": "larger"},
    "random_state": 5,
    "jobs": 1,
    "options": ho.Options(memory="1GB"),
}


def test_get_params_gives_back_every_argument_as_it_was() -> None:
    tuned = ho.Tuned(**EVERY_ARGUMENT)
    shallow = tuned.get_params(deep=False)
    assert shallow.keys() == EVERY_ARGUMENT.keys()
    assert all(shallow[name] is value for name, value in EVERY_ARGUMENT.items())
    assert tuned.get_params()["estimator__alpha"] == 1.0


def test_nested_parameters_can_be_set() -> None:
    tuned = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0]})
    tuned.set_params(estimator__ridge__fit_intercept=False, validation=3, space={"ridge__alpha": [2.0, 3.0]})
    X, y = numbers()
    tuned.fit(X, y)
    assert tuned.n_splits_ == 3
    assert tuned.best_params_["ridge__alpha"] in (2.0, 3.0)
    assert tuned.best_estimator_["ridge"].fit_intercept is False
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        tuned.set_params(nonsense=1)


def test_set_params_reaches_the_fits() -> None:
    X, y = numbers()
    tuned = ho.Tuned(Ridge(), {"fit_intercept": [True]}, jobs=1).set_params(estimator__alpha=123.0).fit(X, y)
    assert tuned.best_estimator_.alpha == 123.0


@pytest.mark.parametrize(
    "tuned",
    [
        ho.Tuned(**EVERY_ARGUMENT),
        ho.Tuned({"ridge": (Ridge(), {"alpha": [1.0, 2.0]}), "plain": Ridge()}),
        ho.Tuned(Ridge(), ho.Sample(3, {"alpha": loguniform(1e-3, 1e3)})),
        ho.Tuned(Ridge(), [{"alpha": [1.0]}, {"fit_intercept": [False]}], validation=KFold(3)),
    ],
    ids=["all", "families", "sample", "list"],
)
def test_a_clone_is_unfitted_and_fits_alike(tuned: Any) -> None:
    X, y = numbers()
    fitted = clone(tuned).fit(X, y)
    copy = clone(fitted)
    assert not hasattr(copy, "best_estimator_")
    with pytest.raises(NotFittedError):
        copy.predict(X)
    assert (copy.fit(X, y).predict(X) == fitted.predict(X)).all()
    assert copy.best_params_ == fitted.best_params_


def test_fitting_changes_no_argument() -> None:
    X, y = flowers()
    inner = DecisionTreeClassifier()  # its seed is unset: fits get one, the user's own does not
    tuned = ho.Tuned(inner, {"max_depth": [1, 2]}, jobs=1).fit(X, y)
    assert inner.random_state is None
    assert inner.max_depth is None
    assert not hasattr(inner, "tree_")
    assert isinstance(tuned.best_estimator_.random_state, int)


@pytest.mark.parametrize("final", ["retrain", "ensemble"])
def test_a_fitted_one_can_be_pickled(final: str) -> None:
    X, y = flowers()
    tuned = ho.Tuned(LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}, validation=2, final=final, loss="log").fit(
        X, y
    )
    back = pickle.loads(pickle.dumps(tuned))
    assert (back.predict_proba(X) == tuned.predict_proba(X)).all()
    assert back.best_params_ == tuned.best_params_
    assert back.score(X, y) == tuned.score(X, y)
    assert str(back.plan_) == str(tuned.plan_)


def test_it_leaves_what_a_search_leaves() -> None:
    X, y = flowers()
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, validation=3, loss="accuracy", jobs=1).fit(
        X, y
    )
    grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, cv=tuned_pairs(tuned), scoring="accuracy")
    grid.fit(X, y)
    assert tuned.best_index_ == grid.best_index_
    assert tuned.best_params_ == grid.best_params_
    assert tuned.best_score_ == grid.best_score_
    assert tuned.n_splits_ == grid.n_splits_
    assert tuned.multimetric_ == grid.multimetric_
    assert set(tuned.cv_results_) == set(grid.cv_results_)
    for name, values in grid.cv_results_.items():
        if "time" not in name:
            assert list(tuned.cv_results_[name]) == list(values), name
    assert (tuned.classes_ == grid.classes_).all()
    assert tuned.n_features_in_ == grid.n_features_in_
    assert tuned.score(X, y) == grid.score(X, y)


def tuned_pairs(tuned: Any) -> list[tuple[Any, Any]]:
    return [(tuned.splits_.train_rows(p), tuned.splits_.held_rows(p)) for p in range(len(tuned.splits_))]


def test_several_losses_have_columns_of_their_own_as_scikit_learns_have() -> None:
    X, y = flowers()
    losses = ["accuracy", "neg_log_loss"]
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [5, 15]}, validation=2, loss=losses, jobs=1).fit(X, y)
    grid = GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [5, 15]}, cv=tuned_pairs(tuned), scoring=losses, refit="accuracy"
    ).fit(X, y)
    assert tuned.multimetric_
    for name, values in grid.cv_results_.items():
        if "time" not in name:
            assert list(tuned.cv_results_[name]) == list(values), name


def test_what_it_is_is_what_the_estimator_is() -> None:
    assert is_classifier(ho.Tuned(LogisticRegression()))
    assert is_regressor(ho.Tuned(Ridge()))
    assert is_regressor(ho.Tuned({"a": (Ridge(), None), "b": Ridge()}))
    assert ho.Tuned(Ridge()).__sklearn_tags__().input_tags.sparse


def test_methods_are_there_when_the_estimator_has_them() -> None:
    X, y = flowers()
    svc = ho.Tuned(LinearSVC(random_state=0), {"C": [0.1]}, validation=2)
    for one in (svc, clone(svc).fit(X, y)):
        assert hasattr(one, "decision_function")
        assert not hasattr(one, "predict_proba")
        assert not hasattr(one, "transform")
    tree = ho.Tuned(DecisionTreeClassifier(random_state=0), {"max_depth": [1]}, validation=2)
    for one in (tree, clone(tree).fit(X, y)):
        assert hasattr(one, "predict_proba")
        assert hasattr(one, "predict_log_proba")
        assert not hasattr(one, "decision_function")
    with pytest.raises(AttributeError, match="transform"):
        tree.transform(X)
    fitted = clone(svc).fit(X, y)
    assert (fitted.decision_function(X) == fitted.best_estimator_.decision_function(X)).all()


def test_transform_of_a_tuned_pipeline_that_ends_in_a_transformer_with_predict() -> None:
    from sklearn.cross_decomposition import PLSRegression

    X, y = numbers()
    tuned = ho.Tuned(PLSRegression(), {"n_components": [1, 2]}, validation=2).fit(X, y)
    assert (tuned.transform(X) == tuned.best_estimator_.transform(X)).all()
    assert tuned.predict(X).shape == (100,)


def test_before_fitting_it_says_so() -> None:
    tuned = ho.Tuned(LogisticRegression(), {"C": [1.0]})
    X, y = flowers()
    for ask in (tuned.predict, tuned.predict_proba, tuned.decision_function):
        with pytest.raises(NotFittedError):
            ask(X)
    with pytest.raises(NotFittedError):
        tuned.score(X, y)
    assert not hasattr(tuned, "n_features_in_")
    assert not hasattr(tuned, "classes_")


def test_inside_a_pipeline() -> None:
    X, y = flowers()
    pipe = Pipeline([("scale", StandardScaler()), ("tuned", ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 9]}))])
    pipe.fit(X, y)
    assert pipe["tuned"].best_params_["n_neighbors"] in (1, 9)
    assert pipe.predict(X).shape == (150,)
    assert pipe.predict_proba(X).shape == (150, 3)
    result = ho.evaluate(pipe, X, y, test=ho.KFold(3), jobs=1)
    assert 0 <= result.risk.value < 0.2


def test_inside_scikit_learns_own_loops() -> None:
    X, y = flowers()
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, validation=2, jobs=1)
    assert cross_val_score(tuned, X, y, cv=3, scoring="accuracy").min() > 0.8
    assert cross_val_predict(tuned, X, y, cv=3, method="predict_proba").shape == (150, 3)
    assert cross_validate(tuned, X, y, cv=3, n_jobs=2)["test_score"].max() <= 0
    grid = GridSearchCV(tuned, {"estimator__weights": ["uniform", "distance"]}, cv=2).fit(X, y)
    assert grid.best_params_["estimator__weights"] in ("uniform", "distance")


def test_a_tuned_inside_a_tuned() -> None:
    X, y = flowers()
    inner = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, validation=2)
    outer = ho.Tuned(inner, {"estimator__weights": ["uniform", "distance"]}, validation=2, jobs=1).fit(X, y)
    assert outer.best_estimator_.best_params_["n_neighbors"] in (1, 9)
    assert outer.predict(X).shape == (150,)


def test_estimators_among_the_values_are_cloned() -> None:
    X, y = flowers()
    steps = [PCA(2), StandardScaler()]
    tuned = ho.Tuned(Pipeline([("first", PCA()), ("knn", KNeighborsClassifier())]), {"first": [*steps, "passthrough"]})
    tuned.fit(X, y)
    assert not any(hasattr(step, "n_features_in_") for step in steps)
    assert len(tuned.cv_results_["params"]) == 3


def test_y_of_texts_and_of_several_outputs() -> None:
    X, y = flowers()
    names = np.array(["a", "b", "c"], dtype=object)[y]
    tuned = ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, jobs=1).fit(X, names)
    assert set(tuned.predict(X)) == {"a", "b", "c"}
    X, y = numbers()
    two = np.column_stack([y, -y])
    assert ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, jobs=1).fit(X, two).predict(X).shape == (100, 2)


def test_the_html_repr_is_made() -> None:
    assert "Tuned" in ho.Tuned(Ridge(), {"alpha": [1.0]})._repr_html_()
    assert "Tuned" in repr(ho.Tuned({"a": Ridge()}, validation=ho.KFold(3)))
