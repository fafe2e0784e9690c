"""The rows that a spot check fits on where the whole training set is large."""

from __future__ import annotations

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.step import Training, Work
from heldout.splits.drawn import Recipe, Splits
from heldout.task.task import Task

MOST_NUMBERS = 8_000_000  # of X on the training side: brute force makes several copies of them
FEWEST_ROWS = 1_000


def fewer_rows(training: Training, work: Work, *, seed: int) -> Splits | None:
    """Some of the rows of a training and of the side it answers, as splits of one part; None where all will do.

    Every class of the training rows stays.
    """
    ref, held = training.trains[0], training.answers[0]
    size = int(work.splits[ref.splits].train_sizes[ref.part])
    most = max(FEWEST_ROWS, MOST_NUMBERS // (work.task.n_columns or 1))
    if size <= most or len(training.trains) != 1:
        return None
    rng = np.random.default_rng(seed)
    train = _some(work.task, work.train_rows(ref), most, rng)
    side = work.held_rows(held)
    tested = np.sort(rng.permutation(side)[:most])
    return Splits(
        rows=np.union1d(train, tested),
        held=tested,
        held_cuts=np.array([0, len(tested)]),
        recipe=Recipe(kind="given", words="rows of a spot check"),
    )


def _some(task: Task, rows: Rows, most: int, rng: np.random.Generator) -> Rows:
    drawn = rng.permutation(rows)
    if not task.classification or task.y.ndim > 1:
        return np.sort(drawn[:most])
    _, first = np.unique(task.y[drawn], return_index=True)
    return np.unique(np.concatenate([drawn[:most], drawn[first]]))
