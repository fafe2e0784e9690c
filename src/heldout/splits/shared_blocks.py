"""Shared blocks: the inner folds are the other outer folds, so that one training set serves two outer folds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heldout.base.errors import Argument, Sentence, SplitError, Splitter
from heldout.base.registered import registered
from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits
from heldout.splits.strategy import FrozenStrategy
from heldout.task import Task


@registered
@dataclass(frozen=True, slots=True, repr=False)
class SharedBlocks(FrozenStrategy):
    """For ``validation=``: inside outer fold i, each other outer block j is held out in turn.

    The training set without blocks i and j is the same seen from i and from j, so a nested study takes half the
    fits. It needs outer splits that partition the rows into at least three blocks, and cannot draw alone.

    Examples
    --------
    >>> SharedBlocks()
    SharedBlocks()
    """

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Raise a SplitError: there are no outer blocks to share."""
        k_fold = Splitter("KFold", 5)
        raise SplitError(
            "SharedBlocks() has no blocks of its own: it takes those of an outer partition.",
            Sentence("Use {} with it, or another validation such as {}.", Argument("test", k_fold), k_fold),
        )


def shared_blocks(outer: Splits, part: int) -> Splits:
    """Return the inner splits of outer part `part`: each other block of its repeat is held out of its training rows."""
    refuse_unshareable(outer)
    n = len(outer.rows)
    here, end = outer.held_cuts[part : part + 2]
    repeat = here // n
    held = np.concatenate([outer.held[repeat * n : here], outer.held[end : (repeat + 1) * n]])
    blocks = np.flatnonzero((outer.held_cuts[:-1] // n == repeat) & (np.arange(len(outer)) != part))
    recipe = replace(
        outer.recipe, kind="shared", repeats=1, words=f"the {len(blocks)} other blocks of the outer splits"
    )
    return Splits.from_sizes(outer.train_rows(part), held, outer.held_sizes[blocks], recipe)


def refuse_unshareable(outer: Splits) -> None:
    """Raise a SplitError if the outer blocks cannot be each other's inner folds."""
    if not outer.recipe.partition or outer.train is not None:
        raise SplitError(
            f"SharedBlocks() needs outer splits that hold out every row once and train on all others, but these are: "
            f"{outer.recipe.words}.",
            Sentence("Use {}, or another validation.", Argument("test", Splitter("KFold", "…"))),
        )
    blocks = len(outer) // outer.recipe.repeats
    if blocks < 3:
        raise SplitError(
            f"SharedBlocks() needs at least 3 outer blocks, but there are {blocks}: with one held out, the other "
            "would leave nothing to train on.",
            Sentence("Use {} or more.", Argument("test", Splitter("KFold", 3))),
        )
