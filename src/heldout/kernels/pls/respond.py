"""From coefficients to numbers on held-out rows, and to which of them rounding has left good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.pls.components import SHAKEN, Runs
from heldout.kernels.pls.problem import Problems
from heldout.kernels.sums.rounding import EPS, TOLERANCE, Bools, Floats

ROUNDINGS = 1000.0  # rounding errors, of either side, in units of the last place of a product; most are below 50

LEAST_SHARE = 1e-12  # past the rank scikit-learn makes components of rounding errors, and large ones


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """What candidates answer as functions of a row, less the shift, and what is known of their rounding errors."""

    coef: Floats  # sets × candidates × columns
    constant: Floats  # sets × candidates
    strayed: Floats  # sets × candidates × columns: how far the shadow's coefficients are
    centre: Floats  # sets × columns
    there: Bools  # sets × candidates: those that have so many components
    means: Floats  # sets × candidates: rounding errors of means
    share: Floats  # sets × 1: how much of what the shadow strayed may be rounding's
    shift: Floats  # columns

    def __getitem__(self, some: slice) -> Lines:
        each = {name: getattr(self, name)[some] for name in self.__slots__ if name != "shift"}
        return Lines(shift=self.shift, **each)


def make_lines(problems: Problems, runs: Runs, counts: Rows) -> Lines:
    """The lines of candidates with so many components."""
    found = counts <= runs.coef.shape[1]
    places = np.where(found, counts, 1) - 1
    back = (problems.y_unit[:, None] / problems.unit)[:, None, :]
    with np.errstate(over="ignore", invalid="ignore"):
        coef = runs.coef[:, places] * back
        strayed = runs.shadow[:, places] * back - coef
        constant = problems.y_centre[:, None] - np.matmul(coef, problems.centre[:, :, None])[:, :, 0]
        return Lines(
            coef=coef,
            constant=constant,
            strayed=strayed,
            centre=problems.centre,
            there=found & (counts <= problems.counts[:, None]) & (runs.share[:, places] > LEAST_SHARE),
            means=error_of_means(problems, coef),
            share=(ROUNDINGS * EPS / (SHAKEN * problems.kept))[:, None],
            shift=problems.shift,
        )


def error_of_means(problems: Problems, coef: Floats) -> Floats:
    """How far scikit-learn's responses may be off because a mean far from zero is known to so many digits only."""
    offset = problems.centre + problems.shift
    each = coef * (EPS * np.sqrt(problems.counts)[:, None] * np.abs(offset))[:, None, :]
    return np.asarray(16.0 * np.sqrt(np.vecdot(each, each)))


def respond(lines: Lines, x: Floats, sizes: Rows) -> tuple[Floats, Bools]:
    """Numbers on held-out rows, and the candidates whose rounding errors stay inside the tier.

    Parameters
    ----------
    x : array of sets × rows × columns
        The rows held out of each set, less the shift; past a set's own there may be others.
    sizes : array of sets
        How many rows are a set's own.

    Returns
    -------
    values : array of sets × candidates × rows
    good : array of sets × candidates
    """
    others = np.arange(x.shape[1]) >= sizes[:, None] if (sizes < x.shape[1]).any() else None
    with np.errstate(over="ignore", invalid="ignore"):
        values = _along(lines.coef, lines.constant, x, others)
        largest = np.maximum(values.max(axis=2, initial=0.0), -values.min(axis=2, initial=0.0))
        constant = -np.matmul(lines.strayed, lines.centre[:, :, None])[:, :, 0]
        strays = np.abs(_along(lines.strayed, constant, x, others)).max(axis=2, initial=0.0)
        good = lines.there & np.isfinite(largest) & (strays * lines.share <= TOLERANCE * largest - lines.means)
    if not good.all():
        values[~good] = 0.0
    return values, np.asarray(good)


def _along(lines: Floats, constant: Floats, x: Floats, others: Bools | None) -> Floats:
    """What lines answer on rows, and 0 on rows that are not a set's own."""
    found = np.matmul(lines, x.transpose(0, 2, 1))
    found += constant[:, :, None]
    if others is not None:
        np.copyto(found, 0.0, where=others[:, None, :])
    return np.asarray(found)
