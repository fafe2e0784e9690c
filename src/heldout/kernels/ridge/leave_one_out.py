"""Leave-one-out from one decomposition: every row's fit without it is a change of rank one.

Without row i the matrix is C − cᵢuᵢuᵢᵀ + α·Dᵢ and the right side d − cᵢuᵢvᵢ, with uᵢ and vᵢ the row and its target
about the centre. Without a scaler D is the identity, and Sherman–Morrison gives the held-out response from the
leverage. A scaler changes Dᵢ too: see `scaled_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.ridge.bank import Spread
from heldout.kernels.ridge.design import Design, Floats
from heldout.kernels.ridge.forms import Form
from heldout.kernels.ridge.normal import EPS, LostDigits, Normal, normal_equations
from heldout.kernels.ridge.scaled_rows import Change, Eigen, corrected
from heldout.kernels.ridge.solve import ROUNDINGS, SAFE_CONDITION, WITHIN
from heldout.kernels.ridge.sums import Sums, read_chunk, sum_rows_apart

NEARLY_ALL = 1e-3  # a row with all but this share of a sum of squares leaves too few digits behind
LEVERAGE_LEFT = 1e-3  # 1 − h below this needs a check, as a bad condition does


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Base:
    """The full set about its centre, decomposed."""

    normal: Normal
    eigen: Eigen
    weight: Floats | None  # row weights by row number; None: 1 each
    factor: float  # times every weight: balanced classes
    squares: Floats  # columns: sums of squares that a scaler divides by, about the mean; 0 where it does not
    doubtful: NDArray[np.bool_]
    size: Floats  # alphas × targets: how large errors of matrix and right side are


def applies(form: Form, design: Design, rows: int) -> bool:
    """Whether leaving one row out is a change of rank one for this form, and rows outnumber columns."""
    if form.model == "ols" or rows - 1 <= design.X.shape[1] + 1:
        return False
    if form.intercept or not form.columns.any("centred"):
        return True
    # Centred by an unweighted mean, then no intercept: with equal weights the sums are those of an intercept.
    whole = bool(np.all(form.columns.centred))
    return whole and design.weight is None and design.strata is None


def leave_one_out(
    design: Design, form: Form, whole: Sums, rows: Rows, held: Rows, *, alphas: Floats, spread: Spread
) -> tuple[Floats, NDArray[np.bool_]]:
    """Responses (held × alphas × targets) of fits on `rows` less each held row, and which of them are good.

    Raises LostDigits where the set as a whole cannot be answered this way.
    """
    values = np.empty((len(held), len(alphas), design.Y.shape[1]))
    good = np.zeros((len(held), len(alphas)), dtype=bool)
    for base, places in _bases(design, form, whole, rows, held, alphas):
        chunks = [places[i : i + design.chunk] for i in range(0, len(places), design.chunk)]
        jobs = [(base, design, form, held[chunk], alphas) for chunk in chunks]
        for chunk, (found, sure) in zip(chunks, spread(_answer_rows, jobs), strict=True):
            values[chunk], good[chunk] = found, sure
    largest = np.abs(np.where(good[:, :, None], values, 0.0)).max(axis=(0, 2), initial=0.0)
    return values, good & np.isfinite(largest)


def _bases(
    design: Design, form: Form, whole: Sums, rows: Rows, held: Rows, alphas: Floats
) -> Sequence[tuple[Base, NDArray[np.intp]]]:
    """One base for all rows, or one for each class where leaving a row out changes the weights of its class."""
    everything = np.arange(len(held))
    if design.strata is None:
        return [(_base(design, form, whole, rows, alphas, None), everything)]
    found = []
    for stratum in range(design.strata_count):
        places = np.flatnonzero(design.strata[held] == stratum)
        if not len(places):
            continue
        counts = whole.counts.copy()
        counts[stratum] -= 1
        weights = counts.sum() / (len(counts) * counts)
        found.append((_base(design, form, whole, rows, alphas, (weights, float(weights[stratum]))), places))
    return found


def _base(
    design: Design, form: Form, whole: Sums, rows: Rows, alphas: Floats, strata: tuple[Floats, float] | None
) -> Base:
    weights = None if strata is None else strata[0]
    try:
        normal = normal_equations(form, whole, strata_weights=weights)
    except LostDigits:
        normal = normal_equations(form, sum_rows_apart(design, rows), strata_weights=weights)
    width = len(normal.centre)
    scaled = form.columns.flags("scaled", width) & (normal.squares > 0) & (normal.scale != 1.0)
    squares = np.where(scaled, normal.squares, 0.0)
    # The scale of the full set with n − 1 in the place of n: what is left to correct is then positive.
    unit = np.where(scaled, np.sqrt(normal.squares / (normal.count - 1)), 1.0)
    ratio = normal.scale / unit
    C, d = normal.C * np.outer(ratio, ratio), normal.d * ratio[:, None]
    values, vectors = np.linalg.eigh(C)
    values = np.maximum(values, 0.0)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / (values[:, None] + alphas)
    right = vectors.T @ d
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(values[-1])
        length = np.sqrt(((inverse[:, :, None] * right[:, None, :]) ** 2).sum(axis=0))
        size = largest * length + np.sqrt(largest * normal.yy)
        doubtful = ~(largest * inverse.max(axis=0) <= SAFE_CONDITION)
    eigen = Eigen(values=values, vectors=vectors, inverse=inverse, right=right, unit=unit, matrix=C, d=d)
    return Base(
        normal=normal,
        eigen=eigen,
        weight=design.weight,
        factor=1.0 if strata is None else strata[1],
        squares=squares,
        doubtful=doubtful,
        size=size,
    )


def _answer_rows(job: tuple[Base, Design, Form, Rows, Floats]) -> tuple[Floats, NDArray[np.bool_]]:
    base, design, form, rows, alphas = job
    normal, eigen = base.normal, base.eigen
    Z = read_chunk(design, rows, _whole_shift(base, design), np.empty((len(rows), design.width)))
    columns = design.X.shape[1]
    x = Z[:, :columns] if form.columns.places is None else Z[:, list(form.columns.places)]
    u = (x - normal.centre) / eigen.unit
    y_centre = normal.y_centre if form.intercept else -normal.shift.y
    v = Z[:, columns:-1] - y_centre
    weight = base.factor * (np.ones(len(rows)) if base.weight is None else base.weight[rows])
    as_mean = form.intercept or form.columns.any("centred")
    rest = normal.weight - weight
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        change = weight * normal.weight / rest if as_mean else weight
        share = _shares(base, x)
        inside, left, growth = corrected(eigen, Change(u=u, v=v, c=change, share=share), alphas)
        if as_mean:
            inside = inside * (normal.weight / rest)[:, None, None]
        values = inside + normal.y_centre + normal.shift.y if form.intercept else inside
        if form.intercept:
            values = values - (weight / rest)[:, None, None] * v[:, None, :]
        good = _is_good(base, share, v, change, left, growth, values)
    return values, good


def _whole_shift(base: Base, design: Design):  # type: ignore[no-untyped-def]
    raise NotImplementedError
