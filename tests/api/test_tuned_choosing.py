"""How `Tuned` chooses: best, one standard error, a function of one's own; spaces, families and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, max_error
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import NuSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho


def numbers(n: int = 100) -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:n], y[:n]


def flowers() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


def within_one_se(tuned: Any) -> Any:
    """By hand from cv_results_: which candidates are within one standard error of the best."""
    results = tuned.cv_results_
    folds = -np.stack([results[f"split{k}_test_score"] for k in range(tuned.n_splits_)], axis=1)
    means = folds.mean(axis=1)
    best = int(np.argmin(means))
    error = folds[best].std(ddof=1) / np.sqrt(folds.shape[1])
    return np.flatnonzero(means <= means[best] + error), best


@pytest.mark.parametrize(
    ("estimator", "name", "values", "simplest"),
    [
        (Ridge(), "alpha", [0.001, 0.01, 0.1, 0.5], max),
        (KNeighborsRegressor(), "n_neighbors", [25, 5, 9, 15], max),
        (DecisionTreeRegressor(random_state=0), "max_depth", [4, 3, 2, 1, None], min),
        (make_pipeline(StandardScaler(), Ridge()), "ridge__alpha", [1.0, 10.0, 30.0, 100.0], max),
    ],
    ids=["ridge", "knn", "tree", "pipeline"],
)
def test_one_se_takes_the_simplest_of_a_known_learner(
    estimator: Any, name: str, values: list[Any], simplest: Any
) -> None:
    X, y = numbers()
    tuned = ho.Tuned(estimator, {name: values}, validation=ho.KFold(5), choose="one_se", jobs=1).fit(X, y)
    near, best = within_one_se(tuned)
    assert len(near) > 1
    expected = simplest((values[c] for c in near), key=lambda v: np.inf if v is None else v)
    assert tuned.best_params_[name] == expected
    assert tuned.best_params_[name] != values[best]  # the rule made a difference here


def test_one_se_asks_what_is_simple_where_it_does_not_know() -> None:
    X, y = numbers()
    tuned = ho.Tuned(NuSVR(), {"nu": [0.2, 0.5]}, choose="one_se")
    with pytest.raises(
        ho.HeldoutError, match=r"does not know whether a smaller or a larger 'nu' is simpler.*simplest="
    ):
        tuned.fit(X, y)
    tuned.set_params(simplest={"nu": "smaller"}, estimator__C=1e-9).fit(X, y)
    assert tuned.best_params_ == {"nu": 0.2}
    tuned.set_params(simplest=lambda params: -params["nu"]).fit(X, y)
    assert tuned.best_params_ == {"nu": 0.5}


def test_one_se_between_families_needs_a_function() -> None:
    X, y = numbers()
    tuned = ho.Tuned({"ridge": (Ridge(), {"alpha": [1.0]}), "knn": KNeighborsRegressor()}, choose="one_se")
    with pytest.raises(ho.HeldoutError, match=r"does not know which family is simplest"):
        tuned.fit(X, y)


class Counter(Ridge):  # type: ignore[misc]
    """Counts its fits."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Counter.fits += 1
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "change",
    [
        {"space": {"alpha": [1.0, 2.0]}},
        {"simplest": "alpha"},
        {"simplest": {"alpha": "bigger"}},
        {"estimator": Counter(), "simplest": {"alpha": "larger"}, "validation": ho.Holdout(0.2)},
    ],
    ids=["unknown class", "a word", "an unknown word", "one part"],
)
def test_one_se_is_refused_before_the_first_fit(change: dict[str, Any]) -> None:
    X, y = numbers()
    Counter.fits = 0
    tuned = ho.Tuned(Counter(), {"alpha": [1.0, 2.0]}, choose="one_se", jobs=1).set_params(**change)
    with pytest.raises(ho.HeldoutError, match=r"one_se|simplest="):
        tuned.fit(X, y)
    with pytest.raises(ho.HeldoutError, match=r"one_se|simplest="):
        ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1)
    assert Counter.fits == 0


def test_a_function_of_ones_own_chooses() -> None:
    X, y = numbers()
    seen = []

    def second_best(results: Any) -> int:
        seen.append(results)
        return int(np.argsort(results["rank_test_score"], kind="stable")[1])

    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, choose=second_best, jobs=1).fit(X, y)
    assert tuned.cv_results_["rank_test_score"][tuned.best_index_] == 2
    assert seen[0]["params"] == [{"alpha": 0.1}, {"alpha": 1.0}, {"alpha": 10.0}]
    result = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1)
    for fold in range(3):
        losses = result.candidates[result.candidates["fold"] == fold]["validation_squared"].to_numpy()
        assert result.choices["candidate"][fold] == np.argsort(losses)[1]


@pytest.mark.parametrize(
    ("answer", "message"),
    [(7, "returned candidate 7, but there are 2"), (-1, "returned candidate -1"), ("best", "must return the number")],
)
def test_a_function_that_names_no_candidate_is_told_so(answer: Any, message: str) -> None:
    X, y = numbers()
    with pytest.raises(ho.HeldoutError, match=message):
        ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, choose=lambda results: answer, jobs=1).fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"choose": "worst"}, r'choose= is "best", "one_se" or a function, not \'worst\''),
        ({"final": "refit"}, r'final= is "retrain", "ensemble" or "keep", not \'refit\''),
        ({"random_state": "today"}, r"random_state= is a whole number, a RandomState or None, not 'today'"),
        ({"space": {"alhpa": [1.0]}}, r"Ridge has no parameter 'alhpa'. Did you mean 'alpha'\?"),
        ({"space": {"alpha": 1.0}}, r"'alpha' needs a list of values, not 1.0. For one value write \[1.0\]"),
        ({"space": {"alpha": "abc"}}, r"'alpha' needs a list of values, not 'abc'"),
        ({"space": {"alpha": []}}, r"'alpha' has no values"),
        ({"space": {"alpha": uniform(0, 1)}}, r"'alpha' is a distribution; wrap the space in Sample\(n, …\)"),
        ({"space": "alpha"}, r"A space is a dict from parameter names to lists of values"),
        ({"space": {3: [1]}}, r"Parameter names are strings, not 3"),
        ({"estimator": {}, "space": None}, r"at least one family"),
        ({"estimator": {"a": Ridge()}}, r"each brings its own space"),
        ({"estimator": {"a": "ridge"}, "space": None}, r"Family 'a' is an estimator, or a pair"),
        (
            {"estimator": {"a": Ridge(), "b": LogisticRegression()}, "space": None},
            r"all be classifiers or all be regressors",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], message: str) -> None:
    X, y = numbers()
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}).set_params(**change)
    with pytest.raises(ho.HeldoutError, match=message):
        tuned.fit(X, y)
    with pytest.raises(ho.HeldoutError, match=message):
        ho.evaluate(tuned, X, y, test=ho.KFold(3))


def test_a_grid_of_ten_to_the_eighteenth_is_counted_and_not_built() -> None:
    """Bad input 9."""
    X, y = numbers()
    values = list(range(1, 1001))
    space = dict.fromkeys(("alpha", "max_iter", "tol", "solver", "positive", "copy_X"), values)
    for call in (
        lambda: ho.Tuned(Ridge(), space).fit(X, y),
        lambda: ho.evaluate(ho.Tuned(Ridge(), space), X, y),
        lambda: ho.explain(ho.Tuned(Ridge(), space), X, y),
    ):
        with pytest.raises(ho.HeldoutError, match=r"1,000,000,000,000,000,000 candidates.*Sample\(n, …\)"):
            call()


def test_a_sample_is_drawn_by_the_seed_of_its_tuned() -> None:
    X, y = numbers()
    space = ho.Sample(6, {"alpha": loguniform(1e-3, 1e3), "fit_intercept": [True, False]})
    drawn = [
        [dict(p) for p in ho.Tuned(Ridge(), space, random_state=s, jobs=1).fit(X, y).cv_results_["params"]]
        for s in (0, 0, 1)
    ]
    assert len(drawn[0]) == 6
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(1e-3 <= p["alpha"] <= 1e3 for p in drawn[0])


def test_a_sample_as_large_as_its_grid_is_the_grid() -> None:
    X, y = numbers()
    tuned = ho.Tuned(Ridge(), ho.Sample(10, {"alpha": [1.0, 2.0, 3.0]}), jobs=1).fit(X, y)
    assert [p["alpha"] for p in tuned.cv_results_["params"]] == [1.0, 2.0, 3.0]


def test_no_space_is_one_candidate() -> None:
    X, y = numbers()
    tuned = ho.Tuned(Ridge(), jobs=1).fit(X, y)
    assert tuned.best_params_ == {}
    assert len(tuned.cv_results_["params"]) == 1


def test_ties_go_to_the_first() -> None:
    X, y = flowers()
    tuned = ho.Tuned(DecisionTreeClassifier(random_state=0), {"min_samples_split": [4, 3, 2], "max_depth": [1]}, jobs=1)
    result = ho.evaluate(tuned, X, y, test=ho.KFold(3), jobs=1)
    assert result.choices["candidate"].tolist() == [0, 0, 0]
    assert result.choices["tied"].tolist() == [3, 3, 3]


def test_families_are_named_in_what_is_left() -> None:
    X, y = flowers()
    families = {
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
        "lr": (LogisticRegression(tol=0.1), {"C": [1e-6]}),
    }
    tuned = ho.Tuned(families, validation=3, jobs=1).fit(X, y)
    assert tuned.best_family_ == "knn"
    assert isinstance(tuned.best_estimator_, KNeighborsClassifier)
    assert tuned.cv_results_["family"].tolist() == ["knn", "knn", "lr"]
    assert tuned.cv_results_["param_C"].mask.tolist() == [True, True, False]


def test_weights_enter_fits_and_losses() -> None:
    X, y = numbers()
    weight = np.random.default_rng(1).uniform(0.1, 5.0, len(y))
    tuned = ho.Tuned(Ridge(), {"alpha": [0.01, 1.0]}, validation=ho.KFold(3), jobs=1)
    tuned.fit(X, y, sample_weight=weight)
    for number, params in enumerate(tuned.cv_results_["params"]):
        for part in range(3):
            train, held = tuned.splits_.train_rows(part), tuned.splits_.held_rows(part)
            model = Ridge(**params).fit(X[train], y[train], sample_weight=weight[train])
            loss = np.average((y[held] - model.predict(X[held])) ** 2, weights=weight[held])
            assert -tuned.cv_results_[f"split{part}_test_score"][number] == pytest.approx(loss, rel=1e-12)
    final = Ridge(**tuned.best_params_).fit(X, y, sample_weight=weight)
    assert tuned.predict(X) == pytest.approx(final.predict(X), rel=1e-12)
    assert (ho.Tuned(Ridge(), {"alpha": [0.01]}, jobs=1).fit(X, y).predict(X) != tuned.predict(X)).any()


def test_weights_go_to_the_last_step_of_a_pipeline() -> None:
    X, y = numbers()
    weight = np.random.default_rng(1).uniform(0.1, 5.0, len(y))
    tuned = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0]}, jobs=1)
    tuned.fit(X, y, sample_weight=weight)
    final = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(X, y, ridge__sample_weight=weight)
    assert tuned.predict(X) == pytest.approx(final.predict(X), rel=1e-12)


def test_weights_are_refused_by_a_learner_that_knows_none() -> None:
    X, y = numbers()
    weight = np.ones(len(y))
    message = r"KNeighborsRegressor.fit takes no sample_weight, but the task has weights"
    for learner in (
        ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1]}),
        ho.Tuned(make_pipeline(StandardScaler(), KNeighborsRegressor())),
        ho.Tuned({"ridge": Ridge(), "knn": KNeighborsRegressor()}),
    ):
        with pytest.raises(ho.HeldoutError, match=message):
            learner.fit(X, y, sample_weight=weight)
        with pytest.raises(ho.HeldoutError, match=message):
            ho.evaluate(learner, X, y, sample_weight=weight)
    with pytest.raises(ho.HeldoutError, match=message):
        ho.evaluate(KNeighborsRegressor(), X, y, sample_weight=weight)


def test_weights_are_refused_by_a_loss_that_knows_none() -> None:
    X, y = numbers()
    loss = make_scorer(max_error, greater_is_better=False)
    with pytest.raises(ho.HeldoutError, match=r"'neg_max_error' takes no sample_weight, but the rows have weights"):
        ho.Tuned(Ridge(), {"alpha": [1.0]}, loss=loss).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ho.HeldoutError, match=r"'neg_max_error' takes no sample_weight"):
        ho.evaluate(Ridge(), X, y, loss=loss, sample_weight=np.ones(len(y)))


def test_other_fit_parameters_are_cut_to_the_rows_or_passed_whole() -> None:
    X, y = numbers()
    seen: list[tuple[int, int, str]] = []

    class Nosy(Ridge):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, mark: Any = None, word: Any = None) -> Any:
            seen.append((len(X), len(mark), word))
            assert (np.asarray(mark) == np.round(y)).all()
            return super().fit(X, y)

    ho.Tuned(Nosy(), {"alpha": [1.0]}, validation=2, jobs=1).fit(X, y, mark=np.round(y).tolist(), word="whole")
    assert seen == [(50, 50, "whole"), (50, 50, "whole"), (100, 100, "whole")]
