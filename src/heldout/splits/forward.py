"""Forward: always tests on rows later than the training rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from heldout.base.errors import Argument, Sentence, SplitError
from heldout.base.registered import registered
from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.kfold import KFold, folds_of_groups
from heldout.splits.strategy import FOLDS, FrozenStrategy, distance_words, is_positive, whole_number
from heldout.splits.time_blocks import TimeAxis, TrainingRule, crossed, draw_timed
from heldout.task import Task


@registered
@dataclass(frozen=True, slots=True, repr=False)
class Forward(FrozenStrategy):
    """K blocks of time in a row, each held out once, with earlier rows as training rows.

    The blocks are those of scikit-learn's ``TimeSeriesSplit`` on the rows in time order, moved just enough that
    rows of one time stay on one side. Where rows span an interval, the training rows of a block end before it begins.

    Parameters
    ----------
    k : int
        How many blocks are tested on.
    window : int, str or timedelta, optional
        Train on the latest rows before a block only, a window that slides along: so many rows, or such a length of
        time ("365d"). None: all earlier rows, a window that expands.
    buffer : int, str or timedelta, optional
        Drop the rows just before a block: so many, or those within such a length of time ("7d", "12h"). A number in
        quotes is a length in the units of a time that is numbers.

    With groups declared, each block is tested one fold of groups at a time, of K folds, while the other groups'
    earlier rows train: up to K × K parts.

    Examples
    --------
    >>> Forward(3), Forward(5, window="365d", buffer="1 week")
    (Forward(3), Forward(5, window='365d', buffer='7d'))
    """

    k: int = FOLDS
    _: KW_ONLY
    window: Any = None
    buffer: Any = None

    def __post_init__(self) -> None:
        self._keep(k=whole_number(self.k, least=1, what="The number of blocks k of Forward"))
        self._check_shared_fields()
        if self.window is not None and not is_positive(self.window):
            raise SplitError("window of Forward must not be nothing. Leave it out to train on all earlier rows.")

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return the parts, earliest block first. `seed` assigns groups to folds, if groups are declared."""
        who = repr(self)
        if task.time is None:
            raise SplitError(
                f"{who} needs time, but the task has none.", Sentence("Pass {}, or use KFold.", Argument("time"))
            )
        n = len(rows)
        if n <= self.k:
            raise SplitError(
                f"{who} needs at least {self.k + 1} rows, but there are {n} at this level. Use a smaller k."
            )
        axis = TimeAxis.of(task, rows, who=who)
        size = n // (self.k + 1)
        cuts = [*axis.cuts_near(range(n - self.k * size, n, size)), n]
        rule = TrainingRule(buffer=self.buffer, forward=True, window=self.window)
        blocks = "1 block" if self.k == 1 else f"{self.k} blocks"
        sliding = "" if self.window is None else f", window of {distance_words(self.window)}"
        if task.groups is None:
            recipe = Recipe(kind="forward", words=f"{blocks} of time, each after its training rows{sliding}")
            return draw_timed(task, axis, axis.blocks(cuts), recipe, rule)
        most = max(self.k, 2)  # with one fold no group would be left to train
        folds = folds_of_groups(task, rows, KFold(most), seed=seed, who=who)
        words = f"{blocks} of time × {len(folds)} folds of groups, each after its training rows{sliding}"
        recipe = replace(folds.recipe, kind="forward", words=words, partition=False)
        return draw_timed(task, axis, crossed(axis, cuts, folds), recipe, rule)
