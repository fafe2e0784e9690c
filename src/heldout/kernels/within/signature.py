"""When two unfitted estimators are the same: equal types and equal parameters, all the way down."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np


def signature(value: Any, *, without: Iterable[str] = ()) -> Hashable:
    """A key that is equal only for estimators that fit alike.

    Values that cannot be compared for sure count by their identity, so that they are shared only when they are the
    very same object. `without` leaves out parameters of the outermost estimator.
    """
    if hasattr(value, "get_params") and not isinstance(value, type):
        left_out = frozenset(without)
        params = value.get_params(deep=False)
        inside = tuple((name, signature(params[name])) for name in sorted(params) if name not in left_out)
        return (type(value), inside)
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return (type(value), value if value == value else "nan")
    if isinstance(value, np.generic):
        return (type(value), value.tobytes())
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return (np.ndarray, value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, list | tuple):
        return (type(value), tuple(signature(one) for one in value))
    if isinstance(value, dict):
        return (dict, tuple((signature(k), signature(v)) for k, v in value.items()))
    return (type(value), "object", id(value))
