"""One training set's problem, and how far from its optimum given coefficients can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.lasso.forms import Form, Penalty
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.normal import Normal

OF_OBJECTIVE = 5e-10  # a duality gap may be at most this share of the objective,
OF_RESPONSES = 1e-12  # and this share of the responses' sum of squares: one in a million of their size,
OF_TARGETS = 1e-8  # and this share of the targets' sum of squares, of which scikit-learn's default is 1e-4
LEAST_PIVOT = 1e-9  # what is left of a column's square after all others: below, coefficients are not determined
SLOW_PIVOT = 0.2  # below this, exchanges of active columns are quicker than sweeps
AT_THE_BORDER = 1e-6  # of the penalty: columns so near to entering count as those that may have a coefficient


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """Half of w·C·w − 2·d·w + yy, plus l1·|w| + l2/2·w·w, is to be least: sums over rows, where scikit-learn has means.

    With several targets `d` has a column for each; penalised jointly, |w| is the sum over columns of the length of
    a column's coefficients, else the targets are problems of their own that share C.
    """

    C: Floats  # columns × columns, in C order
    d: Floats  # columns × targets
    yy: Floats  # targets
    level: Floats  # targets: the sum of squares of what every response has in common
    weight: float
    joint: bool
    positive: bool
    pivot: float  # the least share of a column's square that is left after the columns before it

    @property
    def determined(self) -> bool:
        """Whether no column is nearly a combination of others, whichever are picked."""
        return self.pivot >= LEAST_PIVOT

    @property
    def crawls(self) -> bool:
        """Whether columns are so correlated that descent alone takes hundreds of sweeps."""
        return self.pivot < SLOW_PIVOT


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimality:
    """How near coefficients are to the optimum; each array has an entry a penalty, and a target where apart."""

    gap: Floats
    objective: Floats
    size: Floats  # sum of squares of responses on the training rows
    slope: Floats  # columns × penalties × targets: minus the gradient of the smooth part


def make_problem(form: Form, normal: Normal) -> Problem:
    """The problem of this form on one training set."""
    C = np.ascontiguousarray(normal.C)
    mean = normal.y_centre + normal.shift.y if normal.intercept else np.zeros_like(normal.yy)
    return Problem(
        C=C,
        d=normal.d,
        yy=normal.yy,
        level=normal.weight * mean**2,
        weight=normal.weight,
        joint=form.joint,
        positive=form.positive,
        pivot=least_pivot(C, 0.0),
    )


def strengths(problem: Problem, penalties: Sequence[Penalty]) -> tuple[Floats, Floats]:
    """The absolute and the square penalty of each, summed over rows as the problem is."""
    alphas = problem.weight * np.array([penalty.alpha for penalty in penalties])
    ratios = np.array([penalty.l1_ratio for penalty in penalties])
    return alphas * ratios, alphas * (1.0 - ratios)


def optimality(problem: Problem, weights: Floats, l1: Floats, l2: Floats) -> Optimality:
    """Of coefficients, columns × penalties × targets, by the duality gap at the rescaled residual.

    Written so that nothing as large as the targets' squares cancels: with s the residual's factor, the gap is
    R²(1 − s)²/2 + l1·|w| − s·w·slope, R² being the squares of residuals and of √l2·w together.
    """
    columns, count, targets = weights.shape
    product = (problem.C @ weights.reshape(columns, count * targets)).reshape(weights.shape)
    square = l2[:, None] * (weights**2).sum(axis=0)
    slope = problem.d[:, None, :] - product - l2[:, None] * weights
    fitted = (weights * product).sum(axis=0)
    residual = np.maximum(problem.yy - 2.0 * (problem.d[:, None, :] * weights).sum(axis=0) + fitted, 0.0) + square
    along = (weights * slope).sum(axis=0)
    if problem.joint:
        length = np.sqrt((weights**2).sum(axis=2)).sum(axis=0)
        steepest = np.sqrt((slope**2).sum(axis=2)).max(axis=0)
        residual, fitted, along = residual.sum(axis=1), (fitted + problem.level).sum(axis=1), along.sum(axis=1)
        least, flat = l1, np.zeros(count, dtype=bool)
    else:
        length = np.abs(weights).sum(axis=0)
        steepest = (slope if problem.positive else np.abs(slope)).max(axis=0)
        fitted = fitted + problem.level
        least, flat = l1[:, None], l1 == 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = np.where(steepest > least, least / steepest, 1.0)
        gap = 0.5 * residual * (1.0 - factor) ** 2 + least * length - factor * along
        if flat.any():  # no absolute penalty: the optimum is where the slope is 0
            gap[flat] = (slope[:, flat] ** 2).sum(axis=0) / (2.0 * l2[flat, None])
    return Optimality(gap=gap, objective=0.5 * residual + least * length, size=fitted, slope=slope)


def is_optimal(problem: Problem, found: Optimality, tols: Floats) -> NDArray[np.bool_]:
    """Where the gap is small enough, by every measure and by the tolerance that the user asked for."""
    yy = problem.yy.sum() if problem.joint else problem.yy
    tols = np.minimum(tols, OF_TARGETS) if problem.joint else np.minimum(tols, OF_TARGETS)[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        near = found.gap <= np.minimum(OF_OBJECTIVE * found.objective, OF_RESPONSES * found.size)
        return np.asarray(near & (found.gap <= tols * yy))


def has_one_optimum(problem: Problem, weights: Floats, slope: Floats, l1: float, l2: float) -> bool:
    """Whether the columns that may have a coefficient determine it: else other rows may be answered otherwise.

    `weights` and `slope` are columns × targets.
    """
    if problem.determined:
        return True
    if problem.joint:
        sets = [np.sqrt((slope**2).sum(axis=1)) >= l1 * (1.0 - AT_THE_BORDER)]
    else:
        steep = slope if problem.positive else np.abs(slope)
        sets = list(((steep >= l1 * (1.0 - AT_THE_BORDER)) | (weights != 0)).T)
    return all(least_pivot(problem.C[np.ix_(own, own)], l2) >= LEAST_PIVOT for own in sets)


def least_pivot(C: Floats, l2: float) -> float:
    """The least share of a column's square that no column before it explains; those that are constant have no part."""
    diagonal = np.diagonal(C) + l2
    own = diagonal > 0
    if not own.any():
        return 1.0
    unit = np.sqrt(diagonal[own])
    A = (C if own.all() else C[np.ix_(own, own)]) / np.outer(unit, unit)
    A.flat[:: len(A) + 1] = 1.0
    try:
        pivots = np.diagonal(np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        return 0.0
    return float((pivots**2).min())
