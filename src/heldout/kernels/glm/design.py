"""The data as the kernel reads them: columns brought to mean 0 and spread 1 over all rows, targets, products of pairs.

Any shift and scale of the columns gives the same models once the penalty is written in them; these make the numbers
of one size. What a StandardScaler does inside a training set enters as that set's own penalty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.glm.forms import Form
from heldout.kernels.ridge.design import class_codes, matrix_of
from heldout.kernels.step import Work
from heldout.task.task import Task

Floats = NDArray[np.float64]
BLOCK_NUMBERS = 1 << 17  # products of pairs in a block of rows: a megabyte, which stays in a core's cache
MOST_PAIRED = 64  # columns up to which products of pairs are made
MOST_KEPT = 1 << 28  # bytes of products of pairs that are kept


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Columns of mean 0 and spread 1, and a constant one; what was taken from them and what they were divided by."""

    Z: Floats  # rows × (columns + 1), C order; the last is 1
    shift: Floats
    scale: Floats
    pairs: tuple[Floats, ...] | None  # for each block of rows the products of every two columns, where they are kept

    @property
    def width(self) -> int:
        return int(self.Z.shape[1])

    @property
    def paired(self) -> bool:
        """Whether second derivatives come from products of pairs of columns."""
        return self.width <= MOST_PAIRED

    @property
    def block(self) -> int:
        """Rows of a block: fixed by the width, so that sums have the same bits whoever makes them."""
        return block_rows(self.width)

    def blocks(self) -> Iterator[slice]:
        return (slice(start, start + self.block) for start in range(0, len(self.Z), self.block))


def block_rows(width: int) -> int:
    each = width * (width + 1) // 2 if width <= MOST_PAIRED else width
    return max(64, min(2048, BLOCK_NUMBERS // each))


def make_design(work: Work, form: Form) -> Design:
    """The design of the form's columns: that of an earlier step where it is kept."""
    key = ("glm", form.columns.places)
    if key not in work.products:
        X = np.asarray(matrix_of(work.task), dtype=np.float64)
        X = X if form.columns.places is None else X[:, list(form.columns.places)]
        shift, scale = spread_of(X)
        Z = np.ones((len(X), X.shape[1] + 1))
        np.subtract(X, shift, out=Z[:, :-1])
        Z[:, :-1] /= scale
        work.products[key] = with_pairs(Z, shift, scale, room=min(MOST_KEPT, work.room // 8))
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


def with_pairs(Z: Floats, shift: Floats, scale: Floats, *, room: int) -> Design:
    design = Design(Z=Z, shift=shift, scale=scale, pairs=None)
    if not design.paired or len(Z) * design.width * (design.width + 1) * 4 > room:
        return design
    pairs = tuple(products_of_pairs(Z[block]) for block in design.blocks())
    return Design(Z=Z, shift=shift, scale=scale, pairs=pairs)


def cut_design(design: Design, rows: Rows) -> Design:
    """The design of some rows."""
    return with_pairs(design.Z[rows], design.shift, design.scale, room=MOST_KEPT // 4)


def products_of_pairs(Z: Floats) -> Floats:
    """For each row the products of every two columns, a column with itself and all after it, end to end."""
    rows, width = Z.shape
    found = np.empty((rows, width * (width + 1) // 2))
    start = 0
    for column in range(width):
        stop = start + width - column
        np.multiply(Z[:, column:], Z[:, column : column + 1], out=found[:, start:stop])
        start = stop
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
