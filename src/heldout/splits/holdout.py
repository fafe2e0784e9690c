"""Holdout: some rows set aside, once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.chance import Chance, draw_held, held_count, last_groups
from heldout.splits.check import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.roles import cuts_between_times, in_time_order, is_stratified, refuse_groups_with_time
from heldout.splits.strategy import AUTO, check_shuffle, check_stratify, share_of_rows, shown, whole_number
from heldout.task import Task

DEFAULT_SHARE = 0.2


@dataclass(frozen=True, slots=True, repr=False)
class Holdout:
    """One part: a share of the rows at this level, or a number of them, held out.

    Parameters
    ----------
    share : float
        The share held out, rounded up to whole rows; 0.2 unless `rows` is given.
    rows : int, optional
        How many rows to hold out, instead of a share.
    shuffle : bool, optional
        Whether chance picks them (the default), or they are the last rows. With time declared they are the most
        recent rows, and rows of one time stay on one side.
    stratify : {"auto", True, False}
        Whether both sides have the classes, or the strata declared, in their shares. "auto": where there are any
        and chance picks the rows.

    With groups declared, whole groups are held out, as near that many rows as the groups drawn allow.

    Examples
    --------
    >>> Holdout(0.25), Holdout(rows=20)
    (Holdout(0.25), Holdout(rows=20))
    """

    share: float | None = None
    _: KW_ONLY
    rows: int | None = None
    shuffle: bool | None = None
    stratify: str | bool = AUTO

    inner_ok_under_partition: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.rows is not None:
            if self.share is not None:
                raise SplitError(f"Holdout takes a share or rows=, not both ({self.share!r} and {self.rows!r}).")
            object.__setattr__(self, "rows", whole_number(self.rows, least=1, what="rows of Holdout"))
        else:
            object.__setattr__(self, "share", self._checked_share())
        check_shuffle(self.shuffle, who="Holdout")
        check_stratify(self.stratify, who="Holdout")
        if self.shuffle is False and self.stratify is True:
            raise SplitError(f"{self} cannot stratify rows taken in their order. Use shuffle=True, or stratify=False.")

    def __repr__(self) -> str:
        return shown(self)

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """One part, as :class:`~heldout.splits.drawn.Splits`."""
        who = repr(self)
        amount = self.rows if self.rows is not None else self.share
        assert amount is not None
        count = held_count(amount, len(rows), who=who)
        timed, grouped = task.time is not None, task.groups is not None
        stratified = False
        if timed:
            held, manner = self._most_recent(task, rows, count), "the most recent"
        elif self.shuffle is False:
            held = last_groups(task, rows, count, who=who) if grouped else rows[-count:]
            manner = "the last"
        else:
            stratified = is_stratified(task, self.stratify, who=who)
            chance = Chance(times=1, count=count, stratified=stratified, who=who)
            held, manner = draw_held(task, rows, chance, seed=seed)[0], "stratified" if stratified else "at random"
        words = f"hold-out of {len(held)} of {len(rows)} rows, {manner}" + (", groups kept whole" if grouped else "")
        drawn = not timed and self.shuffle is not False
        recipe = Recipe(kind="holdout", words=words, stratified=stratified, grouped=grouped, timed=timed, drawn=drawn)
        return checked(task, Splits.from_pairs(rows, [(None, held)], recipe), who=who)

    def _checked_share(self) -> float:
        if self.share is None:
            return DEFAULT_SHARE
        if isinstance(self.share, Integral) and not isinstance(self.share, bool) and self.share > 1:
            raise SplitError(
                f"The share of Holdout must be between 0 and 1, but is {self.share}. "
                f"For {self.share} rows pass Holdout(rows={self.share})."
            )
        return share_of_rows(self.share, what="The share of Holdout")

    def _most_recent(self, task: Task, rows: Rows, count: int) -> Rows:
        who = repr(self)
        refuse_groups_with_time(task, who=who)
        if self.shuffle:
            raise SplitError(
                f"{who} would mix past and future, but the task has time. Leave shuffle out: the most recent rows "
                "are held out."
            )
        if self.stratify is True:
            raise SplitError(f"{who} cannot stratify the most recent rows. Leave stratify out.")
        ordered, begins = in_time_order(task, rows)
        (cut,) = cuts_between_times(begins, [len(rows) - count], who=who)
        return np.sort(ordered[cut:])
