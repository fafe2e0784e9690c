"""From numbers on held-out rows to scored answers, in blocks as large as possible; brute force for what is in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.driver.contract import Group, HeldOutNumbers, Kernel, Numbers
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Plain, Step, Training, sides_of
from heldout.kernels.sums.rounding import Bools
from heldout.study.answers import Answer

BLOCK_NUMBERS = 1 << 19  # responses that are scored at a time


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Numbers on several held-out parts end to end, and which candidates are reliable on each."""

    trainings: Sequence[Training]  # each with the one held-out part it answers
    cuts: NDArray[np.intp]  # where the rows of each part begin, and the last end
    numbers: Numbers
    reliable: Bools  # parts × candidates


def end_to_end(answered: Sequence[HeldOutNumbers]) -> Batch:
    """The numbers of held-out parts in the order of panels and parts."""
    answered = sorted(answered, key=lambda part: (part.held.panel, part.held.part))
    arrays = zip(*(part.numbers for part in answered), strict=True)
    return Batch(
        [part.training._replace(answers=(part.held,)) for part in answered],
        np.concatenate([[0], np.cumsum([len(part.numbers[0]) for part in answered])]),
        tuple(np.concatenate(several) for several in arrays),
        np.stack([part.reliable for part in answered]),
    )


def score(kernel: Kernel, group: Group, batch: Batch, step: Step, seconds: float) -> Iterator[Answer]:
    """Blocks of neighbouring parts where every candidate is reliable; the other parts one by one."""
    each = seconds / len(batch.trainings)
    whole = batch.reliable.all(axis=1)
    jobs = [(kernel, group, batch, run, each * len(run)) for run in _runs(batch, np.flatnonzero(whole))]
    for answers in group.spread(_score_run, jobs):
        yield from answers
    for place in np.flatnonzero(~whole).tolist():
        reliable = np.flatnonzero(batch.reliable[place])
        if len(reliable):
            some = replace(
                group, candidates=tuple(group.candidates[i] for i in reliable), values=group.values[reliable]
            )
            rows = slice(batch.cuts[place], batch.cuts[place + 1])
            kept = Batch(
                batch.trainings[place : place + 1],
                np.array([0, rows.stop - rows.start]),
                tuple(array[rows][:, reliable] for array in batch.numbers),
                batch.reliable[place : place + 1, reliable],
            )
            yield from _score_run((kernel, some, kept, range(1), each))
        others = tuple(group.candidates[i] for i in np.flatnonzero(~batch.reliable[place]))
        yield from by_brute_force(group, step, batch.trainings[place], others)


def by_brute_force(group: Group, step: Step, training: Training, candidates: tuple[int, ...]) -> Iterator[Answer]:
    """What scikit-learn's own fits answer, where the kernel cannot vouch for its digits."""
    yield from answer_by_brute_force(replace(step, candidates=candidates, trainings=(training,)), group.work)


def _runs(batch: Batch, places: NDArray[np.intp]) -> Iterator[range]:
    """Neighbouring parts of one panel, in runs of no more rows than a block."""
    if not len(places):
        return
    apart = np.diff(places) != 1
    if not isinstance(batch.trainings, Plain):
        parts = [batch.trainings[place].answers[0] for place in places.tolist()]
        moved = [(held.panel, held.part + 1) != (after.panel, after.part) for held, after in pairwise(parts)]
        apart |= np.array(moved, dtype=bool)
    block = BLOCK_NUMBERS // max(1, sum(array[0].size for array in batch.numbers))
    for run in np.split(places, np.flatnonzero(apart) + 1):
        start, stop = int(run[0]), int(run[-1]) + 1
        while start < stop:
            end = int(np.searchsorted(batch.cuts, batch.cuts[start] + block, side="right")) - 1
            end = min(max(end, start + 1), stop)
            yield range(start, end)
            start = end


def _score_run(job: tuple[Kernel, Group, Batch, range, float]) -> list[Answer]:
    kernel, group, batch, run, seconds = job
    rows = slice(batch.cuts[run.start], batch.cuts[run.stop])
    some = batch.trainings[run.start : run.stop]
    helds = sides_of(some)
    numbers = tuple(array[rows] for array in batch.numbers)
    responses = kernel.responses(group, numbers, group.methods[helds[0].level])
    return score_block(group.work, helds, group.candidates, responses, seconds=seconds)
