"""Linear predictors on unscaled columns: their numbers on held-out rows, and how far rounding may move them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.designs.equations import Equations
from heldout.kernels.sums.dataset import ChunkReader, Dataset
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, TOLERANCE, Bools, Floats


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
