"""Newton steps for many training sets and penalties: the last quadratic model at one penalty is the first at the next.

With R the largest move of a linear predictor in a step and λ the step's Newton decrement, third derivatives bounded
by second ones give: a step shortened to log(1 + R)/R never raises the objective, nor does a whole one with R ≤ 1; and
the decrement left after a whole step is at most λ·(exp(R) − 1 − R)/R. A fit ends where that bound is small, so each
one's distance from its optimum is known. Objectives are evaluated only to take more of a long step, with R > 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.glm.design import Floats, pair_places, products_of_pairs
from heldout.kernels.glm.sets import Sets

LEFT = 1e-6  # the Newton decrement that may be left, for weights of mean 1: half its square is what the objective lacks
LEFT_SHARE = 1e-10  # of the objective's lower bound, that the square of the decrement may be
MOVED_ROWS = 1024  # looked at together
SHARES = (1.0, 0.5, 0.25, 0.1)  # of a long step that are tried
ENOUGH = 1e-4  # of the fall that the slope foretells
MOST_STEPS = 50  # at one penalty
SINGULAR = 1e-10  # the smallest pivot of second derivatives, each column's own set to 1
Model = tuple[Floats, Floats, Floats]  # gradients, second derivatives, lower bounds of the loss


def solve_path(sets: Sets, strengths: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The coefficients of each set at each strength, from the strongest on: sets × strengths × predictors × columns.

    With them which are good; where one is not, scikit-learn's own fit must answer.
    """
    family, design = sets.family, sets.design
    shape = (len(sets), len(strengths), family.predictors, design.width)
    found, good = np.zeros(shape), np.zeros(shape[:2], dtype=bool)
    posed = np.zeros(len(sets), dtype=bool)  # second derivatives tell all directions apart at the weakest penalty
    at = np.zeros((len(sets), family.predictors, design.width))
    if sets.centre is None:
        at[:, :, -1] = family.first_predictors(sets.y, sets.weight)
    place, steps = np.zeros(len(sets), dtype=np.intp), np.zeros(len(sets), dtype=np.intp)
    alive = np.flatnonzero(~sets.doubtful & np.isfinite(at).all(axis=(1, 2)))
    some = sets.pick(alive)
    while len(alive):
        model = quadratic_model(some, at[alive])
        moving = np.arange(len(alive))
        before = at[alive]
        while len(moving):
            own = alive[moving]
            taken, done, second = _step(some.pick(moving), before[moving], _cut(model, moving), strengths[place[own]])
            at[own] = taken
            last = done & (place[own] == len(strengths) - 1)
            posed[own[last]] = _smallest_pivots(second[last]) > SINGULAR
            ended = own[done]
            found[ended, place[ended]] = taken[done]
            good[ended, place[ended]] = True
            place[ended] += 1
            steps[own] = np.where(done, 0, steps[own] + 1)
            moving = moving[done & (place[own] < len(strengths))]
        sound = np.isfinite(at[alive]).all(axis=(1, 2)) & (steps[alive] < MOST_STEPS)
        left = (place[alive] < len(strengths)) & sound
        if not left.all():
            alive = alive[left]
            some = sets.pick(alive)
    for one in np.flatnonzero(good.any(axis=1) & ~posed):
        good[one] = _well_posed(sets.pick(np.array([one])), found[one], good[one], strengths)
    return found, good


def quadratic_model(sets: Sets, at: Floats) -> Model:
    """Gradients and second derivatives of the losses of all sets, in all coefficients of the design."""
    family, design = sets.family, sets.design
    count, predictors, width = at.shape
    pairs = family.pairs
    flat = at.reshape(count * predictors, width)
    gradient = np.zeros((count * predictors, width))
    packed = np.zeros((count * len(pairs), width * (width + 1) // 2) if design.paired else (0, 0))
    whole = np.zeros((count, len(pairs), width, width) if not design.paired else (0, 0, 0, 0))
    low = np.zeros(count)
    with np.errstate(over="ignore", invalid="ignore"):
        for number, rows in enumerate(design.blocks()):
            Z = design.Z[rows]
            eta = (flat @ Z.T).reshape(count, predictors, len(Z))
            residual, curvature, lost = family.slopes(eta, sets.y[rows], sets.weight[:, rows])
            gradient += residual.reshape(count * predictors, len(Z)) @ Z
            low += lost
            if design.paired:
                products = products_of_pairs(Z) if design.pairs is None else design.pairs[number]
                packed += curvature.reshape(-1, len(Z)) @ products
            else:
                for t, k in np.ndindex(count, len(pairs)):
                    whole[t, k] += (Z.T * curvature[t, k]) @ Z
    if design.paired:
        whole = packed.reshape(count, len(pairs), -1)[:, :, pair_places(width)]
    second = np.empty((count, predictors, width, predictors, width))
    for k, (a, b) in enumerate(pairs):
        second[:, a, :, b] = whole[:, k]
        second[:, b, :, a] = whole[:, k]
    return gradient.reshape(count, predictors, width), second, low


def _cut(model: Model, some: NDArray[np.intp]) -> Model:
    gradient, second, low = model
    return model if len(some) == len(low) else (gradient[some], second[some], low[some])


def penalties(sets: Sets, strengths: Floats) -> Floats:
    """What the square of each free coefficient costs, at a strength a set: sets × predictors × free columns."""
    each = sets.stretch * (strengths * sets.unit)[:, None]
    if sets.centre is None:
        each = np.concatenate([each, np.zeros((len(each), 1))], axis=1)
    return np.repeat(each[:, None], sets.family.predictors, axis=1)


def system(sets: Sets, at: Floats, model: Model, strengths: Floats) -> tuple[Floats, Floats, Floats]:
    """The gradient and second derivatives of the whole objective in the free coefficients, and its lower bound."""
    gradient, second, low = model
    count, predictors, width = at.shape
    cost = penalties(sets, strengths)
    free = at
    if sets.centre is not None:  # the constant's coefficient follows the others
        c = sets.centre
        free = at[:, :, :-1]
        gradient = gradient[:, :, :-1] + gradient[:, :, -1:] * c[:, None]
        second = second[:, :, :-1] + second[:, :, -1:] * c[:, None, :, None, None]
        second = second[..., :-1] + second[..., -1:] * c[:, None, None, None]
        width -= 1
    second = second.reshape(count, predictors * width, predictors * width).copy()
    np.einsum("tii->ti", second)[...] += cost.reshape(count, -1)
    low = low + 0.5 * (cost * free**2).sum(axis=(1, 2))
    return (gradient + cost * free).reshape(count, -1), second, low


def _step(sets: Sets, at: Floats, model: Model, strengths: Floats) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """One step of each set at its strength, whether what is left after it is small enough, second derivatives."""
    slope, second, low = system(sets, at, model, strengths)
    count, predictors, _ = at.shape
    move = np.zeros_like(at)
    with np.errstate(all="ignore"):
        short = -_solved(second, slope)
        decrement = np.sqrt(np.maximum(0.0, -(short * slope).sum(axis=1)))
        free = short.reshape(count, predictors, -1)
        move[:, :, : free.shape[2]] = free
        if sets.centre is not None:
            move[:, :, -1] = np.einsum("tkp,tp->tk", free, sets.centre)
        reach = largest_move(sets, move)
        share = np.ones(count)
        if (far := np.flatnonzero(reach > 1.0)).size:
            share[far] = _shares(sets.pick(far), at[far], move[far], strengths[far], (reach[far], decrement[far]))
        left = decrement * np.where(reach > 1e-8, (np.expm1(reach) - reach) / reach, reach / 2)
        allowed = LEFT * np.sqrt(sets.weight.sum(axis=1) / sets.member.sum(axis=1))
        done = (reach <= 1.0) & (left <= np.minimum(allowed, np.sqrt(LEFT_SHARE * low)))
    return at + share[:, None, None] * move, done, second


def _shares(sets: Sets, at: Floats, move: Floats, strengths: Floats, sizes: tuple[Floats, Floats]) -> Floats:
    """How much of a long step to take: as much as lowers the objective well, or what is known to lower it."""
    reach, decrement = sizes
    found = np.log1p(reach) / reach
    start, open_ = _objectives(sets, at, strengths), np.ones(len(at), dtype=bool)
    for share in SHARES:
        better = _objectives(sets, at + share * move, strengths) <= start - ENOUGH * share * decrement**2
        taken = better & open_ & (share > found)
        found[taken] = share
        open_ &= ~taken
        if not open_.any():
            break
    return found


def _objectives(sets: Sets, at: Floats, strengths: Floats) -> Floats:
    count, predictors, width = at.shape
    free = at if sets.centre is None else at[:, :, :-1]
    total = 0.5 * (penalties(sets, strengths) * free**2).sum(axis=(1, 2))
    for start in range(0, len(sets.y), MOVED_ROWS):
        rows = slice(start, start + MOVED_ROWS)
        eta = (at.reshape(-1, width) @ sets.design.Z[rows].T).reshape(count, predictors, -1)
        total += sets.family.losses(eta, sets.y[rows], sets.weight[:, rows])
    return np.asarray(total)


def largest_move(sets: Sets, move: Floats) -> Floats:
    """The most that scores of a training row move against each other, for each set."""
    count, predictors, width = move.shape
    flat, found = move.reshape(-1, width), np.zeros(count)
    for start in range(0, len(sets.y), MOVED_ROWS):
        rows = slice(start, start + MOVED_ROWS)
        moved = flat @ sets.design.Z[rows].T
        if predictors == 1:
            np.abs(moved, out=moved)
        else:  # two of the scores move apart by at most √2 times the length of the predictors' move
            np.square(moved, out=moved)
            moved = 2.0 * moved.reshape(count, predictors, -1).sum(axis=1)
        moved *= sets.member[:, rows]
        np.maximum(found, moved.max(axis=1), out=found)
    return found if predictors == 1 else np.sqrt(found)


def _solved(second: Floats, slope: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(second, slope[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:  # one of them is singular: those alone are left out
        found = np.full(slope.shape, np.nan)
        for place in range(len(slope)):
            try:
                found[place] = np.linalg.solve(second[place], slope[place])
            except np.linalg.LinAlgError:
                continue
        return found


def _well_posed(one: Sets, found: Floats, good: NDArray[np.bool_], strengths: Floats) -> NDArray[np.bool_]:
    """The good strengths of one set where second derivatives tell all directions apart: if one, every stronger."""
    sure = good.copy()
    for place in np.flatnonzero(good)[::-1]:
        at = found[None, place]
        _, second, _ = system(one, at, quadratic_model(one, at), strengths[place : place + 1])
        if _smallest_pivots(second)[0] > SINGULAR:
            break
        sure[place] = False
    return sure


def _smallest_pivots(second: Floats) -> Floats:
    size = np.sqrt(np.einsum("tii->ti", second))
    with np.errstate(all="ignore"):
        even = second / size[:, :, None] / size[:, None, :]
    found = np.zeros(len(even))
    for place, one in enumerate(even):
        try:
            found[place] = np.diagonal(np.linalg.cholesky(one)).min() ** 2
        except np.linalg.LinAlgError:
            continue
    return found
