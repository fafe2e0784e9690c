"""Answering a step: training sets from sums, predictors for every alpha, brute force where rounding would decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.ridge.blocks import Found, by_brute_force, end_to_end, score_found
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.dual import solve_dual
from heldout.kernels.ridge.forms import Form
from heldout.kernels.ridge.group import Group, make_group
from heldout.kernels.ridge.leave_one_out import applies, leave_one_out
from heldout.kernels.ridge.normal import LostDigits, normal_equations
from heldout.kernels.ridge.recognise import Reader
from heldout.kernels.ridge.respond import lacking, linear_values
from heldout.kernels.ridge.solve import Solved, Undecided, solve
from heldout.kernels.ridge.sums import sum_rows_apart
from heldout.kernels.step import Held, Step, Training, Work
from heldout.kernels.threads import spreading
from heldout.kernels.trainings import Plain, pieces_of
from heldout.study.answers import Answer

BATCH_NUMBERS = 1 << 22  # responses computed before they are scored and let go
FEW_PARTS = 8  # leave-one-out of fewer rows than this is not worth its own decomposition


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    if work.fit_params:  # what is passed to fit may be weights of its own
        yield from answer_by_brute_force(step, work)
        return
    reader = Reader(work.search, work.task)
    forms: dict[Form, dict[int, float]] = {}
    for candidate in step.candidates:
        form, alpha = reader.read(candidate)
        forms.setdefault(form, {})[candidate] = alpha
    with spreading(work.jobs) as spread:
        for form, members in forms.items():
            yield from _answer_group(make_group(form, members, work, spread), step)


def _answer_group(group: Group, step: Step) -> Iterator[Answer]:
    lacks = {level for level, losses in group.work.losses.items() if lacking(group.form, losses)}
    able: Sequence[Training] = step.trainings
    if lacks:
        unable = [t for t in step.trainings if any(held.level in lacks for held in t.answers)]
        able = [t for t in step.trainings if not any(held.level in lacks for held in t.answers)]
        for training in unable:
            yield from by_brute_force(group, step, training, group.candidates)
    for batch, singles in _batches(group, able):
        started = perf_counter()
        if singles:
            found = _leave_rows_out(group, batch)
        else:
            group.bank.read_ahead([training.trains[0] for training in batch])
            jobs = [(group, training) for training in batch]
            found = end_to_end([one for many in group.spread(answer_training, jobs) for one in many])
        yield from score_found(group, found, step, perf_counter() - started)


def _batches(group: Group, trainings: Sequence[Training]) -> Iterator[tuple[Sequence[Training], bool]]:
    """Trainings whose responses are held at once, and whether they leave out single rows of one set."""
    batch: list[Training] = []
    numbers = 0
    each = len(group.alphas) * group.design.Y.shape[1]
    most = max(1, group.work.budget // (8 * group.bank.bytes_of_sums))  # training sets may each have sums of their own
    for together in _of_one_splits(trainings):
        if _is_leave_one_out(group, together):
            yield together, True
            continue
        for training in together:
            sizes = (group.work.splits[held.splits].held_sizes[held.part] for held in training.answers)
            more = each * int(sum(sizes))
            if batch and (numbers + more > BATCH_NUMBERS or len(batch) >= most):
                yield batch, False
                batch, numbers = [], 0
            batch.append(training)
            numbers += more
    if batch:
        yield batch, False


def _of_one_splits(trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            yield piece
        else:
            yield from (list(own) for _, own in groupby(piece, key=lambda training: training.trains[0].splits))


def _is_leave_one_out(group: Group, trainings: Sequence[Training]) -> bool:
    """Whether these trainings leave single rows out of one set, enough of them for a decomposition of that set."""
    name = trainings[0].trains[0].splits
    splits = group.work.splits[name]
    if splits.train is not None or len(trainings) < FEW_PARTS:
        return False
    if not applies(group.form, group.design, len(splits.rows)):
        return False
    if int(splits.held_sizes.max()) != 1:
        return False
    return isinstance(trainings, Plain) or all(
        len(answers) == 1 and answers[0].splits == name and answers[0].part == trains[0].part
        for trains, _, answers in trainings
    )


def _leave_rows_out(group: Group, trainings: Sequence[Training]) -> Found:
    name = trainings[0].trains[0].splits
    splits = group.work.splits[name]
    if isinstance(trainings, Plain):
        parts = np.asarray(trainings.parts)
    else:
        trainings = sorted(trainings, key=lambda training: training.trains[0].part)
        parts = np.array([training.trains[0].part for training in trainings])
    held = splits.held[splits.held_cuts[parts]]
    whole = (group.bank.total_of(name), splits.rows)
    try:
        values, good = leave_one_out(group.design, group.form, whole, held, alphas=group.alphas, spread=group.spread)
    except LostDigits:
        values = np.zeros((len(held), len(group.alphas), group.design.Y.shape[1]))
        good = np.zeros(values.shape[:2], dtype=bool)
    if group.form.model == "ols":  # directions that may count as absent: those rows from their own equations
        _repair(group, trainings, values, good)
    return Found(trainings, np.arange(len(held) + 1), values, good)


def _repair(group: Group, trainings: Sequence[Training], values: Floats, good: NDArray[np.bool_]) -> None:
    """Answer the rows that are not good as any other training is."""
    most = max(1, group.work.budget // (8 * group.bank.bytes_of_sums))
    bad = np.flatnonzero(~good.all(axis=1))
    for start in range(0, len(bad), most):
        some = bad[start : start + most].tolist()
        group.bank.read_ahead([trainings[place].trains[0] for place in some])
        jobs = [(group, trainings[place]) for place in some]
        for place, [(_, _, found, sure)] in zip(some, group.spread(answer_training, jobs), strict=True):
            values[place], good[place] = found[0], sure


def answer_training(job: tuple[Group, Training]) -> list[tuple[Training, Held, Floats, NDArray[np.bool_]]]:
    """The responses of one training set on each held-out side, and which candidates are good there."""
    group, training = job
    solved = _solved(group, training)
    found = []
    for held in training.answers:
        rows = group.work.held_rows(held)
        if solved is None:
            values = np.zeros((len(rows), len(group.alphas), group.design.Y.shape[1]))
            good = np.zeros(len(group.alphas), dtype=bool)
        else:
            values, good = linear_values(solved, group.design, group.form, rows)
        found.append((training, held, values, good))
    return found


def _solved(group: Group, training: Training) -> Solved | None:
    """The predictors of one training set, or None where only scikit-learn's own fit will do."""
    ref = training.trains[0]
    form, design = group.form, group.design
    size = int(group.work.splits[ref.splits].train_sizes[ref.part])
    width = design.X.shape[1] if form.columns.places is None else len(form.columns.places)
    try:
        if size <= width:
            if size * width * 32 > group.work.budget:
                return None
            return solve_dual(design, form, group.work.train_rows(ref), group.alphas)
        try:
            normal = normal_equations(form, group.bank.sums_of(ref))
        except LostDigits:
            normal = normal_equations(form, sum_rows_apart(design, group.work.train_rows(ref)))
        return solve(normal, group.alphas, cutoff=form.cutoff)
    except (LostDigits, Undecided, np.linalg.LinAlgError):
        return None
