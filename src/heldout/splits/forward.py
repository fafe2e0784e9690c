"""Forward: always test on later rows than those trained on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.check import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.roles import cuts_between_times, in_time_order
from heldout.splits.strategy import shown, whole_number
from heldout.task import Task


@dataclass(frozen=True, slots=True, repr=False)
class Forward:
    """K blocks of time in a row, each held out once, with all earlier rows as training rows.

    The blocks are those of scikit-learn's ``TimeSeriesSplit`` on the rows in time order, moved just enough that
    rows of one time stay on one side.

    Parameters
    ----------
    k : int
        How many blocks are tested on.

    Examples
    --------
    >>> Forward(3)
    Forward(3)
    """

    k: int = 5

    inner_ok_under_partition: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, least=1, what="The number of blocks k of Forward"))

    def __repr__(self) -> str:
        return shown(self)

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """K parts, earliest first, as :class:`~heldout.splits.drawn.Splits`. `seed` has no say in it."""
        who = repr(self)
        if task.time is None:
            raise SplitError(f"{who} needs time, but the task has none. Pass time=…, or use KFold.")
        if task.groups is not None:
            raise SplitError(
                f"{who} cannot keep groups whole: a group would be trained on early and tested on late. "
                "Leave groups= out, or pass your own parts as Given(folds=…)."
            )
        n = len(rows)
        if n <= self.k:
            raise SplitError(
                f"{who} needs at least {self.k + 1} rows, but there are {n} at this level. Use a smaller k."
            )
        ordered, begins = in_time_order(task, rows)
        size = n // (self.k + 1)
        cuts = [*cuts_between_times(begins, range(n - self.k * size, n, size), who=who), n]
        pairs = [(np.sort(ordered[:start]), np.sort(ordered[start:end])) for start, end in pairwise(cuts)]
        recipe = Recipe(kind="forward", words=f"{self.k} blocks of time, each after its training rows", timed=True)
        return checked(task, Splits.from_pairs(rows, pairs, recipe), who=who)
