"""Resample: many random hold-outs, each drawn anew."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import ClassVar

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.chance import Chance, draw_held, held_count
from heldout.splits.check import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.roles import is_stratified
from heldout.splits.strategy import AUTO, check_stratify, share_of_rows, shown, whole_number
from heldout.task import Task


@dataclass(frozen=True, slots=True, repr=False)
class Resample:
    """Random resampling: `times` hold-outs, independent of one another.

    Parameters
    ----------
    times : int
        How many hold-outs.
    held_out : float or int
        The share of the rows at this level to hold out each time, or how many rows.
    stratify : {"auto", True, False}
        Whether both sides have the classes, or the strata declared, in their shares. "auto": where there are any.

    With groups declared, whole groups are held out. Refused with time, which chance would mix.

    Examples
    --------
    >>> Resample(20, held_out=0.2), Resample(20, 50)
    (Resample(20), Resample(20, held_out=50))
    """

    times: int
    held_out: float | int = 0.2
    _: KW_ONLY
    stratify: str | bool = AUTO

    inner_ok_under_partition: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", whole_number(self.times, least=1, what="times of Resample"))
        if isinstance(self.held_out, Integral):
            held_out: float | int = whole_number(self.held_out, least=1, what="held_out of Resample, as rows,")
        else:
            held_out = share_of_rows(self.held_out, what="held_out of Resample")
        object.__setattr__(self, "held_out", held_out)
        check_stratify(self.stratify, who="Resample")

    def __repr__(self) -> str:
        return shown(self)

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """`times` parts, as :class:`~heldout.splits.drawn.Splits`."""
        who = repr(self)
        if task.time is not None:
            raise SplitError(
                f"{who} would mix past and future, but the task has time. "
                "Use Forward(k), or Holdout for the most recent rows."
            )
        stratified, grouped = is_stratified(task, self.stratify, who=who), task.groups is not None
        count = held_count(self.held_out, len(rows), who=who)
        chance = Chance(times=self.times, count=count, stratified=stratified, who=who)
        held = draw_held(task, rows, chance, seed=seed)
        words = f"{self.times} random hold-outs of {'about ' if grouped else ''}{count} of {len(rows)} rows"
        words += ", stratified" * stratified + ", groups kept whole" * grouped
        recipe = Recipe(kind="resample", words=words, stratified=stratified, grouped=grouped, drawn=True)
        return checked(task, Splits.from_pairs(rows, [(None, h) for h in held], recipe), who=who)
