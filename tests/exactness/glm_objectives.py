"""Every fit of the kernel `glm` in a study: objectives beside scikit-learn's, linear predictors beside sharp ones.

Objectives are taken by formulas of this file's own, on scikit-learn's own scaled columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight
from threadpoolctl import threadpool_limits

import heldout as ho
from heldout.api.evaluate import ask
from heldout.engine.run import _work_of
from heldout.kernels.claims import candidates_of
from heldout.kernels.glm import KERNEL
from heldout.kernels.glm.answer import _chunks, _solve_chunk, make_group
from heldout.kernels.glm.recognise import read_candidates
from heldout.planner.passes import make_plan

SHARP_OPTIONS = ho.Options(precision="solver")


def worst_fit(learner: Any, X: Any, y: Any, more: dict[str, Any]) -> tuple[float, float]:
    """How far a fit's objective lies above scikit-learn's, and its linear predictors from sharp ones: the largest."""
    roles = {name: more.get(name) for name in ("groups", "time", "sample_weight", "strata")}
    question = {"test": more["test"], "loss": None, "level": 0.95, "seed": 0, "options": SHARP_OPTIONS}
    asked = ask(learner, X, y, roles=roles, **question)
    plan = make_plan(asked.study, asked.task, done=frozenset(), rules=None, precision="solver")
    work = _work_of(asked.study, asked.task, {})
    made = dict(candidates_of(work.search))
    above = apart = 0.0
    with threadpool_limits(1):
        for step in plan.steps:
            if step.kernel != KERNEL.name:
                continue
            for form, members in read_candidates(work.search, work.task, step.candidates).items():
                group = make_group(form, members, work)
                for chunk in _chunks(group, list(step.trainings)):
                    for solved in _solve_chunk((group, chunk)):
                        for candidate, place in zip(group.candidates, group.places, strict=True):
                            if solved.good[place]:
                                coef = solved.coef[place]
                                one = _apart(work, group, made[candidate], solved.training, coef)
                                above, apart = max(above, one[0]), max(apart, one[1])
    return above, apart


def _apart(work: Any, group: Any, estimator: Any, training: Any, coef: Any) -> tuple[float, float]:
    task, design = work.task, group.design
    rows, held = work.train_rows(training.trains[0]), work.held_rows(training.answers[0])
    usual = _fitted(clone(estimator), task, rows)
    sharp = _fitted(KERNEL.sharpened(estimator), task, rows)
    eta = group.family.contrasts() @ coef if group.family.classes > 2 else coef
    own = (eta @ design.Z[rows].T).T
    excess = _objective(usual, task, rows, own, _squares(usual, group, eta)) - _own_objective(usual, task, rows)
    scale = abs(_own_objective(usual, task, rows))
    ours, theirs = (eta @ design.Z[held].T).T, _linear(sharp, task.take(held))
    apart = float(np.abs(ours - theirs.reshape(ours.shape)).max() / np.abs(theirs).max())
    return excess / scale, apart


def _fitted(estimator: Any, task: Any, rows: Any) -> Any:
    name = f"{estimator.steps[-1][0]}__sample_weight" if isinstance(estimator, Pipeline) else "sample_weight"
    weights = {} if task.weight is None else {name: task.weight[rows]}
    return estimator.fit(task.take(rows), task.y[rows], **weights)


def _model(fitted: Any) -> Any:
    return fitted.steps[-1][1] if isinstance(fitted, Pipeline) else fitted


def _linear(fitted: Any, X: Any) -> Any:
    """Linear predictors: a row each, and a column a class where there are several."""
    model = _model(fitted)
    Z = fitted[:-1].transform(X) if isinstance(fitted, Pipeline) else X
    return np.asarray(Z, dtype=float) @ np.atleast_2d(model.coef_).T + model.intercept_


def _squares(fitted: Any, group: Any, eta: Any) -> float:
    """The squared length of coefficients on scikit-learn's own scaled columns."""
    scale = np.ones(group.design.width - 1)
    if isinstance(fitted, Pipeline) and isinstance(fitted[0], StandardScaler) and fitted[0].scale_ is not None:
        scale = fitted[0].scale_
    elif isinstance(fitted, Pipeline) and isinstance(fitted[0], ColumnTransformer):
        scale = np.concatenate(
            [
                getattr(part, "scale_", np.ones(len(columns)))
                for _, part, columns in fitted[0].transformers_
                if not isinstance(part, str) or part != "drop"
            ]
        )
    return float((np.square(eta[:, :-1] * scale / group.design.scale)).sum())


def _own_objective(fitted: Any, task: Any, rows: Any) -> float:
    squares = float(np.square(_model(fitted).coef_).sum())
    return _objective(fitted, task, rows, _linear(fitted, task.take(rows)), squares)


def _objective(fitted: Any, task: Any, rows: Any, eta: Any, squares: float) -> float:
    """Losses plus penalty, from linear predictors, by formulas of this file's own."""
    model, y = _model(fitted), task.y[rows]
    weight = np.ones(len(rows)) if task.weight is None else task.weight[rows].astype(float)
    if isinstance(model, LogisticRegression):
        if model.class_weight is not None:
            each = compute_class_weight(model.class_weight, classes=model.classes_, y=y, sample_weight=weight)
            weight = weight * each[np.searchsorted(model.classes_, y)]
        scores = np.column_stack([np.zeros(len(y)), eta[:, 0]]) if eta.shape[1] == 1 else eta
        top = scores.max(axis=1)
        lost = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        lost -= scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        return float(weight @ lost + 0.5 * squares / model.C)
    power = {PoissonRegressor: 1.0, GammaRegressor: 2.0}.get(type(model)) or model.power
    linear = eta[:, 0]
    if power == 1:
        lost = np.exp(linear) - y * linear
    elif power == 2:
        lost = linear + y * np.exp(-linear)
    else:
        lost = np.exp((2 - power) * linear) / (2 - power) - y * np.exp((1 - power) * linear) / (1 - power)
    return float(weight @ lost / weight.sum() + 0.5 * model.alpha * squares)
