"""The axes of one model, from its weights: all that follows from A = WCWᵀ = BᵀDB.

With B upper triangular and of unit diagonal, the rotations are WᵀB⁻¹, the scores' squared lengths D, the loadings CR/D.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heldout.kernels.pls.components import Products, Shake, run_components
from heldout.kernels.pls.problem import Problems
from heldout.kernels.pls.respond import LEAST_SHARE
from heldout.kernels.sums.rounding import Floats


class Axes(NamedTuple):
    """A model in the units of its columns, as the run has it and as its shadow has it: the first axis is these two."""

    weights: Floats  # 2 × components × columns
    rotations: Floats
    loadings: Floats
    targets: Floats  # 2 × components: the target's loadings
    lengths: Floats  # components: squares of the run's scores


def find_axes(problems: Problems, products: Products, count: int) -> Axes | None:
    """The axes of one problem with so many components; None where it has not so many."""
    shake = Shake(problems.size, problems.length)
    runs = run_components(products, problems.d, shake, count=count)
    if not runs.share[0, -1] > LEAST_SHARE:
        return None
    weights = runs.weights[0]
    weighed = products(weights.reshape(1, 2 * count, -1)).reshape(weights.shape)
    weighed[1] += shake(weights[1])
    try:
        root = np.linalg.cholesky(np.matmul(weighed, weights.transpose(0, 2, 1)))
    except np.linalg.LinAlgError:
        return None
    lengths = np.einsum("sii->si", root)
    across = root / lengths[:, None, :]  # Bᵀ
    both = np.linalg.solve(across, np.concatenate([weights, weighed], axis=2))
    rotations, loadings = np.split(both, 2, axis=2)
    squares = lengths**2
    return Axes(
        weights,
        rotations,
        loadings / squares[:, :, None],
        np.matmul(rotations, shake.with_shadow(problems.d)[0][:, :, None])[:, :, 0] / squares,
        squares[0],
    )
