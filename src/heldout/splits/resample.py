"""Resample: many random hold-outs, each drawn independently."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any

from heldout.base.errors import SplitError
from heldout.base.registered import registered
from heldout.base.rowkeys import Rows, derive
from heldout.splits.checks import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.holdout import Holdout
from heldout.splits.random_rows import RandomDraw, draw_held, held_count
from heldout.splits.strata import stratified_words
from heldout.splits.strategy import (
    HELD_OUT,
    STRATIFY,
    FrozenStrategy,
    is_stratified,
    refuse_without_time,
    share_of_rows,
    whole_number,
)
from heldout.splits.time_blocks import (
    TimeAxis,
    TrainingRule,
    draw_timed,
    random_blocks,
    some_groups,
)
from heldout.task import Task


@registered
@dataclass(frozen=True, slots=True, repr=False)
class Resample(FrozenStrategy):
    """Random resampling: `times` hold-outs, independent of one another.

    Parameters
    ----------
    times : int
        How many hold-outs.
    held_out : float or int
        The share of the rows at this level to hold out each time, or how many rows.
    stratify : {"auto", True, False}
        Whether both sides have the strata in their shares: those declared, else the classes, quantile bins of a
        number, or the labels of several outputs. "auto": strata where they are declared, else classes, but not
        classes with groups or time. With groups, which stay whole, as near those shares as the groups allow; of rows,
        each side has at least one of each stratum.
    buffer, embargo : int, str or timedelta, optional
        With time declared: drop training rows within this distance of the rows held out, on both sides; an embargo is
        further distance after them. As for :class:`~heldout.KFold`.

    With groups declared, whole groups are held out. With time declared, each hold-out is a block of time that begins
    at random, and rows before and after it train. With both, the share is taken twice: of the rows a block, and of the
    block that share by whole groups, while other groups outside the block train.

    Examples
    --------
    >>> Resample(20, held_out=0.2), Resample(20, 50)
    (Resample(20), Resample(20, held_out=50))
    """

    times: int
    held_out: float | int = HELD_OUT
    _: KW_ONLY
    stratify: str | bool = STRATIFY
    buffer: Any = None
    embargo: Any = None

    def __post_init__(self) -> None:
        self._keep(times=whole_number(self.times, least=1, what="times of Resample"))
        if isinstance(self.held_out, Integral):
            self._keep(held_out=whole_number(self.held_out, least=1, what="held_out of Resample, as rows,"))
        else:
            self._keep(held_out=share_of_rows(self.held_out, what="held_out of Resample"))
        self._check_shared_fields()

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return `times` parts, as :class:`~heldout.splits.drawn.Splits`."""
        who = repr(self)
        if task.time is not None:
            return self._draw_in_time(task, rows, seed)
        refuse_without_time(who, self.buffer, self.embargo)
        stratified, grouped = is_stratified(task, self.stratify, who=who), task.groups is not None
        count = held_count(self.held_out, len(rows), who=who)
        chance = RandomDraw(times=self.times, count=count, stratified=stratified, who=who)
        held = draw_held(task, rows, chance, seed=seed)
        sizes = {len(part) for part in held}
        words = f"{self.times} random hold-outs of {'' if sizes == {count} and not grouped else 'about '}{count}"
        words += f" of {len(rows)} {task.row_name}" + f", {stratified_words(task)}" * stratified
        words += ", groups kept whole" * grouped
        recipe = Recipe(kind="resample", words=words, stratified=stratified, grouped=grouped, drawn=True)
        return checked(task, Splits.from_pairs(rows, [(None, h) for h in held], recipe), who=who)

    def _draw_in_time(self, task: Task, rows: Rows, seed: int) -> Splits:
        who, grouped = repr(self), task.groups is not None
        if self.stratify is True and not grouped:
            raise SplitError(f"{who} cannot stratify blocks of time. Leave stratify out.")
        axis = TimeAxis.of(task, rows, who=who)
        count = held_count(self.held_out, len(rows), who=who)
        blocks = random_blocks(axis, count, self.times, seed=seed)
        words = f"{self.times} random blocks of time of about {count} of {len(rows)} rows"
        stratified = False
        if grouped:
            if not isinstance(self.held_out, float):
                raise SplitError(
                    f"{who} names a number of rows, but with time and groups declared a share is taken of both. "
                    f"Use Resample({self.times}, 0.2)."
                )
            of_groups = Holdout(self.held_out, stratify=self.stratify)
            drawn = [
                some_groups(task, axis, block, of_groups, seed=derive(seed, "groups", number))
                for number, block in enumerate(blocks)
            ]
            blocks, stratified = [block for block, _ in drawn], any(kept for _, kept in drawn)
            words += f", {self.held_out:g} of each held out by groups" + ", stratified" * stratified
        recipe = Recipe(kind="resample", words=words, stratified=stratified, grouped=grouped, drawn=True)
        rule = TrainingRule(buffer=self.buffer, embargo=self.embargo)
        return draw_timed(task, axis, blocks, recipe, rule)
