"""Answering a step: training sets from sums, every smoothing at once, brute force where rounding would decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from heldout.base.responses import Responses
from heldout.kernels.bayes.forms import lacking, wants_proba
from heldout.kernels.bayes.group import Group, Side, answer_training, make_group
from heldout.kernels.bayes.recognise import forms_of
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Step, Training, Work
from heldout.kernels.threads import spreading
from heldout.study.answers import Answer

BATCH_NUMBERS = 1 << 22  # responses computed before they are scored and let go
BLOCK_NUMBERS = 1 << 19  # responses that are scored at a time


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    if work.fit_params:  # what is passed to fit may be weights of its own
        yield from answer_by_brute_force(step, work)
        return
    able = frozenset(level for level, losses in work.losses.items() if not lacking(losses))
    proba = frozenset(level for level in able if wants_proba(work.losses[level]))
    with spreading(work.jobs) as spread:
        for form, members in forms_of(work.search, work.task, step.candidates).items():
            yield from _answer_group(make_group(form, members, proba, work, spread), step, able)


def _answer_group(group: Group, step: Step, able: frozenset[str]) -> Iterator[Answer]:
    for batch in _batches(group, step.trainings):
        started = perf_counter()
        mine = [training for training in batch if all(held.level in able for held in training.answers)]
        for training in batch:
            if any(held.level not in able for held in training.answers):
                yield from _by_brute_force(group, step, training, group.candidates)
        if not mine:
            continue
        group.bank.read_ahead([training.trains[0] for training in mine])
        found = group.spread(answer_training, [(group, training) for training in mine])
        sides = sorted((side for sides in found for side in sides), key=lambda one: (one.held.panel, one.held.part))
        yield from _score(group, sides, step, perf_counter() - started)


def _batches(group: Group, trainings: Sequence[Training]) -> Iterator[list[Training]]:
    """Trainings whose responses are held at once."""
    each = len(group.values) * (1 + (len(group.data.classes) if group.proba else 0))
    most = max(1, group.work.budget // (8 * group.bank.bytes_of_sums))  # training sets may each have their own sums
    batch: list[Training] = []
    numbers = 0
    for training in trainings:
        sizes = (group.work.splits[held.splits].held_sizes[held.part] for held in training.answers)
        more = each * int(sum(sizes))
        if batch and (numbers + more > BATCH_NUMBERS or len(batch) >= most):
            yield batch
            batch, numbers = [], 0
        batch.append(training)
        numbers += more
    if batch:
        yield batch


def _score(group: Group, sides: list[Side], step: Step, seconds: float) -> Iterator[Answer]:
    """Whole runs of neighbouring parts where every candidate is sure; the others part by part, and by brute force."""
    each = seconds / len(sides)
    jobs = [(group, run, each * len(run)) for run in _runs([side for side in sides if side.good.all()])]
    for answers in group.spread(_score_run, jobs):
        yield from answers
    for side in sides:
        if side.good.all():
            continue
        sure = np.flatnonzero(side.good)
        if len(sure):
            some = replace(group, candidates=tuple(group.candidates[i] for i in sure), values=group.values[sure])
            proba = None if side.proba is None else side.proba[:, sure]
            kept = replace(side, codes=side.codes[:, sure], proba=proba, good=side.good[sure])
            yield from _score_run((some, [kept], each))
        bad = tuple(group.candidates[i] for i in np.flatnonzero(~side.good))
        yield from _by_brute_force(group, step, side.training, bad)


def _runs(sides: list[Side]) -> Iterator[list[Side]]:
    """Neighbouring parts of one panel, in runs of no more responses than a block."""
    run: list[Side] = []
    numbers = 0
    for side in sides:
        size = side.codes.size if side.proba is None else side.proba.size
        last = run[-1].held if run else None
        joins = last is not None and (last.panel, last.part + 1) == (side.held.panel, side.held.part)
        if run and (not joins or numbers + size > BLOCK_NUMBERS):
            yield run
            run, numbers = [], 0
        run.append(side)
        numbers += size
    if run:
        yield run


def _score_run(job: tuple[Group, list[Side], float]) -> list[Answer]:
    group, run, seconds = job
    classes = group.data.classes
    labels = classes[np.concatenate([side.codes for side in run])]
    probas = [side.proba for side in run if side.proba is not None]
    proba = np.concatenate(probas) if probas else None
    responses = [
        Responses(
            predict=np.ascontiguousarray(labels[:, place]),
            predict_proba=None if proba is None else np.ascontiguousarray(proba[:, place]),
            classes=classes,
        )
        for place in range(len(group.candidates))
    ]
    return score_block(group.work, [side.held for side in run], group.candidates, responses, seconds=seconds)


def _by_brute_force(group: Group, step: Step, training: Training, candidates: tuple[int, ...]) -> Iterator[Answer]:
    """What scikit-learn's own fits answer, where this kernel cannot vouch for its digits."""
    yield from answer_by_brute_force(replace(step, candidates=candidates, trainings=(training,)), group.work)
