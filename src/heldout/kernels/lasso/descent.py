"""Runs scikit-learn's coordinate descent on a Gram matrix: the same steps as on rows, and the same stopping test."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import sklearn
from sklearn.linear_model import _cd_fast, enet_path

from heldout.kernels.sums.rounding import Floats

MANY_STEPS = 50  # passes over the columns; after more, a second fit on disturbed products shows how errors grew
DISTURBANCE = 1e-14  # relative, of the products of that second fit
STEADY = 1e-11  # relative to the largest coefficient: how far the second fit may differ
NEAR = 1e-6  # relative: a duality gap nearer to the tolerance than this may stop another fit one pass sooner or later
# The compiled function is private. It takes these arguments in this version; others use the public `enet_path`.
COMPILED = tuple(map(int, sklearn.__version__.split(".")[:2])) == (1, 9)


class Problem(NamedTuple):
    """Minimises ½‖y − Xw‖² + l1·‖w‖₁ + ½·l2·‖w‖², given products of the centred columns and target."""

    C: Floats  # columns × columns, C order
    d: Floats  # columns
    length: float  # of the target


class Penalty(NamedTuple):
    """Holds the parameters of one candidate."""

    alpha: float
    l1_ratio: float
    tol: float
    max_iter: int


class Descent(NamedTuple):
    weights: Floats
    gap: float
    limit: float  # the gap at which it stops
    steps: int


def descend(problem: Problem, penalty: Penalty, count: int, *, positive: bool) -> Descent:
    """Fit one candidate, from coefficients of 0 as scikit-learn does."""
    l1, l2 = penalty.alpha * penalty.l1_ratio * count, penalty.alpha * (1.0 - penalty.l1_ratio) * count
    y = np.array([problem.length])
    if COMPILED:
        unused, start, screening = np.random.RandomState(0), np.zeros(len(problem.d)), True
        arguments: Any = (problem.C, problem.d, y, penalty.max_iter, penalty.tol, unused, False, positive, screening)
        weights, gap, limit, steps = _cd_fast.enet_coordinate_descent_gram(start, l1, l2, *arguments)
        return Descent(weights, float(gap), float(limit), int(steps))
    one_row = np.zeros((1, len(problem.d)))  # only its shape is used
    _, weights, gaps, steps = enet_path(
        one_row,
        y,
        l1_ratio=l1 / (l1 + l2),
        alphas=[l1 + l2],
        precompute=problem.C,
        Xy=problem.d,
        tol=penalty.tol,
        max_iter=penalty.max_iter,
        positive=positive,
        return_n_iter=True,
        check_input=False,
    )
    return Descent(weights[:, 0], float(gaps[0]), penalty.tol * problem.length**2, int(steps[0]))


def is_steady(problem: Problem, penalty: Penalty, count: int, descent: Descent, *, positive: bool) -> bool:
    """Return whether rounding errors leave a fit unchanged: scikit-learn's on rows differ from ours on the Gram matrix.

    A fit that did not converge is never steady, so that scikit-learn's own fit gives the warning.
    """
    if not (descent.gap <= descent.limit and np.isfinite(descent.weights).all()):
        return False
    if descent.limit > 0 and abs(descent.gap - descent.limit) <= NEAR * descent.limit:  # 0: the target is constant
        return False
    if descent.steps <= MANY_STEPS:
        return True
    noise = np.random.default_rng(0)
    factors = 1.0 + DISTURBANCE * noise.standard_normal(len(problem.d))
    disturbed = Problem(
        C=np.ascontiguousarray(problem.C * np.outer(factors, factors)),
        d=problem.d * (1.0 + DISTURBANCE * noise.standard_normal(len(problem.d))),
        length=problem.length,
    )
    copy = descend(disturbed, penalty, count, positive=positive)
    strayed = np.abs(copy.weights - descent.weights).max(initial=0.0)
    return copy.steps == descent.steps and bool(strayed <= STEADY * np.abs(descent.weights).max(initial=0.0))
