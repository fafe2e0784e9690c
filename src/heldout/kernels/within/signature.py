"""Signatures of unfitted estimators: equal for equal types with equal parameters, at every depth."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator

# scikit-learn reads parameter names off the constructor each time, which takes longer than all the rest.
_NAMES: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()


def signature(value: Any, *, without: Iterable[str] = ()) -> Hashable:
    """Return a key that is equal only for estimators that fit alike.

    Values that cannot be compared with certainty are identified by their object, so they are equal only if they are the
    very same object. `without` leaves out parameters of the outermost estimator.
    """
    if hasattr(value, "get_params") and not isinstance(value, type):
        left_out = frozenset(without)
        params = _params_of(value)
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
    if type(value) is partial:  # clones copy it, but not the function inside
        return (partial, signature(value.func), signature(value.args), signature(value.keywords))
    return (type(value), "object", id(value))


def _params_of(estimator: Any) -> dict[str, Any]:
    if type(estimator).get_params is not BaseEstimator.get_params:
        params: dict[str, Any] = estimator.get_params(deep=False)
        return params
    kind = type(estimator)
    if kind not in _NAMES:
        _NAMES[kind] = tuple(kind._get_param_names())
    return {name: getattr(estimator, name) for name in _NAMES[kind]}
