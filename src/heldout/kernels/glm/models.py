"""Losses of many training sets at once with their first and second derivatives, and how far a move takes the rows.

Rows are looked at in blocks that stay in a core's cache, and products over rows are made in strips of some hundred:
a BLAS multiplies so small matrices as they lie, where it first copies larger ones. Both follow from sizes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from heldout.kernels.glm.design import Floats, pair_places
from heldout.kernels.glm.sets import Sets

BLOCK_NUMBERS = 1 << 15  # of one table of sets × rows that are looked at together: several such stay in the cache
STRIPS = (256, 128, 64)  # rows that are multiplied and summed at a time: the most that a BLAS takes as they lie
AS_IT_LIES = 1_000_000  # multiplications up to which it does
STRIP_NUMBERS = 1 << 17  # sums of strips that are held until they are added
LEAST = 1e-20  # a second derivative below which single precision may have lost numbers that are too small for it


class Slopes(NamedTuple):
    """First derivatives of losses in all coefficients of the design, and a bound of each set's loss from below."""

    gradient: Floats  # sets × predictors × columns
    low: Floats


def quadratic_model(sets: Sets, at: Floats) -> tuple[Slopes, Floats]:
    """First and second derivatives, these as sets × predictors × columns × predictors × columns."""
    design = sets.design
    products = design.pairs if design.back is None else None
    found = np.zeros((len(sets.family.pairs) * len(at), design.width * (design.width + 1) // 2 if design.paired else 0))
    whole = np.zeros((len(sets.family.pairs), len(at), design.width, design.width))

    def add(rows: slice, Z: Floats, curvature: Floats) -> None:
        if products is not None:
            found[...] += summed(curvature.reshape(-1, len(Z)), products[rows])
            return
        for place in np.ndindex(curvature.shape[:2]):
            whole[place] += (Z.T * curvature[place]) @ Z

    slope = _look(sets, at, add)
    if products is not None:
        whole = found.reshape(*whole.shape[:2], -1)[:, :, pair_places(design.width)]
    return slope, _by_predictors(whole, sets.family.pairs)


def rough_model(sets: Sets, at: Floats) -> tuple[Slopes, Floats, Floats]:
    """The same with second derivatives from single precision, and how far these may be off, as a share of themselves.

    They are sums of products of two even columns. Such a sum over a strip of rows is off by at most (rows + 4)·2⁻²⁴
    of the sum of absolute products, which is at most √(Aᵢᵢ·Aⱼⱼ) for second derivatives A in even columns. So the
    error lies between ∓ that share times the number of columns times the diagonal of A, and the diagonal is at most
    A over the smallest eigenvalue of B, which is A scaled to ones on its diagonal. That eigenvalue is at least
    det(B)/e, as the others, whose sum is at most their number plus 1, have a product of at most e; and at least one
    over the trace of the inverse of B. Going from even columns to columns is done in double precision and keeps shares.
    """
    design, pairs = sets.design, sets.family.pairs
    assert design.back is not None
    assert design.pairs is not None
    products, columns = design.pairs, len(design.back)
    found = np.zeros((len(pairs) * len(at), columns * (columns + 1) // 2))

    def add(rows: slice, Z: Floats, curvature: Floats) -> None:
        found[...] += summed(curvature.reshape(-1, len(Z)).astype(np.float32), products[rows])

    with np.errstate(over="ignore", under="ignore"):
        slope = _look(sets, at, add)
    even = found.reshape(len(pairs), len(at), -1)[:, :, pair_places(columns)]
    share = _shares_lost(_by_predictors(even, pairs).reshape(len(at), at.shape[1] * columns, -1))
    return slope, _by_predictors(design.back.T @ even @ design.back, pairs), share


def _shares_lost(second: Floats) -> Floats:
    size = np.einsum("tii->ti", second)
    if not (np.isfinite(second).all() and (size > LEAST).all()):
        return np.full(len(second), np.inf)
    root = np.sqrt(size)
    try:
        lower = np.linalg.cholesky(second / root[:, :, None] / root[:, None])
    except np.linalg.LinAlgError:
        return np.full(len(second), np.inf)
    columns = second.shape[1]
    most = np.e / np.prod(np.einsum("tii->ti", lower), axis=1) ** 2
    if (most > columns).any():
        most = np.minimum(most, np.square(np.linalg.inv(lower)).sum(axis=(1, 2)))
    return np.asarray((STRIPS[0] + 8) * 2.0**-24 * columns * most)  # 8 for 4: what rounding here may take


def _look(sets: Sets, at: Floats, add: Callable[[slice, Floats, Floats], None]) -> Slopes:
    """First derivatives; `add` is given the curvatures of each block of rows, pairs × sets × rows."""
    count, predictors, width = at.shape
    gradient, low = np.zeros((predictors * count, width)), np.zeros(count)
    for rows, Z, eta in _blocks(sets, at, len(sets.family.pairs)):
        with np.errstate(over="ignore", invalid="ignore"):
            residual, lost, curvature = sets.family.slopes(eta, sets.y[rows], sets.weight[:, rows])
        gradient += summed(residual.reshape(-1, len(Z)), Z)
        low += lost
        add(rows, Z, curvature)
    return Slopes(_by_set(gradient, count), low)


def _by_predictors(whole: Floats, pairs: list[tuple[int, int]]) -> Floats:
    """From pairs of predictors × sets × columns × columns to sets × predictors × columns × predictors × columns."""
    predictors = pairs[-1][0] + 1
    count, width = whole.shape[1:3]
    second = np.empty((count, predictors, width, predictors, width))
    for k, (a, b) in enumerate(pairs):
        second[:, a, :, b] = whole[k]
        second[:, b, :, a] = whole[k]
    return second


def slopes(sets: Sets, at: Floats) -> Slopes:
    """First derivatives alone, the same as a quadratic model has."""
    count, predictors, width = at.shape
    gradient, low = np.zeros((predictors * count, width)), np.zeros(count)
    for rows, Z, eta in _blocks(sets, at, predictors):
        with np.errstate(over="ignore", invalid="ignore"):
            residual, lost = sets.family.residuals(eta, sets.y[rows], sets.weight[:, rows])
        gradient += summed(residual.reshape(-1, len(Z)), Z)
        low += lost
    return Slopes(_by_set(gradient, count), low)


def losses(sets: Sets, at: Floats) -> Floats:
    """The weighted sum of losses of each set, up to what does not depend on coefficients."""
    total = np.zeros(len(at))
    for rows, _, eta in _blocks(sets, at, sets.family.predictors):
        total += sets.family.losses(eta, sets.y[rows], sets.weight[:, rows])
    return total


def largest_move(sets: Sets, move: Floats) -> Floats:
    """The most that scores of a training row move against each other, for each set."""
    found = np.zeros(len(move))
    for rows, _, moved in _blocks(sets, move, sets.family.predictors):
        if len(moved) == 1:
            each = np.abs(moved, out=moved)[0]
        else:  # two of the scores move apart by at most √2 times the length of the predictors' move
            each = 2.0 * np.square(moved, out=moved).sum(axis=0)
        each *= sets.member[:, rows]
        np.maximum(found, each.max(axis=1), out=found)
    return found if sets.family.predictors == 1 else np.sqrt(found)


def most_moved(sets: Sets, move: Floats) -> Floats:
    """What :func:`largest_move` is at most, by the length of the move in the metric of the design's rows."""
    length = np.einsum("tkp,tkp->t", move @ sets.design.metric, move)
    return np.asarray(np.sqrt(np.maximum(length, 0.0) * sets.design.far * (1.0 if move.shape[1] == 1 else 2.0)))


def summed(left: Any, right: Any) -> Floats:
    """The product of two matrices over many rows, in the precision they have within a strip, in double over strips."""
    numbers = len(left) * right.shape[1]
    strip = next((rows for rows in STRIPS if rows * numbers <= AS_IT_LIES), STRIPS[0])
    most, start = max(1, STRIP_NUMBERS // numbers), 0
    found = np.zeros((len(left), right.shape[1]))
    while (held := min(most, (len(right) - start) // strip)) > 0:
        stop = start + held * strip
        a = left[:, start:stop].reshape(len(left), held, strip).transpose(1, 0, 2)
        found += np.matmul(a, right[start:stop].reshape(held, strip, -1)).sum(axis=0, dtype=np.float64)
        start = stop
    if start < len(right):
        found += left[:, start:] @ right[start:]
    return found


def _blocks(sets: Sets, at: Floats, tables: int) -> Iterator[tuple[slice, Floats, Floats]]:
    """Blocks of rows with the linear predictors there, predictors × sets × rows, for as many tables of that size."""
    count, predictors, width = at.shape
    flat = at.transpose(1, 0, 2).reshape(-1, width)
    total = len(sets.y)
    most = max(STRIPS[0], BLOCK_NUMBERS // (count * tables))
    each = -(-total // (-(-total // most) * STRIPS[0])) * STRIPS[0]  # blocks of one size, in whole strips
    for start in range(0, total, each):
        rows = slice(start, start + each)
        Z = sets.design.Z[rows]
        yield rows, Z, (flat @ Z.T).reshape(predictors, count, len(Z))


def _by_set(flat: Floats, count: int) -> Floats:
    return flat.reshape(-1, count, flat.shape[1]).transpose(1, 0, 2)
