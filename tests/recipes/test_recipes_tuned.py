"""Every recipe that tunes: heldout's numbers are those of a plain loop on the same rows, with no difference at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import plain_loop
import pytest
from drawn_rows import inner_of, inner_parts, outer_parts, task_of
from problems import PROBLEMS, Problem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

pytestmark = pytest.mark.usefixtures("identical_rules")

every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=str)


def evaluate(problem: Problem, *, validation: Any, test: Any, **options: Any) -> ho.Result:
    learner = ho.Tuned(problem.estimator, problem.space, validation=validation, random_state=0)
    return ho.evaluate(learner, problem.X, problem.y, test=test, jobs=1, **options)


def assert_same(result: ho.Result, expected: plain_loop.Answer, loss: str) -> None:
    """Losses, held-out rows, predictions, choices, their validation losses and the risk: equal, bit for bit."""
    assert result.folds[loss].tolist() == expected.losses
    assert result.risk.value == expected.risk
    assert result.choices["candidate"].tolist() == expected.choices
    assert result.choices[f"validation_{loss}"].tolist() == expected.validation
    best = result.estimates["best_validation"]
    assert best.optimistic
    if len(expected.validation) == 1:  # the choice was made on all rows that the tested predictor may train on
        assert best.value == expected.validation[0]
    for fold, (rows, predicted) in enumerate(zip(expected.rows, expected.predictions, strict=True)):
        table = result.predictions[result.predictions["fold"] == fold]
        assert table["row"].tolist() == rows.tolist()
        assert table["predict"].to_numpy().tolist() == predicted.tolist()


def assert_recipe(problem: Problem, *, validation: Any, test: Any) -> ho.Result:
    task = task_of(problem.X, problem.y, problem.classification)
    outer = outer_parts(task, test)
    inner = inner_of(task, validation, outer)
    expected = plain_loop.nested(problem.candidates, problem.X, problem.y, outer, inner, problem.loss)
    result = evaluate(problem, validation=validation, test=test)
    assert_same(result, expected, problem.loss_name)
    if len(outer) > 1:
        parts = inner_parts(task, validation, task.all_rows)
        errors = plain_loop.validate(problem.candidates, problem.X, problem.y, parts, problem.loss)
        assert result.predictor is not None
        assert result.estimates["best_validation"].value == min(errors)  # min over Θ of the CV estimate on all of S
        assert result.estimates["best_validation"].train_size == np.mean([len(train) for train, _ in parts])
    return result


@every_problem
@pytest.mark.parametrize(
    ("dev", "held", "sizes"), [(0.25, 0.2, (42, 15, 15)), (1 / 9, 0.1, (56, 8, 8))], ids=["60-20-20", "80-10-10"]
)
def test_train_validation_test(problem: Problem, dev: float, held: float, sizes: tuple[int, int, int]) -> None:
    """Recipe 1 of text 004: choose on V, re-train on Tr + V, test on Te."""
    validation, test = ho.Holdout(dev), ho.Holdout(held)
    task = task_of(problem.X, problem.y, problem.classification)
    (train, tested) = outer_parts(task, test)[0]
    (fitted, developed) = inner_parts(task, validation, train)[0]
    assert (len(fitted), len(developed), len(tested)) == sizes
    assert sorted([*fitted, *developed, *tested]) == list(range(72))
    result = assert_recipe(problem, validation=validation, test=test)
    assert result.risk.train_size == len(train)  # re-trained on Tr + V


@every_problem
def test_three_chunks(problem: Problem) -> None:
    """Texts 000 and 002: given chunks; the dev set chooses, train and dev train, the test set tests."""
    order = np.random.default_rng(1).permutation(72)
    train, dev, test = np.sort(order[:40]), np.sort(order[40:56]), np.sort(order[56:])
    both = np.sort(order[:56])
    expected = plain_loop.nested(
        problem.candidates, problem.X, problem.y, [(both, test)], lambda _: [(train, dev)], problem.loss
    )
    result = evaluate(problem, validation=ho.Given(dev), test=ho.Given(test))
    assert_same(result, expected, problem.loss_name)


def test_three_chunks_may_be_masks() -> None:
    problem = PROBLEMS[0]
    dev, test = np.arange(72) % 4 == 1, np.arange(72) % 4 == 3
    by_mask = evaluate(problem, validation=ho.Given(dev), test=ho.Given(test))
    by_number = evaluate(problem, validation=ho.Given(np.flatnonzero(dev)), test=ho.Given(np.flatnonzero(test)))
    assert by_mask.folds.equals(by_number.folds)
    assert by_mask.choices.equals(by_number.choices)


FAMILIES = {
    "regression": {
        "ridge": (Ridge(), {"alpha": [0.1, 200.0]}),
        "knn": (KNeighborsRegressor(), {"n_neighbors": [3, 15]}),
        "ols": LinearRegression(),
    },
    "multiclass": {
        "logistic": (LogisticRegression(), {"C": [0.001, 10.0]}),
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 15]}),
        "tree": DecisionTreeClassifier(random_state=0, max_depth=2),
    },
}
RECIPES = {
    "holdout-holdout": (ho.Holdout(0.25), ho.Holdout(0.2)),
    "kfold-holdout": (ho.KFold(3), ho.Holdout(0.2)),
    "kfold-kfold": (ho.KFold(3), ho.KFold(3)),
    "resample-resample": (ho.Resample(3), ho.Resample(3)),
}


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("recipe", RECIPES)
def test_several_families(kind: str, recipe: str) -> None:
    """Model selection: the candidates are those of all families, in order, under any recipe."""
    problem = next(p for p in PROBLEMS if p.name.startswith(kind))
    families = FAMILIES[kind]
    validation, test = RECIPES[recipe]
    pairs = [value if isinstance(value, tuple) else (value, {}) for value in families.values()]
    candidates = [(estimator, params) for estimator, space in pairs for params in ParameterGrid(space)]
    task = task_of(problem.X, problem.y, problem.classification)
    outer = outer_parts(task, test)
    inner = inner_of(task, validation, outer)
    expected = plain_loop.nested(candidates, problem.X, problem.y, outer, inner, problem.loss)
    learner = ho.Tuned(families, validation=validation)
    result = ho.evaluate(learner, problem.X, problem.y, test=test, jobs=1)
    assert_same(result, expected, problem.loss_name)
    names = [name for name, (_, space) in zip(families, pairs, strict=True) for _ in ParameterGrid(space)]
    assert result.choices["family"].tolist() == [names[choice] for choice in expected.choices]


@every_problem
def test_cross_validation_and_a_test_set(problem: Problem) -> None:
    """Recipe 2 of text 004."""
    assert_recipe(problem, validation=ho.KFold(3), test=ho.Holdout(0.2))


@every_problem
def test_random_resampling_and_a_test_set(problem: Problem) -> None:
    """Recipe 3 of text 004."""
    assert_recipe(problem, validation=ho.Resample(3, held_out=0.25), test=ho.Holdout(0.2))


@every_problem
def test_cross_validation_inside_cross_validation(problem: Problem) -> None:
    """Algorithm 1 of text 002, recipe 4 of text 004."""
    assert_recipe(problem, validation=ho.KFold(2), test=ho.KFold(3))


def test_contiguous_nested_cross_validation_is_the_textbooks() -> None:
    """With contiguous folds nothing is drawn: the rows are written down here, not asked of heldout."""
    problem = PROBLEMS[0]

    def blocks(rows: Any, k: int) -> list[tuple[Any, Any]]:
        return [(np.setdiff1d(rows, held), held) for held in np.array_split(rows, k)]

    outer = blocks(np.arange(72), 4)
    expected = plain_loop.nested(
        problem.candidates, problem.X, problem.y, outer, lambda i: blocks(outer[i][0], 3), problem.loss
    )
    plain = {"shuffle": False, "stratify": False}
    result = evaluate(problem, validation=ho.KFold(3, **plain), test=ho.KFold(4, **plain))
    assert_same(result, expected, "squared")


@every_problem
def test_nested_random_resampling(problem: Problem) -> None:
    """The last line of recipe 4 of text 004."""
    assert_recipe(problem, validation=ho.Resample(2, held_out=0.3), test=ho.Resample(3, held_out=0.2))


@every_problem
def test_cheap_nested_cross_validation(problem: Problem) -> None:
    """Text 002: an inner dev set of m/K rows, so that (1 − 2/K)·m rows train the candidates."""
    folds = 3
    validation, test = ho.Holdout(rows=72 // folds), ho.KFold(folds)
    task = task_of(problem.X, problem.y, problem.classification)
    for train, held in outer_parts(task, test):
        ((fitted, developed),) = inner_parts(task, validation, train)
        assert len(held) == len(developed) == len(fitted) == 24
    assert_recipe(problem, validation=validation, test=test)


@every_problem
def test_shared_blocks(problem: Problem) -> None:
    """Inside outer fold i each other outer block is held out in turn; half the validation fits serve two folds."""
    task = task_of(problem.X, problem.y, problem.classification)
    outer = outer_parts(task, ho.KFold(3))

    def others(i: int) -> list[tuple[Any, Any]]:
        train = outer[i][0]
        return [(np.setdiff1d(train, held), held) for j, (_, held) in enumerate(outer) if j != i]

    expected = plain_loop.nested(problem.candidates, problem.X, problem.y, outer, others, problem.loss)
    result = evaluate(problem, validation=ho.SharedBlocks(), test=ho.KFold(3))
    assert_same(result, expected, problem.loss_name)
    assert result.plan.fits_before == 3 * 2 * 3 + 3
    assert result.plan.fits == 3 * 2 * 3 // 2 + 3


def test_shared_blocks_choose_the_final_candidate_on_the_outer_blocks() -> None:
    problem = PROBLEMS[4]
    result = evaluate(problem, validation=ho.SharedBlocks(), test=ho.KFold(4))
    task = task_of(problem.X, problem.y, problem.classification)
    errors = plain_loop.validate(problem.candidates, problem.X, problem.y, outer_parts(task, ho.KFold(4)), problem.loss)
    chosen = problem.candidates[plain_loop.argmin(errors)][1]
    assert result.predictor.get_params()["C"] == chosen["C"]


@every_problem
def test_flat_tuning(problem: Problem) -> None:
    """The best cross-validation estimate over Θ: what choosing saw, and marked optimistic."""
    task = task_of(problem.X, problem.y, problem.classification)
    parts = inner_parts(task, ho.KFold(3), task.all_rows)
    errors = plain_loop.validate(problem.candidates, problem.X, problem.y, parts, problem.loss)
    best = plain_loop.argmin(errors)
    learner = ho.Tuned(problem.estimator, problem.space, validation=ho.KFold(3), jobs=1).fit(problem.X, problem.y)
    assert learner.best_index_ == best
    assert learner.best_params_ == problem.candidates[best][1]
    assert learner.best_score_ == -errors[best]
    assert (-learner.cv_results_["mean_test_score"]).tolist() == errors
    estimate = learner.estimates_["best_validation"]
    assert estimate.value == errors[best]
    assert estimate.optimistic
    assert estimate.low is None
    assert "optimistic" in estimate.estimand
    with plain_loop.threadpool_limits(1):
        retrained = plain_loop.fit(problem.candidates[best], problem.X, problem.y, np.arange(72))
        assert learner.predict(problem.X).tolist() == retrained.predict(problem.X).tolist()


@every_problem
@pytest.mark.parametrize(
    "validation", [ho.Holdout(0.25), ho.KFold(3), ho.Resample(2)], ids=["holdout", "kfold", "resample"]
)
def test_a_benchmarks_own_test_set(problem: Problem, validation: Any) -> None:
    """Text 004, trade-offs: the given test set is kept, and recipes 1 to 3 split the rest."""
    assert_recipe(problem, validation=validation, test=ho.Given(np.arange(50, 72)))
