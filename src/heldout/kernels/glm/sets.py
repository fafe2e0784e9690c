"""Training sets side by side: the weight each gives to each row, and its penalty in the columns of the design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.glm.design import Design, Floats, cut_design
from heldout.kernels.glm.families import Family
from heldout.kernels.glm.forms import Form
from heldout.kernels.ridge.normal import LostDigits, scales

LEFT_OF_DIGITS = 1e-6  # a variance below this share of the squared mean is summed anew about the set's own mean
FEW = 0.6  # share of rows used by any set, below which the others are left out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sets:
    """Training sets, each a row of the tables here."""

    family: Family
    design: Design
    y: Floats
    weight: Floats  # sets × rows of the design
    member: Floats  # 1 where a row has a say in a set, else 0
    stretch: Floats  # sets × columns: what the square of each coefficient of the design costs
    centre: Floats | None  # without an intercept: the constant's coefficient, as a sum of the others times these
    unit: Floats  # of the penalty in each set: 1 for classifiers, the sum of weights for regressors
    doubtful: NDArray[np.bool_]  # rounding decides what the scaler of this set does

    def __len__(self) -> int:
        return len(self.weight)

    def pick(self, some: NDArray[np.intp]) -> Sets:
        """Some of the sets."""
        if len(some) == len(self):
            return self
        same = self.member is self.weight
        weight = self.weight[some]
        return replace(
            self,
            weight=weight,
            member=weight if same else self.member[some],
            stretch=self.stretch[some],
            centre=None if self.centre is None else self.centre[some],
            unit=self.unit[some],
            doubtful=self.doubtful[some],
        )


def make_sets(
    design: Design, form: Form, family: Family, data: tuple[Floats, Floats | None], trainings: Sequence[Rows]
) -> Sets:
    """The training sets of these rows; `data` are the targets and the weights of all rows."""
    y, weight = data
    counts = np.stack([np.bincount(rows, minlength=len(y)) for rows in trainings]).astype(np.float64)
    used = np.flatnonzero(counts.any(axis=0))
    if len(used) < FEW * len(y):
        design, y, counts = cut_design(design, used), y[used], np.ascontiguousarray(counts[:, used])
        weight = None if weight is None else weight[used]
    weights = counts if weight is None else counts * weight
    if form.class_weight == "balanced":
        held = np.stack([weights @ (y == k) for k in range(family.classes)], axis=1)
        each = held.sum(axis=1, keepdims=True) / (family.classes * held)
        weights = weights * each[:, y.astype(np.intp)]
    plain = bool((weights.max() <= 1) & ((weights == 0) | (weights == 1)).all())
    stretch, mean, doubtful = _stretches(design, form, counts)
    centred = form.columns.flags("centred", design.width - 1)
    return Sets(
        family=family,
        design=design,
        y=y,
        weight=weights,
        member=weights if plain else (weights > 0).astype(np.float64),
        stretch=stretch,
        centre=None if form.intercept else np.where(centred, -mean, design.shift / design.scale),
        unit=np.ones(len(weights)) if form.classifies else weights.sum(axis=1),
        doubtful=doubtful,
    )


def _stretches(design: Design, form: Form, counts: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The square of each set's scale over the design's, the means of its columns, and the sets that are doubtful."""
    width = design.width - 1
    doubtful = np.zeros(len(counts), dtype=bool)
    scaled, centred = (form.columns.flags(which, width) for which in ("scaled", "centred"))
    stretch = np.tile(design.scale**-2.0, (len(counts), 1))
    Z = design.Z[:, :-1]
    sizes = counts.sum(axis=1)
    if not scaled.any() and (form.intercept or not centred.any()):
        return stretch, np.zeros_like(stretch), doubtful
    mean = (counts @ Z) / sizes[:, None]
    variance = (counts @ Z**2) / sizes[:, None] - mean**2
    for t, j in np.argwhere(variance <= LEFT_OF_DIGITS * mean**2):
        own = np.repeat(Z[:, j], counts[t].astype(np.intp))
        mean[t, j] = own[0] + (own - own[0]).mean()
        variance[t, j] = ((own - mean[t, j]) ** 2).mean() if (own != own[0]).any() else 0.0
    for t in range(len(counts)) if scaled.any() else ():
        raw = design.shift + design.scale * mean[t]
        try:
            found = scales(variance[t] * design.scale**2, raw, int(sizes[t]), scaled)
            stretch[t] = (found / design.scale) ** 2
        except LostDigits:
            doubtful[t] = True
    return stretch, mean, doubtful
