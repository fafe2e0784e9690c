"""Three ways to answer trainings: by blocks of an inverse, by its diagonal, or each by a factor of its own matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from heldout.kernels.smoothers.spectrum import Spectrum, Targets
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, TOLERANCE, Bools, Floats

HOPELESS = 300.0  # times the tier: a block whose error may be larger goes straight to brute force
SMALL_SHARE = 1e-2  # of the largest response of a panel: a smaller response is compared with this much
WIDER = 1.5  # how much longer the weights of a block's rows may be than those of rows left out alone
# A residual that is a sum over n rows was seen to be off by up to 2·√n units of its last place, or by 2·√256 where n is
# smaller; twice that is allowed for.
CANCELLED = 4.0
CANCELLED_ROWS = 256

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cut:
    """One training, as positions among the rows that share a Gram matrix."""

    train: Places
    family: str  # the splits whose trainings all leave out some further rows; "" where there are none
    out: Places  # rows left out, ascending; in a family only its own, without those that all its trainings leave out
    held: Places  # held-out rows of every part it answers, concatenated
    held_out: Places  # positions of `held` in `out`
    starts: Places  # where each part begins in `held`
    mean: Floats  # targets: of y over the training rows, where models centre it
    apart: bool  # needs its own factor: it leaves out most rows, or trains on rows twice or on held-out ones

    def largest(self, values: Floats) -> Floats:
        """Return the largest value in each held-out part."""
        return np.asarray(
            np.maximum.reduceat(values, self.starts) if len(self.starts) > 1 else values.max(keepdims=True)
        )


class HeldOutResponses(NamedTuple):
    """Responses on a training's held-out rows for one λ, and which parts are inside the tier."""

    values: Floats  # rows × targets
    reliable: Bools  # parts


class Inverse:
    """Holds G = (K+λI)⁻¹, and what bounds rounding errors for every training."""

    def __init__(self, spectrum: Spectrum, targets: Targets, place: int, coefficients: float) -> None:
        self.spectrum, self.targets, self.place = spectrum, targets, place
        self.penalty = float(spectrum.lambdas[place])
        self.definite = bool(spectrum.definite[place])
        if not self.definite:
            return
        half = spectrum.vectors * np.sqrt(spectrum.inverse[:, place])
        self.G = half @ half.T
        self.known = spectrum.vectors @ (spectrum.turned * spectrum.inverse[:, [place]])  # G·right
        self.cancelled = CANCELLED * EPS * float(np.sqrt(max(CANCELLED_ROWS, len(self.G))))
        weights = WIDER * float(spectrum.reach[:, place].max())  # bounds |W_b|, see `spectrum`
        size = spectrum.entry + weights * (spectrum.entry + self.penalty)
        self.error = ROUNDINGS * EPS * coefficients * size


class Eliminated(NamedTuple):
    """Rows that all trainings of one splits leave out, eliminated by the Cholesky factor L of G on them."""

    V: Floats  # L⁻¹·G of these rows and all
    known: Floats  # L⁻¹ times their right-hand sides


def eliminate(inverse: Inverse, rows: Places) -> Eliminated | None:
    """Return the elimination of these rows, or None where G has no Cholesky factor on them."""
    beside = inverse.G.take(rows, axis=0)
    try:
        L = np.linalg.cholesky(beside.take(rows, axis=1))
    except np.linalg.LinAlgError:
        return None
    both = np.concatenate([beside, inverse.known.take(rows, axis=0)], axis=1)
    solved = solve_triangular(L, both, lower=True, overwrite_b=True, check_finite=False)
    return Eliminated(solved[:, : len(inverse.G)], solved[:, len(inverse.G) :])


def none_reliable(cut: Cut, targets: Targets) -> HeldOutResponses:
    """Mark every answer as unreliable, so that brute force computes it."""
    return HeldOutResponses(np.zeros((len(cut.held), targets.Y.shape[1])), np.zeros(len(cut.starts), dtype=bool))


def by_block(inverse: Inverse, cut: Cut, eliminated: Eliminated | None) -> HeldOutResponses:
    """Answer one training by a block of G: held-out residuals are G_BB⁻¹(Gy)_B, with B all rows that do not train.

    Where all trainings of these splits leave out some of these rows (`eliminated`), what remains of G and Gy after
    their elimination is enough.
    """
    targets = inverse.targets
    block, right = inverse.G[np.ix_(cut.out, cut.out)], inverse.known.take(cut.out, axis=0)
    if eliminated is not None:
        V = eliminated.V.take(cut.out, axis=1)
        block -= V.T @ V
        right -= V.T @ eliminated.known
    _, z, failed = lapack.dposv(block.T, _less_mean(right, cut, targets), lower=1, overwrite_a=1)
    if failed:
        return none_reliable(cut, targets)
    residual, error = z.take(cut.held_out, axis=0), np.broadcast_to(inverse.error, len(cut.held))
    if targets.root is not None:
        root = targets.root.take(cut.held)
        residual, error = residual / root[:, None], error / root
    values = targets.Y.take(cut.held, axis=0) - residual
    values += targets.middle
    size = TOLERANCE * cut.largest(np.abs(values).max(axis=1))
    lost, worst = inverse.cancelled * cut.largest(np.abs(residual).max(axis=1)), cut.largest(error)
    reliable = worst + lost <= size
    if reliable.all() or (worst > HOPELESS * size).any():
        return HeldOutResponses(values, reliable)
    return by_factor(inverse.spectrum.K, inverse.spectrum.entry, inverse.penalty, cut, targets)


def by_factor(K: Floats, entry: float, penalty: float, cut: Cut, targets: Targets) -> HeldOutResponses:
    """Fit one training by the Cholesky factor of its own matrix.

    `entry` is the error of an entry of K, in units of eps.
    """
    A = K[np.ix_(cut.train, cut.train)]
    A.flat[:: len(A) + 1] += penalty
    largest = float(np.abs(A).sum(axis=0).max())
    factor, failed = lapack.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return none_reliable(cut, targets)
    c = lapack.dpotrs(factor, _less_mean(targets.right.take(cut.train, axis=0), cut, targets), lower=1)[0]
    reciprocal, _ = lapack.dpocon(factor, largest, uplo="L")
    if not reciprocal > 0:
        return none_reliable(cut, targets)
    cross = K[np.ix_(cut.held, cut.train)]
    scale = ROUNDINGS * EPS * float(np.sqrt((c**2).sum(axis=0)).max())
    own = np.abs(K[cut.held, cut.held]).max(initial=0.0)
    weights = np.full(len(cut.held), np.sqrt(own / (reciprocal * largest)))  # a bound: |W|² ≤ k/λ_min
    bounded = _finished(cross @ c, scale * (entry + weights * (entry + penalty)), cut, targets)
    if bounded.reliable.all():
        return bounded
    weights = np.sqrt((lapack.dpotrs(factor, np.asfortranarray(cross.T), lower=1)[0] ** 2).sum(axis=0))
    return _finished(cross @ c, scale * (entry + weights * (entry + penalty)), cut, targets)


def by_diagonal(spectrum: Spectrum, targets: Targets, bounds: Floats, held: Places) -> tuple[Floats, Bools]:
    """Leave each of these rows out, for every λ. Return responses (rows × lambdas × targets) and which are reliable."""
    G, _, KG = (one.take(held, axis=0) for one in spectrum.diagonals)
    inverse = np.where(spectrum.definite, spectrum.inverse, 0.0)
    vectors = spectrum.vectors.take(held, axis=0)
    values = np.empty((len(held), len(spectrum.lambdas), targets.Y.shape[1]))
    mean = targets.means_without_each().take(held, axis=0)
    root = np.ones(len(held)) if targets.root is None else targets.root.take(held)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for target in range(values.shape[2]):
            fitted = spectrum.turned[:, [target]]
            c, Kc = vectors @ (inverse * fitted), vectors @ (inverse * fitted * spectrum.values[:, None])
            if targets.centred:
                ones, away = spectrum.turned[:, [-1]], mean[:, [target]]
                c -= away * (vectors @ (inverse * ones))
                Kc -= away * (vectors @ (inverse * ones * spectrum.values[:, None]))
            values[:, :, target] = (Kc - KG * c / G) / root[:, None] + mean[:, [target]] + targets.middle[target]
        size = np.abs(values).max(axis=2)
        size = np.maximum(size, SMALL_SHARE * np.where(np.isfinite(size), size, 0.0).max(axis=0))
        grown = spectrum.reach.take(held, axis=0) * (spectrum.entry + spectrum.lambdas)
        error = ROUNDINGS * EPS * bounds * (spectrum.entry + grown) / root[:, None]
    reliable = np.isfinite(values).all(axis=2) & (error <= TOLERANCE * size) & spectrum.definite
    return values, np.asarray(reliable)


def _finished(scaled: Floats, error: Floats, cut: Cut, targets: Targets) -> HeldOutResponses:
    """Return responses from those of the centred y, whose rows are still multiplied by the roots of their weights."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if targets.root is not None:
            root = targets.root.take(cut.held)
            scaled, error = scaled / root[:, None], error / root
        values = scaled + targets.middle + (cut.mean if targets.centred else 0.0)
        size = cut.largest(np.abs(values).max(axis=1))
    return HeldOutResponses(values, np.asarray((cut.largest(error) <= TOLERANCE * size) & np.isfinite(size)))


def _less_mean(right: Floats, cut: Cut, targets: Targets) -> Floats:
    """Return right-hand sides of y less its mean over the training rows, from those of y and of a column of ones."""
    return np.asarray(right[:, :-1] - right[:, -1:] * cut.mean) if targets.centred else right
