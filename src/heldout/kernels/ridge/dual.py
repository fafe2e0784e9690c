"""More columns than rows: the same predictors from the products of rows."""

from __future__ import annotations

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.designs.equations import equations_of_rows
from heldout.kernels.designs.linear import LinearPredictors, Spectrum, linear_predictors
from heldout.kernels.driver.contract import Group
from heldout.kernels.ridge.solve import inverses, is_doubtful


def solve_dual(group: Group, rows: Rows) -> LinearPredictors:
    """The predictors trained on these rows, from the eigendecomposition of their kernel matrix."""
    cutoff = group.form.cutoff
    equations, Z, Y = equations_of_rows(group.columns, group.data, rows, intercept=group.form.intercept)
    values, vectors = np.linalg.eigh(Z @ Z.T)
    inverse = inverses(values, group.values, cutoff)
    with np.errstate(over="ignore", invalid="ignore"):
        along = inverse[:, :, None] * (vectors.T @ Y)[:, None, :]
        basis = Z.T @ vectors
        weights = np.tensordot(basis, along, axes=1)
        doubtful = tuple(np.flatnonzero(is_doubtful(values, inverse)).tolist())
        checks: dict[tuple[int, ...], Spectrum] = {}
        if doubtful:
            length = np.sqrt((along[:, doubtful] ** 2).sum(axis=(0, 2)))
            size = float(values[-1]) * length + np.sqrt((Y**2).sum())
            if cutoff is None:
                # Centred rows have a direction of no length, in which scikit-learn's own rounding grows as 1/alpha:
                # no bound on ours tells how near its answer is, so these alphas are left to it.
                size = np.full_like(size, np.inf)
            checks[doubtful] = Spectrum(basis=basis, inverse=inverse[:, doubtful], size=size)
    return linear_predictors(equations, weights, checks)
