"""Each row's linear predictor without that row: one Newton step from the fit on all rows.

With h = zᵀ(ZᵀWZ + P)⁻¹z of a row, its weighted residual r and curvature w, the predictor η of the fit on all rows
becomes η + h·r/(1 − h·w).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.glm.answer import Group, make_group
from heldout.kernels.glm.design import Floats
from heldout.kernels.glm.newton import solve_path, whole_second
from heldout.kernels.glm.recognise import read_candidates
from heldout.kernels.glm.respond import lacking, responses_of
from heldout.kernels.glm.sets import Sets, make_sets
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Held, Step, Training, Work
from heldout.kernels.trainings import Plain, pieces_of
from heldout.study.answers import Answer

MOST_OWN = 0.9  # of a row's predictor that the row itself decides; past it one step says too little
BLOCK_NUMBERS = 1 << 19  # responses that are scored at a time


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    if work.fit_params:  # what is passed to fit may be weights of its own
        yield from answer_by_brute_force(step, work)
        return
    for form, members in read_candidates(work.search, work.task, step.candidates).items():
        group = make_group(form, members, work)
        for trainings in _of_one_splits(step.trainings):
            own = replace(step, candidates=group.candidates, trainings=trainings)
            level = trainings[0].answers[0].level
            if lacking(form, work.losses[level]):
                yield from answer_by_brute_force(own, work)
            else:
                yield from _answer_splits(group, own)


def _of_one_splits(trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            yield piece
        else:
            each = groupby(piece, key=lambda training: training.answers[0][:3])
            yield from (sorted(own, key=lambda training: training.answers[0].part) for _, own in each)


def _answer_splits(group: Group, step: Step) -> Iterator[Answer]:
    """The trainings of one splits: a fit on all its rows, and a step from it for each row."""
    started = perf_counter()
    splits = group.work.splits[step.trainings[0].answers[0].splits]
    sets = make_sets(group.design, group.form, group.family, group.data, [splits.rows])
    coef, good = solve_path(sets, group.strengths)
    helds = [training.answers[0] for training in step.trainings]
    rows = splits.held[splits.held_cuts[[held.part for held in helds]]]
    eta, sure = np.zeros((len(group.strengths), len(rows))), np.zeros((len(group.strengths), len(rows)), dtype=bool)
    places = rows if len(sets.y) == len(group.work.task) else np.searchsorted(splits.rows, rows)
    for one in np.flatnonzero(good[0]):
        eta[one], sure[one] = without_each(sets, coef[:, one], group.strengths[one], places)
    eta, sure = eta[group.places], sure[group.places]
    each = (perf_counter() - started) / len(helds)
    whole = sure.all(axis=0)
    for run in _runs(helds, np.flatnonzero(whole), BLOCK_NUMBERS // len(group.candidates)):
        some = helds[run.start : run.stop]
        losses = group.work.losses[some[0].level]
        values = eta[:, None, run.start : run.stop]
        responses = responses_of(group.form, group.family, group.work.task, values, losses)
        yield from score_block(group.work, some, group.candidates, responses, seconds=each * len(some))
    for place in np.flatnonzero(~whole).tolist():
        yield from answer_by_brute_force(replace(step, trainings=(step.trainings[place],)), group.work)


def without_each(sets: Sets, at: Floats, strength: float, places: NDArray[np.intp]) -> tuple[Floats, NDArray[np.bool_]]:
    """Linear predictors of these rows of one set, each without itself, and the rows for which one step is enough."""
    second = whole_second(sets, at, strength)
    Z = sets.design.Z[places]
    free = Z if sets.centre is None else Z[:, :-1] + Z[:, -1:] * sets.centre[0]
    own = np.einsum("rj,rj->r", free, np.linalg.solve(second[0], free.T).T)
    eta = (at[0] @ Z.T)[None]
    residual, _, curvature = sets.family.slopes(eta, sets.y[places], sets.weight[:, places])
    pull = own * curvature[0, 0]
    sure = np.isfinite(pull) & (pull < MOST_OWN)
    return eta[0, 0] + own * residual[0, 0] / np.where(sure, 1.0 - pull, 1.0), sure


def _runs(helds: list[Held], places: NDArray[np.intp], most: int) -> Iterator[range]:
    """Neighbouring parts of one panel, no more than a block holds."""
    if not len(places):
        return
    breaks = [i + 1 for i, (a, b) in enumerate(pairwise(places)) if b != a + 1 or helds[b].part != helds[a].part + 1]
    for run in np.split(places, breaks):
        for start in range(int(run[0]), int(run[-1]) + 1, max(1, most)):
            yield range(start, min(start + max(1, most), int(run[-1]) + 1))
