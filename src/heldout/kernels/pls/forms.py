"""The form of a PLSRegression: all of it but its number of components. One run answers a whole form."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from heldout.kernels.designs.columns import Columns
from heldout.kernels.driver.parameters import read_flag, read_number
from heldout.kernels.sums.rounding import Refuse
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Partial least squares on these columns. Equal forms differ in nothing but the number of components."""

    columns: Columns
    scale: bool  # PLSRegression's own scaling, after that of a StandardScaler in front


def read_scale(model: Any, task: Task) -> bool:
    """Whether an unfitted model scales its columns. Raises Refuse where the kernel cannot answer it."""
    if task.y.ndim > 1 and task.y.shape[1] > 1:
        raise Refuse("with several targets scikit-learn's iteration stops at a tolerance")
    if any("float32" in str(kind).lower() for kind in _types(task)):
        raise Refuse("X is of type float32, which PLSRegression centres in single precision before it predicts")
    if not read_flag("copy", model.copy):
        raise Refuse("copy=False writes into the training rows")
    if not _is_whole(model.max_iter):
        raise Refuse(f"max_iter={model.max_iter!r} is no whole number from 1")
    read_number("tol", model.tol)
    return read_flag("scale", model.scale)


def read_count(components: Any) -> int:
    """The number of components. Raises Refuse."""
    if not _is_whole(components):
        raise Refuse(f"n_components={components!r} is no whole number from 1")
    return int(components)


def _types(task: Task) -> list[Any]:
    if hasattr(task.X, "dtypes"):
        return list(task.X.dtypes)
    return [getattr(task.X, "dtype", None)]


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
