"""What a training set says of its classes: counts, means, and scatter about these means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.discriminants.forms import Form
from heldout.kernels.ridge.design import Design, Floats, column_shift
from heldout.kernels.ridge.normal import LostDigits, scales
from heldout.kernels.ridge.sums import Space, Sums

LEFT_OF_DIGITS = 1e-4  # a sum of squares below this share of what it was subtracted from has lost four digits


class Undecided(Exception):
    """Rounding decides the answer: scikit-learn's own fit must give it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classes:
    """Counts, means and scatter of classes in the columns as they are, and what a scaler makes of these columns."""

    counts: Floats  # classes
    means: Floats  # classes × columns, less the shift
    scatter: Floats  # classes × columns × columns: sums of products about the class means
    reach: Floats  # classes × columns: how large the sums were that variances were subtracted from
    shift: Floats  # columns
    centre: Floats  # columns, less the shift: what the scaler takes off
    scale: Floats  # columns: what it divides by

    @property
    def spread(self) -> Floats:
        """Classes × columns: sums of squares about the class means."""
        return np.asarray(np.einsum("kii->ki", self.scatter))

    @property
    def rows(self) -> float:
        return float(self.counts.sum())

    def priors(self, form: Form) -> Floats:
        return np.asarray(self.counts / self.rows if form.priors is None else np.array(form.priors))


def classes_of_sums(form: Form, sums: Sums) -> Classes:
    """From sums over the rows of each class. Raises LostDigits where subtraction left too few digits."""
    columns = len(sums.shift.x)
    counts = sums.counts.astype(np.float64)
    if not np.isfinite(sums.grams).all():
        raise LostDigits
    means = sums.grams[:, :columns, -1] / counts[:, None]
    scatter = sums.grams[:, :columns, :columns] - counts[:, None, None] * means[:, :, None] * means[:, None, :]
    reach = np.maximum(sums.reach[:, :columns], np.einsum("kii->ki", sums.grams)[:, :columns])
    spread = np.einsum("kii->ki", scatter)
    if form.quadratic:
        lost = (spread < LEFT_OF_DIGITS * reach).any()
    else:
        lost = (spread.sum(axis=0) < LEFT_OF_DIGITS * reach.sum(axis=0)).any()
    if lost:
        raise LostDigits
    return _scaled(form, Classes(counts=counts, means=means, scatter=scatter, reach=reach, shift=sums.shift.x,
                                 centre=-sums.shift.x, scale=np.ones(columns)))  # fmt: skip


def classes_of_rows(form: Form, design: Design, rows: Rows) -> Classes:
    """From the rows themselves, in two passes: first the means of classes, then products about them."""
    assert design.strata is not None, "discriminants have classes"
    kinds, columns = design.strata_count, design.X.shape[1]
    counts, means = np.zeros(kinds), np.zeros((kinds, columns))
    scatter = np.zeros((kinds, columns, columns))
    shift = column_shift(design.X, rows)
    space = Space(design, min(design.chunk, len(rows)))
    codes = design.strata[rows]
    for kind in range(kinds):
        members = rows[codes == kind]
        counts[kind] = len(members)
        chunks = [members[start : start + design.chunk] for start in range(0, len(members), design.chunk)]
        for chunk in chunks:
            means[kind] += space.read(chunk, shift).sum(axis=0)
        means[kind] /= max(len(members), 1)
        for chunk in chunks:
            x = space.read(chunk, shift) - means[kind]
            scatter[kind] += x.T @ x
    reach = np.einsum("kii->ki", scatter).copy()
    if not np.isfinite(scatter).all():
        raise Undecided
    return _scaled(form, Classes(counts=counts, means=means, scatter=scatter, reach=reach, shift=shift, centre=-shift,
                                 scale=np.ones(columns)))  # fmt: skip


def _scaled(form: Form, classes: Classes) -> Classes:
    """The same with what StandardScaler learns of all rows together. Raises LostDigits where rounding decides it."""
    if not (form.centred or form.scaled):
        return classes
    shares = classes.counts / classes.rows
    mean = shares @ classes.means
    centre, scale = (mean if form.centred else classes.centre), classes.scale
    if form.scaled:
        squares = classes.spread.sum(axis=0) + classes.counts @ (classes.means - mean) ** 2
        every = np.ones(len(mean), dtype=bool)
        scale = scales(squares / classes.rows, mean + classes.shift, int(classes.rows), every)
    return Classes(counts=classes.counts, means=classes.means, scatter=classes.scatter, reach=classes.reach,
                   shift=classes.shift, centre=centre, scale=scale)  # fmt: skip


def amplified(left: Floats, reach: Floats) -> float:
    """How many times rounding errors of the sums grew when these sums of squares were subtracted from them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(reach > 0, reach / left, 1.0)
    return float(max(1.0, ratio.max(initial=1.0)))
