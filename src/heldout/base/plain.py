"""Turns anything that a result may hold into values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Keep a value that JSON has; unbox numbers, NaN becomes None, infinity its text, anything else its repr.

    >>> plain({"a": np.float64(1.5), "b": (1, float("nan"))})
    {'a': 1.5, 'b': [1, None]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.longdouble):  # its item() is itself
        return plain(float(value))
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else (None if math.isnan(value) else str(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    return repr(value)
