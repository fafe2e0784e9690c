"""Paths of penalties by their active columns: those that have a coefficient, with their signs.

With the signs given, coefficients are a straight line in the penalty, which one solve gives. From one penalty to the
next a few columns enter or leave; where descent crawls for hundreds of sweeps, two or three such exchanges are the
whole way. Paths of several training sets go side by side, so that their solves are one call: short ones, one by one,
would keep the other threads waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.ridge.design import Floats

EXCHANGES = 20  # for one penalty, after which columns go round in circles
AT_REST = 1e-12  # of the penalty: what an idle column's slope may be above it
WIDTH = 8  # systems are filled up to a multiple of it, by their own size alone: company must not change their rounding
TOGETHER = 16  # columns that enter at once, at most: of more, most would leave again


class Path(NamedTuple):
    """Half of w·C·w − 2·d·w plus l1·|w| + l2/2·w·w is to be least, for penalties that descend."""

    C: Floats
    d: Floats
    l1: Floats
    l2: Floats


class _Lines(NamedTuple):
    """Coefficients and slopes, paths × columns, at an absolute penalty of 0 and what they change by with it."""

    weights: Floats
    weights_by: Floats
    slopes: Floats
    slopes_by: Floats


def follow(paths: Sequence[Path], *, positive: bool) -> Floats:
    """Coefficients, paths × columns × penalties, of which all paths have as many.

    They are the optimum's where rounding leaves it so, which the caller checks. Where columns do not come to rest, the
    coefficients of the last penalty stay.
    """
    size, count = len(paths[0].d), len(paths[0].l1)
    found: Floats = np.zeros((len(paths), size, count))
    signs: Floats = np.zeros((len(paths), size))
    lines = _Lines(np.zeros_like(signs), np.zeros_like(signs), np.stack([p.d for p in paths]), np.zeros_like(signs))
    l1, l2 = np.stack([path.l1 for path in paths]), np.stack([path.l2 for path in paths])
    alive = np.arange(len(paths))
    for place in range(count):
        if place and (l2[:, place] != l2[:, place - 1]).any():
            alive = _draw(lines, paths, signs, l2[:, place], alive)
        alive = _exchange(lines, paths, signs, (l1[:, place], l2[:, place]), alive, positive=positive)
        found[alive, :, place:] = (lines.weights[alive] + l1[alive, place, None] * lines.weights_by[alive])[:, :, None]
    return found


def _exchange(
    lines: _Lines,
    paths: Sequence[Path],
    signs: Floats,
    strength: tuple[Floats, Floats],
    own: NDArray[np.intp],
    *,
    positive: bool,
) -> NDArray[np.intp]:
    """Columns of these paths enter and leave until none wants to; those of the paths that came to rest."""
    resting = np.zeros(len(paths), dtype=bool)
    for _ in range(EXCHANGES):
        l1, now = strength[0][own, None], signs[own]
        weights = lines.weights[own] + l1 * lines.weights_by[own]
        slopes = lines.slopes[own] + l1 * lines.slopes_by[own]
        excess = np.where(now == 0, (slopes if positive else np.abs(slopes)) - l1 * (1.0 + AT_REST), 0.0)
        leaving = (now != 0) & (weights * now <= 0)
        moving = (leaving | (excess > 0)).any(axis=1)
        resting[own[~moving]] = True
        if not moving.any():
            break
        own, now, excess = own[moving], now[moving], excess[moving]
        if excess.shape[1] > TOGETHER:
            excess[excess < np.partition(excess, -TOGETHER, axis=1)[:, -TOGETHER, None]] = 0.0
        now[leaving[moving]] = 0.0
        signs[own] = np.where(excess > 0, np.sign(slopes[moving]), now)
        own = _draw(lines, paths, signs, strength[1], own)
    return np.flatnonzero(resting)


def _draw(
    lines: _Lines, paths: Sequence[Path], signs: Floats, l2: Floats, places: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The lines of these paths for their signs; those of them that have one."""
    columns = {place: np.flatnonzero(signs[place]) for place in places.tolist()}
    alike: dict[int, list[int]] = {}
    for place, own in columns.items():
        alike.setdefault(-(-len(own) // WIDTH) * WIDTH, []).append(place)
    drawn: list[int] = []
    for width, some in alike.items():
        A: Floats = np.zeros((len(some), width, width))
        right: Floats = np.zeros((len(some), width, 2))
        rows = []
        for i, place in enumerate(some):
            own, path = columns[place], paths[place]
            size = len(own)
            rows.append(path.C.take(own, axis=0))
            A[i, :size, :size] = rows[i].take(own, axis=1)
            right[i, :size, 0] = path.d[own]
            right[i, :size, 1] = -signs[place, own]
            diagonal = A[i].reshape(-1)[:: width + 1]
            diagonal[:size] += l2[place]
            diagonal[size:] = 1.0
        for place, reached, answer in zip(some, rows, _solved(A, right), strict=True):
            own = columns[place]
            weights, by = answer[: len(own)].T
            if not np.isfinite(answer).all():
                continue
            drawn.append(place)
            lines.weights[place] = lines.weights_by[place] = 0.0
            lines.weights[place, own], lines.weights_by[place, own] = weights, by
            lines.slopes[place] = paths[place].d - weights @ reached - l2[place] * lines.weights[place]
            lines.slopes_by[place] = -(by @ reached) - l2[place] * lines.weights_by[place]
    return np.sort(np.array(drawn, dtype=np.intp))


def _solved(A: Floats, right: Floats) -> Floats:
    """The answers of these systems, not finite for those that have none."""
    try:
        return np.asarray(np.linalg.solve(A, right), dtype=np.float64)
    except np.linalg.LinAlgError:  # of one of them
        if len(A) == 1:
            return np.full_like(right, np.nan)
        return np.concatenate([_solved(A[i : i + 1], right[i : i + 1]) for i in range(len(A))])
