"""What steps are expected to take orders them, and changes nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.kernels.step import expected_work, longest_first
from heldout.planner.passes import make_plan

X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60.0)


def plan_of(question: Any, **rules: bool) -> Any:
    return make_plan(question.study, question.task, done=frozenset(), rules=rules)


def test_larger_trainings_come_first_and_neighbours_stay_together(asked: Any) -> None:
    learner = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation=ho.KFold(3))
    question = asked(learner, X, y, test=ho.Resample(3, held_out=0.5))
    steps = plan_of(question, ridge=False, within=False).steps
    ordered = longest_first(steps, question.task, question.study.splits, question.study.search)
    assert sorted(map(id, ordered)) == sorted(map(id, steps))
    assert [id(step) for step in ordered] == [id(step) for step in steps], "equal sizes keep the order of the plan"
    whole = asked(Ridge(), X, y, test=[(np.arange(10), np.arange(50, 60)), (np.arange(50), np.arange(50, 60))])
    steps = plan_of(whole, ridge=False).steps
    ordered = longest_first(steps, whole.task, whole.study.splits, whole.study.search)
    assert [step.trainings[0].trains[0].part for step in ordered] == [1, 0]


def test_large_ensembles_come_first(asked: Any) -> None:
    space = {"n_estimators": [5, 500, 50], "max_depth": [2]}
    learner = ho.Tuned(RandomForestRegressor(), space, validation=ho.Holdout(0.2))
    question = asked(learner, X, y, test=ho.Holdout(0.2))
    steps = plan_of(question, within=False).steps
    ordered = longest_first(steps, question.task, question.study.splits, question.study.search)
    assert [question.study.search.params_of(step.candidates[0])["n_estimators"] for step in ordered] == [500, 50, 5]


def test_a_kernel_counts_its_operations(asked: Any) -> None:
    question = asked(Ridge(), X, y)
    (step,) = plan_of(question).steps
    assert step.kernel == "ridge"
    assert expected_work(step, question.task, question.study.splits, question.study.search) > 0
