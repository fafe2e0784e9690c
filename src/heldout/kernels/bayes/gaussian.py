"""Gaussian naive Bayes: from sums to means and variances, and from those to scores of held-out rows.

The score of a class is quadratic in x. With z = x − centre, a = 1/variance and m the class mean less the centre it is
Σ(−½a·z² + a·m·z) plus a constant: the scores of every smoothing are two products of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.bayes.data import Data
from heldout.kernels.bayes.doubt import EPS, ROUNDINGS, best_two, classes_first, doubtful, probabilities
from heldout.kernels.bayes.forms import Form
from heldout.kernels.bayes.settle import Direct, settle
from heldout.kernels.bayes.sums import Space, Sums
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.normal import LostDigits, scales

LOST = 1e-13  # relative error of a variance past which it is computed from the rows themselves
OFFSET = 1e-9  # error that columns far from zero leave in scikit-learn's own standardised rows
NO_WEIGHT = 1e-6  # a class that weighs less is as good as absent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """The scores of one training set: z²·quadratic + z·linear + constant, by candidate and class."""

    quadratic: Floats  # columns × (candidates · classes), or × candidates where classes are subtracted
    linear: Floats
    constant: Floats
    direct: Direct  # the same, for rows whose digits these products lose
    fixed: Floats  # candidates: what errors are made of besides z²
    error: Floats  # candidates: relative errors of variances
    good: NDArray[np.bool_]  # candidates whose numbers can be trusted
    subtracted: bool  # two classes, of which only the difference is wanted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """What is learned of a training set, smoothing and priors apart."""

    means: Floats  # classes × columns
    variances: Floats
    errors: Floats  # of the variances
    shares: Floats  # of the classes
    spread: Floats  # columns: variance of all rows, unweighted
    scale: Floats  # columns: what a scaler divides by


def moments_of(form: Form, sums: Sums, *, apart: bool) -> Moments:
    """Means and variances. Raises LostDigits where subtraction left too few digits of what a scaler divides by."""
    weights = sums.weights[:, None]
    if not (sums.weights > NO_WEIGHT).all():
        raise LostDigits
    offsets = sums.table[0] / weights
    variances = np.maximum(sums.table[1] / weights - offsets**2, 0.0)
    means = sums.shifts + offsets
    reach = sums.reach[1] / weights
    errors = ROUNDINGS * EPS * reach + (8 * EPS * np.abs(means)) ** 2
    spread, mean = _of_all_rows(sums)
    count = int(sums.counts.sum())
    scale = np.ones(len(spread))
    if form.scaled:
        plain = sums.reach[-1].sum(axis=0) / count
        if not apart and (ROUNDINGS * EPS * plain > LOST * spread).any():
            raise LostDigits
        scale = scales(spread, mean, count, np.ones(len(spread), dtype=bool))
    return Moments(
        means=means,
        variances=variances,
        errors=errors,
        shares=sums.weights / sums.weights.sum(),
        spread=spread,
        scale=scale,
    )


def _of_all_rows(sums: Sums) -> tuple[Floats, Floats]:
    """Unweighted variances and means of all rows: within classes and between them, so that nothing cancels."""
    first, second = sums.table[-2], sums.table[-1]
    counts = sums.counts[:, None]
    means = sums.shifts + first / counts
    mean = (sums.counts / sums.counts.sum()) @ means
    within = np.maximum(second - first**2 / counts, 0.0).sum(axis=0)
    between = (counts * (means - mean) ** 2).sum(axis=0)
    return np.asarray((within + between) / sums.counts.sum()), np.asarray(mean)


def scores_of(form: Form, values: Floats, moments: Moments, data: Data, *, proba: bool) -> Scores:
    """The scores for every smoothing."""
    squared = moments.scale**2
    smoothing = values * float(np.max(moments.spread / squared, initial=0.0))
    variances = moments.variances / squared + smoothing[:, None, None]
    own = moments.means - data.centre
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = 1.0 / (variances * squared)
        relative = (moments.errors / squared / variances).max(axis=(1, 2))
        logs = np.log(2.0 * np.pi * variances)
        prior = np.log(moments.shares if form.prior is None else np.array(form.prior))
        quadratic, linear = -0.5 * inverse, inverse * own
        pulled = (linear * own).sum(axis=2)
        base = prior - 0.5 * logs.sum(axis=2)
        constant = base - 0.5 * pulled
        mean = np.abs(moments.means).max(axis=0)
        far = EPS * np.sqrt((inverse.max(axis=1) * mean**2).sum(axis=1))
        size = np.abs(logs).sum(axis=2) + np.abs(prior) + logs.shape[2]
        fixed = (pulled + size + (inverse * (moments.variances + moments.errors)).sum(axis=2)).max(axis=1)
        good = np.isfinite(constant).all(axis=1) & np.isfinite(inverse).all(axis=(1, 2))
        good &= np.isfinite(fixed) & (relative < 1e-6) & (far <= OFFSET)
    count, classes, columns = inverse.shape
    subtracted = classes == 2 and not proba
    if subtracted:
        shape = (count, columns)
        quadratic, linear = (table[:, 1] - table[:, 0] for table in (quadratic, linear))
        constant = constant[:, 1] - constant[:, 0]
    else:
        shape = (count * classes, columns)
    if not good.all():
        quadratic[~good], linear[~good], constant[~good] = 0.0, 0.0, 0.0
    return Scores(
        quadratic=np.ascontiguousarray(quadratic.reshape(shape).T),
        linear=np.ascontiguousarray(linear.reshape(shape).T),
        constant=constant.reshape(-1),
        direct=Direct(
            means=moments.means,
            shaky=4 * EPS * (np.abs(moments.means) + np.sqrt(moments.variances)),
            inverse=inverse,
            base=base,
            size=size,
            error=relative,
        ),
        fixed=fixed,
        error=relative,
        good=good,
        subtracted=subtracted,
    )


def respond(
    scores: Scores, data: Data, rows: Rows, *, proba: bool
) -> tuple[NDArray[np.intp], Floats | None, NDArray[np.bool_]]:
    """Class places for rows × candidates, probabilities where wanted, and which candidates are sure of every row."""
    count, classes, _ = scores.direct.inverse.shape
    codes = np.empty((len(rows), count), dtype=np.intp)
    found = np.empty((len(rows), count, classes)) if proba else None
    good = scores.good.copy()
    space = Space(data, len(rows))
    trusted = scores.direct.inverse[scores.good]
    largest = trusted.max(axis=(0, 1)) if len(trusted) else np.zeros(data.columns)
    with np.errstate(invalid="ignore"):
        error = ROUNDINGS * EPS + float(scores.error[scores.good].max(initial=0.0))
        fixed = float(scores.fixed[scores.good].max(initial=0.0))
    for start in range(0, len(rows), data.chunk):
        chunk = rows[start : start + data.chunk]
        own = slice(start, start + len(chunk))
        z = space.read(chunk, data.centre)
        squares = space.squares(z)
        values = z @ scores.linear
        values += squares @ scores.quadratic
        values += scores.constant
        if scores.subtracted:
            np.greater(values, 0.0, out=codes[own], casting="unsafe")
            gap = np.abs(values, out=values)
        else:
            shaped = classes_first(values, classes)
            codes[own], gap = best_two(shaped)
            if found is not None:
                found[own] = probabilities(shaped)
        bound = error * (2.0 * (squares @ largest) + fixed)
        gap[:, ~scores.good] = np.inf
        near = np.flatnonzero(doubtful(gap.min(axis=1), bound, classes, proba=proba))
        near = near[_unsure(scores, squares[near], gap[near], proba=proba)] if len(near) else near
        for first in range(0, len(near), scores.direct.block):
            some = near[first : first + scores.direct.block]
            places, numbers, sure = settle(scores.direct, data.X[chunk[some]].astype(np.float64), proba=proba)
            codes[start + some] = places
            if found is not None and numbers is not None:
                found[start + some] = numbers
            good &= sure.all(axis=0)
    return codes, found, good


def _unsure(scores: Scores, squares: Floats, gap: Floats, *, proba: bool) -> NDArray[np.bool_]:
    """Which of these rows are in doubt for some candidate, each by errors of its own."""
    inverse = scores.direct.inverse
    with np.errstate(invalid="ignore", over="ignore"):
        inside = np.stack([(squares @ one.T).max(axis=1) for one in inverse], axis=1)
        bound = (ROUNDINGS * EPS + scores.error) * (2.0 * inside + scores.fixed)
        bound[:, ~scores.good] = 0.0  # those are brute force's in any case
    return np.asarray(doubtful(gap, bound, inverse.shape[1], proba=proba).any(axis=1))
