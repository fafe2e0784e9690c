"""Dual objectives of support vector machines beside scikit-learn's own, on every fit that the kernel answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from compare import recorded_calls
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC

from heldout.kernels.brute import fit_predictor
from heldout.kernels.step import Training, Work
from heldout.kernels.vectors import answer


class Fit(NamedTuple):
    """One candidate on one training set, with the duals that the kernel answered from."""

    training: Training
    work: Work
    candidate: int
    duals: Any


@contextmanager
def recorded_fits() -> Iterator[list[Fit]]:
    """Every fit that the kernel answers a cell from while this lasts; those left to brute force are none of them."""
    fits: list[Fit] = []
    with recorded_calls(answer, "solve_shape") as calls:
        yield fits
    for (sitting, _), found in calls:
        for candidate, sides in found.items():
            known = next((side[0] for side in sides if side is not None), None)
            if known is not None:
                fits.append(Fit(sitting.training, sitting.work, candidate, known.duals))


def worst_objective(fits: Sequence[Fit]) -> float:
    """How far, relative to scikit-learn's, the dual objectives of these fits lie from its own: the largest.

    Both sides stop by one rule, so an objective far below is no better solution: its duals are outside their bounds.
    """
    return float(np.max([_apart(fit) for fit in fits], initial=0.0))


def _apart(fit: Fit) -> float:
    theirs = fit_predictor(fit.training, fit.work, fit.candidate)
    rows = fit.work.train_rows(fit.training.trains[0])
    X, y = fit.work.task.take(rows), fit.work.task.y[rows]
    last = theirs
    if isinstance(theirs, Pipeline):
        X, last = theirs[:-1].transform(X), theirs[-1]
    params = {} if last.kernel == "linear" else {"gamma": last._gamma}
    params |= {"coef0": last.coef0} if last.kernel in ("poly", "sigmoid") else {}
    params |= {"degree": last.degree} if last.kernel == "poly" else {}
    K = pairwise_kernels(np.asarray(X, dtype=float), metric=last.kernel, **params)
    mine, other = (_objective(last, duals, K, y) for duals in (fit.duals, _table(last, len(rows))))
    return float(abs(mine - other) / max(abs(other), 1e-12))


def _table(fitted: Any, n: int) -> Any:
    """scikit-learn's duals, a column for each pair of classes, by its own account of them."""
    full = np.zeros((len(fitted.dual_coef_), n))
    full[:, fitted.support_] = fitted.dual_coef_
    classes = getattr(fitted, "classes_", None)
    if classes is None or len(classes) == 2:
        return full.T
    of = np.repeat(np.arange(len(classes)), fitted.n_support_)
    columns = []
    for i in range(len(classes)):
        for j in range(i + 1, len(classes)):
            column = np.zeros(n)
            column[fitted.support_[of == i]] = fitted.dual_coef_[j - 1, of == i]
            column[fitted.support_[of == j]] = fitted.dual_coef_[i, of == j]
            columns.append(column)
    return np.stack(columns, axis=1)


def _objective(model: Any, duals: Any, K: Any, y: Any) -> float:
    if isinstance(model, NuSVC):  # duals are known up to a factor, which nu fixes
        duals = duals / np.abs(duals).sum(axis=0)
    half = 0.5 * float(np.einsum("ik,ij,jk->", duals, K, duals, optimize=True))
    if isinstance(model, NuSVC):
        return half
    if isinstance(model, SVC):
        return half - float(np.abs(duals).sum())
    linear = -float(np.asarray(y, dtype=float) @ duals[:, 0])
    return half + linear + (model.epsilon * float(np.abs(duals).sum()) if isinstance(model, SVR) else 0.0)
