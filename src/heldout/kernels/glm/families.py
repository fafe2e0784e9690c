"""First and second derivatives of the losses, a row a time, in the linear predictors of many training sets at once.

Each loss has a third derivative that is at most its second times the largest move of a predictor, which is what
bounds of a Newton step's error rest on (:mod:`heldout.kernels.glm.newton`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Slopes = tuple[Floats, Floats, Floats]  # residuals: sets × predictors × rows; curvatures: sets × pairs × rows; distance


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A loss of linear predictors: two classes, several classes, or a regression with a log link."""

    classes: int  # 0 for regressions
    power: float = 0.0

    @property
    def predictors(self) -> int:
        """Linear predictors a row: of several classes one less than there are, since they add up to 0."""
        return max(1, self.classes - 1)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of predictors that have a second derivative."""
        return list(combinations_with_replacement(range(self.predictors), 2))

    def contrasts(self) -> Floats:
        """Classes × predictors, orthonormal columns that add up to 0: scores of classes from predictors."""
        return _contrasts(self.classes)

    def slopes(self, eta: Floats, y: Floats, weight: Floats) -> Slopes:
        """Weighted first and second derivatives at `eta`, and a bound of each set's loss from below.

        Parameters
        ----------
        eta : array of sets × predictors × rows
        y : array of rows
        weight : array of sets × rows
            0 for rows that a set is not trained on.
        """
        if self.classes == 2:
            return _two_classes(eta, y, weight)
        if self.classes:
            return self._several_classes(eta, y, weight)
        return _log_link(eta, y, weight, self.power)

    def _several_classes(self, eta: Floats, y: Floats, weight: Floats) -> Slopes:
        basis = self.contrasts()
        shares = np.matmul(basis, eta)
        shares -= shares.max(axis=1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=1, keepdims=True)
        own = (y == np.arange(self.classes)[:, None]).astype(np.float64)
        inner = np.matmul(basis.T, shares)
        residual = (inner - basis.T @ own) * weight[:, None]
        curvature = np.empty((len(eta), len(self.pairs), eta.shape[2]))
        for place, (a, b) in enumerate(self.pairs):
            np.matmul(basis[:, a] * basis[:, b], shares, out=curvature[:, place])
            curvature[:, place] -= inner[:, a] * inner[:, b]
        curvature *= weight[:, None]
        missed = 1.0 - np.einsum("tkr,kr->tr", shares, own)
        return residual, curvature, np.einsum("tr,tr->t", missed, weight)

    def losses(self, eta: Floats, y: Floats, weight: Floats) -> Floats:
        """The weighted sum of losses of each set, up to what does not depend on `eta`."""
        if self.classes > 2:
            scores = np.matmul(self.contrasts(), eta)
            top = scores.max(axis=1)
            own = np.take_along_axis(scores, y.astype(np.intp)[None, None], axis=1)[:, 0]
            lost = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - own
        elif self.classes == 2:
            lost = np.logaddexp(0.0, eta[:, 0]) - y * eta[:, 0]
        else:
            lost = _log_link_losses(eta[:, 0], y, self.power)
        return np.asarray(np.einsum("tr,tr->t", lost, weight))

    def first_predictors(self, y: Floats, weight: Floats) -> Floats:
        """What the predictors of each set are where no column has a say: sets × predictors."""
        total = weight.sum(axis=1)
        if not self.classes:
            return np.asarray(np.log(weight @ y / total)[:, None])
        shares = np.stack([weight @ (y == k) for k in range(self.classes)], axis=1) / total[:, None]
        if self.classes == 2:
            return np.asarray(np.log(shares[:, 1:] / shares[:, :1]))
        return np.asarray(np.log(shares) @ self.contrasts())


@cache
def _contrasts(count: int) -> Floats:
    basis = np.zeros((count, count - 1))
    for k in range(1, count):
        basis[:k, k - 1] = 1.0
        basis[k, k - 1] = -k
        basis[:, k - 1] /= np.sqrt(k * (k + 1.0))
    basis.setflags(write=False)
    return basis


def _two_classes(eta: Floats, y: Floats, weight: Floats) -> Slopes:
    share = np.negative(eta[:, 0])
    np.exp(share, out=share)
    share += 1.0
    np.reciprocal(share, out=share)
    curvature = 1.0 - share
    curvature *= share
    curvature *= weight
    share -= y
    share *= weight
    return share[:, None], curvature[:, None], np.abs(share).sum(axis=1)


def _log_link_losses(linear: Floats, y: Floats, power: float) -> Floats:
    if power == 1:
        return np.asarray(np.exp(linear) - y * linear)
    if power == 2:
        return np.asarray(linear + y * np.exp(-linear))
    return np.asarray(np.exp((2 - power) * linear) / (2 - power) - y * np.exp((1 - power) * linear) / (1 - power))


def _log_link(eta: Floats, y: Floats, weight: Floats, power: float) -> Slopes:
    linear = eta[:, 0]
    if power == 1:
        curvature = np.exp(linear)
        residual = curvature - y
    elif power == 2:
        curvature = np.exp(-linear)
        curvature *= y
        residual = 1.0 - curvature
    else:
        mean, own = np.exp((2 - power) * linear), y * np.exp((1 - power) * linear)
        curvature, residual = (2 - power) * mean + (power - 1) * own, mean - own
    curvature *= weight
    residual *= weight
    return residual[:, None], curvature[:, None], np.full(len(eta), np.inf)
