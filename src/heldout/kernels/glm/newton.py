"""Newton steps for many training sets and penalties: the derivatives at one penalty are the first at the next.

Let λ be a step's decrement, R the most that a linear predictor of a row moves in it, and S the most that one has
moved since second derivatives were taken. Third derivatives bounded by second ones give: second derivatives have
changed by a factor of at most exp(S + R); a whole step lowers the objective by at least λ²·(1 − exp(S)·(exp(R) − 1
− R)/R²), and one shortened to log(1 + R·exp(−S))/R never raises it; and the decrement left after a whole step is at
most λ·exp((S + R)/2)·(exp(S)·(exp(R) − 1)/R − 1). Second derivatives that are off by a share of themselves add that
share. A fit ends where the bound is small, so each one's distance from its optimum is known. Where little has moved,
only first derivatives are taken anew, which is far cheaper. Objectives are evaluated only to take more of a long step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.glm.design import Floats
from heldout.kernels.glm.models import Slopes, largest_move, losses, most_moved, quadratic_model, rough_model, slopes
from heldout.kernels.glm.sets import Sets

LEFT = 1e-6  # the Newton decrement that may be left, for weights of mean 1: half its square is what the objective lacks
LEFT_SHARE = 1e-10  # of the objective's lower bound, that the square of the decrement may be
OFF = 0.05  # the most that second derivatives from single precision may be off
STALE = 0.1  # the most that predictors may have moved since second derivatives were taken
GENTLE = 2  # steps with the same second derivatives that are worth taking instead of new ones
LOOSE = 3.0  # how far above the largest move its bound may lie: rows are looked at where that decides
FALL = 0.05  # of the square of the decrement: the least fall of the objective that a whole step is taken for unseen
SHARES = (1.0, 0.5, 0.25, 0.1)  # of a long step that are tried
ENOUGH = 1e-4  # of the fall that the slope foretells
MOST_STEPS = 50  # at one penalty
AGAIN, GO_ON, DONE = 0, 1, 2  # what a step leads to
SINGULAR = 1e-10  # the smallest pivot of second derivatives, each column's own set to 1
Places = NDArray[np.intp]


@dataclass(kw_only=True, eq=False)
class Stand:
    """Where each set stands: its coefficients and the derivatives of its loss in the free ones."""

    sets: Sets
    allowed: Floats  # the decrement that may be left
    cost: Floats  # of the squares of free coefficients, at strength 1: sets × predictors × free columns
    at: Floats  # sets × predictors × columns
    gradient: Floats  # sets × predictors × free columns
    second: Floats  # sets × free coefficients × free coefficients
    low: Floats  # a bound of the loss from below
    moved: Floats  # the most that a row's predictors have moved since second derivatives were taken
    off: Floats  # how far these may be off, as a share of themselves: 0 in double precision
    rough: NDArray[np.bool_]  # whether they come from single precision

    def look(self, own: Places, *, again: bool) -> None:
        """Take derivatives of these sets where they stand, the second ones `again` or not."""
        if not len(own):
            return
        if not again:
            some = self.sets.pick(own)
            self._keep(own, some, slopes(some, self.at[own]))
            return
        if (rough := own[self.rough[own]]).size:
            some = self.sets.pick(rough)
            found, second, self.off[rough] = rough_model(some, self.at[rough])
            self._keep(rough, some, found, second)
            self.rough[rough] = self.off[rough] <= OFF
        if (sharp := own[~self.rough[own]]).size:
            some = self.sets.pick(sharp)
            found, second = quadratic_model(some, self.at[sharp])
            self._keep(sharp, some, found, second)
            self.off[sharp] = 0.0

    def _keep(self, own: Places, some: Sets, found: Slopes, second: Floats | None = None) -> None:
        self.gradient[own], self.low[own] = free_gradient(some, found.gradient), found.low
        if second is not None:
            self.second[own], self.moved[own] = free_second(some, second), 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Steps:
    """A step of some sets."""

    move: Floats  # what is taken of it
    reach: Floats  # the most that a row's predictors move with that
    done: NDArray[np.bool_]  # what is left after it is small enough
    again: NDArray[np.bool_]  # it needs new second derivatives after it
    second: Floats  # of the objective


def solve_path(sets: Sets, strengths: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The coefficients of each set at each strength, from the strongest on: sets × strengths × predictors × columns.

    With them which are good; where one is not, scikit-learn's own fit must answer.
    """
    stand = _start(sets)
    shape = (len(sets), len(strengths))
    found, good = np.zeros((*shape, *stand.at.shape[1:])), np.zeros(shape, dtype=bool)
    posed = np.zeros(len(sets), dtype=bool)  # second derivatives tell all directions apart at the weakest penalty
    alive = np.flatnonzero(~sets.doubtful & np.isfinite(stand.at).all(axis=(1, 2)))
    stand.look(alive, again=True)
    for place, strength in enumerate(strengths):  # sets that are done wait for the others, so that all go together
        own = alive
        for _ in range(MOST_STEPS):
            step = _step(stand, own, strength)
            done, ended = step.done, own[step.done]
            found[ended, place] = stand.at[ended] + step.move[done]
            good[ended, place] = True
            if place == len(strengths) - 1:
                posed[ended] = _smallest_pivots(step.second[done]) > SINGULAR
            going = ~done & np.isfinite(step.move).all(axis=(1, 2))
            own, again = own[going], step.again[going]
            if not len(own):
                break
            stand.at[own] += step.move[going]
            stand.moved[own] += step.reach[going]
            stand.look(own[again], again=True)
            stand.look(own[~again], again=False)
        alive = alive[good[alive, place]]
        if not len(alive):
            break
    for one in np.flatnonzero(good.any(axis=1) & ~posed):
        good[one] = _well_posed(sets.pick(np.array([one])), found[one], good[one], strengths)
    return found, good


def _start(sets: Sets) -> Stand:
    family, count = sets.family, len(sets)
    at = np.zeros((count, family.predictors, sets.design.width))
    if sets.centre is None:
        at[:, :, -1] = family.first_predictors(sets.y, sets.weight)
    free = sets.design.width - (sets.centre is not None)
    return Stand(
        sets=sets,
        allowed=LEFT * np.sqrt(sets.weight.sum(axis=1) / sets.member.sum(axis=1)),
        cost=costs(sets),
        at=at,
        gradient=np.zeros((count, family.predictors, free)),
        second=np.zeros((count, family.predictors * free, family.predictors * free)),
        low=np.zeros(count),
        moved=np.zeros(count),
        off=np.zeros(count),
        rough=np.full(count, sets.design.rough),
    )


def free_gradient(sets: Sets, gradient: Floats) -> Floats:
    """First derivatives in the free coefficients: without an intercept the constant's follows the others."""
    if sets.centre is None:
        return gradient
    return gradient[:, :, :-1] + gradient[:, :, -1:] * sets.centre[:, None]


def free_second(sets: Sets, second: Floats) -> Floats:
    """Second derivatives in the free coefficients: sets × free coefficients × free coefficients."""
    count, predictors, width = second.shape[:3]
    if sets.centre is not None:
        c = sets.centre
        second = second[:, :, :-1] + second[:, :, -1:] * c[:, None, :, None, None]
        second = second[..., :-1] + second[..., -1:] * c[:, None, None, None]
        width -= 1
    return second.reshape(count, predictors * width, predictors * width)


def costs(sets: Sets) -> Floats:
    """What half the square of each free coefficient costs at strength 1: sets × predictors × free columns."""
    each = sets.stretch * sets.unit[:, None]
    if sets.centre is None:
        each = np.concatenate([each, np.zeros((len(each), 1))], axis=1)
    return np.repeat(each[:, None], sets.family.predictors, axis=1)


def with_penalties(second: Floats, cost: Floats) -> Floats:
    """Second derivatives of the whole objective, in the place of those of the loss."""
    np.einsum("tii->ti", second)[...] += cost.reshape(len(cost), -1)
    return second


def _step(stand: Stand, own: Places, strength: float) -> Steps:
    """One step of each of these sets from where it stands."""
    sets, at, moved, off = stand.sets, stand.at[own], stand.moved[own], stand.off[own]
    cost = strength * stand.cost[own]
    free = at[:, :, : cost.shape[2]]
    slope = (stand.gradient[own] + cost * free).reshape(len(own), -1)
    second = with_penalties(stand.second[own], cost)
    move = np.zeros_like(at)
    with np.errstate(all="ignore"):
        short = -_solved(second, slope)
        decrement = np.sqrt(np.maximum(0.0, -(short * slope).sum(axis=1)))
        move[:, :, : cost.shape[2]] = short.reshape(free.shape)
        if sets.centre is not None:
            move[:, :, -1] = np.einsum("tkp,tp->tk", move[:, :, :-1], sets.centre[own])
        low = stand.low[own] + 0.5 * (cost * free**2).sum(axis=(1, 2))
        allowed = np.minimum(stand.allowed[own], np.sqrt(LEFT_SHARE * low))
        reach = most_moved(sets, move)
        sizes = (decrement, moved, off, allowed)
        near, hoped = _judged(np.stack([reach, reach / LOOSE]), sizes)
        unsure = _long(moved, reach, off) | (near < hoped)
        if (some := np.flatnonzero(unsure)).size:
            reach[some] = np.minimum(reach[some], largest_move(sets.pick(own[some]), move[some]))
            near = _judged(reach, sizes)
        if (far := np.flatnonzero(_long(moved, reach, off))).size:
            share = _shares(stand, own[far], (move[far], reach[far], decrement[far]), cost[far])
            move[far] *= share[:, None, None]
            reach[far] *= share
            near[far] = AGAIN
    return Steps(move=move, reach=reach, done=near == DONE, again=near == AGAIN, second=second)


def _judged(reach: Floats, sizes: tuple[Floats, Floats, Floats, Floats]) -> NDArray[np.int8]:
    """What a whole step leads to: the end, first derivatives that are soon enough for it, or second ones again."""
    decrement, moved, off, allowed = sizes
    left = decrement * left_share(moved, reach, off)
    gentle = (moved + reach <= STALE) & (left * (moved + reach + off) ** GENTLE <= allowed)
    done = (moved + reach <= 1.0) & (left <= allowed)
    return np.where(done, DONE, np.where(gentle, GO_ON, AGAIN)).astype(np.int8)


def _long(moved: Floats, reach: Floats, off: Floats) -> NDArray[np.bool_]:
    """Whether a whole step might not lower the objective enough."""
    raised = (1.0 + off) * np.exp(moved) * (np.expm1(reach) - reach) / reach**2
    return np.asarray(~(raised <= 1.0 - FALL) & ~(reach < 1e-4))  # so short ones do, and would lose digits here


def left_share(moved: Floats, reach: Floats, off: Floats) -> Floats:
    """What share of a step's decrement is left after it, at most, where `reach` is at most 1.

    There (eᴿ − 1)/R is at most eᴿ, and (eᴿ − 1 − R)/R at most exp(R/2)·R/2; small numbers keep their digits so.
    """
    half = np.exp(0.5 * reach)
    changed = np.expm1(moved) * half**2 + 0.5 * reach * half + off / (1.0 - off)
    return np.asarray(np.sqrt(1.0 + off) * np.exp(0.5 * moved) * half * changed)


def _shares(stand: Stand, own: Places, step: tuple[Floats, Floats, Floats], cost: Floats) -> Floats:
    """How much of a long step to take: as much as lowers the objective well, or what is known to lower it."""
    move, reach, decrement = step
    sets, at = stand.sets.pick(own), stand.at[own]

    def objectives(at: Floats) -> Floats:
        return np.asarray(losses(sets, at) + 0.5 * (cost * at[:, :, : cost.shape[2]] ** 2).sum(axis=(1, 2)))

    found = np.log1p(reach * np.exp(-stand.moved[own]) / (1.0 + stand.off[own])) / reach
    start, open_ = objectives(at), np.ones(len(at), dtype=bool)
    for share in SHARES:
        better = objectives(at + share * move) <= start - ENOUGH * share * decrement**2
        taken = better & open_ & (share > found)
        found[taken] = share
        open_ &= ~taken
        if not open_.any():
            break
    return found


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
        second = whole_second(one, found[None, place], strengths[place])
        if _smallest_pivots(second)[0] > SINGULAR:
            break
        sure[place] = False
    return sure


def whole_second(one: Sets, at: Floats, strength: float) -> Floats:
    """Second derivatives of the objective of one set, in its free coefficients."""
    _, second = quadratic_model(one, at)
    return with_penalties(free_second(one, second), strength * costs(one))


def _smallest_pivots(second: Floats) -> Floats:
    size = np.sqrt(np.einsum("tii->ti", second))
    with np.errstate(all="ignore"):
        even = second / size[:, :, None] / size[:, None, :]
    try:
        lower = np.linalg.cholesky(even)
    except np.linalg.LinAlgError:
        return np.zeros(1) if len(even) == 1 else np.concatenate([_smallest_pivots(one[None]) for one in second])
    return np.asarray(np.einsum("tii->ti", lower).min(axis=1) ** 2)
