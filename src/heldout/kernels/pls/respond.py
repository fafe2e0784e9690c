"""From coefficients to numbers on held-out rows, and to which of them rounding has left good."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.pls.components import SHAKEN
from heldout.kernels.pls.problem import Problem
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.group import Group
from heldout.kernels.ridge.normal import EPS
from heldout.kernels.ridge.respond import whole_shift
from heldout.kernels.ridge.sums import Space

WITHIN = 1e-9  # the tier: of the largest response of a cell
ROUNDINGS = 300.0  # rounding errors, of either side, in units of the last place of a product; seen: up to 50


def respond(
    problem: Problem, coefficients: tuple[Floats, Floats], group: Group, rows: Rows
) -> tuple[Floats, NDArray[np.bool_]]:
    """Numbers for held-out rows × candidates × 1, and the candidates whose rounding errors stay inside the tier."""
    counts = group.alphas.astype(np.intp)
    there = counts <= min(len(coefficients[0]), problem.count, len(problem.d))
    places = np.where(there, counts, 1) - 1
    back = problem.y_unit / problem.unit
    coef, shadow = coefficients[0][places] * back, coefficients[1][places] * back
    with np.errstate(over="ignore", invalid="ignore"):
        both = np.concatenate([coef, shadow - coef]).T
        x = _centred(problem, group, rows)
        numbers = x @ np.ascontiguousarray(both)
        values = np.ascontiguousarray(numbers[:, : len(counts)]) + problem.y_centre
        strays = np.abs(numbers[:, len(counts) :]).max(axis=0, initial=0.0)
        largest = np.abs(values).max(axis=0, initial=0.0)
        error = strays * (ROUNDINGS * EPS / (SHAKEN * problem.kept)) + _error_of_means(problem, coef)
    good = there & np.isfinite(largest) & (error <= WITHIN * largest)
    values[:, ~good] = 0.0
    return values[:, :, None], np.asarray(good)


def _error_of_means(problem: Problem, coef: Floats) -> Floats:
    """How far scikit-learn's responses may be off because a mean far from zero is known to so many digits only."""
    each = EPS * np.sqrt(problem.count) * np.abs(problem.offset) * coef
    return np.asarray(4.0 * np.sqrt((each**2).sum(axis=1)))


def _centred(problem: Problem, group: Group, rows: Rows) -> Floats:
    shift, places = whole_shift(problem.shift, group.form, group.design), group.form.columns.places
    x = Space(group.design, len(rows)).read(rows, shift)
    x = x if places is None else x[:, list(places)]
    return np.asarray(x - problem.centre)
