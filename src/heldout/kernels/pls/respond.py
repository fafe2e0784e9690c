"""From coefficients to numbers on held-out rows, and to which of them rounding has left good."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.pls.components import SHAKEN, Runs
from heldout.kernels.pls.problem import Problems
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.normal import EPS

WITHIN = 1e-9  # the tier: of the largest response of a cell
ROUNDINGS = 1000.0  # rounding errors, of either side, in units of the last place of a product; most are below 50

LEAST_SHARE = 1e-12  # past the rank scikit-learn makes components of rounding errors, and large ones
MOST_MIXED = 64
# Sums that no candidate's straying is likely to hide in: one as it is, and one by chance.
_MIXTURES = np.stack([np.ones(MOST_MIXED), np.random.default_rng(7).normal(size=MOST_MIXED)])


def respond(problems: Problems, runs: Runs, counts: Rows, x: Floats, sizes: Rows) -> tuple[Floats, NDArray[np.bool_]]:
    """Numbers on held-out rows, and the candidates whose rounding errors stay inside the tier.

    Parameters
    ----------
    counts : array of candidates
        How many components each has.
    x : array of sets × rows × columns
        The rows held out of each set, less the shift; past a set's own there may be others.
    sizes : array of sets
        How many rows are a set's own.

    Returns
    -------
    values : array of sets × candidates × rows
    good : array of sets × candidates
    """
    candidates = len(counts)
    found = counts <= runs.coef.shape[1]
    places = np.where(found, counts, 1) - 1
    there = found & (counts <= problems.counts[:, None]) & (runs.share[:, places] > LEAST_SHARE)
    back = (problems.y_unit[:, None] / problems.unit)[:, None, :]
    own = np.arange(x.shape[1]) < sizes[:, None] if (sizes < x.shape[1]).any() else None
    with np.errstate(over="ignore", invalid="ignore"):
        coef = runs.coef[:, places] * back
        strayed = runs.shadow[:, places] * back - coef
        mixed = candidates <= MOST_MIXED
        both = np.concatenate([coef, np.matmul(_MIXTURES[:, :candidates], strayed)], axis=1) if mixed else coef
        numbers = _about(problems, both, x, own)
        values = numbers[:, :candidates]
        values += problems.y_centre[:, None, None]
        if own is not None:
            np.copyto(values, 0.0, where=~own[:, None, :])
        largest = np.maximum(values.max(axis=2, initial=0.0), -values.min(axis=2, initial=0.0))
        means = _error_of_means(problems, coef)
        error = np.abs(numbers[:, candidates:]).max(axis=(1, 2), initial=0.0)[:, None] * _share(problems) + means
        good = there & np.isfinite(largest) & (error <= WITHIN * largest)
        if not mixed or not good.all():  # each candidate by itself
            strays = np.abs(_about(problems, strayed, x, own)).max(axis=2, initial=0.0)
            good = there & np.isfinite(largest) & (strays * _share(problems) + means <= WITHIN * largest)
    if not good.all():
        values[~good] = 0.0
    return values, np.asarray(good)


def _about(problems: Problems, coef: Floats, x: Floats, own: NDArray[np.bool_] | None) -> Floats:
    """Coefficients times rows about the centre, 0 on rows that are not a set's own."""
    found = np.matmul(coef, x.transpose(0, 2, 1))
    found -= np.matmul(coef, problems.centre[:, :, None])
    if own is not None:
        np.copyto(found, 0.0, where=~own[:, None, :])
    return np.asarray(found)


def _share(problems: Problems) -> Floats:
    """How much of what the shadow strayed may be rounding's."""
    return np.asarray(ROUNDINGS * EPS / (SHAKEN * problems.kept))[:, None]


def _error_of_means(problems: Problems, coef: Floats) -> Floats:
    """How far scikit-learn's responses may be off because a mean far from zero is known to so many digits only."""
    offset = problems.centre + problems.shift
    each = coef * (EPS * np.sqrt(problems.counts)[:, None] * np.abs(offset))[:, None, :]
    return np.asarray(16.0 * np.sqrt(np.vecdot(each, each)))
