"""Splits for a learning curve: the same held-out sides with smaller, nested training sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows, derive
from heldout.splits.drawn import Splits
from heldout.splits.groups import group_codes
from heldout.splits.strata import strata_of
from heldout.splits.time_blocks import in_time_order
from heldout.task import Task


def smaller_training_sets(task: Task, outer: Splits, sizes: Sequence[float], *, seed: int) -> Splits:
    """Return the parts of `outer` at each of these training sizes, size after size, part after part.

    Parameters
    ----------
    sizes : sequence of float or int
        Shares of a part's training rows below 1, or numbers of rows. A larger size contains a smaller one. Groups stay
        whole, strata keep their shares, and with time declared it is the latest rows that stay.
    seed : int
        Decides which rows, together with the content of the training rows.
    """
    orders = [_order(task, outer, part, seed) for part in range(len(outer))]
    pairs = [
        (np.sort(order[: _cut(size, order, ends)]), outer.held_rows(part))
        for size in sizes
        for part, (order, ends) in enumerate(orders)
    ]
    words = f"{outer.recipe.words}, at {len(sizes)} smaller training sizes"
    recipe = replace(outer.recipe, words=words, partition=False, smaller=True)
    return Splits.from_pairs(outer.rows, pairs, recipe)


def _cut(size: float, order: Rows, ends: NDArray[np.intp]) -> int:
    """Return how many rows of `order` to take: at most `size`, and only whole groups."""
    wanted = round(size * len(order)) if size < 1 else int(size)
    if not 1 <= wanted < len(order):
        raise SplitError(
            f"A learning curve has training sizes below those of the study, but {size!r} asks for {wanted} of "
            f"{len(order)} training rows. Give shares between 0 and 1, or fewer rows."
        )
    position = int(np.searchsorted(ends, wanted, side="right")) - 1
    return int(ends[max(position, 0)])


def _order(task: Task, outer: Splits, part: int, seed: int) -> tuple[Rows, NDArray[np.intp]]:
    """Order the training rows so that each prefix is a fair sample; also return the prefix lengths that are allowed."""
    rows = np.sort(outer.train_rows(part))
    every = np.arange(1, len(rows) + 1)
    if task.time is not None:
        return in_time_order(task, rows)[::-1], every
    chance = np.random.default_rng(derive(seed, "learning curve", task.content_key(rows)))
    groups = group_codes(task, rows)
    if groups is not None:
        rank = chance.permutation(int(groups.max()) + 1)[groups]
        return rows[np.argsort(rank, kind="stable")], np.cumsum(np.bincount(rank))
    positions = chance.permutation(len(rows))
    if outer.recipe.stratified:
        codes = strata_of(task, rows).codes
        within = np.empty(len(rows))
        for code in range(int(codes.max()) + 1):
            members = positions[codes[positions] == code]
            # This gives each prefix the same share of every stratum.
            within[members] = (np.arange(len(members)) + 0.5) / len(members)
        positions = positions[np.argsort(within[positions], kind="stable")]
    return rows[positions], every
