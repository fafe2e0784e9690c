"""The objectives that scikit-learn minimises: mean loss of a linear predictor plus a quadratic penalty.

Two matrix products over the training rows give the values and gradients of several candidates at once. Every loss is
written as a sum of terms of one sign, so that no digits cancel where classes are far apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from heldout.kernels.sums.rounding import Floats

BLOCK_NUMBERS = 1 << 17  # linear predictors computed at a time: a megabyte, which stays in a core's cache


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Objective:
    """The objective on one training set, with the penalty of each candidate.

    The coefficients of a candidate are one row: for each linear predictor those of the columns, and then the intercept.
    """

    columns: Any  # (columns + intercept) × rows, dense, or sparse with rows × (columns + intercept) as its transpose
    y: NDArray[Any]  # targets of regressions, codes of classes
    weight: Floats | None  # of rows, with sum 1; None where all are equal
    penalties: Floats  # one a candidate: scikit-learn's l2_reg_strength
    intercept: bool
    classes: int = 0  # 0 for regressions with a log link
    power: float = 0.0  # of the variance function of regressions: 1 is Poisson, 2 is gamma

    @property
    def predictors(self) -> int:
        """Linear predictors of each row: one a class where there are more than two, otherwise 1."""
        return self.classes if self.classes > 2 else 1

    @property
    def size(self) -> int:
        """The number of coefficients of one candidate."""
        return int(self.predictors * self.columns.shape[0])

    def __call__(self, which: list[int], at: Floats) -> tuple[Floats, Floats]:
        """Return the values and gradients of these candidates at these points."""
        coefficients = at.reshape(len(which) * self.predictors, -1)
        values, slopes = np.zeros(len(which)), np.zeros_like(coefficients)
        rows = len(self.y)
        step = max(1, BLOCK_NUMBERS // len(coefficients))
        for start in range(0, rows, step):
            block = slice(start, min(start + step, rows))
            columns = self.columns[:, block]
            predictors = np.ascontiguousarray(coefficients @ columns).reshape(len(which), self.predictors, -1)
            losses = self._losses(predictors, self.y[block])  # leaves the derivatives in `predictors`
            if self.weight is None:
                values += losses.sum(axis=1) / rows
                predictors /= rows
            else:
                values += losses @ self.weight[block]
                predictors *= self.weight[block]
            slopes += predictors.reshape(len(coefficients), -1) @ columns.T
        penalised = coefficients.reshape(len(which), self.predictors, -1)
        if self.intercept:
            penalised = penalised[:, :, :-1]
        penalties = self.penalties[which]
        values += 0.5 * penalties * np.square(penalised).sum(axis=(1, 2))
        gradients = slopes.reshape(len(which), self.predictors, -1)
        gradients[:, :, : penalised.shape[2]] += penalties[:, None, None] * penalised
        return values, gradients.reshape(len(which), -1)

    def _losses(self, predictors: Floats, y: NDArray[Any]) -> Floats:
        """Return the loss of each candidate on each row, and overwrite `predictors` with its derivatives."""
        with np.errstate(over="ignore", invalid="ignore"):  # a value that is not finite ends the candidate's run
            if self.classes > 2:
                return _multinomial(predictors, y)
            if self.classes == 2:
                return _binomial(predictors[:, 0], y)
            return _log_link(predictors[:, 0], y, self.power)

    def reversed(self, which: NDArray[np.intp]) -> Objective:
        """Return the problem of some candidates with rows and columns reversed, so that sums round differently."""
        order = np.arange(self.columns.shape[0])
        penalised = order[:-1] if self.intercept else order
        penalised[:] = penalised[::-1].copy()
        return replace(
            self,
            columns=self.columns[order][:, ::-1],
            y=self.y[::-1],
            weight=None if self.weight is None else self.weight[::-1],
            penalties=self.penalties[which],
        )

    def predictors_at(self, at: Floats) -> Floats:
        """Return the linear predictors of the training rows: candidates × predictors × rows."""
        coefficients = at.reshape(len(at) * self.predictors, -1)
        return np.asarray(coefficients @ self.columns).reshape(len(at), self.predictors, -1)


def columns_of(X: Any, *, intercept: bool) -> Any:
    """Return the transpose of X, with a row of ones for the intercept."""
    columns, ones = X.T, np.ones((1, X.shape[0]))
    if sparse.issparse(X):
        return sparse.vstack((columns, sparse.csr_matrix(ones)), format="csc") if intercept else columns
    return np.concatenate((columns, ones)) if intercept else np.ascontiguousarray(columns)


def _binomial(predictors: Floats, y: NDArray[Any]) -> Floats:
    sign = 1.0 - 2.0 * y
    predictors *= sign  # how far on the wrong side of the border each row lies
    small = np.abs(predictors)
    np.negative(small, out=small)
    np.exp(small, out=small)
    losses = small + 1.0
    share = np.where(predictors > 0, 1.0, small)
    share /= losses
    np.log(losses, out=losses)
    losses += np.maximum(predictors, 0.0)
    np.multiply(share, sign, out=predictors)
    return losses


def _multinomial(predictors: Floats, y: NDArray[Any]) -> Floats:
    rows = np.arange(len(y))
    largest = predictors.max(axis=1)
    losses: Floats = largest - predictors[:, y, rows]
    predictors -= largest[:, None]
    np.exp(predictors, out=predictors)
    total = predictors.sum(axis=1)
    losses += np.log(total)
    predictors /= total[:, None]
    predictors[:, y, rows] -= 1.0
    return losses


def _log_link(predictors: Floats, y: Floats, power: float) -> Floats:
    if power == 1:
        mean = np.exp(predictors)
        losses = mean - y * predictors
        np.subtract(mean, y, out=predictors)
    elif power == 2:
        ratio = y * np.exp(-predictors)
        losses = predictors + ratio
        np.subtract(1.0, ratio, out=predictors)
    else:
        mean, target = np.exp((2 - power) * predictors), y * np.exp((1 - power) * predictors)
        losses = mean / (2 - power) - target / (1 - power)
        np.subtract(mean, target, out=predictors)
    return np.asarray(losses)
