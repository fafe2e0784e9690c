"""Answering a step: training sets from sums, predictors for every alpha, leave-one-out in one go, brute force where
rounding would decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.rowkeys import Rows
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.ridge.bank import Bank, Spread
from heldout.kernels.ridge.design import Design, Floats, make_design, matrix_of, numeric_type
from heldout.kernels.ridge.dual import solve_dual
from heldout.kernels.ridge.forms import Form
from heldout.kernels.ridge.leave_one_out import applies, leave_one_out
from heldout.kernels.ridge.normal import LostDigits, normal_equations
from heldout.kernels.ridge.recognise import Reader
from heldout.kernels.ridge.respond import lacking, linear_values, responses_of
from heldout.kernels.ridge.solve import Solved, Undecided, solve
from heldout.kernels.ridge.sums import Sums, sum_rows_apart
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Held, Step, Training, Work
from heldout.study.tables import Answer

BATCH_NUMBERS = 1 << 22  # responses computed before they are scored and let go
FEW_PARTS = 8  # leave-one-out of fewer rows than this is not worth its own decomposition


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """The candidates of one form, and all that answers them."""

    form: Form
    candidates: tuple[int, ...]
    alphas: Floats
    design: Design
    dtype: np.dtype[Any]
    bank: Bank
    work: Work
    spread: Spread


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Numbers on one held-out side, and which alphas are good; None where no alpha is."""

    held: Held
    training: Training
    values: Floats | None  # rows × alphas × targets
    good: NDArray[np.bool_]  # alphas


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
    with ThreadPoolExecutor(max(1, work.jobs)) as pool:

        def spread(do: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
            return list(pool.map(do, jobs)) if work.jobs > 1 and len(jobs) > 1 else [do(job) for job in jobs]

        for form, members in forms.items():
            yield from _answer_group(_group(form, members, work, spread), step)


def _group(form: Form, members: dict[int, float], work: Work, spread: Spread) -> Group:
    key = ("ridge", form.weighting)
    if "ridge/matrix" not in work.products:
        work.products["ridge/matrix"] = matrix_of(work.task)
    if key not in work.products:
        work.products[key] = make_design(work.task, form, work.products["ridge/matrix"])
    design = work.products[key]
    return Group(
        form=form,
        candidates=tuple(members),
        alphas=np.array(list(members.values())),
        design=design,
        dtype=numeric_type(work.task, form),
        bank=Bank(work, design, key, spread),
        work=work,
        spread=spread,
    )


def _answer_group(group: Group, step: Step) -> Iterator[Answer]:
    able: list[Training] = []
    for training in step.trainings:
        levels = {held.level for held in training.answers}
        if any(lacking(group.form, group.work.losses[level]) for level in levels):
            yield from _by_brute_force(group, step, training, group.candidates)
        else:
            able.append(training)
    for batch in _batches(group, able):
        started = perf_counter()
        if _is_leave_one_out(group, batch):
            found = _leave_rows_out(group, batch)
        else:
            group.bank.read_ahead([training.trains[0] for training in batch])
            jobs = [(group, training) for training in batch]
            found = [one for many in group.spread(_answer_training, jobs) for one in many]
        yield from _scored(group, found, step, perf_counter() - started)


def _batches(group: Group, trainings: Sequence[Training]) -> Iterator[list[Training]]:
    """Trainings whose responses are held at once: those of one splits together, several splits while they are few."""
    batch: list[Training] = []
    numbers = 0
    for _, members in groupby(trainings, key=lambda training: training.trains[0].splits):
        together = list(members)
        more = sum(group.work.splits[held.splits].held_sizes[held.part] for t in together for held in t.answers)
        more *= len(group.alphas) * group.design.Y.shape[1]
        alone = _is_leave_one_out(group, together)
        if batch and (alone or numbers + more > BATCH_NUMBERS or _is_leave_one_out(group, batch)):
            yield batch
            batch, numbers = [], 0
        batch += together
        numbers += int(more)
    if batch:
        yield batch


def _is_leave_one_out(group: Group, trainings: Sequence[Training]) -> bool:
    """Whether these trainings leave single rows out of one set, enough of them for a decomposition of that set."""
    name = trainings[0].trains[0].splits
    splits = group.work.splits[name]
    if splits.train is not None or len(trainings) < FEW_PARTS or not applies(group.form, group.design, len(splits.rows)):
        return False
    return int(splits.held_sizes.max()) == 1 and all(
        len(training.answers) == 1
        and training.trains[0].splits == name
        and training.answers[0].splits == name
        and training.answers[0].part == training.trains[0].part
        for training in trainings
    )


def _leave_rows_out(group: Group, trainings: Sequence[Training]) -> list[Found]:
    splits = group.work.splits[trainings[0].trains[0].splits]
    parts = np.array([training.trains[0].part for training in trainings])
    held = splits.held[splits.held_cuts[parts]]
    nothing = np.zeros((len(held), len(group.alphas)), dtype=bool)
    whole = (group.bank.total_of(trainings[0].trains[0].splits), splits.rows)
    values: Floats | None = None
    try:
        values, good = leave_one_out(
            group.design, group.form, whole, held, alphas=group.alphas, spread=group.spread
        )
    except LostDigits:
        good = nothing
    return [
        Found(training.answers[0], training, None if values is None else values[i : i + 1], good[i])
        for i, training in enumerate(trainings)
    ]


def _answer_training(job: tuple[Group, Training]) -> list[Found]:
    group, training = job
    none = np.zeros(len(group.alphas), dtype=bool)
    solved = _solved(group, training)
    found = []
    for held in training.answers:
        if solved is None:
            found.append(Found(held, training, None, none))
            continue
        values, good = linear_values(solved, group.design, group.form, group.work.held_rows(held))
        found.append(Found(held, training, values, good))
    return found


def _solved(group: Group, training: Training) -> Solved | None:
    """The predictors of one training set, or None where only scikit-learn's own fit will do."""
    ref = training.trains[0]
    form, design = group.form, group.design
    size = int(group.work.splits[ref.splits].train_sizes[ref.part])
    width = design.X.shape[1] if form.columns.places is None else len(form.columns.places)
    try:
        if size <= width:
            return solve_dual(design, form, group.work.train_rows(ref), group.alphas)
        try:
            normal = normal_equations(form, group.bank.sums_of(ref))
        except LostDigits:
            normal = normal_equations(form, sum_rows_apart(design, group.work.train_rows(ref)))
        return solve(normal, group.alphas, cutoff=form.cutoff)
    except (LostDigits, Undecided, np.linalg.LinAlgError):
        return None


def _scored(group: Group, found: Sequence[Found], step: Step, seconds: float) -> Iterator[Answer]:
    """Whole blocks of neighbouring parts where every alpha is good; the others part by part, and by brute force."""
    each = seconds / max(1, len(found))
    whole = sorted((one for one in found if one.good.all()), key=lambda one: (one.held.panel, one.held.part))
    jobs = [(group, run, each * len(run)) for run in _runs(whole)]
    for answers in group.spread(_score_run, jobs):
        yield from answers
    for one in found:
        if one.good.all():
            continue
        if one.values is not None and one.good.any():
            places = np.flatnonzero(one.good)
            some = replace(group, candidates=tuple(group.candidates[i] for i in places), alphas=group.alphas[places])
            kept = Found(one.held, one.training, one.values[:, places], one.good[places])
            yield from _score_run((some, [kept], each))
        bad = tuple(group.candidates[i] for i in np.flatnonzero(~one.good))
        yield from _by_brute_force(group, step, one.training._replace(answers=(one.held,)), bad)


def _runs(found: Sequence[Found]) -> list[list[Found]]:
    runs: list[list[Found]] = []
    for one in found:
        last = runs[-1][-1].held if runs else None
        if last is not None and last.panel == one.held.panel and last.part + 1 == one.held.part:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _score_run(job: tuple[Group, list[Found], float]) -> list[Answer]:
    group, run, seconds = job
    values = np.concatenate([one.values for one in run if one.values is not None])
    losses = group.work.losses[run[0].held.level]
    responses = responses_of(group.form, group.work.task, values, group.dtype, losses)
    return score_block(group.work, [one.held for one in run], group.candidates, responses, seconds=seconds)


def _by_brute_force(
    group: Group, step: Step, training: Training, candidates: tuple[int, ...]
) -> Iterator[Answer]:
    yield from answer_by_brute_force(replace(step, candidates=candidates, trainings=(training,)), group.work)
