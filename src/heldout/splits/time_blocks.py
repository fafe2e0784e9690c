"""Draws parts that follow time: blocks are held out, and training rows keep the distance asked for.

With groups declared too, a part is a fold of groups within a block: held out are the rows of those groups in that
block, and what trains are other groups outside it. See docs/decisions/0019-groups-and-time-together.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, Sentence, SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.checks import checked
from heldout.splits.distances import Distance, is_none
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.time_axis import Gap, HeldInterval, TimeAxis, cuts_between_times
from heldout.task import Task


class GroupStrategy(Protocol):
    """A strategy that deals whole groups when time is not looked at."""

    @property
    def stratify(self) -> str | bool: ...

    def deal(self, task: Task, rows: Rows, *, seed: int, strict: bool) -> Splits:
        """Splits of a task without time. `strict` refuses where groups keep strata from where they must be."""
        ...


class Part(NamedTuple):
    """A held-out side, ascending, and the time that training rows must stay out of."""

    window: HeldInterval
    held: Rows
    last_start: Any  # of the rows in the block, those of other groups too


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRule:
    """How training rows are taken: on which sides of a block, how far from it, and how far back."""

    who: str
    gap: Gap
    forward: bool = False  # only rows before the block train
    window: Distance | None = None  # and of them the latest only


def draw_timed(task: Task, axis: TimeAxis, parts: Iterable[Part], recipe: Recipe, *, rule: TrainingRule) -> Splits:
    """Splits of the rows of `axis`, each part with the training rows that time, buffers and groups leave it."""
    rows = np.sort(axis.rows)
    pairs: list[tuple[Rows | None, Rows]] = []
    buffered: list[int] = []
    all_the_rest = True
    for number, part in enumerate(parts):
        keep = _training_places(task, axis, part, rule)
        train = np.sort(axis.rows[keep])
        if not len(train):
            _refuse_bare(axis, number, part, rule, grouped=task.groups is not None)
        all_the_rest = all_the_rest and len(train) + len(part.held) == len(rows)
        pairs.append((train, part.held))
        buffered.append(_kept_out(task, axis, part, rule, keep=keep))
    if all_the_rest:
        pairs = [(None, held) for _, held in pairs]
    purged = ", overlapping rows purged" if axis.spans else ""
    words, gap = f"{recipe.words}{rule.gap.words()}{purged}", rule.gap
    recipe = replace(recipe, words=words, timed=True, buffer=gap.buffer, embargo=gap.embargo)
    splits = checked(task, Splits.from_pairs(rows, pairs, recipe), who=rule.who)
    return replace(splits, buffered=np.array(buffered, dtype=np.intp)) if any(buffered) else splits


def stretch(axis: TimeAxis, start: int, stop: int) -> Part:
    """The rows from one place in time order to another, all of them held out."""
    return _part_of(axis, start, stop, np.arange(start, stop))


def blocks_between(axis: TimeAxis, cuts: Sequence[int]) -> list[Part]:
    """A part for each stretch of rows between neighbouring cuts (places in time order)."""
    return [stretch(axis, start, stop) for start, stop in pairwise(cuts)]


def even_cuts(axis: TimeAxis, k: int, *, who: str) -> list[int]:
    """Cuts into K blocks of almost equal size, the larger ones first, moved so that no tie in time is cut through."""
    size, larger = divmod(len(axis), k)
    targets = np.cumsum([size + (block < larger) for block in range(k - 1)]).tolist()
    return [0, *cuts_between_times(axis.begins, targets, who=who), len(axis)]


def crossed(axis: TimeAxis, cuts: Sequence[int], folds: Splits) -> Iterator[Part]:
    """Each block crossed with each fold of groups, repeat after repeat; where a block has no row of a fold, no part."""
    each = len(folds) // folds.recipe.repeats
    for repeat in range(folds.recipe.repeats):
        of_row = np.empty(folds.rows[-1] + 1, dtype=np.int32)
        for fold in range(each):
            of_row[folds.held_rows(repeat * each + fold)] = fold
        label = of_row[axis.rows]
        for start, stop in pairwise(cuts):
            for fold in range(each):
                members = start + np.flatnonzero(label[start:stop] == fold)
                if len(members):
                    yield _part_of(axis, start, stop, members)


def some_groups(
    task: Task, axis: TimeAxis, block: Part, strategy: GroupStrategy, *, seed: int, who: str
) -> tuple[Part, bool]:
    """The block with only some of its groups held out, as `strategy` draws them, and whether that keeps strata.

    Drawn from are all rows of the groups that the block has, whenever they were, so that a short block can keep strata
    too. A block of a single group is held out whole. Training rows stay out of the time of the whole block.
    """
    assert task.groups is not None
    assert axis.groups is not None
    there = _of_groups(task.groups, block.held)
    if np.count_nonzero(there) == 1:
        return block, False
    theirs = np.sort(axis.rows[there[axis.groups]])
    drawn = drawn_without_time(task, theirs, strategy, seed=seed, who=who)
    held = block.held[_of_groups(task.groups, drawn.held_rows(0))[task.groups[block.held]]]
    last = max(block.last_start, axis.ends[np.isin(axis.rows, held)].max())
    return Part(HeldInterval(block.window.first, last), held, block.last_start), drawn.recipe.stratified


def chance_stretches(axis: TimeAxis, count: int, times: int, *, seed: int, who: str) -> list[Part]:
    """Stretches of about `count` rows that begin anywhere, as near as whole times allow, and never all rows."""
    bounds = np.array([0, *axis.begins, len(axis)])
    if len(bounds) < 3:
        cuts_between_times(axis.begins, [count], who=who)  # which refuses
    starts = np.random.default_rng(seed).integers(0, len(axis) - count + 1, size=times)
    stretches = []
    for start in starts.tolist():
        first = int(np.argmin(np.abs(bounds[:-1] - start)))
        last = first + 1 + int(np.argmin(np.abs(bounds[first + 1 :] - bounds[first] - count)))
        if first == 0 and last == len(bounds) - 1:
            last -= 1
        stretches.append(stretch(axis, int(bounds[first]), int(bounds[last])))
    return stretches


def drawn_without_time(task: Task, rows: Rows, strategy: GroupStrategy, *, seed: int, who: str) -> Splits:
    """Groups as `strategy` would deal them were time not declared; a refusal says for whom it was.

    A block has few groups, so strata that nobody asked for by stratify=True are spread as well as these allow.
    """
    try:
        return strategy.deal(replace(task, time=None, time_end=None), rows, seed=seed, strict=strategy.stratify is True)
    except SplitError as error:
        raise SplitError(f"{who}, dealing groups: {error}") from error


def refuse_without_time(who: str, *distances: Distance | None) -> None:
    """Refuse a buffer or an embargo where the task has no time."""
    if not all(map(is_none, distances)):
        raise SplitError(
            f"{who} keeps training rows apart from held-out rows in time, but the task has no time.",
            Sentence(
                "Pass {}; where the rows lie in the order of time, time=np.arange(len(y)) says so.", Argument("time")
            ),
        )


def _part_of(axis: TimeAxis, start: int, stop: int, places: NDArray[np.intp]) -> Part:
    last = max(axis.starts[stop - 1], axis.ends[places].max())
    return Part(HeldInterval(axis.starts[start], last), np.sort(axis.rows[places]), axis.starts[stop - 1])


def _training_places(task: Task, axis: TimeAxis, part: Part, rule: TrainingRule) -> NDArray[np.bool_]:
    """A mask of the rows that train, in the order of the axis."""
    limit = axis.before(part.window, rule.gap.buffer, who=rule.who)
    keep = np.asarray(axis.ends < limit)
    if rule.window is not None:
        keep &= axis.starts >= axis.since(limit, rule.window, who=rule.who)
    if not rule.forward:
        keep |= axis.starts > axis.after(part.window, rule.gap, who=rule.who)
    if task.groups is not None and axis.groups is not None:
        keep &= ~_of_groups(task.groups, part.held)[axis.groups]
    return keep


def _of_groups(groups: NDArray[np.intp], rows: Rows) -> NDArray[np.bool_]:
    """For each group of the task, whether it has one of these rows."""
    there = np.zeros(int(groups.max()) + 1, dtype=bool)
    there[groups[rows]] = True
    return there


def _kept_out(task: Task, axis: TimeAxis, part: Part, rule: TrainingRule, *, keep: NDArray[np.bool_]) -> int:
    """How many rows would train but for a buffer, an embargo, or an outcome that overlaps the block."""
    if not (rule.gap or axis.spans):
        return 0
    points = replace(axis, ends=axis.starts, ends_ascending=axis.starts, spans=False)
    block = part._replace(window=HeldInterval(part.window.first, part.last_start))
    return int(np.count_nonzero(_training_places(task, points, block, replace(rule, gap=Gap())) & ~keep))


def _refuse_bare(axis: TimeAxis, number: int, part: Part, rule: TrainingRule, *, grouped: bool) -> None:
    reasons = ["not before its time"] if rule.forward else ["within its time"]
    reasons += [f"too near it ({rule.gap.words()[2:]})"] * bool(rule.gap)
    reasons += ["before its window"] * (rule.window is not None)
    reasons += ["spans that overlap it"] * axis.spans
    reasons += ["in its groups"] * grouped
    ways = ["a smaller buffer"] * bool(rule.gap) + ["a longer window"] * (rule.window is not None)
    ways += ["fewer or other parts", "more rows"]
    raise SplitError(
        f"{rule.who}: part {number} has no training rows. Of {len(axis)} rows at this level it holds out "
        f"{len(part.held)}, and all others are {' or '.join(reasons)}. Use {', '.join(ways[:-1])} or {ways[-1]}."
    )
