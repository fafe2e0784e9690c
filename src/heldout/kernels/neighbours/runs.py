"""Runs: neighbouring parts of one panel, whose held-out rows stand end to end and are answered together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.neighbours.doubt import Near
from heldout.kernels.neighbours.search import Found, Lists, kept_places
from heldout.kernels.step import Held, Training, Work
from heldout.splits.drawn import Splits
from heldout.study.study import TrainRef

OUTSIDE = -1  # a row that trains for no part of the run


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """Neighbouring parts of one panel."""

    helds: tuple[Held, ...]
    trainings: tuple[Training, ...]  # of each part
    rows: Rows  # held-out rows end to end
    cuts: Rows  # where each part begins, and the last ends
    trained_on: Rows  # how many rows train for each part

    def ref(self, part: int) -> TrainRef:
        return self.trainings[part].trains[0]

    def part_rows(self, part: int) -> Rows:
        return self.rows[self.cuts[part] : self.cuts[part + 1]]


class Labels:
    """Training rows as all rows of the splits but those with the asker's own label."""

    def __init__(self, label: NDArray[np.int32], own: NDArray[np.int32]) -> None:
        self._label = label
        self._own = own

    def keeps(self, asked: NDArray[np.intp], near: NDArray[np.int32]) -> NDArray[np.bool_]:
        label = self._label[near]
        return np.asarray((label != self._own[asked][:, None]) & (label != OUTSIDE))


class Mask:
    """Training rows named one by one."""

    def __init__(self, trains: NDArray[np.bool_]) -> None:
        self._trains = trains

    def keeps(self, asked: NDArray[np.intp], near: NDArray[np.int32]) -> NDArray[np.bool_]:
        return self._trains[near]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Rows of a run, and which rows train for them."""

    cut: slice  # of the run's rows
    trains: Labels | Mask  # asks by place in the run


def make_runs(trainings: Sequence[Training], work: Work, most_rows: int) -> Iterator[Run]:
    """The held-out sides of these trainings, by panel, in runs of at most so many rows where parts allow it."""
    panels: dict[tuple[str, str, str], list[tuple[Held, Training]]] = {}
    for training in trainings:
        for held in training.answers:
            panels.setdefault((held.panel, held.level, held.splits), []).append((held, training))
    for (_, _, key), pairs in panels.items():
        pairs.sort(key=lambda pair: pair[0].part)
        splits = work.splits[key]
        parts = np.array([held.part for held, _ in pairs])
        sizes = splits.held_sizes[parts]
        first = 0
        while first < len(pairs):
            last, rows = first + 1, sizes[first]
            while last < len(pairs) and parts[last] == parts[last - 1] + 1 and rows + sizes[last] <= most_rows:
                rows += sizes[last]
                last += 1
            yield _run(pairs[first:last], splits, work)
            first = last


def _run(pairs: Sequence[tuple[Held, Training]], splits: Splits, work: Work) -> Run:
    first, last = pairs[0][0].part, pairs[-1][0].part
    start = splits.held_cuts[first]
    refs = [training.trains[0] for _, training in pairs]
    sizes = [work.splits[ref.splits].train_sizes[ref.part] for ref in refs]
    return Run(
        helds=tuple(held for held, _ in pairs),
        trainings=tuple(training for _, training in pairs),
        rows=splits.held[start : splits.held_cuts[last + 1]],
        cuts=splits.held_cuts[first : last + 2] - start,
        trained_on=np.array(sizes, dtype=np.intp),
    )


def batches(run: Run, work: Work) -> list[Batch]:
    """The rows of a run by who trains for them: parts that hold out different rows of one splits go together."""
    n = len(work.task)
    rest = [_trains_on_the_rest(run, part, work) for part in range(len(run.helds))]
    if all(rest) and np.bincount(run.rows, minlength=n).max() == 1:
        return _labelled(run, range(len(run.helds)), work)
    made: list[Batch] = []
    open_: list[int] = []
    seen = np.zeros(n, dtype=bool)
    for part in range(len(run.helds)):
        if not rest[part]:
            made += _labelled(run, open_, work)
            open_, seen = [], np.zeros(n, dtype=bool)
            trains = np.zeros(n, dtype=bool)
            trains[work.train_rows(run.ref(part))] = True
            made.append(Batch(cut=slice(int(run.cuts[part]), int(run.cuts[part + 1])), trains=Mask(trains)))
            continue
        rows = run.part_rows(part)
        if seen[rows].any():  # held out a second time: another repeat begins
            made += _labelled(run, open_, work)
            open_, seen = [], np.zeros(n, dtype=bool)
        seen[rows] = True
        open_.append(part)
    return made + _labelled(run, open_, work)


def _trains_on_the_rest(run: Run, part: int, work: Work) -> bool:
    """Whether a part trains on all rows of its own splits but those it holds out."""
    held, ref = run.helds[part], run.ref(part)
    return ref.part == held.part and ref.splits == held.splits and work.splits[ref.splits].train is None


def _labelled(run: Run, parts: Sequence[int], work: Work) -> list[Batch]:
    if not parts:
        return []
    cut = slice(int(run.cuts[parts[0]]), int(run.cuts[parts[-1] + 1]))
    splits = work.splits[run.helds[parts[0]].splits]
    label = np.full(len(work.task), OUTSIDE, dtype=np.int32)
    label[splits.rows] = 0
    own = np.zeros(len(run.rows), dtype=np.int32)
    own[cut] = np.repeat(np.arange(1, len(parts) + 1), np.diff(run.cuts)[parts[0] : parts[-1] + 1])
    label[run.rows[cut]] = own[cut]
    return [Batch(cut=cut, trains=Labels(label, own))]


def nearest(lists: Lists, run: Run, batch: Batch, cut: slice, *, width: int, tie: float) -> Near:
    """The nearest training rows of some rows of a run; lists that prove too short are made longer for those rows."""
    rows = run.rows[cut]
    asked = np.arange(cut.start, cut.stop)
    part = np.searchsorted(run.cuts, asked, side="right") - 1
    need = np.minimum(width, run.trained_on[part])
    near = np.zeros((len(rows), width), dtype=np.int32)
    far = np.full((len(rows), width), np.inf)
    slack = np.zeros(len(rows))
    todo = np.arange(len(rows))
    found, length = lists.of(rows), lists.length
    while len(todo):
        short = _take(found, batch.trains.keeps(asked[todo], found.rows), need[todo], (near, far, slack), todo, tie=tie)
        todo = todo[short]
        length = min(2 * length, lists.searcher.size)
        if len(todo):
            found = lists.searcher.find(rows[todo], length)
    return Near(rows=near, far=far, slack=slack, squared=lists.searcher.squared)


def _take(
    found: Found,
    keeps: NDArray[np.bool_],
    need: NDArray[np.intp],
    out: tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]],
    todo: NDArray[np.intp],
    *,
    tie: float,
) -> NDArray[np.bool_]:
    """Copy the first kept neighbours of each line to `out`; which lines have too few."""
    near, far, slack = out
    flat, counts = kept_places(keeps)
    starts = np.cumsum(counts) - counts
    slots = np.arange(near.shape[1])
    there = slots < np.minimum(counts, need)[:, None]
    if there.all():
        places = flat[starts[:, None] + slots]
        near[todo], far[todo] = found.rows.ravel()[places], found.far.ravel()[places]
    elif len(flat):
        places = flat[np.where(there, starts[:, None] + slots, 0)]
        near[todo] = np.where(there, found.rows.ravel()[places], 0)
        far[todo] = np.where(there, found.far.ravel()[places], np.inf)
    slack[todo] = found.slack
    last = far[todo, np.maximum(need - 1, 0)]
    with np.errstate(invalid="ignore"):
        sure = last * (1.0 + tie) + found.slack < found.reach
    return np.asarray((counts < need) | ~(sure | np.isinf(found.reach)))
