"""From coefficients to numbers on held-out rows, and to which of them rounding has left good."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.pls.components import SHAKEN, Run
from heldout.kernels.pls.problem import Problem
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.group import Group
from heldout.kernels.ridge.normal import EPS
from heldout.kernels.ridge.respond import whole_shift
from heldout.kernels.ridge.sums import Space

WITHIN = 1e-9  # the tier: of the largest response of a cell
ROUNDINGS = 1000.0  # rounding errors, of either side, in units of the last place of a product; most are below 50

LEAST_SHARE = 1e-12  # past the rank scikit-learn makes components of rounding errors, and large ones
MOST_MIXED = 64
# Sums that no candidate's straying is likely to hide in: one as it is, and one by chance.
_MIXTURES = np.stack([np.ones(MOST_MIXED), np.random.default_rng(7).normal(size=MOST_MIXED)])


def respond(problem: Problem, run: Run, group: Group, rows: Rows) -> tuple[Floats, NDArray[np.bool_]]:
    """Numbers for held-out rows × candidates × 1, and the candidates whose rounding errors stay inside the tier."""
    counts = group.alphas.astype(np.intp)
    there = counts <= min(len(run.coef), problem.count, len(problem.d))
    places = np.where(there, counts, 1) - 1
    there &= run.share[places] > LEAST_SHARE
    back = problem.y_unit / problem.unit
    coef, shadow = run.coef[places] * back, run.shadow[places] * back
    x = _read(problem, group, rows)
    with np.errstate(over="ignore", invalid="ignore"):
        strayed = shadow - coef
        both = np.concatenate([coef, _MIXTURES[:, : len(counts)] @ strayed]) if len(counts) <= MOST_MIXED else coef
        numbers = x @ np.ascontiguousarray(both.T) - both @ problem.centre
        values = np.ascontiguousarray(numbers[:, : len(counts)]) + problem.y_centre
        largest = np.abs(values).max(axis=0, initial=0.0)
        means = _error_of_means(problem, coef)
        error = np.abs(numbers[:, len(counts) :]).max(initial=0.0) * _share(problem) + means
        good = there & np.isfinite(largest) & (error <= WITHIN * largest)
        if len(counts) > MOST_MIXED or not good.all():  # each candidate by itself
            strays = np.abs(x @ strayed.T - strayed @ problem.centre).max(axis=0, initial=0.0)
            good = there & np.isfinite(largest) & (strays * _share(problem) + means <= WITHIN * largest)
    values[:, ~good] = 0.0
    return values[:, :, None], np.asarray(good)


def _share(problem: Problem) -> float:
    """How much of what the shadow strayed may be rounding's."""
    return ROUNDINGS * EPS / (SHAKEN * problem.kept)


def _error_of_means(problem: Problem, coef: Floats) -> Floats:
    """How far scikit-learn's responses may be off because a mean far from zero is known to so many digits only."""
    each = EPS * np.sqrt(problem.count) * np.abs(problem.offset) * coef
    return np.asarray(16.0 * np.sqrt((each**2).sum(axis=1)))


def _read(problem: Problem, group: Group, rows: Rows) -> Floats:
    shift, places = whole_shift(problem.shift, group.form, group.design), group.form.columns.places
    x = Space(group.design, len(rows)).read(rows, shift)
    return x if places is None else np.ascontiguousarray(x[:, list(places)])
