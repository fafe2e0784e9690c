"""Kept: splits that were drawn before, as a strategy that gives them again, for the same task only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.checks import checked
from heldout.splits.drawn import Splits
from heldout.splits.origin import Origin
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kept:
    """Splits and the task that they belong to."""

    splits: Splits
    origin: Origin

    inner_ok_under_partition: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"<{len(self.splits)} parts drawn before: {self.splits.recipe.words}>"

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """The splits themselves, or a refusal when they were drawn from another task. `seed` has no say in it."""
        who = f"These splits ({self.splits.recipe.words})"
        if len(rows) < len(task):
            raise SplitError(
                f"{who} are of all rows, so they cannot split the training part of a level above. Use them as test=, "
                "or a strategy that draws, such as KFold or Holdout, as validation=."
            )
        self.origin.refuse_other(task, who=who)
        return checked(task, self.splits, who=who)
