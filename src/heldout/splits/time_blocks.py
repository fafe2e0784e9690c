"""Draws parts that follow time: blocks are held out, and training rows keep the requested distance from them.

A row spans the time [start, end], which is a single point if no end was declared. Training rows lie wholly before a
held-out block or wholly after it, beyond the buffer; after it, beyond the embargo too. Both ends of a span belong to
it, and so does the last instant of a buffer: with one row a day, a buffer of "7d" and one of 7 rows drop the same rows.

If groups are declared too, a part is a fold of groups within a block. It holds out the rows of those groups in that
block, and trains on other groups outside the block. See docs/decisions/0019-groups-and-time-together.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.checks import checked
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.strategy import (
    NANOSECONDS,
    OF_NUMPY,
    Distance,
    distance_words,
    is_positive,
    nanoseconds,
    plain_number,
)
from heldout.task import Task

if TYPE_CHECKING:
    from heldout.splits.holdout import Holdout
    from heldout.splits.kfold import KFold


class Block(NamedTuple):
    """Rows to hold out, and the closed interval of time that training rows must stay out of."""

    first: Any
    last: Any
    held: Rows  # ascending
    last_start: Any  # of the rows in the block, those of other groups too


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRule:
    """Says which rows train for a held-out block: on which sides, how far from it, and how far back in time."""

    buffer: Distance | None = None  # on both sides
    embargo: Distance | None = None  # and further after the block
    forward: bool = False  # only rows before the block train
    window: Distance | None = None  # and of them the latest only

    @property
    def gap_words(self) -> str:
        """Describe the distances for a recipe: empty, or ", buffer of 7 rows, embargo of 3d"."""
        asked = {"buffer": self.buffer, "embargo": self.embargo}
        return "".join(f", {name} of {distance_words(d)}" for name, d in asked.items() if is_positive(d))


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeAxis:
    """Rows sorted by start time; rows that start together keep the row order, which has no effect on the splits."""

    who: str  # the strategy, for errors
    rows: Rows
    starts: NDArray[Any]  # int64 in the unit of the task's dates, or the numbers that time was declared in
    ends: NDArray[Any]  # the array of starts itself where rows are points
    unit: int | None  # nanoseconds in one unit of the axis; None where time is numbers
    groups: NDArray[np.intp] | None = None  # codes of the task

    @classmethod
    def of(cls, task: Task, rows: Rows, *, who: str) -> TimeAxis:
        """Make the axis of some rows of a task that has time."""
        assert task.time is not None, "only a task with time has an axis"
        starts, unit = _as_numbers(task.time[rows])
        order = np.argsort(starts, kind="stable")
        rows, starts = rows[order], starts[order]
        ends = starts if task.time_end is None else _as_numbers(task.time_end[rows])[0]
        groups = None if task.groups is None else task.groups[rows]
        return cls(who=who, rows=rows, starts=starts, ends=ends, unit=unit, groups=groups)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def spans(self) -> bool:
        """Return whether rows span intervals instead of points."""
        return self.ends is not self.starts

    @property
    def begins(self) -> NDArray[np.intp]:
        """Return the positions where a new time begins, without the first position 0."""
        return np.flatnonzero(self.starts[1:] != self.starts[:-1]) + 1

    @cached_property
    def ends_ascending(self) -> NDArray[Any]:
        return np.sort(self.ends) if self.spans else self.ends

    def cuts_near(self, targets: Sequence[int]) -> list[int]:
        """Return ascending cuts near `targets`, each where a new time begins, so that no time is split."""
        begins, wanted = self.begins, len(targets)
        if len(begins) < wanted:
            raise SplitError(
                f"{self.who} keeps rows of one time on one side, so it needs at least {wanted + 1} distinct times, but "
                f"there are {len(begins) + 1} at this level. Use fewer parts, or a finer time."
            )
        cuts, lowest = [], 0
        for done, target in enumerate(targets):
            right = min(int(np.searchsorted(begins, target)), len(begins) - 1)
            nearest = right - 1 if right and target - begins[right - 1] < abs(begins[right] - target) else right
            # Leave a position for each of the cuts still to come, and go past the last one made.
            position = max(lowest, min(nearest, len(begins) - wanted + done))
            cuts.append(int(begins[position]))
            lowest = position + 1
        return cuts

    def even_cuts(self, k: int) -> list[int]:
        """Return cuts into K blocks of almost equal size, larger ones first, each where a new time begins."""
        size, larger = divmod(len(self), k)
        targets = np.cumsum([size + (block < larger) for block in range(k - 1)]).tolist()
        return [0, *self.cuts_near(targets), len(self)]

    def block(self, start: int, stop: int, positions: NDArray[np.intp] | None = None) -> Block:
        """Make the block between two positions in time order. It holds out all its rows, or those at `positions`."""
        positions = np.arange(start, stop) if positions is None else positions
        last = max(self.starts[stop - 1], self.ends[positions].max())
        return Block(self.starts[start], last, np.sort(self.rows[positions]), self.starts[stop - 1])

    def blocks(self, cuts: Sequence[int]) -> list[Block]:
        """Return a block for each stretch of rows between neighbouring cuts (positions in time order)."""
        return [self.block(start, stop) for start, stop in pairwise(cuts)]

    def limit_before(self, first: Any, distance: Distance | None) -> Any:
        """Return the time that training rows must end before, to lie more than this distance before `first`."""
        if not is_positive(distance):
            return first
        if not isinstance(distance, int):
            return _plain(first) - self._length(distance)
        # Rows of one time are dropped together: the limit is the end of the earliest row within the distance.
        return self.ends_ascending[max(int(np.searchsorted(self.ends_ascending, first)) - distance, 0)]

    def limit_after(self, last: Any, distance: Distance | None) -> Any:
        """Return the time that training rows must start after, to lie more than this distance after `last`."""
        if not is_positive(distance):
            return last
        if not isinstance(distance, int):
            return _plain(last) + self._length(distance)
        position = int(np.count_nonzero(self.starts <= last)) + distance - 1
        return max(self.starts[min(position, len(self) - 1)], last)

    def since(self, limit: Any, length: Distance) -> Any:
        """Return the earliest start of training rows before `limit`, if only a window of the latest rows trains.

        Rows of one time stay together, so there may be a few more than were asked for.
        """
        if not isinstance(length, int):
            return _plain(limit) - self._length(length)
        starts = self.starts[self.ends < limit]
        return starts[-length] if length < len(starts) else self.starts[0]

    def _length(self, distance: str) -> Any:
        """Convert a length of time to units of the axis, as a Python number, which cannot overflow."""
        number = plain_number(distance)
        if self.unit is None:
            if number is None:
                raise SplitError(
                    f"{self.who}: {distance!r} is a length of time in days or hours, but the task's time is plain "
                    "numbers. Write it in the units of that time, in quotes, or as a number of rows; or pass time as "
                    "dates."
                )
            length: Any = number if self.starts.dtype.kind == "f" else number.__floor__()
        else:
            if number is not None:
                raise SplitError(
                    f"{self.who}: {distance!r} has no unit, but the task's time is dates. Write '{distance}d' for "
                    f"days, '{distance}h' for hours, or {float(number):.0f} without quotes for rows."
                )
            # Times are whole units, so the fraction of a unit makes no difference.
            length = nanoseconds(distance) // self.unit
        # Any length beyond the whole time range has the same effect; the cap keeps it representable as a float.
        length = min(length, _plain(self.ends_ascending[-1]) - _plain(self.starts[0]) + 1)
        return float(length) if self.starts.dtype.kind == "f" else length


def in_time_order(task: Task, rows: Rows) -> Rows:
    """Sort `rows` of a task with time from earliest to latest."""
    assert task.time is not None
    return rows[np.argsort(task.time[rows], kind="stable")]


def draw_timed(task: Task, axis: TimeAxis, blocks: Iterable[Block], recipe: Recipe, rule: TrainingRule) -> Splits:
    """Make splits from blocks, each with the training rows that time, buffers and groups allow."""
    rows = np.sort(axis.rows)
    pairs: list[tuple[Rows | None, Rows]] = []
    buffered: list[int] = []
    for number, block in enumerate(blocks):
        keep = _training_mask(task, axis, block, rule)
        train = np.sort(axis.rows[keep])
        if not len(train):
            _refuse_bare(axis, number, block, rule, grouped=task.groups is not None)
        pairs.append((None if len(train) + len(block.held) == len(rows) else train, block.held))
        buffered.append(_kept_out(task, axis, block, rule, keep))
    words = f"{recipe.words}{rule.gap_words}" + ", overlapping rows purged" * axis.spans
    recipe = replace(recipe, words=words, timed=True, buffer=rule.buffer, embargo=rule.embargo)
    splits = checked(task, Splits.from_pairs(rows, pairs, recipe), who=axis.who)
    return replace(splits, buffered=np.array(buffered, dtype=np.intp)) if any(buffered) else splits


def crossed(axis: TimeAxis, cuts: Sequence[int], folds: Splits) -> Iterator[Block]:
    """Yield a block for each pair of a time block and a fold of groups that share rows, repeat after repeat."""
    each = len(folds) // folds.recipe.repeats
    for repeat in range(folds.recipe.repeats):
        fold_of = np.empty(folds.rows[-1] + 1, dtype=np.int32)
        for fold in range(each):
            fold_of[folds.held_rows(repeat * each + fold)] = fold
        folds_along = fold_of[axis.rows]
        for start, stop in pairwise(cuts):
            for fold in range(each):
                members = start + np.flatnonzero(folds_along[start:stop] == fold)
                if len(members):
                    yield axis.block(start, stop, members)


def some_groups(task: Task, axis: TimeAxis, block: Block, strategy: Holdout, *, seed: int) -> tuple[Block, bool]:
    """Hold out only some groups of a block, as `strategy` draws them; also return whether the draw is stratified.

    The draw uses all rows of the block's groups, at any time, so that a short block can be stratified too. A block with
    a single group is held out whole. Training rows stay out of the time of the whole block.
    """
    assert task.groups is not None
    assert axis.groups is not None
    own = task.groups[block.held]
    if (own == own[0]).all():
        return block, False
    drawn = drawn_without_time(task, np.sort(axis.rows[np.isin(axis.groups, own)]), strategy, seed=seed, who=axis.who)
    held = block.held[np.isin(own, task.groups[drawn.held_rows(0)])]
    last = max(block.last_start, axis.ends[np.isin(axis.rows, held)].max())
    return block._replace(last=last, held=held), drawn.recipe.stratified


def random_blocks(axis: TimeAxis, count: int, times: int, *, seed: int) -> list[Block]:
    """Return blocks of about `count` rows that begin at random, as near as whole times allow, and never all rows."""
    bounds = np.array([0, *axis.begins, len(axis)])
    if len(bounds) < 3:
        axis.cuts_near([count])  # raises the error
    starts = np.random.default_rng(seed).integers(0, len(axis) - count + 1, size=times)
    blocks = []
    for start in starts.tolist():
        first = int(np.argmin(np.abs(bounds[:-1] - start)))
        last = first + 1 + int(np.argmin(np.abs(bounds[first + 1 :] - bounds[first] - count)))
        if first == 0 and last == len(bounds) - 1:
            last -= 1
        blocks.append(axis.block(int(bounds[first]), int(bounds[last])))
    return blocks


def drawn_without_time(task: Task, rows: Rows, strategy: KFold | Holdout, *, seed: int, who: str) -> Splits:
    """Draw groups with `strategy` as if time were not declared; `who` names the splitter in errors.

    A block has few groups. Strata are therefore spread as evenly as possible, unless stratify=True asks for them
    strictly.
    """
    untimed, strict = replace(task, time=None, time_end=None), strategy.stratify is True
    try:
        return strategy.draw_untimed(untimed, rows, seed=seed, strict=strict)
    except SplitError as error:
        raise SplitError(f"{who}, dealing groups: {error}") from error


def _training_mask(task: Task, axis: TimeAxis, block: Block, rule: TrainingRule) -> NDArray[np.bool_]:
    """Return a mask of the rows that train, in the order of the axis."""
    limit = axis.limit_before(block.first, rule.buffer)
    keep = np.asarray(axis.ends < limit)
    if rule.window is not None:
        keep &= axis.starts >= axis.since(limit, rule.window)
    if not rule.forward:
        keep |= axis.starts > axis.limit_after(axis.limit_after(block.last, rule.buffer), rule.embargo)
    if task.groups is not None and axis.groups is not None:
        keep &= ~np.isin(axis.groups, task.groups[block.held])
    return keep


def _kept_out(task: Task, axis: TimeAxis, block: Block, rule: TrainingRule, keep: NDArray[np.bool_]) -> int:
    """Count the rows that do not train because of a buffer, an embargo, or a time that overlaps the block."""
    if not (rule.gap_words or axis.spans):
        return 0
    points, whole = replace(axis, ends=axis.starts), block._replace(last=block.last_start)
    trained = _training_mask(task, points, whole, replace(rule, buffer=None, embargo=None))
    return int(np.count_nonzero(trained & ~keep))


def _refuse_bare(axis: TimeAxis, number: int, block: Block, rule: TrainingRule, *, grouped: bool) -> None:
    gap, window = rule.gap_words, rule.window is not None
    reasons = ["not before its time"] if rule.forward else ["within its time"]
    reasons += [f"too near it ({gap[2:]})"] * bool(gap) + ["before its window"] * window
    reasons += ["spans that overlap it"] * axis.spans + ["in its groups"] * grouped
    ways = ["a smaller buffer"] * bool(gap) + ["a longer window"] * window + ["fewer or other parts"]
    raise SplitError(
        f"{axis.who}: part {number} has no training rows. Of {len(axis)} rows at this level it holds out "
        f"{len(block.held)}, and all others are {' or '.join(reasons)}. Use {', '.join(ways)} or more rows."
    )


def _plain(number: Any) -> Any:
    return number.item() if isinstance(number, np.generic) else number


def _as_numbers(times: NDArray[Any]) -> tuple[NDArray[Any], int | None]:
    """Convert times to plain numbers; also return the nanoseconds in one unit, or None if they are not dates."""
    kind = times.dtype.kind
    if kind in "mM":
        unit, step = np.datetime_data(times.dtype)
        return times.astype(np.int64), NANOSECONDS[OF_NUMPY.get(unit, unit)] * step
    return times.astype(np.int64 if kind in "iu" else np.float64), None
