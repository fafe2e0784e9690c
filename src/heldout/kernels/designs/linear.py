"""Linear predictors on unscaled columns: their numbers on held-out rows, bounds on rounding errors, and responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.designs.columns import Columns
from heldout.kernels.sums.dataset import Dataset, Shift, labels_of, read_chunks
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, TOLERANCE, Bools, Floats, LostDigits, check_digits, scales
from heldout.kernels.sums.training_sums import Sums
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Equations:
    """Holds the equations (C + αI)·w = d in scaled columns, and what predicting needs, about `shift`."""

    C: Floats  # columns × columns, scaled
    d: Floats  # columns × targets, scaled
    yy: Floats  # targets: sums of squares about the centre
    centre: Floats  # columns, less the shift
    y_centre: Floats  # targets, less the shift: what is added back
    scale: Floats  # columns
    weight: float  # sum of row weights
    count: int
    squares: Floats  # columns: unweighted sums of squares about the mean, unscaled
    mean: Floats  # columns: unweighted means, less the shift
    shift: Shift
    intercept: bool


def balanced_weights(counts: NDArray[np.int64]) -> Floats:
    """Return the weight that class_weight="balanced" gives each class."""
    return np.asarray(counts.sum() / (len(counts) * counts))


def normal_equations(
    columns: Columns, sums: Sums, *, intercept: bool, class_weights: Floats | None = None
) -> Equations:
    """Return the normal equations. Raise LostDigits if subtraction left little but rounding errors in the sums."""
    if class_weights is None and len(sums.counts) > 1:
        class_weights = balanced_weights(sums.counts)
    M, reach = sums.grams[0], sums.reach[0]
    if class_weights is not None:
        M, reach = np.tensordot(class_weights, sums.grams, axes=1), class_weights @ sums.reach
    if not np.isfinite(M).all():
        raise LostDigits
    count, width = int(sums.counts.sum()), len(sums.shift.x)
    total, square, square_reach = _unweighted(sums, width)
    weight, mean = float(M[-1, -1]), total / count
    if intercept:
        middle = M[:-1, -1] / weight
        centre, y_centre = middle[:width], middle[width:]
    else:
        centre, y_centre = np.where(columns.flags("centred", width), mean, -sums.shift.x), -sums.shift.y
    G = _about(M, np.concatenate([centre, y_centre]), intercept=intercept)
    check_digits(np.diagonal(G), reach[:-1], np.diagonal(M)[:-1])
    squares = square - count * mean**2
    scale, scaled = np.ones(width), columns.flags("scaled", width)
    yy = np.diagonal(G)[width:].copy()
    if scaled.any():
        check_digits(squares[scaled], square_reach[scaled], square[scaled])
        scale = scales(squares / count, mean + sums.shift.x, count, scaled)
        G[:width] /= scale[:, None]
        G[:width, :width] /= scale
    return Equations(
        C=G[:width, :width],
        d=G[:width, width:],
        yy=yy,
        centre=centre,
        y_centre=y_centre,
        scale=scale,
        weight=weight,
        count=count,
        squares=squares,
        mean=mean,
        shift=sums.shift,
        intercept=intercept,
    )


def _unweighted(sums: Sums, width: int) -> tuple[Floats, Floats, Floats]:
    """Return Σx, Σx² and the size of Σx² before subtraction, without row weights, as a scaler computes them."""
    if sums.plain is not None and sums.plain_reach is not None:
        plain = sums.plain.sum(axis=0)
        return plain[0], plain[1], sums.plain_reach.sum(axis=0)
    M = sums.grams[0] if len(sums.counts) == 1 else sums.grams.sum(axis=0)
    return M[:width, -1], np.diagonal(M)[:width], sums.reach.sum(axis=0)[:width]


def _about(M: Floats, centre: Floats, *, intercept: bool) -> Floats:
    """Return products about a centre. About the weighted mean (`intercept`) three of the four terms are equal."""
    sums = M[:-1, -1]
    if intercept:
        products = np.multiply.outer(sums, centre)
        return np.subtract(M[:-1, :-1], products, out=products)
    cross = np.outer(sums, centre)
    return np.asarray(M[:-1, :-1] - cross - cross.T + M[-1, -1] * np.outer(centre, centre))


def equations_of_rows(
    columns: Columns, data: Dataset, rows: Rows, *, intercept: bool
) -> tuple[Equations, Floats, Floats]:
    """Return the equations without products of columns, and the training rows and targets as the model sees them.

    Rows and targets are multiplied by the square root of their weights.
    """
    shift = data.own_shift(rows)
    Z = data.X.take(rows, axis=0).astype(np.float64)
    Z -= shift.x
    Y = data.Y.take(rows, axis=0) - shift.y
    weight = _row_weights(data, rows)
    count, width = Z.shape
    mean = Z.mean(axis=0)
    if intercept:
        centre = mean if weight is None else weight @ Z / weight.sum()
        y_centre = Y.mean(axis=0) if weight is None else weight @ Y / weight.sum()
    else:
        centre = np.where(columns.flags("centred", width), mean, -shift.x)
        y_centre = -shift.y
    squares = np.einsum("ij,ij->j", Z, Z)
    about_mean = squares - count * mean**2
    scaled = columns.flags("scaled", width)
    check_digits(about_mean[scaled], squares[scaled], squares[scaled])
    scale = scales(about_mean / count, mean + shift.x, count, scaled)
    Z -= centre
    Z /= scale
    Y = Y - y_centre
    if weight is not None:
        root = np.sqrt(weight)[:, None]
        Z *= root
        Y = Y * root
    if not (np.isfinite(Z).all() and np.isfinite(Y).all()):
        raise LostDigits
    equations = Equations(
        C=np.empty((0, 0)),
        d=np.empty((0, 0)),
        yy=np.empty(0),
        centre=centre,
        y_centre=y_centre,
        scale=scale,
        weight=float(count if weight is None else weight.sum()),
        count=count,
        squares=about_mean,
        mean=mean,
        shift=shift,
        intercept=intercept,
    )
    return equations, Z, Y


def _row_weights(data: Dataset, rows: Rows) -> Floats | None:
    weight = None if data.weight is None else data.weight[rows]
    if data.codes is None:
        return weight
    codes = data.codes[rows]
    balanced: Floats = balanced_weights(np.bincount(codes, minlength=data.class_count))[codes]
    return balanced if weight is None else weight * balanced


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spectrum:
    """Holds what checks of doubtful candidates need: a held-out row's coordinates are ((x − shift) − centre)·basis."""

    basis: Floats  # columns × directions
    inverse: Floats  # directions × candidates: 1 / (λ + α), 0 where cut off
    size: Floats  # candidates: how large the errors of the right side and the matrix may be


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearPredictors:
    """Holds linear predictors, one for each candidate and target: (x − shift)·coef + constant."""

    coef: Floats  # columns × candidates × targets
    constant: Floats  # candidates × targets
    shift: Floats  # columns
    centre: Floats  # columns, less the shift
    doubtful: Mapping[tuple[int, ...], Spectrum]  # by places of candidates that must be checked on the held-out rows


def linear_predictors(
    equations: Equations, weights: Floats, doubtful: Mapping[tuple[int, ...], Spectrum] | None = None
) -> LinearPredictors:
    """Convert weights (columns × candidates × targets) and spectra on scaled columns to predictors on columns of X."""
    scale = equations.scale[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        coef = weights / scale[:, None]
        constant = equations.y_centre + equations.shift.y - np.tensordot(equations.centre, coef, axes=1)
        unscaled = {
            places: Spectrum(basis=spectrum.basis / scale, inverse=spectrum.inverse, size=spectrum.size)
            for places, spectrum in (doubtful or {}).items()
        }
    return LinearPredictors(
        coef=coef, constant=constant, shift=equations.shift.x, centre=equations.centre, doubtful=unscaled
    )


def linear_numbers(predictors: LinearPredictors, data: Dataset, rows: Rows) -> tuple[Floats, Bools]:
    """Return numbers (rows × candidates × targets), and the candidates whose errors stay within the tier."""
    width, candidates, targets = predictors.coef.shape
    flat = np.ascontiguousarray(predictors.coef.reshape(width, candidates * targets))
    numbers = np.empty((len(rows), candidates * targets))
    errors = np.zeros(candidates)
    for where, x in read_chunks(data, rows, predictors.shift):
        with np.errstate(all="ignore"):  # coefficients of a candidate that is left to fits may be of any size
            np.matmul(x, flat, out=numbers[where])
        for places, spectrum in predictors.doubtful.items():
            possible = largest_error((x - predictors.centre) @ spectrum.basis, spectrum)
            errors[list(places)] = np.maximum(errors[list(places)], possible)
    numbers += predictors.constant.reshape(-1)
    shaped = numbers.reshape(len(rows), candidates, targets)
    largest = np.abs(shaped).max(axis=(0, 2), initial=0.0)
    return shaped, np.asarray(np.isfinite(largest) & (errors <= TOLERANCE * largest))  # 0 where nothing was doubtful


def largest_error(coordinates: Floats, spectrum: Spectrum) -> Floats:
    """Return, for each candidate, how far rounding may move its response on the worst of these held-out rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        growth = np.sqrt((coordinates**2 @ spectrum.inverse**2).max(axis=0, initial=0.0))
        return np.asarray(ROUNDINGS * EPS * growth * spectrum.size)


def number_responses(task: Task, numbers: Floats, dtype: np.dtype[Any]) -> list[Responses]:
    """Return what regressors answer, one for each candidate, from rows × candidates × targets."""
    values = numbers if task.y.ndim > 1 else numbers[:, :, 0]
    each = (values[:, place] for place in range(values.shape[1]))
    return [Responses(predict=np.ascontiguousarray(predictions, dtype=dtype)) for predictions in each]


def class_responses(task: Task, numbers: Floats, methods: frozenset[str], dtype: np.dtype[Any]) -> list[Responses]:
    """Return what linear classifiers answer: the class of the largest score, or with two by one score's sign."""
    classes = labels_of(task)
    scores = numbers[:, :, 0] if len(classes) == 2 else numbers
    codes = (scores > 0).astype(np.intp) if scores.ndim == 2 else scores.argmax(axis=2)
    wanted = "decision_function" in methods
    return [
        Responses(
            predict=classes[codes[:, place]],
            decision_function=np.ascontiguousarray(scores[:, place], dtype=dtype) if wanted else None,
            classes=classes,
        )
        for place in range(scores.shape[1])
    ]
