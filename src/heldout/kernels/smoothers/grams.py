"""Gram matrices of kernel ridge regression and Gaussian processes: which are supported, and how exact entries are."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels
from sklearn.metrics.pairwise import pairwise_kernels

from heldout.kernels.driver.contract import is_number
from heldout.kernels.sums.rounding import Floats, Refuse

USES = {  # the parameters that each built-in kernel takes
    "linear": (),
    "cosine": (),
    "additive_chi2": (),
    "chi2": ("gamma",),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "poly": ("gamma", "degree", "coef0"),
    "polynomial": ("gamma", "degree", "coef0"),
}
OF_COUNTS = ("chi2", "additive_chi2")  # kernels of rows without negative numbers
# Kernels of Gaussian processes whose value on a pair of rows depends on the pair alone.
PROCESS_KERNELS = (
    kernels.RBF,
    kernels.Matern,
    kernels.RationalQuadratic,
    kernels.ExpSineSquared,
    kernels.DotProduct,
    kernels.WhiteKernel,
    kernels.ConstantKernel,
    kernels.Sum,
    kernels.Product,
    kernels.Exponentiation,
)


@dataclass(frozen=True, slots=True)
class Gram:
    """Holds all that determines a Gram matrix. Candidates with equal ones share the matrix."""

    name: str  # of a built-in kernel; "process", or "pairs" where the diagonal is computed like any other pair
    parameters: tuple[
        Any, ...
    ]  # of a built-in kernel in the order of `USES`; else the process's kernel as plain values
    kernel: Any = field(default=None, compare=False)  # of a process

    def matrix(self, X: Floats) -> Floats:
        """Return the Gram matrix of these rows, by scikit-learn's own functions."""
        if self.kernel is not None:
            return np.array(self.kernel(X, X) if self.name == "pairs" else self.kernel(X), dtype=np.float64)
        given = dict(zip(USES[self.name], self.parameters, strict=True))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.array(pairwise_kernels(X, metric=self.name, **given), dtype=np.float64)

    def noise(self, X: Floats, largest: float) -> float:
        """Return how large errors of the matrix's entries may be, in units of eps. `largest` is its largest entry."""
        length = float(np.einsum("ij,ij->i", X, X).max(initial=0.0))  # squared, of the longest row
        if self.name == "rbf":  # squared distances are differences of squared lengths
            return float(largest * (1.0 + 2.0 * self.parameters[0] * length))
        if self.name in ("poly", "polynomial"):
            gamma, degree, coef0 = self.parameters
            return float((1.0 + degree) * max(largest, (gamma * length + abs(coef0)) ** degree))
        if self.name == "sigmoid":
            gamma, coef0 = self.parameters
            return float(max(largest, gamma * length + abs(coef0)))
        return max(largest, length) if self.name == "linear" else largest


def read_gram(kernel: Any, columns: int, **given: Any) -> Gram:
    """Return the Gram matrix of KernelRidge with this kernel, gamma, degree and coef0. Raises Refuse."""
    if isinstance(kernel, kernels.Kernel):
        return Gram("pairs", process_key(kernel), kernel)
    if not isinstance(kernel, str) or kernel not in USES:
        what = "a function" if callable(kernel) else f"kernel={kernel!r}"
        raise Refuse(f"{what} as kernel of KernelRidge may not be cut out of one matrix")
    if given["gamma"] is None and kernel != "chi2":
        given["gamma"] = 1.0 / columns
    for name in USES[kernel]:
        value = given[name]
        if name == "coef0":
            fits = isinstance(value, Real) and is_number(abs(value))
        else:
            fits = is_number(value) and (name == "degree" or value > 0)
        if not fits:
            raise Refuse(f"{name}={value!r} is no {name} of the kernel {kernel!r}")
    return Gram(kernel, tuple(float(given[name]) for name in USES[kernel]))


def read_process(kernel: Any, *, optimised: bool) -> Gram:
    """Return the Gram matrix of a Gaussian process with this kernel. Raises Refuse."""
    kernel = kernels.ConstantKernel() * kernels.RBF() if kernel is None else kernel
    key = process_key(kernel)
    if optimised and kernel.n_dims > 0:
        raise Refuse("the kernel's parameters are optimised in each fit: optimizer is not None")
    return Gram("process", key, kernel)


def process_key(kernel: Any) -> tuple[Any, ...]:
    """Return a Gaussian process's kernel as plain values. Raises Refuse for a kernel that is not supported."""
    if type(kernel) not in PROCESS_KERNELS:
        raise Refuse(f"the kernel {type(kernel).__name__} may depend on more than a pair of rows")
    key: list[Any] = [type(kernel).__name__]
    for name, value in sorted(kernel.get_params(deep=False).items()):
        if isinstance(value, kernels.Kernel):
            key.append((name, process_key(value)))
        elif not name.endswith("_bounds"):
            key.append((name, tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist())))
    return tuple(key)
