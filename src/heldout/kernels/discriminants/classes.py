"""Class statistics of a training set: counts, means, and the scatter about these means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.kernels.designs.columns import Columns
from heldout.kernels.discriminants.forms import Form
from heldout.kernels.sums.rounding import Bools, Floats, LostDigits, check_digits, scales
from heldout.kernels.sums.training_sums import Sums


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classes:
    """Counts, means and scatter of each class on unscaled columns, and how a scaler centres and scales them."""

    counts: Floats  # classes
    means: Floats  # classes × columns, less the shift
    scatter: Floats  # classes × columns × columns: sums of products about the class means
    reach: Floats  # classes × columns: how large the sums were before subtraction gave the variances
    shift: Floats  # columns
    centre: Floats  # columns, less the shift: what the scaler subtracts
    scale: Floats  # columns: what it divides by
    centred: Bools  # columns
    prepared: bool  # whether a scaler changes any column

    @property
    def spread(self) -> Floats:
        """Sums of squares about the class means: classes × columns."""
        return np.asarray(np.einsum("kii->ki", self.scatter))

    @property
    def rows(self) -> float:
        return float(self.counts.sum())

    def priors(self, form: Form) -> Floats:
        return np.asarray(self.counts / self.rows if form.priors is None else np.array(form.priors))


def classes_of(form: Form, columns: Columns, sums: Sums) -> Classes:
    """Compute class statistics from sums over the rows of each class. Raises LostDigits if too many digits cancel."""
    width, counts = sums.shift.x.shape[-1], sums.counts.astype(np.float64)
    if not np.isfinite(sums.grams).all():
        raise LostDigits
    means = sums.grams[:, :width, -1] / counts[:, None]
    scatter = sums.grams[:, :width, :width] - counts[:, None, None] * means[:, :, None] * means[:, None, :]
    reach = np.maximum(sums.reach[:, :width], np.einsum("kii->ki", sums.grams)[:, :width])
    spread = np.einsum("kii->ki", scatter)
    shift = sums.shift.x
    if shift.ndim == 2:  # each class about its own mean: nothing was subtracted
        shift = counts @ shift / counts.sum()
        same = (sums.shift.x == sums.shift.x[0]).all(axis=0)
        shift = np.where(same, sums.shift.x[0], shift)
        means = means + (sums.shift.x - shift)
    elif form.quadratic:
        check_digits(spread, reach, reach)
    else:
        check_digits(spread.sum(axis=0), reach.sum(axis=0), reach.sum(axis=0))
    mean = counts @ means / counts.sum()
    centred, scaled = columns.flags("centred", width), columns.flags("scaled", width)
    squares = spread.sum(axis=0) + counts @ (means - mean) ** 2
    scale = scales(squares / counts.sum(), mean + shift, int(counts.sum()), scaled)
    return Classes(
        counts=counts,
        means=means,
        scatter=scatter,
        reach=reach,
        shift=shift,
        centre=np.where(centred, mean, -shift),
        scale=scale,
        centred=centred,
        prepared=columns.prepared,
    )


def amplified(left: Floats, reach: Floats) -> float:
    """Return by what factor rounding errors grew when these sums of squares were computed by subtraction."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(reach > 0, reach / left, 1.0)
    return float(max(1.0, ratio.max(initial=1.0)))
