"""From numbers on held-out rows to scored answers, in blocks as large as may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.discriminants.group import Group
from heldout.kernels.discriminants.respond import responses_of
from heldout.kernels.ridge.design import Floats
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Held, Step, Training
from heldout.kernels.trainings import Plain
from heldout.study.answers import Answer

BLOCK_NUMBERS = 1 << 19  # numbers that are scored at a time


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Numbers on held-out sides end to end, and which candidates are sure on each side."""

    trainings: Sequence[Training]  # each with the one side it answers
    cuts: NDArray[np.intp]  # where the rows of each side begin, and the last end
    values: Floats  # rows × candidates × numbers
    good: NDArray[np.bool_]  # sides × candidates


def end_to_end(found: Sequence[tuple[Training, Held, Floats, NDArray[np.bool_]]]) -> Found:
    """The numbers of several sides, in the order of panels and parts."""
    found = sorted(found, key=lambda one: (one[1].panel, one[1].part))
    return Found(
        [training._replace(answers=(held,)) for training, held, _, _ in found],
        np.concatenate([[0], np.cumsum([len(values) for _, _, values, _ in found])]),
        np.concatenate([values for _, _, values, _ in found]),
        np.stack([good for _, _, _, good in found]),
    )


def score_found(group: Group, found: Found, step: Step, seconds: float) -> Iterator[Answer]:
    """Whole blocks of neighbouring parts where every candidate is sure; the others part by part, and by brute force."""
    each = seconds / len(found.trainings)
    whole = found.good.all(axis=1)
    jobs = [(group, found, run, each * len(run)) for run in _runs(found, np.flatnonzero(whole))]
    for answers in group.spread(_score_run, jobs):
        yield from answers
    for place in np.flatnonzero(~whole).tolist():
        sure = np.flatnonzero(found.good[place])
        if len(sure):
            some = replace(group, candidates=tuple(group.candidates[i] for i in sure))
            rows = slice(found.cuts[place], found.cuts[place + 1])
            kept = Found(found.trainings[place : place + 1], np.array([0, rows.stop - rows.start]),
                         found.values[rows][:, sure], found.good[place : place + 1, sure])  # fmt: skip
            yield from _score_run((some, kept, range(1), each))
        bad = tuple(group.candidates[i] for i in np.flatnonzero(~found.good[place]))
        yield from by_brute_force(group, step, found.trainings[place], bad)


def _runs(found: Found, places: NDArray[np.intp]) -> Iterator[range]:
    """Neighbouring parts of one panel, in runs of no more rows than a block."""
    if not len(places):
        return
    apart = np.diff(places) != 1
    if not isinstance(found.trainings, Plain):
        sides = [found.trainings[place].answers[0] for place in places.tolist()]
        moved = [(one.panel, one.part + 1) != (after.panel, after.part) for one, after in pairwise(sides)]
        apart |= np.array(moved, dtype=bool)
    block = BLOCK_NUMBERS // max(1, int(np.prod(found.values.shape[1:])))
    for run in np.split(places, np.flatnonzero(apart) + 1):
        start, stop = int(run[0]), int(run[-1]) + 1
        while start < stop:
            end = int(np.searchsorted(found.cuts, found.cuts[start] + block, side="right")) - 1
            end = min(max(end, start + 1), stop)
            yield range(start, end)
            start = end


def _score_run(job: tuple[Group, Found, range, float]) -> list[Answer]:
    group, found, run, seconds = job
    values = found.values[found.cuts[run.start] : found.cuts[run.stop]]
    some = found.trainings[run.start : run.stop]
    helds = some.sides if isinstance(some, Plain) else [training.answers[0] for training in some]
    responses = responses_of(group.form, group.work.task, values, group.asked[helds[0].level])
    return score_block(group.work, helds, group.candidates, responses, seconds=seconds)


def by_brute_force(group: Group, step: Step, training: Training, candidates: tuple[int, ...]) -> Iterator[Answer]:
    """What scikit-learn's own fits answer, where this kernel cannot vouch for its digits."""
    yield from answer_by_brute_force(replace(step, candidates=candidates, trainings=(training,)), group.work)
