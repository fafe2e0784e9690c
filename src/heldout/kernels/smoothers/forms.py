"""What a candidate is: its kernel with all parameters, its penalty, and whether it centres y."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_ridge import KernelRidge

from heldout.kernels.claims import chain_of
from heldout.kernels.sums.rounding import Refuse

MODELS = (KernelRidge, GaussianProcessRegressor)
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
SAME_NAME = {"poly": "polynomial"}
OF_COUNTS = ("chi2", "additive_chi2")  # kernels of rows without negative numbers
# Kernels of Gaussian processes whose values on a pair of rows depend on nothing but the pair.
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
class Form:
    """All that decides a Gram matrix, and what is done to y. Equal forms differ in nothing but the penalty."""

    name: str  # of a built-in kernel; "process", or "pairs" where a row beside itself is a pair like any other
    parameters: tuple[Any, ...]  # (gamma, degree, coef0) as far as the kernel takes them; of a process its own key
    centred: bool  # y less its mean over the training rows
    flat: bool  # a single column of targets is answered as a plain vector
    weighted: bool = True  # whether fit takes weights


def no_model(kind: type) -> str:
    """Why a learner of this type is refused."""
    return f"{kind.__name__} is not KernelRidge or GaussianProcessRegressor"


def read(estimator: Any, columns: int) -> tuple[Form, float, Any]:
    """Form, penalty and kernel object (of a process) of an unfitted candidate; raises Refuse with the reason."""
    chain = chain_of(estimator)
    model = chain[-1][1]
    if type(model) not in MODELS:
        raise Refuse(no_model(type(model)))
    if len(chain) > 1:
        before = type(chain[0][1]).__name__
        raise Refuse(f"{before} before the model changes the kernel's values in each training part")
    if not is_number(model.alpha):
        raise Refuse("alpha is not one number from 0 up")
    if type(model) is KernelRidge:
        form, kernel = _of_ridge(model, columns)
    else:
        form, kernel = _of_process(model)
    return form, float(model.alpha), kernel


def is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) < np.inf


def _of_ridge(model: Any, columns: int) -> tuple[Form, Any]:
    name = model.kernel
    if isinstance(name, kernels.Kernel):
        if model.kernel_params:
            raise Refuse("kernel_params for the kernel of a Gaussian process")
        return Form("pairs", process_key(name), False, False), name
    if not isinstance(name, str) or name not in USES:
        what = "a function" if callable(name) else f"kernel={name!r}"
        raise Refuse(f"{what} as kernel of KernelRidge may not be cut out of one matrix")
    values: list[float] = []
    for parameter in USES[name]:
        value = getattr(model, parameter)
        if parameter == "gamma" and value is None and name != "chi2":
            value = 1.0 / columns
        if parameter == "coef0":
            fits = isinstance(value, Real) and not isinstance(value, bool | np.bool_) and abs(float(value)) < np.inf
        else:
            fits = is_number(value) and (parameter == "degree" or value > 0)
        if not fits:
            raise Refuse(f"{parameter}={value!r} is no {parameter} of the kernel {name!r}")
        values.append(float(value))
    return Form(SAME_NAME.get(name, name), tuple(values), False, False), None


def _of_process(model: Any) -> tuple[Form, Any]:
    kernel = kernels.ConstantKernel() * kernels.RBF() if model.kernel is None else model.kernel
    key = process_key(kernel)
    if model.optimizer is not None and kernel.n_dims > 0:
        raise Refuse("the kernel's parameters are optimised in each fit: optimizer is not None")
    if model.n_targets is not None:
        raise Refuse("n_targets is checked in each fit")
    return Form("process", key, bool(model.normalize_y), True, False), kernel


def process_key(kernel: Any) -> tuple[Any, ...]:
    """A Gaussian process's kernel as plain values; raises Refuse for one that is not understood."""
    if type(kernel) not in PROCESS_KERNELS:
        raise Refuse(f"the kernel {type(kernel).__name__} may depend on more than a pair of rows")
    found: list[Any] = [type(kernel).__name__]
    for name, value in sorted(kernel.get_params(deep=False).items()):
        if name.endswith("_bounds"):
            continue
        if isinstance(value, kernels.Kernel):
            found.append((name, process_key(value)))
        else:
            found.append((name, tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist())))
    return tuple(found)
