"""Runs: adjacent parts of one panel, whose held-out rows are concatenated and answered together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.neighbours.arithmetic import Near
from heldout.kernels.neighbours.lists import Found, Lists, kept_places
from heldout.kernels.step import Held, Training, Work
from heldout.kernels.sums.rounding import Bools
from heldout.study.study import TrainRef


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """Adjacent parts of one panel."""

    work: Work
    trainings: tuple[Training, ...]  # of each part, with the one held-out part that it answers here
    rows: Rows  # held-out rows, concatenated
    cuts: Rows  # where each part begins, and the last ends
    trained_on: Rows  # the number of training rows of each part

    @property
    def helds(self) -> list[Held]:
        return [training.answers[0] for training in self.trainings]

    def ref(self, part: int) -> TrainRef:
        return self.trainings[part].trains[0]

    def rows_of(self, part: int) -> slice:
        """Return where the rows of a part are among those of the run."""
        return slice(int(self.cuts[part]), int(self.cuts[part + 1]))

    def part_of(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the part of each of these rows of the run."""
        return np.searchsorted(self.cuts, places, side="right") - 1

    def repeats_rows(self) -> bool:
        """Return whether a training set names a row more than once."""
        own = {
            ref
            for training in self.trainings
            for ref in training.trains
            if self.work.splits[ref.splits].train is not None
        }
        each = (self.work.train_rows(ref) for ref in own)
        return any(len(np.unique(rows)) < len(rows) for rows in each)

    def trains(self, parts: NDArray[np.intp], near: NDArray[np.int32]) -> Bools:
        """Return whether each neighbour (query rows × neighbours) trains for its query row's part. Parts ascend."""
        trains, name = np.zeros(len(self.work.task), dtype=bool), ""
        keeps = np.empty(near.shape, dtype=bool)
        for part in np.unique(parts).tolist():
            ref, asked = self.ref(part), slice(*np.searchsorted(parts, [part, part + 1]))
            splits = self.work.splits[ref.splits]
            if splits.train is not None or name != ref.splits:
                name = ref.splits
                trains[:] = False
                trains[splits.rows if splits.train is None else splits.train_rows(ref.part)] = True
            left_out = splits.held_rows(ref.part) if splits.train is None else slice(0)
            trains[left_out] = False
            keeps[asked] = trains[near[asked]]
            if splits.train is None:
                trains[left_out] = True
        return keeps


def make_runs(trainings: Sequence[Training], work: Work, most_rows: int) -> Iterator[Run]:
    """Yield the held-out parts of these trainings, by panel, in runs of at most `most_rows` rows where possible."""
    panels: dict[tuple[str, str, str], list[tuple[Held, Training]]] = {}
    for training in trainings:
        for held in training.answers:
            panels.setdefault((held.panel, held.level, held.splits), []).append((held, training))
    for (_, _, name), pairs in panels.items():
        pairs.sort(key=lambda pair: pair[0].part)
        sizes = work.splits[name].held_sizes
        run: list[tuple[Held, Training]] = []
        rows = 0
        for held, training in pairs:
            rows += int(sizes[held.part])
            if run and (held.part != run[-1][0].part + 1 or rows > most_rows):
                yield _run(run, work)
                run, rows = [], int(sizes[held.part])
            run.append((held, training))
        yield _run(run, work)


def _run(pairs: Sequence[tuple[Held, Training]], work: Work) -> Run:
    (head, _), (tail, _) = pairs[0], pairs[-1]
    splits, first, last = work.splits[head.splits], head.part, tail.part
    cuts = splits.held_cuts[first : last + 2]
    refs = [training.trains[0] for _, training in pairs]
    return Run(
        work=work,
        trainings=tuple(training._replace(answers=(held,)) for held, training in pairs),
        rows=splits.held[cuts[0] : cuts[-1]],
        cuts=cuts - cuts[0],
        trained_on=np.array([work.splits[ref.splits].train_sizes[ref.part] for ref in refs], dtype=np.intp),
    )


def nearest(lists: Lists, run: Run, cut: slice, *, width: int, tie: float) -> Near:
    """Return the nearest training rows of some rows of a run. Rows whose list is too short are searched again."""
    rows, part = run.rows[cut], run.part_of(np.arange(cut.start, cut.stop))
    need = np.minimum(width, run.trained_on[part])
    near = Near(
        rows=np.zeros((len(rows), width), dtype=np.int32),
        far=np.full((len(rows), width), np.inf),
        slack=np.zeros(len(rows)),
    )
    todo, length = np.arange(len(rows)), lists.length
    found = lists.of(rows)
    while True:
        short = _take(found, run.trains(part[todo], found.rows), need[todo], near, todo, tie=tie)
        todo, length = todo[short], 2 * length
        if not len(todo):
            return near
        found = lists.searcher.find(rows[todo], length)


def _take(found: Found, keeps: Bools, need: NDArray[np.intp], to: Near, todo: NDArray[np.intp], *, tie: float) -> Bools:
    """Copy the first kept neighbours of each row to `to`. Return which rows have too few."""
    flat, counts = kept_places(keeps)
    starts = np.cumsum(counts) - counts
    slots = np.arange(to.rows.shape[1])
    there = slots < np.minimum(counts, need)[:, None]
    if len(flat):
        places = flat[np.where(there, starts[:, None] + slots, 0)]
        to.rows[todo] = np.where(there, found.rows.ravel()[places], 0)
        to.far[todo] = np.where(there, found.far.ravel()[places], np.inf)
    to.slack[todo] = found.slack
    last = to.far[todo, np.maximum(need - 1, 0)]
    with np.errstate(invalid="ignore"):
        sure = last * (1.0 + tie) + found.slack < found.reach
    return np.asarray((counts < need) | ~(sure | np.isinf(found.reach)))
