"""From responses on held-out rows to scored answers, in large blocks; brute force where digits are lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Held, Step, Training, Work
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.trainings import Plain
from heldout.study.answers import Answer

BLOCK_NUMBERS = 1 << 19  # responses that are scored at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """Responses on held-out sides end to end, in the order of panels and parts, and which are good."""

    trainings: Sequence[Training]  # each with the one side it answers
    cuts: NDArray[np.intp]  # where the rows of each side begin, and the last end
    values: Floats  # rows × candidates × targets
    good: NDArray[np.bool_]  # sides × candidates
    candidates: tuple[int, ...]
    flat: NDArray[np.bool_]  # candidates whose single column of targets is answered as a plain vector


def sides_in_order(trainings: Sequence[Training]) -> list[tuple[int, int, Held]]:
    """(training, number of the side in it, side) in the order of panels and parts."""
    every = [(i, j, held) for i, training in enumerate(trainings) for j, held in enumerate(training.answers)]
    return sorted(every, key=lambda one: (one[2].panel, one[2].part))


def score(work: Work, step: Step, found: Scored, seconds: float) -> Iterator[Answer]:
    """Runs of neighbouring parts where every candidate is good; the others part by part, and by brute force."""
    each = seconds / len(found.trainings)
    whole = found.good.all(axis=1)
    for run in _runs(found, np.flatnonzero(whole)):
        yield from _score_run(work, found, run, np.arange(len(found.candidates)), each * len(run))
    for place in np.flatnonzero(~whole).tolist():
        sure = np.flatnonzero(found.good[place])
        if len(sure):
            yield from _score_run(work, found, range(place, place + 1), sure, each)
        bad = tuple(found.candidates[i] for i in np.flatnonzero(~found.good[place]))
        alone = replace(step, candidates=bad, trainings=(found.trainings[place],))
        yield from answer_by_brute_force(alone, work)


def _runs(found: Scored, places: NDArray[np.intp]) -> Iterator[range]:
    """Neighbouring parts of one panel, in runs of no more rows than a block."""
    most = BLOCK_NUMBERS // max(1, found.values[0].size)
    plain = isinstance(found.trainings, Plain)
    run: list[int] = []
    for place in places.tolist():
        if run:
            follows = place == run[-1] + 1 and (plain or _neighbours(found.trainings[run[-1]], found.trainings[place]))
            if not follows or int(found.cuts[place + 1] - found.cuts[run[0]]) > most:
                yield range(run[0], run[-1] + 1)
                run = []
        run.append(place)
    if run:
        yield range(run[0], run[-1] + 1)


def _neighbours(one: Training, after: Training) -> bool:
    left, right = one.answers[0], after.answers[0]
    return (left.panel, left.part + 1) == (right.panel, right.part)


def _score_run(work: Work, found: Scored, run: range, chosen: NDArray[np.intp], seconds: float) -> list[Answer]:
    values = found.values[found.cuts[run.start] : found.cuts[run.stop]]
    some = found.trainings[run.start : run.stop]
    helds = some.sides if isinstance(some, Plain) else [training.answers[0] for training in some]
    responses = []
    for place in chosen.tolist():
        flat = work.task.y.ndim == 1 or (found.flat[place] and values.shape[2] == 1)
        one = values[:, place, 0] if flat else values[:, place]
        responses.append(Responses(predict=np.ascontiguousarray(one)))
    candidates = tuple(found.candidates[i] for i in chosen)
    return score_block(work, helds, candidates, responses, seconds=seconds)
