"""Where an order of neighbours is not sure enough to stand for scikit-learn's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.neighbours.arithmetic import Arithmetic
from heldout.kernels.sums.rounding import Bools, Floats

TINIEST = 1e-280  # below this, numbers lose digits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Near:
    """The nearest training rows of each asked row, one more than the largest k; infinitely far where there are none."""

    rows: NDArray[np.int32]  # asked × (largest k + 1), rows of the task
    far: Floats  # distances, or of a Euclidean search of our own their squares
    slack: Floats  # a gap up to this may be rounding alone


def ties(near: Near, arithmetic: Arithmetic) -> Bools:
    """Whether each neighbour and the next might change places."""
    if arithmetic.tie == 0.0:
        return np.asarray((near.far[:, 1:] == near.far[:, :-1]) & np.isfinite(near.far[:, 1:]))
    with np.errstate(invalid="ignore"):
        gaps = near.far[:, 1:] - near.far[:, :-1]
        close = gaps <= near.slack[:, None] + (arithmetic.tie * near.far[:, 1:] + TINIEST)
    return np.asarray(close & np.isfinite(near.far[:, 1:]))


def doubtful(tied: Bools, alike: Bools, ks: NDArray[np.intp], *, order: bool) -> tuple[Bools, NDArray[np.int32]]:
    """Asked rows × values of k: whether ties leave the answer open, and how many of the first k they may replace.

    Parameters
    ----------
    tied : array
        Whether each neighbour and the next are tied.
    alike : array
        Whether it makes no difference which of the two comes first.
    ks : array
        The numbers of neighbours, at most the number of columns.
    order : bool
        The answer depends on the order of the first k, not only on which they are.
    """
    open_ = np.zeros((len(tied), len(ks)), dtype=bool)
    loose = np.zeros((len(tied), len(ks)), dtype=np.int32)
    some = np.flatnonzero(tied.any(axis=1))
    if not len(some):
        return open_, loose
    tied = tied[some]
    unlike = tied & ~alike[some]
    unlike[:, -1] |= tied[:, -1]  # who else is tied with the last is not known
    links = np.arange(tied.shape[1])
    before = np.concatenate([np.zeros((len(some), 1), dtype=np.intp), np.cumsum(unlike, axis=1)], axis=1)
    # The chain of ties around each link: where it starts, and where it ends.
    start = np.maximum.accumulate(np.where(tied, 0, links + 1), axis=1)
    end = np.minimum.accumulate(np.where(tied, tied.shape[1], links)[:, ::-1], axis=1)[:, ::-1]
    mixed = np.take_along_axis(before, end, axis=1) > np.take_along_axis(before, np.minimum(start, end), axis=1)
    found = (tied & mixed)[:, ks - 1]
    if order:
        found |= before[:, ks - 1] > 0
    open_[some] = found
    loose[some] = np.where(found, ks - start[:, ks - 1], 0)
    return open_, loose
