"""Leave-one-out from one decomposition: every row's fit without it is a change of rank one.

Without row i the matrix is C − cᵢuᵢuᵢᵀ + α·Dᵢ and the right side d − cᵢuᵢvᵢ, with uᵢ and vᵢ the row and its target
about the centre. Without a scaler D is the identity, and Sherman–Morrison gives the held-out response from the
leverage. A scaler changes Dᵢ too: see `scaled_rows`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.ridge.bank import Spread
from heldout.kernels.ridge.design import Design, Floats
from heldout.kernels.ridge.forms import Form
from heldout.kernels.ridge.normal import EPS, LostDigits, Normal, normal_equations
from heldout.kernels.ridge.scaled_rows import Change, Eigen, corrected
from heldout.kernels.ridge.solve import ROUNDINGS, SAFE_CONDITION, WITHIN
from heldout.kernels.ridge.sums import Sums, sum_rows_apart

NEARLY_ALL = 1e-3  # a row with all but this share of a sum of squares leaves too few digits behind
LEVERAGE_LEFT = 1e-3  # 1 − h below this needs a check, as a bad condition does


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Base:
    """The full set about its centre, decomposed."""

    normal: Normal
    eigen: Eigen
    weight: Floats | None  # row weights by row number; None: 1 each
    factor: float  # times every weight: that of the class where classes are balanced
    squares: Floats | None  # columns: what a scaler divides by, about the mean, infinite where it does not scale
    doubtful: NDArray[np.bool_]  # alphas
    size: Floats  # alphas: how large errors of matrix and right side are


def applies(form: Form, design: Design, rows: int) -> bool:
    """Whether leaving one row out is a change of rank one for this form, and rows outnumber columns."""
    if form.model == "ols" or rows - 1 <= design.X.shape[1] + 1:
        return False
    if form.intercept or not form.columns.any("centred"):
        return True
    # Centred by an unweighted mean, then no intercept: with equal weights the equations are those of an intercept.
    return bool(np.all(form.columns.centred)) and design.weight is None and design.strata is None


def leave_one_out(
    design: Design, form: Form, whole: tuple[Sums, Rows], held: Rows, *, alphas: Floats, spread: Spread
) -> tuple[Floats, NDArray[np.bool_]]:
    """Responses (held × alphas × targets) of fits on all rows less each held row, and which of them are good.

    Raises LostDigits where the set as a whole cannot be answered this way.
    """
    values = np.empty((len(held), len(alphas), design.Y.shape[1]))
    good = np.zeros((len(held), len(alphas)), dtype=bool)
    for base, places in _bases(design, form, whole, held, alphas):
        step = max(32, design.chunk // 4)  # several arrays of a chunk are at work at a time
        chunks = [places[i : i + step] for i in range(0, len(places), step)]
        jobs = [(base, design, form, held[chunk], alphas) for chunk in chunks]
        for chunk, (found, sure) in zip(chunks, spread(_answer_rows, jobs), strict=True):
            values[chunk], good[chunk] = found, sure
    return values, good


def _bases(
    design: Design, form: Form, whole: tuple[Sums, Rows], held: Rows, alphas: Floats
) -> Iterator[tuple[Base, NDArray[np.intp]]]:
    """One base for all rows, or one for each class where leaving a row out changes the weight of its class."""
    if design.strata is None:
        yield _base(design, form, whole, alphas, None), np.arange(len(held))
        return
    for stratum in range(design.strata_count):
        places = np.flatnonzero(design.strata[held] == stratum)
        if not len(places):
            continue
        counts = whole[0].counts.copy()
        counts[stratum] -= 1
        weights = counts.sum() / (len(counts) * counts)
        yield _base(design, form, whole, alphas, (weights, stratum)), places


def _base(
    design: Design, form: Form, whole: tuple[Sums, Rows], alphas: Floats, strata: tuple[Floats, int] | None
) -> Base:
    form = replace(form, intercept=form.intercept or form.columns.any("centred"))  # see `applies`
    weights = None if strata is None else strata[0]
    sums, rows = whole
    try:
        normal = normal_equations(form, sums, strata_weights=weights)
    except LostDigits:
        normal = normal_equations(form, sum_rows_apart(design, rows), strata_weights=weights)
    scaled = form.columns.flags("scaled", len(normal.centre)) & (normal.squares > 0)
    # n − 1 in the place of n: the scale of a row left out is then the full set's times √(1 − share).
    unit = np.where(scaled, np.sqrt(np.where(scaled, normal.squares, 1.0) / (normal.count - 1)), 1.0)
    ratio = normal.scale / unit
    C, d = normal.C * np.outer(ratio, ratio), normal.d * ratio[:, None]
    values, vectors = np.linalg.eigh(C)
    values = np.maximum(values, 0.0)
    right = vectors.T @ d
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        inverse = 1.0 / (values[:, None] + alphas)
        largest = float(values[-1])
        length = np.sqrt(((inverse[:, :, None] * right[:, None, :]) ** 2).sum(axis=(0, 2)))
        size = largest * length + np.sqrt(largest * normal.yy.sum())
        doubtful = ~(largest * inverse.max(axis=0) <= SAFE_CONDITION)
    return Base(
        normal=normal,
        eigen=Eigen(values=values, vectors=vectors, inverse=inverse, right=right, unit=unit, matrix=C, d=d),
        weight=design.weight,
        factor=1.0 if strata is None else float(strata[0][strata[1]]),
        squares=np.where(scaled, normal.squares, np.inf) if scaled.any() else None,
        doubtful=doubtful,
        size=size,
    )


def _answer_rows(job: tuple[Base, Design, Form, Rows, Floats]) -> tuple[Floats, NDArray[np.bool_]]:
    base, design, form, rows, alphas = job
    normal = base.normal
    taken = design.X.take(rows, axis=0)
    if form.columns.places is not None:
        taken = taken[:, list(form.columns.places)]
    x = np.subtract(taken, normal.shift.x, dtype=np.float64)
    v = design.Y.take(rows, axis=0) - normal.shift.y - normal.y_centre
    weight = np.full(len(rows), base.factor) if base.weight is None else base.factor * base.weight[rows]
    rest = normal.weight - weight
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        enlarged = normal.weight / rest if normal.intercept else np.ones(len(rows))
        share = None
        if base.squares is not None:
            share = normal.count / (normal.count - 1) * (x - normal.mean) ** 2 / base.squares
        change = Change(u=(x - normal.centre) / base.eigen.unit, v=v, c=weight * enlarged, share=share)
        inside, left, z = corrected(base.eigen, change, alphas)
        values = inside * enlarged[:, None, None]
        if form.intercept:
            values += normal.y_centre + normal.shift.y - (weight / rest)[:, None, None] * v[:, None, :]
        return values, _is_good(base, change, left, z, values)


def _is_good(base: Base, change: Change, left: Floats, z: Floats, values: Floats) -> NDArray[np.bool_]:
    """Rows and alphas that rounding leaves inside the tier."""
    own = change.c[:, None] * change.v**2 > (1.0 - NEARLY_ALL) * base.normal.yy
    lost = own.any(axis=1) & (base.normal.yy > 0).any()
    if change.share is not None:
        lost = lost | (change.share.max(axis=1) > 1.0 - NEARLY_ALL)
    good = np.isfinite(values).all(axis=2) & (left > 0) & ~lost[:, None]
    check = (base.doubtful | (left < LEVERAGE_LEFT)) & good
    if check.any():
        growth = np.sqrt(z**2 @ base.eigen.inverse**2) / left
        error = ROUNDINGS * EPS * growth * base.size
        largest = np.abs(np.where(good[:, :, None], values, 0.0)).max(axis=(0, 2))
        good &= ~check | (error <= WITHIN * largest)
    return np.asarray(good)
