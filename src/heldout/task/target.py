"""Accepts y: converts it to a numpy array without missing values, and decides whether it holds classes."""

from __future__ import annotations

import warnings
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import TargetError
from heldout.task.arrays import as_array, is_frame, is_sparse, missing_rows
from heldout.task.source import some_rows

MOST_CLASSES = 20  # whole numbers with more different values than this are taken as numbers
ROWS_A_CLASS = 5  # rows per value, at least; otherwise taken as numbers too


def few_enough_for_classes(values: int, rows: int) -> bool:
    """Return whether so few distinct integers in so many rows are more likely classes than amounts."""
    return values <= 2 or (values <= MOST_CLASSES and values * ROWS_A_CLASS <= rows)


def looks_like_classes(y: NDArray[Any]) -> bool:
    """Return whether a target holds classes if the user did not say; Python and the command use this same rule.

    Texts and yes-or-no are classes; numbers are where they are whole and few, and of several outputs where they are
    zeros and ones. Missing and infinite numbers, which are refused later, have no say.

    >>> looks_like_classes(np.array(["a", "b"])), looks_like_classes(np.array([0.5, 1.0]))
    (True, False)
    """
    if y.dtype.kind in "OUSb":
        return True
    if y.ndim > 1:
        return bool(y.dtype.kind in "iu" and ((y == 0) | (y == 1)).all())  # several labels a row
    if y.dtype.kind not in "biuf":
        return False
    known = y[np.isfinite(y)]
    return np.array_equal(known, np.trunc(known)) and few_enough_for_classes(len(np.unique(known)), len(known))


def accept_target(y: Any) -> NDArray[Any]:
    """Convert y to an array of one value per row, or of one row of outputs per row."""
    if y is None:
        raise TargetError("heldout requires y to be passed, but the target y is None.")
    target = as_array(y.toarray() if is_sparse(y) else y)
    if target.dtype.kind == "c":
        raise TargetError("Complex data not supported: y. Pass the real and the imaginary parts as two outputs.")
    if target.ndim == 0 or target.ndim > 2 or target.dtype.names is not None:
        raise TargetError(f"y should be a 1d array or a 2d array of outputs, got an array of shape {target.shape}.")
    if target.ndim == 2 and target.shape[1] == 1:
        target = target.ravel()
        if not is_frame(y):  # one column of a data frame is always 2-d, so it is no mistake
            _warn_of_column_vector()
    return _from_objects(target) if target.dtype.kind == "O" else target


def check_target(y: NDArray[Any], *, classification: bool, weight: NDArray[np.float64] | None) -> None:
    """Raise a TargetError if a value is missing or infinite, or if a classifier would have non-classes or one class."""
    _refuse_missing(y)
    if not classification:
        return
    if y.dtype.kind == "f" and not np.array_equal(y, np.trunc(y)):
        row = int(np.flatnonzero((y != np.trunc(y)).reshape(len(y), -1).any(axis=1))[0])
        raise TargetError(
            f"Unknown label type: continuous. A classifier expects discrete classes, but y has fractions "
            f"({some_rows([row])}: {y[row]}). Use a regressor, or turn y into classes."
        )
    if y.dtype.kind in "O" and not all(isinstance(label, str) for label in y.flat):
        raise TargetError(
            f"Unknown label type: {type(y.flat[0]).__name__}. Make the classes text or whole numbers, as "
            "[str(label) for label in y] does."
        )
    if (y == y[0]).all():
        raise TargetError(
            f"y holds only one class ({_shown(y[0])}) in {len(y)} row(s), so there is nothing to tell apart. "
            "A classifier needs at least two classes: pass rows of another class too."
        )
    if weight is not None and (y[weight > 0] == y[weight > 0][0]).all():
        raise TargetError(
            "Only one class of y has a positive sample_weight, so there is nothing to tell apart. "
            "A classifier needs rows of at least two classes that count."
        )


def _refuse_missing(y: NDArray[Any]) -> None:
    rows = missing_rows(y)
    if len(rows):
        raise TargetError(f"Input y contains NaN. The target is missing in {some_rows(rows)}: drop or fill these rows.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        rows = np.flatnonzero(~np.isfinite(y).reshape(len(y), -1).all(axis=1))
        raise TargetError(
            f"Input y contains infinity or a value too large for {y.dtype!r}. "
            f"The target is infinite in {some_rows(rows)}: drop or correct these rows."
        )


def _from_objects(y: NDArray[Any]) -> NDArray[Any]:
    """Convert numbers stored as objects to a numeric array. Texts stay objects, so that no label is truncated."""
    types = set(map(type, y.flat))
    if types <= {str}:
        return y
    _refuse_missing(y)
    if all(issubclass(kind, bool | np.bool_) for kind in types):
        return y.astype(bool)
    if all(issubclass(kind, Number | np.bool_) for kind in types):
        if any(issubclass(kind, complex | np.complexfloating) for kind in types):
            raise TargetError("Complex data not supported: y.")
        whole = all(issubclass(kind, Integral | np.bool_) for kind in types)
        return np.asarray(y.tolist()).reshape(y.shape) if whole else y.astype(np.float64)
    if any(issubclass(kind, Number) for kind in types):
        mixed = ", ".join(sorted(kind.__name__ for kind in types))
        raise TargetError(f"y mixes numbers with other things ({mixed}). Make y all numbers or all text.")
    return y


def _warn_of_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), "
        "for example using ravel().",
        DataConversionWarning,
        stacklevel=4,
    )


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)
