"""From numbers on held-out rows to scored answers, in blocks as large as may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.group import Group
from heldout.kernels.ridge.respond import responses_of
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Held, Step, Training
from heldout.study.tables import Answer


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Numbers on held-out sides end to end, and which alphas are good on each side."""

    sides: Sequence[tuple[Training, Held]]
    cuts: NDArray[np.intp]  # where the rows of each side begin, and the last end
    values: Floats  # rows × alphas × targets
    good: NDArray[np.bool_]  # sides × alphas


def end_to_end(found: Sequence[tuple[Training, Held, Floats, NDArray[np.bool_]]]) -> Found:
    """The numbers of several sides, in the order of panels and parts."""
    found = sorted(found, key=lambda one: (one[1].panel, one[1].part))
    return Found(
        [(training, held) for training, held, _, _ in found],
        np.concatenate([[0], np.cumsum([len(values) for _, _, values, _ in found])]),
        np.concatenate([values for _, _, values, _ in found]),
        np.stack([good for _, _, _, good in found]),
    )


def score_found(group: Group, found: Found, step: Step, seconds: float) -> Iterator[Answer]:
    """Whole blocks of neighbouring parts where every alpha is good; the others part by part, and by brute force."""
    each = seconds / len(found.sides)
    whole = found.good.all(axis=1)
    jobs = [(group, found, run, each * len(run)) for run in _runs(found, np.flatnonzero(whole))]
    for answers in group.spread(_score_run, jobs):
        yield from answers
    for place in np.flatnonzero(~whole).tolist():
        training, held = found.sides[place]
        sure = np.flatnonzero(found.good[place])
        if len(sure):
            some = replace(group, candidates=tuple(group.candidates[i] for i in sure), alphas=group.alphas[sure])
            kept = Found(found.sides, found.cuts, found.values[:, sure], found.good[:, sure])
            yield from _score_run((some, kept, range(place, place + 1), each))
        bad = tuple(group.candidates[i] for i in np.flatnonzero(~found.good[place]))
        yield from by_brute_force(group, step, training._replace(answers=(held,)), bad)


def _runs(found: Found, places: NDArray[np.intp]) -> Iterator[range]:
    """Neighbouring parts of one panel."""
    start = 0
    for end in range(1, len(places) + 1):
        last = found.sides[int(places[end - 1])][1]
        if end < len(places) and places[end] == places[end - 1] + 1:
            after = found.sides[int(places[end])][1]
            if after.part == last.part + 1 and after.panel == last.panel:
                continue
        yield range(int(places[start]), int(places[end - 1]) + 1)
        start = end


def _score_run(job: tuple[Group, Found, range, float]) -> list[Answer]:
    group, found, run, seconds = job
    values = found.values[found.cuts[run.start] : found.cuts[run.stop]]
    helds = [held for _, held in found.sides[run.start : run.stop]]
    losses = group.work.losses[helds[0].level]
    responses = responses_of(group.form, group.work.task, values, group.dtype, losses)
    return score_block(group.work, helds, group.candidates, responses, seconds=seconds)


def by_brute_force(group: Group, step: Step, training: Training, candidates: tuple[int, ...]) -> Iterator[Answer]:
    """What scikit-learn's own fits answer, where this kernel cannot vouch for its digits."""
    yield from answer_by_brute_force(replace(step, candidates=candidates, trainings=(training,)), group.work)
