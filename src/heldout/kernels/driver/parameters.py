"""Readers of estimator parameters, with the words of a refusal."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from heldout.kernels.sums.rounding import Refuse
from heldout.task.task import Task


def read_number(name: str, value: Any, most: float = np.inf) -> float:
    """One number from 0 up."""
    if not is_number(value) or float(value) > most:
        raise Refuse(f"{name}={value!r} is no number from 0 up" + ("" if most == np.inf else f" to {most:g}"))
    return float(value)


def is_number(value: Any) -> bool:
    """Whether it is one finite number from 0 up."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and 0 <= float(value) < np.inf


def read_flag(name: str, value: Any) -> bool:
    if type(value) not in (bool, np.bool_):
        raise Refuse(f"{name}={value!r} is neither True nor False")
    return bool(value)


def read_priors(priors: Any, task: Task) -> tuple[float, ...] | None:
    """One number above 0 for each class."""
    if priors is None:
        return None
    try:
        numbers = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise Refuse("priors are no numbers") from None
    fits = task.classes is not None and numbers.shape == task.classes.shape
    if not fits or not np.isfinite(numbers).all() or (numbers <= 0).any():
        raise Refuse("priors are not one number above 0 for each class")
    return tuple(numbers.tolist())
