"""Gaussian naive Bayes: from sums over the rows of each class to scores of held-out rows.

The score of a class is quadratic in x. With z = x − centre, a = 1/variance and m the class mean less the centre it is
Σ(−½a·z² + a·m·z) plus a constant. So two matrix products give the scores of every smoothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.bayes.labels import Direct, doubtful, label_rows, score_directly
from heldout.kernels.driver.contract import Group
from heldout.kernels.sums.dataset import ChunkReader
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, Bools, Floats, LostDigits, Undecided, scales
from heldout.kernels.sums.training_sums import Sums

LOST = 1e-13  # above this relative error a variance is computed again from the training rows
OFFSET = 1e-9  # error that columns far from zero leave in scikit-learn's own standardised rows
NO_WEIGHT = 1e-6  # a class with a smaller sum of weights counts as absent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianScores:
    """Holds what scores a row of one training set: z²·quadratic + z·linear + constant, by candidate and class."""

    quadratic: Floats  # columns × (candidates · classes), or × candidates where classes are subtracted
    linear: Floats
    constant: Floats
    centre: Floats  # columns
    direct: Direct  # a more exact way to compute the same scores, for rows where these products lose digits
    fixed: Floats  # candidates: the part of the error bound that does not depend on z²
    error: Floats  # candidates: relative errors of variances
    good: Bools  # candidates whose scores can be trusted


def _of_all_rows(sums: Sums) -> tuple[Floats, Floats, Floats]:
    """Return each column's unweighted variance and mean over all rows, and how large the sums behind the variance were.

    The variance is the sum of that within and that between classes, so that no digits cancel.
    """
    table = sums.grams if sums.plain is None else sums.plain
    reach = sums.reach if sums.plain is None else sums.plain_reach
    counts = sums.counts[:, None]
    means = sums.shift.x + table[:, 0] / counts
    mean = (sums.counts / sums.counts.sum()) @ means
    within = np.maximum(table[:, 1] - table[:, 0] ** 2 / counts, 0.0).sum(axis=0)
    between = (counts * (means - mean) ** 2).sum(axis=0)
    total = sums.counts.sum()
    return (within + between) / total, mean, np.asarray(reach).sum(axis=0) / total


def gaussian_scores(group: Group, sums: Sums, *, own_means: bool) -> GaussianScores:
    """Compute the scores for every smoothing.

    `own_means` says that the sums were centred at the means of their own rows, which is as exact as sums can be.
    Otherwise raises LostDigits where too few digits are left.
    """
    scores = _scores(group, sums, own_means=own_means)
    if not own_means and not (scores.good.all() and (scores.error <= LOST).all()):
        raise LostDigits
    return scores


def _scores(group: Group, sums: Sums, *, own_means: bool) -> GaussianScores:
    form, weights = group.form, sums.weights[:, None]
    if not (sums.weights > NO_WEIGHT).all():
        raise Undecided
    offsets = sums.grams[:, 0] / weights
    own_variances = np.maximum(sums.grams[:, 1] / weights - offsets**2, 0.0)
    means = sums.shift.x + offsets
    errors = ROUNDINGS * EPS * sums.reach / weights + (8 * EPS * np.abs(means)) ** 2
    spread, mean, plain = _of_all_rows(sums)
    scale = np.ones(len(spread))
    scaled = group.columns.flags("scaled", len(spread))
    if scaled.any():
        if not own_means and (ROUNDINGS * EPS * plain > LOST * spread)[scaled].any():
            raise LostDigits
        scale = scales(spread, mean, int(sums.counts.sum()), scaled)
    squared = scale**2
    smoothing = group.values * float(np.max(spread / squared, initial=0.0))
    variances = own_variances / squared + smoothing[:, None, None]
    shares = sums.weights / sums.weights.sum()
    centre = group.data.shift.x.mean(axis=0)
    still = (group.data.shift.x == group.data.shift.x[0]).all(axis=0)
    centre = np.where(still, group.data.shift.x[0], centre)
    offset = means - centre
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = 1.0 / (variances * squared)
        relative = (errors / squared / variances).max(axis=(1, 2))
        logs = np.log(2.0 * np.pi * variances)
        prior = np.log(shares if form.prior is None else np.array(form.prior))
        quadratic, linear = -0.5 * inverse, inverse * offset
        pulled = (linear * offset).sum(axis=2)
        base = prior - 0.5 * logs.sum(axis=2)
        constant = base - 0.5 * pulled
        far = EPS * np.sqrt((inverse.max(axis=1) * np.abs(means).max(axis=0) ** 2).sum(axis=1))
        size = np.abs(logs).sum(axis=2) + np.abs(prior) + logs.shape[2]
        fixed = (pulled + size + (inverse * (own_variances + errors)).sum(axis=2)).max(axis=1)
        good = np.isfinite(constant).all(axis=1) & np.isfinite(inverse).all(axis=(1, 2))
        good &= np.isfinite(fixed) & (relative < 1e-6) & (far <= OFFSET)
    count, classes, columns = inverse.shape
    subtracted = classes == 2 and "predict_proba" not in group.all_methods
    shape = (count, columns) if subtracted else (count * classes, columns)
    if subtracted:
        with np.errstate(invalid="ignore"):  # of candidates that are left to brute force
            quadratic, linear, constant = (table[:, 1] - table[:, 0] for table in (quadratic, linear, constant))
    if not good.all():
        quadratic[~good], linear[~good], constant[~good] = 0.0, 0.0, 0.0
    return GaussianScores(
        quadratic=np.ascontiguousarray(quadratic.reshape(shape).T),
        linear=np.ascontiguousarray(linear.reshape(shape).T),
        constant=constant.reshape(-1),
        centre=centre,
        direct=Direct(
            means=means,
            mean_errors=4 * EPS * (np.abs(means) + np.sqrt(own_variances)),
            inverse=inverse,
            base=base,
            size=size,
            error=relative,
        ),
        fixed=fixed,
        error=relative,
        good=good,
    )


def gaussian_respond(
    group: Group, scores: GaussianScores, rows: Rows, *, proba: bool
) -> tuple[NDArray[np.intp], Floats | None, Bools]:
    """Return class codes (rows × candidates), probabilities if `proba`, and which candidates are sure on every row."""
    data = group.data
    count, classes, columns = scores.direct.inverse.shape
    codes = np.empty((len(rows), count), dtype=np.intp)
    found = np.empty((len(rows), count, classes)) if proba else None
    good = scores.good.copy()
    reader = ChunkReader(data, min(data.chunk, len(rows)))
    trusted = scores.direct.inverse[scores.good]
    largest = trusted.max(axis=(0, 1)) if len(trusted) else np.zeros(columns)
    with np.errstate(invalid="ignore"):
        error = ROUNDINGS * EPS + float(scores.error[scores.good].max(initial=0.0))
        fixed = float(scores.fixed[scores.good].max(initial=0.0))
    for start in range(0, len(rows), data.chunk):
        chunk = rows[start : start + data.chunk]
        where = slice(start, start + len(chunk))
        z = reader.read(chunk, scores.centre)
        squares = reader.squares(z)
        values = z @ scores.linear
        values += squares @ scores.quadratic
        values += scores.constant
        margin = label_rows(values, classes, codes[where], None if found is None else found[where])
        bound = error * (2.0 * (squares @ largest) + fixed)
        margin[:, ~scores.good] = np.inf
        near = np.flatnonzero(doubtful(margin.min(axis=1), bound, classes, proba=proba))
        near = near[_unsure(scores, squares[near], margin[near], proba=proba)] if len(near) else near
        for first in range(0, len(near), scores.direct.block):
            some = near[first : first + scores.direct.block]
            places, shares, certain = score_directly(scores.direct, data.X[chunk[some]].astype(np.float64), proba=proba)
            codes[start + some] = places
            if found is not None and shares is not None:
                found[start + some] = shares
            good &= certain.all(axis=0)
    return codes, found, good


def _unsure(scores: GaussianScores, squares: Floats, margin: Floats, *, proba: bool) -> Bools:
    """Return which of these rows some candidate cannot decide, by the error bound of each row and candidate."""
    inverse = scores.direct.inverse
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.stack([(squares @ one.T).max(axis=1) for one in inverse], axis=1)
        bound = (ROUNDINGS * EPS + scores.error) * (2.0 * distance + scores.fixed)
        bound[:, ~scores.good] = 0.0  # brute force answers those in any case
    return np.asarray(doubtful(margin, bound, inverse.shape[1], proba=proba).any(axis=1))
