"""Answering a step: training sets side by side in chunks, every penalty along one path, then held-out responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.glm.design import Design, Floats, make_design, row_weights, targets_of
from heldout.kernels.glm.families import Family
from heldout.kernels.glm.forms import Form
from heldout.kernels.glm.newton import solve_path
from heldout.kernels.glm.recognise import read_candidates
from heldout.kernels.glm.respond import lacking, responses_of
from heldout.kernels.glm.sets import make_sets
from heldout.kernels.glm.sharpen import sharpened
from heldout.kernels.scoring import score_block
from heldout.kernels.sharp import answer_sharply
from heldout.kernels.step import Held, Step, Training, Work
from heldout.kernels.threads import Spread, in_turn, spreading
from heldout.study.answers import Answer

TOGETHER = 13  # training sets whose second derivatives are made by one product
BATCH = 64  # training sets answered before they are scored and let go
BLOCK_NUMBERS = 1 << 19  # responses that are scored at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """The candidates of one form, and all that answers them."""

    form: Form
    family: Family
    candidates: tuple[int, ...]
    strengths: Floats  # each once, the strongest first
    places: NDArray[np.intp]  # of each candidate among the strengths
    design: Design
    data: tuple[Floats, Floats | None]
    work: Work


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solved:
    """One training's coefficients on the columns of the design, and which strengths are good."""

    training: Training
    coef: Floats  # strengths × predictors × columns
    good: NDArray[np.bool_]


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    if work.fit_params:  # what is passed to fit may be weights of its own
        yield from answer_by_brute_force(step, work)
        return
    with spreading(work.jobs) as spread:
        for form, members in read_candidates(work.search, work.task, step.candidates).items():
            yield from _answer_group(make_group(form, members, work, spread), step, spread)


def make_group(form: Form, members: dict[int, float], work: Work, spread: Spread = in_turn) -> Group:
    """The candidates of one form with their strengths, and the data as the form reads them."""
    strengths, places = np.unique(-np.array(list(members.values())), return_inverse=True)
    classes = len(work.task.classes) if form.classifies and work.task.classes is not None else 0
    return Group(
        form=form,
        family=Family(classes=classes, power=form.power or 0.0),
        candidates=tuple(members),
        strengths=-strengths,
        places=places,
        design=make_design(work, form, spread),
        data=(targets_of(work.task, form), row_weights(work.task, form)),
        work=work,
    )


def _answer_group(group: Group, step: Step, spread: Spread) -> Iterator[Answer]:
    lacks = {level for level, losses in group.work.losses.items() if lacking(group.form, losses)}
    able: list[Training] = []
    for training in step.trainings:
        if any(held.level in lacks for held in training.answers):
            yield from _by_sharp_fits(group, step, training, group.candidates)
            continue
        able.append(training)
        if len(able) == BATCH:
            yield from _answer_batch(group, step, able, spread)
            able = []
    if able:
        yield from _answer_batch(group, step, able, spread)


def _answer_batch(group: Group, step: Step, trainings: list[Training], spread: Spread) -> Iterator[Answer]:
    started = perf_counter()
    chunks = [(group, chunk) for chunk in _chunks(group, trainings)]
    solved = [one for many in spread(solve_chunk, chunks) for one in many]
    each = (perf_counter() - started) / len(trainings)
    sides = [(one, held) for one in solved for held in one.training.answers]
    for answers in spread(_score_run, [(group, run, each * len(run)) for run in _runs(group, sides)]):
        yield from answers
    for one in solved:
        bad = tuple(c for c, p in zip(group.candidates, group.places, strict=True) if not one.good[p])
        if bad:
            yield from _by_sharp_fits(group, step, one.training, bad)


def _chunks(group: Group, trainings: Sequence[Training]) -> list[list[Training]]:
    """Training sets that are solved together: so many by sizes alone, in pairs of chunks where there are several."""
    rows = len(group.work.task)
    most = max(1, min(TOGETHER, group.work.budget // (8 * 8 * rows * group.family.predictors)))
    count = -(-len(trainings) // most)
    count = min(len(trainings), count + count % 2) if len(trainings) > 3 else count
    cuts = np.linspace(0, len(trainings), count + 1).astype(int)
    return [list(trainings[start:stop]) for start, stop in pairwise(cuts)]


def solve_chunk(job: tuple[Group, list[Training]]) -> list[Solved]:
    """The coefficients of every strength on each of these training sets."""
    group, trainings = job
    rows = [group.work.train_rows(training.trains[0]) for training in trainings]
    sets = make_sets(group.design, group.form, group.family, group.data, rows)
    coef, good = solve_path(sets, group.strengths)
    return [Solved(training=t, coef=c, good=g) for t, c, g in zip(trainings, coef, good, strict=True)]


def _runs(group: Group, sides: list[tuple[Solved, Held]]) -> Iterator[list[tuple[Solved, Held]]]:
    """Held-out sides of neighbouring parts of one panel with the same good strengths, as many as make a block."""
    run: list[tuple[Solved, Held]] = []
    numbers = 0
    for one, held in sorted(sides, key=lambda side: (side[1].panel, side[1].part)):
        more = len(group.candidates) * group.family.predictors * len(group.work.held_rows(held))
        if run:
            before, last = run[-1]
            follows = (last.panel, last.part + 1) == (held.panel, held.part)
            if not follows or numbers + more > BLOCK_NUMBERS or not np.array_equal(before.good, one.good):
                yield run
                run, numbers = [], 0
        run.append((one, held))
        numbers += more
    if run:
        yield run


def _score_run(job: tuple[Group, list[tuple[Solved, Held]], float]) -> list[Answer]:
    group, run, seconds = job
    good = run[0][0].good
    own = [(c, p) for c, p in zip(group.candidates, group.places, strict=True) if good[p]]
    if not own:
        return []
    places = np.array([place for _, place in own])
    found = []
    for one, held in run:
        Z = group.design.Z[group.work.held_rows(held)]
        coef = one.coef[places]
        found.append((coef.reshape(-1, Z.shape[1]) @ Z.T).reshape(len(own), -1, len(Z)))
    eta = found[0] if len(found) == 1 else np.concatenate(found, axis=2)
    losses = group.work.losses[run[0][1].level]
    responses = responses_of(group.form, group.family, group.work.task, eta, losses)
    helds = [held for _, held in run]
    return score_block(group.work, helds, tuple(c for c, _ in own), responses, seconds=seconds)


def _by_sharp_fits(group: Group, step: Step, training: Training, candidates: tuple[int, ...]) -> Iterator[Answer]:
    """What scikit-learn's own fits answer, at a sharp tolerance, where this kernel cannot vouch for its own."""
    yield from answer_sharply(replace(step, candidates=candidates, trainings=(training,)), group.work, sharpened)
