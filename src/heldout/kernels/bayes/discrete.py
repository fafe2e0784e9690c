"""Naive Bayes of counts: from sums to log probabilities of columns, and from those to scores of held-out rows.

The formulas are written as scikit-learn writes them, so that on whole numbers, whose sums lose no bit, they give the
same bits: there only the product of rows with log probabilities is rounded differently.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.bayes.data import Data
from heldout.kernels.bayes.doubt import EPS, ROUNDINGS, best_two, classes_first, doubtful, probabilities
from heldout.kernels.bayes.forms import Form
from heldout.kernels.bayes.sums import Space, Sums
from heldout.kernels.ridge.design import Floats

LOST = 1e-13  # relative error of a smoothed count past which it is summed from the rows themselves


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Logs:
    """The scores of one training set: x·logs + constant, by candidate and class."""

    logs: Floats  # columns × (candidates · classes), or × candidates where classes are subtracted
    constant: Floats
    largest: Floats  # candidates: of the logs
    error: Floats  # candidates: errors of the logs
    fixed: Floats  # candidates: errors of the constants
    good: NDArray[np.bool_]
    classes: int
    subtracted: bool  # two classes, of which only the difference is wanted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Errors:
    """How far counts may be from the true ones: not at all, for whole numbers."""

    counts: Floats  # classes × columns
    weights: Floats  # classes

    @classmethod
    def of(cls, sums: Sums, *, exact: bool) -> Errors:
        each = 0.0 if exact else ROUNDINGS * EPS
        return cls(counts=each * sums.reach[0], weights=each * sums.reach_weights)


def has_lost_digits(sums: Sums, values: Floats, *, exact: bool) -> bool:
    """Whether subtraction left too few digits of some count for the smallest of these smoothings."""
    if exact:
        return False
    errors = Errors.of(sums, exact=False).counts
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = (errors > LOST * (sums.table[0] + values.min())) & (sums.reach[0] > 0)
    return bool(lost.any())


def logs_of(form: Form, values: Floats, sums: Sums, *, exact: bool, proba: bool) -> Logs:
    """The scores for every smoothing."""
    counts = np.ascontiguousarray(np.maximum(sums.table[0], 0.0))
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
            added = beside if form.kind == "complement" else prior + beside
            fixed[place] = off[1] + prior_error
            error[place], largest[place] = off[0], np.abs(table).max(initial=0.0)
            if not exact:
                fixed[place] += EPS * ROUNDINGS * float(np.abs(added).max())
            elif form.kind == "bernoulli":  # the last sum of two numbers may be another
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
    return Logs(
        logs=logs.reshape(columns, -1),
        constant=constant.reshape(-1),
        largest=largest,
        error=error,
        fixed=fixed,
        good=good,
        classes=classes,
        subtracted=subtracted,
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
    """What multiplies x (classes × columns), what is added (classes), and the errors of both."""
    counts, weights = counted
    inexact = bool(errors.weights.any())
    if form.kind == "complement":
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
    if form.kind == "multinomial":
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


def respond(
    logs: Logs, data: Data, rows: Rows, *, proba: bool
) -> tuple[NDArray[np.intp], Floats | None, NDArray[np.bool_]]:
    """Class places for rows × candidates, probabilities where wanted, and which candidates are sure of every row."""
    count = len(logs.good)
    codes = np.empty((len(rows), count), dtype=np.intp)
    found = np.empty((len(rows), count, logs.classes)) if proba else None
    good = logs.good.copy()
    assert data.norms is not None, "counts have norms"
    space = None if data.is_sparse else Space(data, len(rows))
    step = _rows_at_a_time(data, logs) if data.is_sparse else data.chunk
    none = np.zeros(0)
    for start in range(0, len(rows), step):
        chunk = rows[start : start + step]
        own = slice(start, start + len(chunk))
        x = data.X[chunk] if space is None else space.read(chunk, none)
        values = np.asarray(x @ logs.logs)
        values += logs.constant
        if logs.subtracted:
            np.greater(values, 0.0, out=codes[own], casting="unsafe")
            gap = np.abs(values, out=values)
        else:
            shaped = classes_first(values, logs.classes)
            codes[own], gap = best_two(shaped)
            if found is not None:
                found[own] = probabilities(shaped)
        norm = data.norms[chunk][:, None]
        bound = norm * (ROUNDINGS * EPS * logs.largest + logs.error) + logs.fixed
        good &= ~doubtful(gap, bound, logs.classes, proba=proba).any(axis=0)
    return codes, found, good


def _rows_at_a_time(data: Data, logs: Logs) -> int:
    return int(max(256, (1 << 18) // max(1, logs.logs.shape[1])))
