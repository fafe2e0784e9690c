"""Answering a step: training sets from sums over classes, discriminants for every shrinkage, brute force in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.discriminants.blocks import Found, by_brute_force, end_to_end, score_found
from heldout.kernels.discriminants.classes import Classes, Undecided, classes_of_rows, classes_of_sums
from heldout.kernels.discriminants.forms import Form
from heldout.kernels.discriminants.group import Group, make_group
from heldout.kernels.discriminants.leave_one_out import applies, leave_one_out_linear
from heldout.kernels.discriminants.leave_one_out_quadratic import leave_one_out_quadratic
from heldout.kernels.discriminants.linear import Linear, solve_linear
from heldout.kernels.discriminants.quadratic import Quadratic, solve_quadratic
from heldout.kernels.discriminants.recognise import Reader, lacking
from heldout.kernels.discriminants.respond import sure, sure_rows
from heldout.kernels.ridge.design import Floats
from heldout.kernels.ridge.normal import LostDigits
from heldout.kernels.ridge.sums import Space, Sums
from heldout.kernels.step import Held, Step, Training, Work
from heldout.kernels.threads import spreading
from heldout.kernels.trainings import Plain, pieces_of
from heldout.study.answers import Answer

BATCH_NUMBERS = 1 << 22  # numbers computed before they are scored and let go
FEW_PARTS = 8  # leave-one-out of fewer rows than this is not worth its own decomposition
Side = tuple[Training, Held, Floats, NDArray[np.bool_]]


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    if work.fit_params:  # what is passed to fit fails there
        yield from answer_by_brute_force(step, work)
        return
    reader = Reader(work.search, work.task)
    forms: dict[Form, dict[int, float]] = {}
    for candidate in step.candidates:
        form, shrinkage = reader.read(candidate)
        forms.setdefault(form, {})[candidate] = shrinkage
    with spreading(work.jobs) as spread:
        for form, members in forms.items():
            yield from _answer_group(form, members, step, work, spread)


def _answer_group(form: Form, members: dict[int, float], step: Step, work: Work, spread: Any) -> Iterator[Answer]:
    lacks = {level for level, losses in work.losses.items() if lacking(losses)}
    if lacks and any(held.level in lacks for training in step.trainings for held in training.answers):
        group = make_group(form, members, work, spread)
        for training in step.trainings:
            yield from by_brute_force(group, step, training, group.candidates)
        return
    group = make_group(form, members, work, spread)
    for together in _of_one_splits(step.trainings):
        started = perf_counter()
        found = _leave_rows_out(group, together) if _is_leave_one_out(group, together) else None
        if found is not None:
            yield from score_found(group, found, step, perf_counter() - started)
            continue
        for batch in _batches(group, together):
            started = perf_counter()
            group.bank.read_ahead([training.trains[0] for training in batch])
            jobs = [(group, training) for training in batch]
            sides = end_to_end([one for many in spread(_answer_training, jobs) for one in many])
            yield from score_found(group, sides, step, perf_counter() - started)


def _of_one_splits(trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    """Plain stretches and leave-one-out splits each alone; all others together, so that threads have work."""
    others: list[Training] = []
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            yield piece
            continue
        for _, own in groupby(piece, key=lambda training: training.trains[0].splits):
            some = list(own)
            if len(some) >= FEW_PARTS and all(
                training.answers[0].splits == some[0].trains[0].splits for training in some
            ):
                yield some
            else:
                others += some
    if others:
        yield others


def _batches(group: Group, trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    """Trainings whose responses are held at once."""
    batch: list[Training] = []
    numbers = 0
    each = len(group.shrinkages) * group.numbers
    most = max(1, group.work.budget // (8 * group.bank.bytes_of_sums))  # training sets may each have sums of their own
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


def _is_leave_one_out(group: Group, trainings: Sequence[Training]) -> bool:
    """Whether these trainings leave single rows out of one set, enough of them for a decomposition of that set."""
    name = trainings[0].trains[0].splits
    splits = group.work.splits[name]
    if splits.train is not None or len(trainings) < FEW_PARTS or int(splits.held_sizes.max()) != 1:
        return False
    if not applies(group.form, group.classes, group.design.X.shape[1], len(splits.rows)):
        return False
    return isinstance(trainings, Plain) or all(
        len(answers) == 1 and trains[0].splits == answers[0].splits == name and answers[0].part == trains[0].part
        for trains, _, answers in trainings
    )


def _leave_rows_out(group: Group, trainings: Sequence[Training]) -> Found | None:
    """Every row's answer from the full set, or None where its decomposition is in doubt."""
    name = trainings[0].trains[0].splits
    splits = group.work.splits[name]
    if isinstance(trainings, Plain):
        parts = np.asarray(trainings.parts)
    else:
        trainings = sorted(trainings, key=lambda training: training.trains[0].part)
        parts = np.array([training.trains[0].part for training in trainings])
    held = splits.held[splits.held_cuts[parts]]
    asked = group.asked[trainings[0].answers[0].level]
    try:
        classes = _classes(group, group.bank.total_of(name), splits.rows)
        if group.form.quadratic:
            values, errors = leave_one_out_quadratic(
                group.form, classes, group.design, held, shrinkages=group.shrinkages, spread=group.spread
            )
        else:
            values, errors = leave_one_out_linear(
                group.form, classes, group.design, held, shrinkages=group.shrinkages,
                zero_matters=group.zero_matters, spread=group.spread,
            )  # fmt: skip
    except (LostDigits, Undecided, np.linalg.LinAlgError):
        return None
    return Found(trainings, np.arange(len(held) + 1), values, sure_rows(values, errors, group.classes, asked))


def _answer_training(job: tuple[Group, Training]) -> list[Side]:
    group, training = job
    solved = _solved(group, training)
    found: list[Side] = []
    for held in training.answers:
        rows, asked = group.work.held_rows(held), group.asked[held.level]
        if solved is None:
            values = np.zeros((len(rows), len(group.shrinkages), group.numbers))
            good = np.zeros(len(group.shrinkages), dtype=bool)
        elif isinstance(solved, Linear):
            values, good = _linear_values(group, solved, rows, asked)
        else:
            values, good = _quadratic_values(group, solved, rows, asked)
        found.append((training, held, values, good))
    return found


def _solved(group: Group, training: Training) -> Linear | Quadratic | None:
    """The discriminants of one training set, or None where only scikit-learn's own fit will do."""
    ref = training.trains[0]
    try:
        classes = _classes(group, group.bank.sums_of(ref), group.work.train_rows(ref))
        if group.form.quadratic:
            return solve_quadratic(group.form, classes, group.shrinkages)
        if classes.rows <= group.classes:
            return None
        return solve_linear(group.form, classes, group.shrinkages, zero_matters=group.zero_matters)
    except (LostDigits, Undecided, np.linalg.LinAlgError):
        return None


def _classes(group: Group, sums: Sums, rows: Rows) -> Classes:
    if not sums.counts.all():
        raise Undecided
    try:
        return classes_of_sums(group.form, sums)
    except LostDigits:
        return classes_of_rows(group.form, group.design, rows)


def _linear_values(group: Group, solved: Linear, rows: Rows, asked: frozenset[str]) -> tuple[Floats, Any]:
    design = group.design
    columns, count, numbers = solved.coef.shape
    flat = np.ascontiguousarray(solved.coef.reshape(columns, -1))
    values = np.empty((len(rows), count * numbers))
    largest = np.zeros(columns)
    space = Space(design, min(design.chunk, len(rows)))
    for chunk, where in _chunks(rows, design.chunk):
        x = space.read(chunk, solved.shift)
        np.matmul(x, flat, out=values[where])
        largest = np.maximum(largest, np.maximum(x.max(axis=0), -x.min(axis=0)))
    values += solved.constant.reshape(-1)
    shaped = values.reshape(len(rows), count, numbers)
    good = sure(shaped, solved.errors(largest), group.classes, asked)
    if not good.all():  # look closer
        closer = np.zeros(count)
        for chunk, _ in _chunks(rows, design.chunk):
            closer = np.maximum(closer, solved.errors(largest, space.read(chunk, solved.shift)))
        good = sure(shaped, closer, group.classes, asked)
    return shaped, good


def _quadratic_values(group: Group, solved: Quadratic, rows: Rows, asked: frozenset[str]) -> tuple[Floats, Any]:
    values = np.empty((len(rows), len(group.shrinkages), group.numbers))
    errors = np.zeros(len(group.shrinkages))
    step = max(32, group.design.chunk // 4)
    space = Space(group.design, min(step, len(rows)))
    for chunk, where in _chunks(rows, step):
        values[where], off = solved.values(space.read(chunk, solved.shift))
        errors = np.maximum(errors, off)
    return values, sure(values, errors, group.classes, asked)


def _chunks(rows: Rows, step: int) -> Iterator[tuple[Rows, slice]]:
    for start in range(0, len(rows), step):
        chunk = rows[start : start + step]
        yield chunk, slice(start, start + len(chunk))
