"""Coefficients of every penalty on each training set, and which of them are surely near enough to the optimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.lasso.descend import descend, descend_jointly
from heldout.kernels.lasso.follow import Path, follow
from heldout.kernels.lasso.forms import Penalty
from heldout.kernels.lasso.newton import newton_step
from heldout.kernels.lasso.problem import Problem, has_one_optimum, is_optimal, optimality, strengths
from heldout.kernels.ridge.design import Floats

FIRST_SWEEPS = 20  # along the whole path: enough where columns are nearly uncorrelated
SWEEPS = 20  # between two Newton steps
STATIONARY = 1e-10  # of the penalty: what slopes may be off
ROUNDS = 9  # of sweeps and a Newton step, after which columns enter one by one
ENTERED = 6  # steps a column, of those that enter one by one, after which a fit is left to brute force
JOINT_SWEEPS = 5_000


def solve(problems: Sequence[Problem], penalties: Sequence[Penalty]) -> list[tuple[Floats, NDArray[np.bool_]]]:
    """For each problem columns × penalties × targets, and for each penalty whether all its targets are good."""
    crawls = [problem.crawls and not problem.joint for problem in problems]
    followed = _follow([problem for problem, slow in zip(problems, crawls, strict=True) if slow], penalties)
    starts = [
        next(followed) if slow else _descend(problem, penalties) for problem, slow in zip(problems, crawls, strict=True)
    ]
    return [_settle(problem, penalties, start) for problem, start in zip(problems, starts, strict=True)]


def _settle(problem: Problem, penalties: Sequence[Penalty], weights: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """These coefficients, those that are not yet near the optimum polished, and which are good."""
    l1, l2 = strengths(problem, penalties)
    tols = np.array([penalty.tol for penalty in penalties])
    found = optimality(problem, weights, l1, l2)
    good = is_optimal(problem, found, tols)
    if not problem.joint:
        rough = np.argwhere(~good & (l1 > 0)[:, None])
        if len(rough):
            _polish(problem, weights, rough, (l1, l2))
            found = optimality(problem, weights, l1, l2)
            good = is_optimal(problem, found, tols)
        good = np.asarray(good.all(axis=1))
    for place in np.flatnonzero(good) if not problem.determined else ():
        good[place] = has_one_optimum(
            problem, weights[:, place], found.slope[:, place], float(l1[place]), float(l2[place])
        )
    return weights, good


def _by_ratio(penalties: Sequence[Penalty]) -> Iterator[tuple[float, NDArray[np.intp], Floats, NDArray[np.intp]]]:
    """Each l1_ratio with the places of its penalties, its alphas from the largest down, and where each place's is."""
    for ratio in dict.fromkeys(penalty.l1_ratio for penalty in penalties):
        places = np.array([place for place, penalty in enumerate(penalties) if penalty.l1_ratio == ratio])
        alphas, back = np.unique([-penalties[place].alpha for place in places], return_inverse=True)
        yield ratio, places, -alphas, back


def _follow(problems: Sequence[Problem], penalties: Sequence[Penalty]) -> Iterator[Floats]:
    """Columns × penalties × targets of each problem, all side by side."""
    if not problems:
        return
    targets = problems[0].d.shape[1]
    weights: Floats = np.zeros((len(problems), targets, len(problems[0].C), len(penalties)))
    for ratio, places, alphas, back in _by_ratio(penalties):
        if ratio == 0:
            alone = [_without_absolute(problem, problem.weight * alphas)[:, back] for problem in problems]
            weights[..., places] = np.stack(alone).transpose(0, 3, 1, 2)
            continue
        paths = [
            Path(one.C, one.d[:, t], l1=one.weight * ratio * alphas, l2=one.weight * (1.0 - ratio) * alphas)
            for one in problems
            for t in range(targets)
        ]
        found = follow(paths, positive=problems[0].positive)
        weights[..., places] = found.reshape(len(problems), targets, -1, len(alphas))[..., back]
    yield from weights.transpose(0, 2, 3, 1)


def _descend(problem: Problem, penalties: Sequence[Penalty]) -> Floats:
    """Columns × penalties × targets, from the largest alpha of each l1_ratio down."""
    weights: Floats = np.zeros((len(problem.C), len(penalties), problem.d.shape[1]))
    for ratio, places, alphas, back in _by_ratio(penalties):
        weights[:, places] = _path(problem, problem.weight * alphas, ratio)[:, back]
    return weights


def _path(problem: Problem, alphas: Floats, ratio: float) -> Floats:
    """Columns × alphas × targets, from the largest alpha down."""
    if problem.joint:
        return descend_jointly(problem, alphas, ratio, sweeps=JOINT_SWEEPS)
    if ratio == 0:
        return _without_absolute(problem, alphas)
    targets = range(problem.d.shape[1])
    return np.stack([descend(problem, t, alphas, ratio, sweeps=FIRST_SWEEPS) for t in targets], axis=2)


def _without_absolute(problem: Problem, alphas: Floats) -> Floats:
    identity = np.eye(len(problem.C))
    return np.stack([np.linalg.solve(problem.C + alpha * identity, problem.d) for alpha in alphas], axis=1)


def _polish(problem: Problem, weights: Floats, rough: NDArray[np.intp], strength: tuple[Floats, Floats]) -> None:
    """Newton steps and sweeps in turn for these places, in place, each begun at the nearest one done with.

    A penalty just above another has nearly the same coefficients; what its own short descent left is worse.
    """
    l1, l2 = strength
    order = sorted(rough.tolist(), key=lambda one: (one[1], l2[one[0]] / l1[one[0]], -l1[one[0]]))
    last: tuple[int, float, Floats] | None = None
    for place, target in order:
        start = weights[:, place, target]
        ratio = float(l1[place] / (l1[place] + l2[place]))
        if last is not None and last[:2] == (target, ratio):
            start = last[2]
        start = _polished(problem, target, start, (float(l1[place]), float(l2[place])))
        weights[:, place, target] = start
        last = (target, ratio, start)


def _polished(problem: Problem, target: int, start: Floats, strength: tuple[float, float]) -> Floats:
    """Sweeps and Newton steps in turn; where that does not end, Newton steps as columns enter one by one."""
    l1, l2 = strength
    alpha, ratio = l1 + l2, l1 / (l1 + l2)
    weights = start
    for turn in range(ROUNDS):
        weights = descend(problem, target, np.array([alpha]), ratio, sweeps=SWEEPS, start=weights)[:, 0]
        if not problem.crawls and _is_good(problem, target, weights, strength):
            return weights
        step = newton_step(problem, target, weights, strength)
        weights = weights if step is None else step.weights
        short = step is not None and not step.whole  # then there is more to do
        if not short and _is_stationary(problem, target, weights, strength):
            return weights
        if not short and turn and _is_good(problem, target, weights, strength):
            return weights
    return _column_by_column(problem, target, weights, strength)


def _is_stationary(problem: Problem, target: int, weights: Floats, strength: tuple[float, float]) -> bool:
    """Whether slopes are those of an optimum to ten digits: a glance; the duality gap is asked of all at the end."""
    l1, l2 = strength
    slope = problem.d[:, target] - problem.C @ weights - l2 * weights
    signs = np.sign(weights)
    left = slope - l1 * signs
    idle = signs == 0
    left[idle] = np.maximum((slope if problem.positive else np.abs(slope))[idle] - l1, 0.0)
    return bool(np.abs(left).max() <= STATIONARY * l1)


def _column_by_column(problem: Problem, target: int, weights: Floats, strength: tuple[float, float]) -> Floats:
    """Newton steps until the signs stay, then the column that would gain most enters, until none would gain."""
    entering: int | None = None
    unit = np.sqrt(np.maximum(np.diagonal(problem.C) + strength[1], np.finfo(np.float64).tiny))
    for _ in range(ENTERED * len(weights)):
        step = newton_step(problem, target, weights, strength, entering=entering)
        if step is not None:
            weights, entering = step.weights, None
        if step is None or step.whole:
            slope = problem.d[:, target] - problem.C @ weights - strength[1] * weights
            gain = np.where(weights == 0, (slope if problem.positive else np.abs(slope)) - strength[0], 0.0) / unit
            entering = int(gain.argmax())
            if gain[entering] <= 0 or _is_good(problem, target, weights, strength):
                break
    return weights


def _is_good(problem: Problem, target: int, weights: Floats, strength: tuple[float, float]) -> bool:
    one = _of_target(problem, target)
    l1, l2 = (np.array([value]) for value in strength)
    found = optimality(one, weights[:, None, None], l1, l2)
    return bool(is_optimal(one, found, np.array([np.inf])).all())


def _of_target(problem: Problem, target: int) -> Problem:
    return Problem(
        C=problem.C,
        d=problem.d[:, target : target + 1],
        yy=problem.yy[target : target + 1],
        level=problem.level[target : target + 1],
        weight=problem.weight,
        joint=False,
        positive=problem.positive,
        pivot=problem.pivot,
    )
