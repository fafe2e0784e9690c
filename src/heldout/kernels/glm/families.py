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
Slopes = tuple[Floats, Floats, Floats]  # residuals, bounds, curvatures: the first and last as many × sets × rows


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
        eta : array of predictors × sets × rows
        y : array of rows
        weight : array of sets × rows
            0 for rows that a set is not trained on.
        """
        if self.classes == 2:
            share = _share(eta[0])
            curvature = 1.0 - share
            curvature *= share
            curvature *= weight
            return *_missed(share, y, weight), curvature[None]
        if self.classes:
            shares = self._shares(eta)
            basis = self.contrasts()
            inner = _mixed(basis.T, shares)
            curvature = _mixed(_contrasts_of_pairs(self.classes), shares)
            for place, (a, b) in enumerate(self.pairs):
                curvature[place] -= inner[a] * inner[b]
            curvature *= weight
            return *self._missed(inner, y, weight), curvature
        return _log_link(eta[0], y, weight, self.power)

    def residuals(self, eta: Floats, y: Floats, weight: Floats) -> tuple[Floats, Floats]:
        """First derivatives and the bound alone."""
        if self.classes == 2:
            return _missed(_share(eta[0]), y, weight)
        if self.classes:
            return self._missed(_mixed(self.contrasts().T, self._shares(eta)), y, weight)
        return _log_link(eta[0], y, weight, self.power)[:2]

    def _shares(self, eta: Floats) -> Floats:
        shares = _mixed(self.contrasts(), eta)
        shares -= shares.max(axis=0)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=0)
        return shares

    def _missed(self, inner: Floats, y: Floats, weight: Floats) -> tuple[Floats, Floats]:
        aim = self.contrasts().T[:, y.astype(np.intp)]
        inner -= aim[:, None]
        inner *= weight
        return inner, -np.matmul(inner, aim[:, :, None])[:, :, 0].sum(axis=0)  # of each row what its own share lacks

    def losses(self, eta: Floats, y: Floats, weight: Floats) -> Floats:
        """The weighted sum of losses of each set, up to what does not depend on `eta`."""
        if self.classes > 2:
            scores = _mixed(self.contrasts(), eta)
            top = scores.max(axis=0)
            own = np.take_along_axis(scores, y.astype(np.intp)[None, None], axis=0)[0]
            lost = top + np.log(np.exp(scores - top).sum(axis=0)) - own
        elif self.classes == 2:
            lost = np.logaddexp(0.0, eta[0]) - y * eta[0]
        else:
            lost = _log_link_losses(eta[0], y, self.power)
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


@cache
def _contrasts_of_pairs(count: int) -> Floats:
    basis = _contrasts(count)
    both = np.stack([basis[:, a] * basis[:, b] for a, b in combinations_with_replacement(range(count - 1), 2)])
    both.setflags(write=False)
    return both


def _mixed(table: Floats, planes: Floats) -> Floats:
    """Sums of planes, each of sets × rows, by the rows of a small table."""
    return np.asarray((table @ planes.reshape(len(planes), -1)).reshape(len(table), *planes.shape[1:]))


def _share(linear: Floats) -> Floats:
    share = np.negative(linear)
    np.exp(share, out=share)
    share += 1.0
    return np.reciprocal(share, out=share)


def _missed(share: Floats, y: Floats, weight: Floats) -> tuple[Floats, Floats]:
    share -= y
    share *= weight
    return share[None], share @ (1.0 - 2.0 * y)  # the share missed is above 0 where y is 0, below where it is 1


def _log_link_losses(linear: Floats, y: Floats, power: float) -> Floats:
    if power == 1:
        return np.asarray(np.exp(linear) - y * linear)
    if power == 2:
        return np.asarray(linear + y * np.exp(-linear))
    return np.asarray(np.exp((2 - power) * linear) / (2 - power) - y * np.exp((1 - power) * linear) / (1 - power))


def _log_link(linear: Floats, y: Floats, weight: Floats, power: float) -> Slopes:
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
    return residual[None], np.full(len(linear), np.inf), curvature[None]
