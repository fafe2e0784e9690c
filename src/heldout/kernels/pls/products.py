"""Products with the columns of training sets: from sums of their own, or from a total less the rows held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.pls.components import Products
from heldout.kernels.pls.problem import Problems, Vectors
from heldout.kernels.sums.dataset import ChunkReader, Dataset
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.sums.shifts import Shift
from heldout.kernels.sums.sums import Sums
from heldout.kernels.sums.training_sums import TrainingSums
from heldout.study.study import TrainRef

Multiply = Callable[[Floats], Floats]  # sets × run and shadow × columns, with products that are not centred


class Material(NamedTuple):
    """What training sets are made of."""

    vectors: Vectors
    multiply: Multiply


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """The rows held out by several parts, as many for each: short parts are filled up with zeros."""

    x: Floats  # parts × rows × columns of X, less their shift
    y: Floats  # parts × rows, less its shift
    sizes: Rows


def from_sums(own: TrainingSums, refs: Sequence[TrainRef], width: int) -> Material:
    """Training sets of which each has sums of its own."""
    grams = np.empty((len(refs), 1, width, width))
    made: list[Sums] = []
    for ref, out in zip(refs, grams, strict=True):
        sums = own.of(ref, out)
        if sums.grams is not out:
            out[:] = sums.grams
        made.append(sums)
    return from_grams(grams[:, 0], made)


def from_grams(grams: Floats, made: Sequence[Sums]) -> Material:
    """Training sets with these products of [x, y, 1], and with the counts, reaches and shift of these sums."""
    reach = np.stack([sums.reach[0] for sums in made])
    counts = np.array([int(sums.counts[0]) for sums in made])
    vectors = _vectors(grams, reach, made[0].shift, counts)
    C = grams[:, :-2, :-2]
    return Material(vectors, lambda r: np.matmul(r, C))


def from_total(total: Sums, block: Block) -> Material:
    """Training sets that are a total less a few rows: products with the total are one for all of them."""
    parts = len(block.x)
    whole = _vectors(total.grams, total.reach, total.shift, total.counts)
    x, y = block.x, block.y
    vectors = Vectors(
        sums=whole.sums - np.concatenate([x.sum(axis=1), y.sum(axis=1, keepdims=True)], axis=1),
        squares=whole.squares - np.concatenate([np.einsum("srj,srj->sj", x, x), np.vecdot(y, y)[:, None]], axis=1),
        cross=whole.cross - np.matmul(y[:, None, :], x)[:, 0],
        reach=np.repeat(whole.reach, parts, axis=0),
        counts=whole.counts - block.sizes,
        shift=whole.shift,
        y_shift=whole.y_shift,
    )
    C = total.grams[0, :-2, :-2]
    across = x.transpose(0, 2, 1)

    def multiply(r: Floats) -> Floats:
        found: Floats = np.matmul(r.reshape(2 * parts, -1), C).reshape(r.shape)
        found -= np.matmul(np.matmul(r, across), x)
        return found

    return Material(vectors, multiply)


def _vectors(grams: Floats, reach: Floats, shift: Shift, counts: Rows) -> Vectors:
    return Vectors(
        sums=grams[:, :-1, -1],
        squares=np.einsum("sii->si", grams)[:, :-1],
        cross=grams[:, :-2, -2],
        reach=reach[:, :-1],
        counts=counts,
        shift=shift.x,
        y_shift=float(shift.y[0]),
    )


def centred(problems: Problems, multiply: Multiply) -> Products:
    """Products that are centred by a term of rank one, and scaled, as they are used."""
    back = 1.0 / problems.inside[:, None, :]
    centre = problems.centre[:, None, :]
    weighed = centre * problems.counts[:, None, None]

    def products(r: Floats) -> Floats:
        r = r * back
        found = multiply(r)
        found -= np.vecdot(r, centre)[:, :, None] * weighed
        found *= back
        return found

    return products


def on_rows(rows: Floats) -> Products:
    """Products with the rows of one training set, centred and scaled as they are."""
    return lambda r: np.asarray(((r[0] @ rows.T) @ rows)[None])


def read_block(data: Dataset, parts: Sequence[Rows]) -> Block:
    """The held-out rows of these parts."""
    sizes = np.array([len(rows) for rows in parts])
    longest = int(sizes.max())
    own = np.arange(longest) < sizes[:, None]
    rows = np.zeros(own.shape, dtype=np.intp)
    rows[own] = np.concatenate(parts)
    x = ChunkReader(data, rows.size).read(rows.ravel(), data.shift.x).reshape(*rows.shape, -1)
    y = data.Y[rows, 0] - data.shift.y[0]
    if not own.all():
        x[~own] = 0.0
        y[~own] = 0.0
    return Block(x=x, y=y, sizes=sizes)
