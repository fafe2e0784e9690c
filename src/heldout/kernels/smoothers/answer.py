"""Answering a step: a Gram matrix for each form on the rows that trainings share, then every penalty from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.smoothers.bases import Base, choose_bases
from heldout.kernels.smoothers.bench import Bench, Group, make_bench
from heldout.kernels.smoothers.forms import Form
from heldout.kernels.smoothers.recognise import MATRICES, lacking, member_of
from heldout.kernels.smoothers.routes import Found, by_diagonal
from heldout.kernels.smoothers.score import Scored, score, sides_in_order
from heldout.kernels.step import Step, Training, Work
from heldout.kernels.sums.rounding import Floats
from heldout.kernels.threads import Threads, threads
from heldout.kernels.trainings import Plain
from heldout.study.answers import Answer

BATCH_NUMBERS = 1 << 23  # responses computed before they are scored and let go


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    lacks = {level for level, losses in work.losses.items() if lacking(losses)}
    able: Sequence[Training] = step.trainings
    if lacks:
        able = [t for t in step.trainings if not any(held.level in lacks for held in t.answers)]
    if work.fit_params or not able:  # what is passed to fit may be weights of its own
        yield from answer_by_brute_force(step, work)
        return
    if len(able) < len(step.trainings):
        unable = tuple(t for t in step.trainings if any(held.level in lacks for held in t.answers))
        yield from answer_by_brute_force(replace(step, trainings=unable), work)
    groups = _groups(step, work)
    lambdas = sum(len(group.lambdas) for group in groups)
    with threads(work.jobs) as pool:
        for base in choose_bases(work, able, len(groups), lambdas):
            if 8 * MATRICES * len(base.rows) ** 2 > work.budget:
                yield from answer_by_brute_force(replace(step, trainings=base.trainings), work)
                continue
            yield from _answer_base(step, work, base, groups, pool)


def _groups(step: Step, work: Work) -> list[Group]:
    members: dict[Form, dict[int, float]] = {}
    kernels: dict[Form, Any] = {}
    for candidate in step.candidates:
        form, alpha, kernel = member_of(work.search, candidate, work.task)
        members.setdefault(form, {})[candidate] = alpha
        kernels[form] = kernel
    return [
        Group(form=form, kernel=kernels[form], candidates=tuple(own), lambdas=np.array(list(own.values())))
        for form, own in members.items()
    ]


def _answer_base(step: Step, work: Work, base: Base, groups: Sequence[Group], pool: Threads) -> Iterator[Answer]:
    started = perf_counter()
    bench = make_bench(work, base, groups)
    for batch in _batches(bench, groups):
        found = _singles(bench, batch, pool) if base.route == "diagonal" else _trainings(bench, batch, pool)
        yield from score(work, step, found, perf_counter() - started)
        started = perf_counter()


def _batches(bench: Bench, groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Groups whose matrices and responses are in memory at once; one with very many penalties is cut."""
    sides = (bench.work.held_rows(held) for training in bench.base.trainings for held in training.answers)
    rows = len(bench.base.trainings) if bench.base.route == "diagonal" else sum(map(len, sides))
    most = max(1, BATCH_NUMBERS // (rows * bench.targets[False].Y.shape[1]))  # candidates
    matrices = max(1, bench.work.budget // (8 * len(bench.base.rows) ** 2) // MATRICES)  # groups
    batch: list[Group] = []
    count = 0
    for group in groups:
        for start in range(0, len(group.candidates), most):
            some = slice(start, start + most)
            cut = replace(group, candidates=group.candidates[some], lambdas=group.lambdas[some])
            if batch and (count + len(cut.candidates) > most or len(batch) >= matrices):
                yield batch
                batch, count = [], 0
            batch.append(cut)
            count += len(cut.candidates)
    yield batch


def _singles(bench: Bench, batch: Sequence[Group], pool: Threads) -> Scored:
    """Single rows left out of the base."""
    trainings = bench.base.trainings
    splits = bench.work.splits[trainings[0].trains[0].splits]
    if isinstance(trainings, Plain):
        parts = np.asarray(trainings.parts)
    else:
        trainings = sorted(trainings, key=lambda training: training.trains[0].part)
        parts = np.array([training.trains[0].part for training in trainings])
    held = np.searchsorted(bench.base.rows, splits.held[splits.held_cuts[parts]])

    def work_on(group: Group) -> tuple[Floats, Any]:
        targets, spectrum = bench.targets[group.form.centred], bench.spectrum(group)
        if spectrum is None:
            shape = (len(held), len(group.lambdas), targets.Y.shape[1])
            return np.zeros(shape), np.zeros(shape[:2], dtype=bool)
        count = len(targets.Y)
        means = (targets.Y.sum(axis=0) - targets.Y) / (count - 1)
        return by_diagonal(spectrum, targets, spectrum.coefficients_within(targets, means), held)

    found = list(pool.map(work_on, batch))
    return Scored(
        trainings=trainings,
        cuts=np.arange(len(held) + 1),
        values=np.concatenate([values for values, _ in found], axis=1),
        good=np.concatenate([good for _, good in found], axis=1),
        candidates=tuple(candidate for group in batch for candidate in group.candidates),
        flat=_flat(batch),
    )


def _trainings(bench: Bench, batch: Sequence[Group], pool: Threads) -> Scored:
    """Trainings that leave out more than a row each."""
    trainings = bench.base.trainings
    order = sides_in_order(trainings)
    sizes = [len(bench.work.held_rows(held)) for _, _, held in order]
    cuts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    place_of = {(i, j): place for place, (i, j, _) in enumerate(order)}
    every = sum(len(group.candidates) for group in batch)
    values = np.empty((int(cuts[-1]), every, bench.targets[False].Y.shape[1]))
    good = np.zeros((len(order), every), dtype=bool)

    def keep(column: int, number: int, found: Found) -> None:
        ends = [*bench.cuts[False][number].sides.tolist(), len(found.values)]
        for side in range(len(ends) - 1):
            place = place_of[number, side]
            values[cuts[place] : cuts[place + 1], column] = found.values[ends[side] : ends[side + 1]]
            good[place, column] = found.good[side]

    first = 0
    jobs: list[Any] = []
    make: Any = bench.spectrum if bench.base.route == "blocks" else bench.gram
    made = [pool.submit(make, group) for group in batch]
    do: Any = bench.all_trainings if bench.base.route == "blocks" else bench.all_lambdas
    for group, ready in zip(batch, made, strict=True):
        units = len(group.lambdas) if bench.base.route == "blocks" else len(trainings)
        jobs += [pool.submit(do, group, ready, unit, keep, first) for unit in range(units)]
        first += len(group.candidates)
    for job in jobs:
        job.result()
    return Scored(
        trainings=[trainings[i]._replace(answers=(held,)) for i, _, held in order],
        cuts=cuts,
        values=values,
        good=good,
        candidates=tuple(candidate for group in batch for candidate in group.candidates),
        flat=_flat(batch),
    )


def _flat(batch: Sequence[Group]) -> Any:
    return np.array([group.form.flat for group in batch for _ in group.candidates])
