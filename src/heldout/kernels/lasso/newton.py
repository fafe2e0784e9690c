"""A Newton step among the coefficients that are not zero: where columns are strongly correlated, descent crawls."""

from __future__ import annotations

import numpy as np

from heldout.kernels.lasso.problem import Problem
from heldout.kernels.ridge.design import Floats


def newton_step(problem: Problem, target: int, weights: Floats, l1: float, l2: float) -> Floats | None:
    """Coefficients with a smaller objective, zeros left zeros; None where their columns determine no step.

    With these signs the objective is quadratic, and the step leads to its least point. Where signs change on the
    way it stops at the point of the line at which the true objective is least, so that it never grows.
    """
    active = np.flatnonzero(weights)
    if not len(active):
        return None
    now, signs = weights[active], np.sign(weights[active])
    A = problem.C[np.ix_(active, active)]
    A.flat[:: len(A) + 1] += l2
    right = problem.d[active, target]
    try:
        goal = np.linalg.solve(A, right - l1 * signs)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(goal).all():
        return None
    moved = np.zeros_like(weights)
    turned = np.flatnonzero(np.sign(goal) != signs)
    if not len(turned):
        moved[active] = goal
        return moved
    step = goal - now
    times = -now[turned] / step[turned]
    order = np.argsort(times, kind="stable")
    turned, times = turned[order], times[order]
    zero: int | None = 0
    if problem.positive:
        least = float(times[0])
    else:
        rise = float(step @ A @ step)
        start = float(step @ (A @ now - right)) + l1 * float(step @ signs)
        least, zero = _least_on_line(start, rise, times, 2.0 * l1 * np.abs(step[turned]))
    found = now + least * step
    if zero is not None:
        found[turned[zero]] = 0.0
    moved[active] = found
    return moved


def _least_on_line(start: float, rise: float, times: Floats, jumps: Floats) -> tuple[float, int | None]:
    """Where a derivative start + rise·t, which jumps up at these times, passes 0: when, and at which jump if at one."""
    before = np.concatenate([[0.0], np.cumsum(jumps)])
    after_jump = start + rise * times + before[1:]
    passed = np.flatnonzero(after_jump >= 0)
    if not len(passed):
        return (min(1.0, -(start + before[-1]) / rise) if rise > 0 else 1.0), None
    first = int(passed[0])
    if start + rise * times[first] + before[first] < 0:
        return float(times[first]), first
    return -(start + before[first]) / rise, None
