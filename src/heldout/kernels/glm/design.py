"""The data as the kernel reads them: columns brought to mean 0 and spread 1 over all rows, targets, products of pairs.

Any shift and scale of the columns gives the same models once the penalty is written in them; these make the numbers
of one size. What a StandardScaler does inside a training set enters as that set's own penalty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.glm.forms import Form
from heldout.kernels.ridge.design import class_codes, matrix_of
from heldout.kernels.step import Work
from heldout.kernels.threads import Spread, in_turn
from heldout.task.task import Task

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
PAIRED_ROWS = 256  # whose products of pairs are made together
MOST_PAIRED = 64  # columns up to which products of pairs are made
MOST_KEPT = 1 << 28  # bytes of products of pairs that are kept
NO_LENGTH = 1e-12  # of a direction in which no row lies
FLAT = 1e-8  # the share of the largest variance below which that of a direction loses digits
EVEN = 1e-6  # added to the metric of the rows, for columns that lie in one plane


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Columns of mean 0 and spread 1, and a constant one; what was taken from them and what they were divided by."""

    Z: Floats  # rows × (columns + 1), C order; the last is 1
    shift: Floats
    scale: Floats
    metric: Floats  # columns × columns: the mean product of every two columns, and a little on the diagonal
    far: float  # the largest square of a row's length in the inverse of the metric
    back: Floats | None  # even columns, uncorrelated and of size 1, times this are the columns; None if these lose some
    pairs: Floats | Singles | None  # rows × pairs: products of every two even columns, or columns; None if not kept

    @property
    def width(self) -> int:
        return int(self.Z.shape[1])

    @property
    def paired(self) -> bool:
        """Whether second derivatives come from products of pairs of columns."""
        return self.width <= MOST_PAIRED

    @property
    def rough(self) -> bool:
        """Whether they may come from products in single precision."""
        return self.back is not None and self.pairs is not None


def make_design(work: Work, form: Form, spread: Spread = in_turn) -> Design:
    """The design of the form's columns: that of an earlier step where it is kept, else made by what `spread` maps."""
    key = ("glm", form.columns.places)
    if key not in work.products:
        X = np.asarray(matrix_of(work.task), dtype=np.float64)
        X = X if form.columns.places is None else X[:, list(form.columns.places)]
        shift, scale = spread_of(X)
        Z = np.ones((len(X), X.shape[1] + 1))
        np.subtract(X, shift, out=Z[:, :-1])
        Z[:, :-1] /= scale
        work.products[key] = with_pairs(Z, shift, scale, room=min(MOST_KEPT, work.room // 8), spread=spread)
    design: Design = work.products[key]
    return design


def spread_of(X: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column; of a constant one its value, and 1."""
    shift = X.mean(axis=0)
    still = X.min(axis=0) == X.max(axis=0)
    shift[still] = X[0, still]
    scale = np.sqrt(((X - shift) ** 2).mean(axis=0))
    scale[still | (scale == 0)] = 1.0
    return shift, scale


def with_pairs(Z: Floats, shift: Floats, scale: Floats, *, room: int, spread: Spread = in_turn) -> Design:
    """A design of these rows, with products of pairs where they find room."""
    width = Z.shape[1]
    products = Z.T @ Z / len(Z)
    metric = products + EVEN * np.eye(width)
    root = np.linalg.inv(np.linalg.cholesky(metric))
    far = np.zeros(-(-len(Z) // PAIRED_ROWS))
    kept = width <= MOST_PAIRED and len(Z) * width * (width + 1) * 4 <= room
    there, back = _even(Z, products) if kept else (None, None)
    columns = width if back is None else len(back)
    dtype = np.float64 if back is None else np.float32
    pairs = np.empty((len(Z), columns * (columns + 1) // 2), dtype=dtype) if kept else None

    def fill(rows: slice) -> None:
        for start in range(rows.start, rows.stop, PAIRED_ROWS):
            some = Z[start : start + PAIRED_ROWS]
            far[start // PAIRED_ROWS] = np.square(some @ root.T).sum(axis=1).max()
            if pairs is not None:
                even = some if there is None else (some @ there).astype(np.float32)
                products_of_pairs(even, out=pairs[start : start + len(some)])

    each = 4 * PAIRED_ROWS
    spread(fill, [slice(start, min(start + each, len(Z))) for start in range(0, len(Z), each)])
    farthest = float(far.max()) * (1 + 1e-6)  # what rounding may take from it
    return Design(Z=Z, shift=shift, scale=scale, metric=metric, far=farthest, back=back, pairs=pairs)


def _even(Z: Floats, products: Floats) -> tuple[Floats, Floats] | tuple[None, None]:
    """What makes the columns uncorrelated and of size 1, and what makes columns of those again.

    Second derivatives in such columns keep their digits in single precision whatever the columns are. Directions in
    which no row lies are left out; where rows lie nearly in a plane, but not in it, there are none.
    """
    size, direction = np.linalg.eigh(products)
    flat = size <= FLAT * size[-1]
    if flat.any() and np.abs(Z @ direction[:, flat]).max() > NO_LENGTH * np.sqrt(size[-1]):
        return None, None
    root = np.sqrt(size[~flat])
    return direction[:, ~flat] / root, (direction[:, ~flat] * root).T


def cut_design(design: Design, rows: Rows) -> Design:
    """The design of some rows."""
    pairs = None if design.pairs is None else design.pairs[rows]
    return replace(design, Z=design.Z[rows], pairs=pairs)


def products_of_pairs(Z: Any, out: Any = None) -> Any:
    """For each row the products of every two columns, a column with itself and all after it, end to end."""
    first, second = np.triu_indices(Z.shape[1])
    found = np.take(Z, first, axis=1, out=out, mode="clip")
    found *= np.take(Z, second, axis=1)
    return found


@cache
def pair_places(width: int) -> NDArray[np.intp]:
    """Where the product of two columns stands among those of pairs: columns × columns."""
    places = np.empty((width, width), dtype=np.intp)
    upper = np.triu_indices(width)
    places[upper] = np.arange(len(upper[0]))
    places[upper[1], upper[0]] = places[upper]
    places.setflags(write=False)
    return places


def targets_of(task: Task, form: Form) -> Floats:
    """Class codes of a classifier, or y itself, as numbers."""
    if form.classifies:
        return class_codes(task).astype(np.float64)
    return np.ascontiguousarray(task.y, dtype=np.float64)


def row_weights(task: Task, form: Form) -> Floats | None:
    """The weight of each row, those that its class is given by name included; None where all are 1."""
    weight = task.weight
    if isinstance(form.class_weight, tuple):
        classes: NDArray[Any] = np.asarray(task.classes)
        places = {label: place for place, label in enumerate(classes.tolist())}
        table = np.ones(len(classes))
        for label, value in form.class_weight:
            table[places[label]] = value
        each = table[class_codes(task)]
        weight = each if weight is None else weight * each
    return weight
