"""Discrete naive Bayes (Multinomial, Complement, Bernoulli): from sums over rows to scores of held-out rows.

The formulas follow scikit-learn's order of operations. Sums of whole numbers are exact, so for them the log
probabilities have the same bits as scikit-learn's. Only the product of rows with log probabilities rounds differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from heldout.base.rowkeys import Rows
from heldout.kernels.bayes.forms import Form
from heldout.kernels.bayes.labels import doubtful, label_rows
from heldout.kernels.driver.contract import Group
from heldout.kernels.step import remember
from heldout.kernels.sums.dataset import ChunkReader, Dataset
from heldout.kernels.sums.rounding import EPS, ROUNDINGS, Bools, Floats, LostDigits
from heldout.kernels.sums.training_sums import Sums

WHOLE = 2.0**52  # up to here sums of whole numbers are exact
SPARSE_NUMBERS = 1 << 18  # scores of sparse rows computed at a time
LOST = 1e-13  # above this relative error a smoothed count is summed again from the training rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountScores:
    """Holds what scores a row of one training set: x·logs + constant, by candidate and class."""

    logs: Floats  # columns × (candidates · classes), or × candidates where classes are subtracted
    constant: Floats
    largest: Floats  # candidates: the largest |logs|
    error: Floats  # candidates: error bounds of the logs
    fixed: Floats  # candidates: error bounds of the constants
    good: Bools
    classes: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Errors:
    """Bounds on the rounding errors of the counts; 0 for whole numbers, whose sums are exact."""

    counts: Floats  # classes × columns
    weights: Floats  # classes

    @classmethod
    def of(cls, sums: Sums, *, exact: bool) -> Errors:
        each = 0.0 if exact else ROUNDINGS * EPS
        return cls(counts=each * sums.reach, weights=each * sums.weights_reach)


def row_sizes(group: Group) -> Floats:
    """Return Σ|x| of each row; computed once a study."""
    X, key = group.data.X, ("sizes of rows", group.data.layout)
    return remember(group.work.products, key, lambda: np.asarray(abs(X).sum(axis=1), dtype=np.float64).ravel())


def is_exact(group: Group) -> bool:
    """Return whether all values and weights are whole numbers so small that their sums are exact."""
    key = ("exact sums", group.data.layout)
    return remember(group.work.products, key, lambda: _is_exact(group.data, row_sizes(group)))


def _is_exact(data: Dataset, sizes: Floats) -> bool:
    X: Any = data.X
    values = X.data if sparse.issparse(data.X) else X
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        return False
    if data.weight is None:
        return bool(sizes.sum() < WHOLE)
    whole = (data.weight == np.floor(data.weight)).all()
    return bool(whole and (sizes * np.maximum(data.weight, 1.0)).sum() < WHOLE)


def count_scores(group: Group, sums: Sums, *, own_rows: bool) -> CountScores:
    """Compute the scores for every smoothing.

    `own_rows` says that the sums were added up over the training rows directly, without subtraction. Otherwise raises
    LostDigits where subtraction left too few digits of some count.
    """
    exact, smallest = is_exact(group), float(group.values.min())
    if not (exact or own_rows):
        errors = Errors.of(sums, exact=False).counts
        with np.errstate(divide="ignore", invalid="ignore"):
            if ((errors > LOST * (sums.grams[:, 0] + smallest)) & (sums.reach > 0)).any():
                raise LostDigits
    return _scores(group.form, group.values, sums, exact=exact, proba="predict_proba" in group.all_methods)


def _scores(form: Form, values: Floats, sums: Sums, *, exact: bool, proba: bool) -> CountScores:
    counts = np.ascontiguousarray(np.maximum(sums.grams[:, 0], 0.0))
    errors = Errors.of(sums, exact=exact)
    classes, columns = counts.shape
    subtracted = classes == 2 and not proba
    each = 1 if subtracted else classes
    logs = np.empty((columns, len(values), each))
    constant = np.empty((len(values), each))
    largest, error, fixed = np.zeros(len(values)), np.zeros(len(values)), np.zeros(len(values))
    good = np.zeros(len(values), dtype=bool)
    prior, prior_error = _prior(form, sums, errors)
    for place, alpha in enumerate(values.tolist()):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            table, beside, off = _tables(form, alpha, (counts, sums.weights), errors)
            added = beside if form.kind is ComplementNB else prior + beside
            fixed[place] = off[1] + prior_error
            error[place], largest[place] = off[0], np.abs(table).max(initial=0.0)
            if not exact:
                fixed[place] += EPS * ROUNDINGS * float(np.abs(added).max())
            elif form.kind is BernoulliNB:  # the last addition may round differently
                fixed[place] += 4 * EPS * float(np.abs(added).max())
        usable = np.isfinite(table).all() and np.isfinite(added).all() and np.isfinite(fixed[place] + error[place])
        good[place] = usable and bool((sums.weights > 0).all())
        if not good[place]:
            table, added = np.zeros_like(table), np.zeros_like(added)
        if subtracted:
            logs[:, place, 0] = table[1] - table[0]
            constant[place] = added[1] - added[0]
        else:
            logs[:, place] = table.T
            constant[place] = added
    return CountScores(
        logs=logs.reshape(columns, -1),
        constant=constant.reshape(-1),
        largest=largest,
        error=error,
        fixed=fixed,
        good=good,
        classes=classes,
    )


def _prior(form: Form, sums: Sums, errors: Errors) -> tuple[Floats, float]:
    classes = len(sums.counts)
    if form.prior is not None:
        return np.log(np.array(form.prior)), 0.0
    if not form.fit_prior:
        return np.full(classes, -np.log(classes)), 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        off = float((errors.weights / sums.weights).max())
        return np.log(sums.weights) - np.log(sums.weights.sum()), 2 * off


def _tables(
    form: Form, alpha: float, counted: tuple[Floats, Floats], errors: Errors
) -> tuple[Floats, Floats, tuple[float, float]]:
    """Return what multiplies x (classes × columns), what is added (classes), and the error bounds of both."""
    counts, weights = counted
    inexact = bool(errors.weights.any())
    if form.kind is ComplementNB:
        every = counts.sum(axis=0)
        rest = every + alpha - counts
        logged = np.log(rest / rest.sum(axis=1, keepdims=True))
        off = float(((errors.counts.sum(axis=0) + inexact * ROUNDINGS * EPS * (every + alpha)) / rest).max()) * 2
        if form.norm:
            summed = logged.sum(axis=1, keepdims=True)
            share = np.abs(logged / summed).max()
            off = off * float((1 / np.abs(summed)).max() * (1 + share * counts.shape[1]))
            return logged / summed, np.zeros(len(counts)), (off, 0.0)
        return -logged, np.zeros(len(counts)), (off, 0.0)
    smoothed = counts + alpha
    off = float((errors.counts / smoothed).max()) + inexact * ROUNDINGS * EPS
    if form.kind is MultinomialNB:
        total = smoothed.sum(axis=1)
        logs = np.log(smoothed) - np.log(total.reshape(-1, 1))
        return logs, np.zeros(len(counts)), (2 * off, 0.0)
    total = weights + alpha * 2
    logs = np.log(smoothed) - np.log(total.reshape(-1, 1))
    absent = 1 - np.exp(logs)
    negative = np.log(absent)
    lost = inexact * ROUNDINGS * EPS + errors.counts.max() / total.min() + float((errors.weights / total).max())
    each = lost / absent
    return logs - negative, negative.sum(axis=1), (2 * off + float(each.max()), float(each.sum(axis=1).max()))


def count_respond(
    group: Group, scores: CountScores, rows: Rows, *, proba: bool
) -> tuple[NDArray[np.intp], Floats | None, Bools]:
    """Return class codes (rows × candidates), probabilities if `proba`, and which candidates are sure on every row."""
    data, count = group.data, len(scores.good)
    codes = np.empty((len(rows), count), dtype=np.intp)
    found = np.empty((len(rows), count, scores.classes)) if proba else None
    good = scores.good.copy()
    is_sparse, sizes = sparse.issparse(data.X), row_sizes(group)
    reader = None if is_sparse else ChunkReader(data, min(data.chunk, len(rows)))
    step = max(256, SPARSE_NUMBERS // max(1, scores.logs.shape[1])) if is_sparse else data.chunk
    for start in range(0, len(rows), step):
        chunk = rows[start : start + step]
        where = slice(start, start + len(chunk))
        x = data.X[chunk] if reader is None else reader.read(chunk, data.shift.x)
        values = np.asarray(x @ scores.logs)
        values += scores.constant
        margin = label_rows(values, scores.classes, codes[where], None if found is None else found[where])
        errors = sizes[chunk][:, None] * (ROUNDINGS * EPS * scores.largest + scores.error) + scores.fixed
        good &= ~doubtful(margin, errors, scores.classes, proba=proba).any(axis=0)
    return codes, found, good
