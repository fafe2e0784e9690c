"""Gram matrices of a set of rows, one for each form, from distances or products that forms share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    cosine_similarity,
    euclidean_distances,
    linear_kernel,
    manhattan_distances,
)

from heldout.kernels.smoothers.forms import Form
from heldout.kernels.sums.rounding import Floats

FROM = {  # what a kernel's values are functions of
    "linear": "products",
    "polynomial": "products",
    "sigmoid": "products",
    "rbf": "squares",
    "laplacian": "lengths",
    "chi2": "chi2",
    "additive_chi2": "chi2",
    "cosine": "cosines",
}
MAKE = {
    "products": linear_kernel,
    "squares": lambda X: euclidean_distances(X, squared=True),
    "lengths": manhattan_distances,
    "chi2": additive_chi2_kernel,
    "cosines": cosine_similarity,
}


class Grams:
    """The Gram matrices of some rows. What forms share is made once and kept."""

    def __init__(self, X: Floats) -> None:
        self._X = X
        self._shared: dict[str, Floats] = {}
        self._reach = float(np.einsum("ij,ij->i", X, X).max(initial=0.0))  # the largest squared length of a row

    def prepare(self, forms: Any) -> None:
        """Make what these forms share, before threads ask for it."""
        for kind in dict.fromkeys(FROM[form.name] for form in forms if form.name in FROM):
            if kind not in self._shared:
                self._shared[kind] = MAKE[kind](self._X)

    def make(self, form: Form, kernel: Any, places: NDArray[np.intp] | None = None) -> Floats:
        """The Gram matrix of this form on the rows at these places (None: all); its memory is the caller's own."""
        if form.name not in FROM:
            rows = self._X if places is None else self._X[places]
            return np.array(kernel(rows, rows) if form.name == "pairs" else kernel(rows), dtype=np.float64)
        shared = self._shared[FROM[form.name]]
        K = shared.copy() if places is None else shared.take(places, axis=0).take(places, axis=1)
        return _finished(form, K)

    def noise(self, form: Form, largest: float) -> float:
        """How large the errors of a Gram matrix's entries may be, in units of the last place."""
        if form.name == "rbf":  # squared distances are differences of squared lengths
            return float(largest * (1.0 + 2.0 * form.parameters[0] * self._reach))
        if form.name == "polynomial":
            gamma, degree, coef0 = form.parameters
            return float((1.0 + degree) * max(largest, (gamma * self._reach + abs(coef0)) ** degree))
        if form.name == "sigmoid":
            gamma, coef0 = form.parameters
            return float(max(largest, gamma * self._reach + abs(coef0)))
        return max(largest, self._reach) if form.name == "linear" else largest


def _finished(form: Form, K: Floats) -> Floats:
    """A kernel's values from what they are functions of, in place."""
    with np.errstate(over="ignore", invalid="ignore"):
        if form.name in ("rbf", "laplacian"):
            np.multiply(K, -form.parameters[0], out=K)
            np.exp(K, out=K)
        elif form.name == "chi2":
            np.multiply(K, form.parameters[0], out=K)
            np.exp(K, out=K)
        elif form.name == "polynomial":
            gamma, degree, coef0 = form.parameters
            K *= gamma
            K += coef0
            K **= degree
        elif form.name == "sigmoid":
            K *= form.parameters[0]
            K += form.parameters[1]
            np.tanh(K, out=K)
    return K
