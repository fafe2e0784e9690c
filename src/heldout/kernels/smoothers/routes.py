"""Three ways to answer trainings of one form: by blocks of an inverse, by its diagonal, or each by its own factor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from heldout.kernels.smoothers.spectrum import EPS, ROUNDINGS, WIDER, WITHIN, Spectrum, Targets
from heldout.kernels.sums.rounding import Floats

HOPELESS = 300.0  # times the tier: an estimate beyond this is not made again with more care
SMALL_SHARE = 1e-2  # of the largest response of a panel: what a single row's response is measured by at least
# A residual that is a sum over n rows was seen to be off by up to 2·√n units of its last place, or by 2·√256 where n is
# smaller; twice that is allowed for.
CANCELLED = 4.0
CANCELLED_ROWS = 256

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cut:
    """A training among the rows of a base, by places in it."""

    train: Places
    out: Places  # all others
    held: Places  # held-out rows of every side it answers, end to end
    held_out: Places  # where those are among `out`
    sides: Places  # where each side begins in `held`
    flat: Places | None  # of the square of `out` in the base's matrix, where that is kept
    mean: Floats  # targets: of y over the training rows, where models centre it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """Responses on a training's held-out rows for one λ, and which sides are inside the tier."""

    values: Floats  # rows × targets
    good: NDArray[np.bool_]  # sides


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inverse:
    """G = (K+λI)⁻¹ on the rows of a base, with what bounds rounding errors for every training."""

    spectrum: Spectrum
    targets: Targets
    place: int  # of λ
    G: Floats
    known: Floats  # G·right
    coefficients: float  # more than the length of any model's coefficients
    weights: float  # about the length of the weights that a held-out row gives

    @property
    def cancelled(self) -> float:
        """What a difference from y loses, as a share of the residual that is taken away."""
        return CANCELLED * EPS * float(np.sqrt(max(CANCELLED_ROWS, len(self.G))))


def make_inverse(spectrum: Spectrum, targets: Targets, place: int, coefficients: float) -> Inverse:
    """The inverse for one λ."""
    with np.errstate(over="ignore", invalid="ignore"):  # a matrix that is not definite may have no inverse
        known = spectrum.vectors @ (spectrum.turned * spectrum.inverse[:, [place]])
    return Inverse(
        spectrum=spectrum,
        targets=targets,
        place=place,
        G=spectrum.invert(place),
        known=known,
        coefficients=coefficients,
        weights=WIDER * float(spectrum.reach[:, place].max()),
    )


def none_good(cut: Cut, targets: Targets) -> Found:
    """No answer: scikit-learn's own fit must give it."""
    values = np.zeros((len(cut.held), targets.Y.shape[1]))
    return Found(values=values, good=np.zeros(len(cut.sides), dtype=bool))


def by_block(inverse: Inverse, cut: Cut) -> Found:
    """Held-out residuals are G_BB⁻¹(Gy)_B, with B all rows of the base that are not trained on."""
    spectrum, targets, place = inverse.spectrum, inverse.targets, inverse.place
    if not spectrum.definite[place]:
        return _with_care(inverse, cut)
    right = _less_mean(inverse.known.take(cut.out, axis=0), cut, targets)
    block = _block(inverse.G, cut)
    _, z, failed = lapack.dposv(block.T, right, lower=1, overwrite_a=1)
    if failed:
        return none_good(cut, targets)
    residual = z.take(cut.held_out, axis=0)
    error = spectrum.error(place, inverse.coefficients, inverse.weights)
    if targets.root is not None:
        root = targets.root.take(cut.held)
        residual /= root[:, None]
        error = error / root
    values = targets.Y.take(cut.held, axis=0) - residual
    values += targets.middle
    size = _sides(np.abs(values).max(axis=1), cut)
    lost = inverse.cancelled * _sides(np.abs(residual).max(axis=1), cut)
    error = np.broadcast_to(error, len(cut.held))
    worst = _sides(error, cut)
    good = worst + lost <= WITHIN * size
    if good.all() or (worst > HOPELESS * WITHIN * size).any():
        return Found(values=values, good=good)
    return _with_care(inverse, cut)


def _with_care(inverse: Inverse, cut: Cut) -> Found:
    """The same with the coefficients and weights of this very training: dearer, and it needs no definite matrix."""
    targets, G = inverse.targets, inverse.G
    right = _less_mean(inverse.known.take(cut.out, axis=0), cut, targets)
    beside = G.take(cut.out, axis=0)
    if not np.isfinite(inverse.known).all():
        return none_good(cut, targets)
    try:
        solved = np.linalg.solve(_block(G, cut), np.column_stack([right, beside.take(cut.train, axis=1)]))
    except np.linalg.LinAlgError:
        return none_good(cut, targets)
    z, W = solved[:, : right.shape[1]], solved[cut.held_out, right.shape[1] :]
    c = _less_mean(inverse.known.take(cut.train, axis=0), cut, targets) - beside.take(cut.train, axis=1).T @ z
    values = inverse.spectrum.K[np.ix_(cut.held, cut.train)] @ c
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(np.sqrt((c**2).sum(axis=0)).max())
        error = inverse.spectrum.error(inverse.place, length, np.sqrt((W**2).sum(axis=1)))
    return _finished(values, error, cut, targets)


def by_factor(K: Floats, cut: Cut, targets: Targets, lam: float, entry: float) -> Found:
    """The model itself, by the factor of its own matrix; K is the base's, weights inside."""
    A = K[np.ix_(cut.train, cut.train)]
    A.flat[:: len(A) + 1] += lam
    largest = float(np.abs(A).sum(axis=0).max())
    right = _less_mean(targets.right.take(cut.train, axis=0), cut, targets)
    factor, failed = lapack.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return none_good(cut, targets)
    c = lapack.dpotrs(factor, right, lower=1)[0]
    reciprocal, _ = lapack.dpocon(factor, largest, uplo="L")
    if not reciprocal > 0:
        return none_good(cut, targets)
    cross = K[np.ix_(cut.held, cut.train)]
    length = float(np.sqrt((c**2).sum(axis=0)).max())
    own = np.abs(K[cut.held, cut.held]).max(initial=0.0)
    weights = np.sqrt(own / (reciprocal * largest))  # a bound: |W|² ≤ k/λ_min
    scale = ROUNDINGS * EPS * length
    found = _finished(cross @ c, np.full(len(cut.held), scale * (entry + weights * (entry + lam))), cut, targets)
    if found.good.all():
        return found
    W = lapack.dpotrs(factor, np.asfortranarray(cross.T), lower=1)[0]
    error = scale * (entry + np.sqrt((W**2).sum(axis=0)) * (entry + lam))
    return _finished(cross @ c, error, cut, targets)


def by_diagonal(spectrum: Spectrum, targets: Targets, bounds: Floats, held: Places) -> tuple[Floats, NDArray[np.bool_]]:
    """Each of these rows left out alone, for every λ: responses (rows × lambdas × targets) and which are good."""
    G, _, KG = (one.take(held, axis=0) for one in spectrum.diagonals)
    inverse = np.where(spectrum.definite, spectrum.inverse, 0.0)
    vectors = spectrum.vectors.take(held, axis=0)
    count = len(targets.Y)
    values = np.empty((len(held), len(spectrum.lambdas), targets.Y.shape[1]))
    own = targets.Y.take(held, axis=0)
    mean = (targets.Y.sum(axis=0) - own) / (count - 1) if targets.centred else np.zeros_like(own)
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
    good = np.isfinite(values).all(axis=2) & (error <= WITHIN * size) & spectrum.definite
    return values, np.asarray(good)


def _finished(scaled: Floats, error: Floats, cut: Cut, targets: Targets) -> Found:
    """Responses from those of y less its mean, rows still multiplied by the roots of their weights."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if targets.root is not None:
            root = targets.root.take(cut.held)
            scaled, error = scaled / root[:, None], error / root
        values = scaled + cut.mean + targets.middle
        size = _sides(np.abs(values).max(axis=1), cut)
    good = _sides(error, cut) <= WITHIN * size
    return Found(values=values, good=np.asarray(good & np.isfinite(size)))


def _less_mean(right: Floats, cut: Cut, targets: Targets) -> Floats:
    """Right sides of y less its mean over the training rows, from those of y and of 1."""
    return np.asarray(right[:, :-1] - right[:, -1:] * cut.mean) if targets.centred else right


def _block(G: Floats, cut: Cut) -> Floats:
    if cut.flat is not None:
        return np.asarray(G.reshape(-1).take(cut.flat))
    return np.asarray(G.take(cut.out, axis=0).take(cut.out, axis=1))


def _sides(values: Floats, cut: Cut) -> Floats:
    return np.asarray(np.maximum.reduceat(values, cut.sides) if len(cut.sides) > 1 else values.max(keepdims=True))
