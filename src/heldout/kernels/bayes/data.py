"""The data as the kernel reads them: a dense or sparse matrix, class codes and row weights, free of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import binarize

from heldout.base.rowkeys import Rows
from heldout.kernels.bayes.forms import Form
from heldout.kernels.ridge.columns import Unreadable
from heldout.kernels.ridge.design import Floats, check_data, class_codes, matrix_of
from heldout.task.containers import container_kind
from heldout.task.task import Task

CHUNK_NUMBERS = 1 << 17  # of one chunk of rows: a megabyte, which stays in a core's cache
WHOLE = 2.0**52  # up to here sums of whole numbers are exact


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Data:
    """X in rows, dense or CSR, and what goes with each row."""

    X: Any
    codes: NDArray[Any]  # the place of each row's class among `classes`, in a narrow type that sorts fast
    classes: NDArray[Any]  # as a fitted learner has them
    weight: Floats | None
    shifts: Floats  # classes × columns: taken off before sums are formed, so that large offsets cancel nothing
    centre: Floats  # columns: taken off held-out rows likewise
    norms: Floats | None = None  # of counts: Σ|x| of each row
    exact: bool = False  # sums are of whole numbers, and lose no bit

    @property
    def is_sparse(self) -> bool:
        return self.norms is not None and sparse.issparse(self.X)

    @property
    def columns(self) -> int:
        return int(self.X.shape[1])

    @property
    def layers(self) -> int:
        """Sums that are kept of each class and column: Σx; or Σx and Σx², and both again without weights."""
        return 1 if self.norms is not None else 2 if self.weight is None else 4

    @property
    def chunk(self) -> int:
        """Rows read at a time: fixed by the width, so that sums have the same bits whoever makes them."""
        return max(32, min(8192, CHUNK_NUMBERS // max(1, self.columns)))


def check_matrix(task: Task, form: Form) -> None:
    """Raise Unreadable unless this form can be fitted on X, whatever the rows, in double precision."""
    if container_kind(task.X) == "sparse":
        _check_sparse(task.X, form)
    else:
        check_data(task)
        single = matrix_of(task).dtype == np.float32
        if form.gaussian and single:
            raise Unreadable("GaussianNB computes float32 columns in single precision, whose rounding shows")
    if form.kind in ("multinomial", "complement") and _least(_matrix(task)) < 0:
        raise Unreadable("X has negative values, which are no counts")


def make_data(task: Task, form: Form) -> Data:
    """What every candidate that reads the data as this form does is answered from."""
    X = _matrix(task)
    codes: NDArray[Any] = class_codes(task)
    classes = _labels(task)
    if len(classes) < 1 << 15:
        codes = codes.astype(np.int16)
    if form.gaussian:
        shifts, centre = _shifts(X, codes, len(classes))
        return Data(X=X, codes=codes, classes=classes, weight=task.weight, shifts=shifts, centre=centre)
    if form.threshold is not None:
        X = binarize(X, threshold=form.threshold)
    norms = np.asarray(abs(X).sum(axis=1), dtype=np.float64).ravel()
    none = np.zeros((0, X.shape[1]))
    exact = _is_exact(X, norms, task.weight)
    return Data(
        X=X, codes=codes, classes=classes, weight=task.weight, shifts=none, centre=none, norms=norms, exact=exact
    )


def _matrix(task: Task) -> Any:
    return task.X.tocsr() if container_kind(task.X) == "sparse" else matrix_of(task)


def _check_sparse(X: Any, form: Form) -> None:
    if form.gaussian:
        raise Unreadable("X is sparse, which GaussianNB does not take")
    if X.dtype.kind not in "biuf" or X.dtype == np.float16 or X.dtype.itemsize > 8:
        raise Unreadable(f"X is of type {X.dtype}; only float64, float32, whole numbers and booleans are read")
    if not np.isfinite(X.data).all():
        raise Unreadable("X has missing or infinite values")


def _least(X: Any) -> float:
    values = _values(X)
    return float(values.min()) if values.size else 0.0


def _values(X: Any) -> NDArray[Any]:
    return np.asarray(X.data if container_kind(X) == "sparse" else X)


def _labels(task: Task) -> NDArray[Any]:
    """The classes in the type that scikit-learn's naive Bayes keeps them in."""
    assert task.classes is not None, "claimed for single-output classification only"
    count = len(task.classes)
    fitted = GaussianNB(var_smoothing=1.0).fit(np.arange(float(count))[:, None], task.classes)
    return np.asarray(fitted.classes_)


def _shifts(X: NDArray[Any], codes: NDArray[Any], count: int) -> tuple[Floats, Floats]:
    """The mean of each column in each class, and in all; its very value where a class has but one."""
    centre = np.asarray(X.mean(axis=0, dtype=np.float64))
    shifts = np.empty((count, X.shape[1]))
    for code in range(count):
        rows = np.flatnonzero(codes == code)
        shifts[code] = _mean(X, rows)
    for place in np.flatnonzero((shifts == shifts[0]).all(axis=0)):
        centre[place] = shifts[0, place]
    return shifts, centre


def _mean(X: NDArray[Any], rows: Rows) -> Floats:
    first = X[rows[0]].astype(np.float64)
    off, still = np.zeros(X.shape[1]), np.ones(X.shape[1], dtype=bool)
    size = max(32, CHUNK_NUMBERS // max(1, X.shape[1]))
    for start in range(0, len(rows), size):
        chunk = X[rows[start : start + size]] - first  # nothing but zeros where a column is constant
        still &= ~chunk.any(axis=0)
        off += chunk.sum(axis=0, dtype=np.float64)
    return np.asarray(np.where(still, first, first + off / len(rows)))


def _is_exact(X: Any, norms: Floats, weight: Floats | None) -> bool:
    values = _values(X)
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        return False
    if weight is None:
        return bool(norms.sum() < WHOLE)
    return bool((weight == np.floor(weight)).all() and (norms * np.maximum(weight, 1.0)).sum() < WHOLE)
