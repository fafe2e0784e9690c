"""Parts that lie in disjoint halves of the rows, as the conservative Z needs them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits


def halves_of(splits: Splits) -> NDArray[np.intp] | None:
    """The half that each part lies in, numbered so that 2i and 2i + 1 share no row; None where parts are not such.

    Parts that follow each other and use the same rows, training and held-out together, are of one half. Only splits
    that name their training rows can be of this kind: otherwise each part uses all rows.
    """
    if splits.train is None or len(splits) < 2:
        return None
    numbers: list[int] = []
    halves: list[Rows] = []
    for part in range(len(splits)):
        used = np.union1d(splits.train_rows(part), splits.held_rows(part))
        if not halves or not np.array_equal(used, halves[-1]):
            halves.append(used)
        numbers.append(len(halves) - 1)
    pairs = zip(halves[::2], halves[1::2], strict=False)
    if len(halves) % 2 or any(len(np.intersect1d(first, second)) for first, second in pairs):
        return None
    return np.array(numbers, dtype=np.intp)
