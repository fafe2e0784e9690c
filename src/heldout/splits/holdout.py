"""Holdout: some rows are set aside, once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any

from heldout.base.errors import SplitError
from heldout.base.registered import registered
from heldout.base.rowkeys import Rows
from heldout.splits.checks import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.random_rows import RandomDraw, draw_held, held_count, last_groups
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
from heldout.splits.time_blocks import TimeAxis, TrainingRule, draw_timed, some_groups
from heldout.task import Task


@registered
@dataclass(frozen=True, slots=True, repr=False)
class Holdout(FrozenStrategy):
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
        Whether both sides have the strata in their shares: those declared, else the classes, quantile bins of a
        number, or the labels of several outputs. "auto": strata where they are declared, else classes, but not
        classes with groups or time, nor without chance. With groups, which stay whole, as near those shares as the
        groups allow; of rows, each side has at least one of each stratum.
    buffer : int, str or timedelta, optional
        With time declared: drop the training rows within this distance before the rows held out. So many rows, or a
        length of time ("7d", "12h"); a number in quotes is a length in the units of a time that is numbers.

    With groups declared, whole groups are held out, as near that many rows as the groups drawn allow. With time and
    groups declared, the share is taken twice: of the rows the most recent, and among them that share by whole groups,
    while other groups' earlier rows train.

    Examples
    --------
    >>> Holdout(0.25), Holdout(rows=20)
    (Holdout(0.25), Holdout(rows=20))
    """

    share: float | None = None
    _: KW_ONLY
    rows: int | None = None
    shuffle: bool | None = None
    stratify: str | bool = STRATIFY
    buffer: Any = None

    def __post_init__(self) -> None:
        if self.rows is not None:
            if self.share is not None:
                raise SplitError(f"Holdout takes a share or rows=, not both ({self.share!r} and {self.rows!r}).")
            self._keep(rows=whole_number(self.rows, least=1, what="rows of Holdout"))
        else:
            self._keep(share=self._checked_share())
        self._check_shared_fields()
        if self.shuffle is False and self.stratify is True:
            raise SplitError(f"{self} cannot stratify rows taken in their order. Use shuffle=True, or stratify=False.")

    def draw(self, task: Task, rows: Rows, *, seed: int) -> Splits:
        """Return one part, as :class:`~heldout.splits.drawn.Splits`."""
        if task.time is not None:
            return self._draw_in_time(task, rows, seed)
        refuse_without_time(repr(self), self.buffer)
        return self.draw_untimed(task, rows, seed=seed, strict=True)

    def draw_untimed(self, task: Task, rows: Rows, *, seed: int, strict: bool) -> Splits:
        """Draw as if the task had no time. `strict` refuses if whole groups force a stratum to be on one side."""
        who, grouped = repr(self), task.groups is not None
        count = held_count(self._amount, len(rows), who=who)
        stratified = False
        if self.shuffle is False:
            held = last_groups(task, rows, count, who=who) if grouped else rows[-count:]
            rule = "the last"
        else:
            stratified = is_stratified(task, self.stratify, who=who)
            chance = RandomDraw(times=1, count=count, stratified=stratified, who=who, strict=strict)
            held, rule = draw_held(task, rows, chance, seed=seed)[0], "at random"
            rule = stratified_words(task) if stratified else rule
        words = f"hold-out of {len(held)} of {len(rows)} {task.row_name}, {rule}" + ", groups kept whole" * grouped
        drawn = self.shuffle is not False
        recipe = Recipe(kind="holdout", words=words, stratified=stratified, grouped=grouped, drawn=drawn)
        return checked(task, Splits.from_pairs(rows, [(None, held)], recipe), who=who)

    def _checked_share(self) -> float:
        if self.share is None:
            return HELD_OUT
        if isinstance(self.share, Integral) and not isinstance(self.share, bool) and self.share > 1:
            raise SplitError(
                f"The share of Holdout must be between 0 and 1, but is {self.share}. "
                f"For {self.share} rows pass Holdout(rows={self.share})."
            )
        return share_of_rows(self.share, what="The share of Holdout")

    @property
    def _amount(self) -> float | int:
        return self.rows if self.rows is not None else self.share or HELD_OUT

    def _draw_in_time(self, task: Task, rows: Rows, seed: int) -> Splits:
        who, grouped = repr(self), task.groups is not None
        if self.shuffle:
            raise SplitError(
                f"{who} would mix past and future, but the task has time. Leave shuffle out: the most recent rows "
                "are held out."
            )
        if self.stratify is True and not grouped:
            raise SplitError(f"{who} cannot stratify the most recent rows. Leave stratify out.")
        axis = TimeAxis.of(task, rows, who=who)
        (cut,) = axis.cuts_near([len(rows) - held_count(self._amount, len(rows), who=who)])
        block = axis.block(cut, len(rows))
        recipe = Recipe(kind="holdout", words="the most recent", grouped=grouped)
        if grouped:
            if self.rows is not None:
                raise SplitError(
                    f"{who} names a number of rows, but with time and groups declared a share is taken of both. "
                    f"Use Holdout({HELD_OUT})."
                )
            block, stratified = some_groups(task, axis, block, replace(self, buffer=None), seed=seed)
            words = f"{'stratified ' * stratified}groups of the most recent {len(rows) - cut}"
            recipe = replace(recipe, words=words, stratified=stratified, drawn=self.shuffle is not False)
        words = f"hold-out of {len(block.held)} of {len(rows)} rows, {recipe.words}"
        rule = TrainingRule(buffer=self.buffer, forward=True)
        return draw_timed(task, axis, [block], replace(recipe, words=words), rule)
