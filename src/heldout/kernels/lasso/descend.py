"""Coordinate descent along a path of penalties: scikit-learn's own, on products of columns instead of rows."""

from __future__ import annotations

import numpy as np
import sklearn
from sklearn.linear_model import enet_path

from heldout.kernels.lasso.problem import Problem
from heldout.kernels.ridge.design import Floats

TOLERANCE = 1e-13  # of steps, against the largest coefficient: gaps come out below what is asked of them
FACTOR_TOLERANCE = 1e-13


def descend(
    problem: Problem, target: int, alphas: Floats, ratio: float, *, sweeps: int, start: Floats | None = None
) -> Floats:
    """Coefficients, columns × alphas, of one target. `alphas` descend and are summed over rows; each starts the next.

    One row stands for all: with C and d given, nothing but the targets' sum of squares is read of the rows.
    """
    row, root = np.zeros((1, len(problem.C)), order="F"), np.sqrt(problem.yy[target : target + 1])
    with sklearn.config_context(skip_parameter_validation=True):
        _, coefs, _ = enet_path(
            row,
            root,
            l1_ratio=ratio,
            alphas=alphas,
            precompute=problem.C,
            Xy=np.ascontiguousarray(problem.d[:, target]),
            positive=problem.positive,
            coef_init=None if start is None else start.copy(),
            check_input=False,
            tol=TOLERANCE,
            max_iter=sweeps,
        )
    return np.asarray(coefs)


def descend_jointly(problem: Problem, alphas: Floats, ratio: float, *, sweeps: int) -> Floats:
    """Coefficients, columns × alphas × targets, penalised jointly.

    There is no descent on products for several tasks; a root of C has the same products in no more rows than columns.
    """
    values, vectors = np.linalg.eigh(problem.C)
    kept = values > len(values) * np.finfo(np.float64).eps * max(float(values[-1]), 0.0)
    if not kept.any():
        return np.zeros((len(values), len(alphas), problem.d.shape[1]))
    roots = np.sqrt(values[kept])
    rows = np.asfortranarray(roots[:, None] * vectors[:, kept].T)
    targets = np.asfortranarray((vectors[:, kept].T @ problem.d) / roots[:, None])
    with sklearn.config_context(skip_parameter_validation=True):
        _, coefs, _ = enet_path(
            rows,
            targets,
            l1_ratio=ratio,
            alphas=alphas / len(rows),
            check_input=False,
            tol=FACTOR_TOLERANCE,
            max_iter=sweeps,
            precompute=False,
        )
    return np.asarray(coefs.transpose(1, 2, 0))
