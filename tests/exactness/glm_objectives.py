"""Every fit of the kernel `glm` in a study: objectives beside scikit-learn's, linear predictors beside sharp ones.

Objectives are taken by formulas of this file's own, on scikit-learn's own scaled columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from compare import recorded_calls
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight
from threadpoolctl import threadpool_limits

from heldout.kernels.fitting import make_candidate
from heldout.kernels.glm import KERNEL, answer


class Fit(NamedTuple):
    """One candidate on one training set, with the coefficients that the kernel answered from."""

    group: Any
    training: Any
    candidate: int
    coef: Any


@contextmanager
def recorded_fits() -> Iterator[list[Fit]]:
    """Every fit of the kernel while this lasts; those left to scikit-learn are none of them."""
    fits: list[Fit] = []
    with recorded_calls(answer, "solve_chunk") as calls:
        yield fits
    for ((group, _),), solved in calls:
        for one in solved:
            for candidate, place in zip(group.candidates, group.places, strict=True):
                if one.good[place]:
                    fits.append(Fit(group, one.training, candidate, one.coef[place]))


def worst_fit(fits: Sequence[Fit]) -> tuple[float, float]:
    """How far a fit's objective lies above scikit-learn's, and its linear predictors from sharp ones: the largest."""
    above = apart = 0.0
    with threadpool_limits(1):
        for fit in fits:
            work = fit.group.work
            estimator = make_candidate(work.search, fit.candidate)
            one = _apart(work, fit.group, estimator, fit.training, fit.coef)
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
