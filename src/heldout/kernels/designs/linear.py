"""Linear predictors on unscaled columns: their numbers on held-out rows, how far rounding may move them, responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.designs.equations import Equations
from heldout.kernels.sums.data import labels_of
from heldout.kernels.sums.dataset import ChunkReader, Dataset
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, TOLERANCE, Bools, Floats
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spectrum:
    """What a check of doubtful candidates needs: a held-out row has the coordinates ((x − shift) − centre)·basis."""

    basis: Floats  # columns × directions
    inverse: Floats  # directions × candidates: 1 / (λ + α), 0 where cut off
    size: Floats  # candidates: how large the errors of the right side and the matrix may be


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearPredictors:
    """Linear predictors, one for each candidate and target: (x − shift)·coef + constant."""

    coef: Floats  # columns × candidates × targets
    constant: Floats  # candidates × targets
    shift: Floats  # columns
    centre: Floats  # columns, less the shift
    doubtful: Mapping[tuple[int, ...], Spectrum]  # by places of candidates that must be checked on the held-out rows


def linear_predictors(
    equations: Equations, weights: Floats, doubtful: Mapping[tuple[int, ...], Spectrum] | None = None
) -> LinearPredictors:
    """Weights of scaled columns (columns × candidates × targets), and spectra in them, as predictors on columns."""
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
    """Numbers for held-out rows × candidates × targets, and the candidates whose errors stay within the tier."""
    width, candidates, targets = predictors.coef.shape
    flat = np.ascontiguousarray(predictors.coef.reshape(width, candidates * targets))
    numbers = np.empty((len(rows), candidates * targets))
    errors = np.zeros(candidates)
    reader = ChunkReader(data, min(data.chunk, len(rows)))
    for start in range(0, len(rows), data.chunk):
        chunk = rows[start : start + data.chunk]
        x = reader.read(chunk, predictors.shift)
        with np.errstate(all="ignore"):  # coefficients of a candidate that is left to fits may be of any size
            np.matmul(x, flat, out=numbers[start : start + len(chunk)])
        for places, spectrum in predictors.doubtful.items():
            possible = largest_error((x - predictors.centre) @ spectrum.basis, spectrum)
            errors[list(places)] = np.maximum(errors[list(places)], possible)
    numbers += predictors.constant.reshape(-1)
    shaped = numbers.reshape(len(rows), candidates, targets)
    largest = np.abs(shaped).max(axis=(0, 2), initial=0.0)
    return shaped, np.asarray(np.isfinite(largest) & (errors <= TOLERANCE * largest))  # 0 where nothing was doubtful


def largest_error(coordinates: Floats, spectrum: Spectrum) -> Floats:
    """For each candidate, how far rounding may move the response of the worst of these held-out rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        growth = np.sqrt((coordinates**2 @ spectrum.inverse**2).max(axis=0, initial=0.0))
        return np.asarray(ROUNDINGS * EPS * growth * spectrum.size)


def number_responses(task: Task, numbers: Floats, dtype: np.dtype[Any]) -> list[Responses]:
    """What regressors answer, one for each candidate, from rows × candidates × targets."""
    values = numbers if task.y.ndim > 1 else numbers[:, :, 0]
    each = (values[:, place] for place in range(values.shape[1]))
    return [Responses(predict=np.ascontiguousarray(predictions, dtype=dtype)) for predictions in each]


def class_responses(task: Task, numbers: Floats, methods: frozenset[str], dtype: np.dtype[Any]) -> list[Responses]:
    """What linear classifiers answer: the class of the largest score, of two classes by the sign of one score."""
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
