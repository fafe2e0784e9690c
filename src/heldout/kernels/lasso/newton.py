"""Newton steps among the coefficients that are not zero: where columns are strongly correlated, descent crawls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heldout.kernels.lasso.problem import LEAST_PIVOT, Problem, least_pivot
from heldout.kernels.ridge.design import Floats

STIFFENED = 1e-9  # added to the squares of columns that are combinations of others: steps then lead along these
# numpy lets other threads run while it solves where its answer has this many numbers: right sides are repeated to it.
ANSWERS_APART = 512


class Step(NamedTuple):
    """Where a step led, and whether it went all the way to the least point for these signs."""

    weights: Floats
    whole: bool


def newton_step(
    problem: Problem, target: int, start: Floats, strength: tuple[float, float], *, entering: int | None = None
) -> Step | None:
    """Coefficients with a smaller objective, zeros left zeros but for one that enters; None where no step is found.

    With these signs the objective is quadratic, and the step leads to its least point. Where signs change on the
    way it stops at the point of the line at which the true objective is least, so that it never grows.
    """
    l1, l2 = strength
    signs = np.sign(start)
    if entering is not None:
        signs[entering] = np.sign(problem.d[entering, target] - problem.C[entering] @ start)
    active = np.flatnonzero(signs)
    if not len(active):
        return None
    now, signs = start[active], signs[active]
    A = problem.C.take(active, axis=0).take(active, axis=1)  # three times as fast as an open mesh
    A.flat[:: len(A) + 1] += l2
    right = problem.d[active, target]
    goal = _least_point(A, right - l1 * signs, problem.determined)
    if goal is None:
        return None
    moved = np.zeros_like(start)
    turned = np.flatnonzero(np.sign(goal) != signs)
    if not len(turned):
        moved[active] = goal
        return Step(moved, True)
    step = goal - now
    times = -now[turned] / step[turned]
    order = np.argsort(times, kind="stable")
    turned, times = turned[order], times[order]
    zero: int | None = 0
    if problem.positive:
        least = float(times[0])
    else:
        rise = float(step @ A @ step)
        slope = float(step @ (A @ now - right)) + l1 * float(step @ signs)
        least, zero = _least_on_line(slope, rise, times, 2.0 * l1 * np.abs(step[turned]))
    found = now + least * step
    if zero is not None:
        found[turned[zero]] = 0.0
    moved[active] = found
    return Step(moved, False)


def _least_point(A: Floats, right: Floats, determined: bool) -> Floats | None:
    if not determined and least_pivot(A, 0.0) < LEAST_PIVOT:
        A = A.copy()
        A.flat[:: len(A) + 1] *= 1.0 + STIFFENED
    copies = -(-ANSWERS_APART // max(len(right), 1))
    try:
        found = np.ascontiguousarray(np.linalg.solve(A, np.tile(right[:, None], copies))[:, 0])
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found).all() else None


def _least_on_line(start: float, rise: float, times: Floats, jumps: Floats) -> tuple[float, int | None]:
    """Where a derivative start + rise·t, which jumps up at these times, passes 0: when, and at which jump if at one."""
    before = np.concatenate([[0.0], np.cumsum(jumps)])
    passed = np.flatnonzero(start + rise * times + before[1:] >= 0)
    if not len(passed):
        return (min(1.0, -(start + before[-1]) / rise) if rise > 0 else float(times[-1])), None
    first = int(passed[0])
    if start + rise * times[first] + before[first] < 0:
        return float(times[first]), first
    return max(0.0, -(start + before[first]) / rise) if rise > 0 else float(times[first]), None
