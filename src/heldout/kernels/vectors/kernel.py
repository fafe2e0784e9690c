"""The kernel `vectors`: support vector machines on kernel matrices that candidates and training sets share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import sklearn
from scipy import sparse

from heldout.base.responses import Responses
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import Claims
from heldout.kernels.driver.claim import lacking, methods_asked, training_problem
from heldout.kernels.driver.prepared import claims_of, prepare_rows, read_search, score_training
from heldout.kernels.neighbours.spread import spread
from heldout.kernels.step import Step, Training, Work
from heldout.kernels.vectors.grams import CutRows, Doubtful, OwnRows, SharedRows, TrainingRows
from heldout.kernels.vectors.kernel_values import points_of
from heldout.kernels.vectors.machines import MODELS, WORDS, Machine, Shape, read_machine
from heldout.kernels.vectors.respond import responses_of, values_of
from heldout.kernels.vectors.solve import Targets, solve_all
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.containers import container_kind
from heldout.task.task import Task

MATRIX_BYTES = 1 << 28  # a kernel matrix past this size is not made
MOST_ROWS = int((MATRIX_BYTES // 8) ** 0.5)
BATCH = 32  # training sets whose responses are held at once
MATRICES = 3  # that a thread holds at most: distances or a cut of them, kernel values, and what is being made


class VectorsKernel:
    """SVC, SVR, NuSVC and NuSVR, alone or behind other steps of a Pipeline. Tier: rounding.

    The machine is solved by scikit-learn's own library on a kernel matrix that differs from the library's in its last
    bits, if at all: it takes the same steps.
    """

    name = "vectors"
    tier = "rounding"
    fits_each = "kernel matrices"

    def claim(self, search: Search, task: Task) -> Claims:
        machines, refusals = read_search(search, MODELS, read_machine, WORDS)
        about = _about_task(task) if machines else None
        read = {
            number: (
                (machine.preparation, machine.classifies),
                about or lacking(machine.methods, search.losses) or _about_target(machine, task),
            )
            for number, machine in machines.items()
        }
        return claims_of(read, refusals)

    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        reason = training_problem(task, training, splits)
        if reason is not None:
            return reason
        own = training.trains[0]
        size = int(splits[own.splits].train_sizes[own.part])
        if size > MOST_ROWS:
            return f"the kernel matrix of {size:,} training rows is too large; {MOST_ROWS:,} are the most"
        held = sum(int(splits[held.splits].held_sizes[held.part]) for held in training.answers)
        if held * size * 8 > MATRIX_BYTES:
            return f"the kernel matrix of {held:,} held-out rows with {size:,} training rows is too large"
        return None

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        read = read_search(work.search, MODELS, read_machine, WORDS)[0]
        machines = [read[candidate] for candidate in step.candidates]
        levels = {held.level for training in step.trainings for held in training.answers}
        if work.fit_params or any(lacking(machines[0].methods, work.losses[level]) for level in levels):
            yield from answer_by_brute_force(step, work)
            return
        large = tuple(training for training in step.trainings if _bytes_of(training, work) > work.budget)
        if large:
            yield from answer_by_brute_force(replace(step, trainings=large), work)
        small = [training for training in step.trainings if training not in large] if large else step.trainings
        shared = _shared_rows(machines[0], work)
        for start in range(0, len(small), BATCH):
            yield from _answer_batch(machines, small[start : start + BATCH], step, work, shared)


KERNEL = VectorsKernel()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """Machines that one thread solves on one training set."""

    training: Training
    rows: TrainingRows
    targets: Targets
    by_shape: Mapping[Shape, Sequence[Machine]]


def _answer_batch(
    machines: Sequence[Machine], trainings: Sequence[Training], step: Step, work: Work, shared: SharedRows | None
) -> Iterator[Answer]:
    started = perf_counter()
    by_shape: dict[Shape, list[Machine]] = {}
    for machine in machines:
        by_shape.setdefault(machine.shape, []).append(machine)
    threads = min(work.jobs, max(1, work.budget // max(_bytes_of(training, work) for training in trainings)))
    # With few training sets the kernel functions of each are spread over threads too.
    alone = len(trainings) < threads
    pieces = [{shape: several} for shape, several in by_shape.items()] if alone else [by_shape]
    prepared = spread(threads, lambda training: rows_of(training, machines[0], work, shared), trainings, library=True)
    parts = [
        Part(training=training, rows=rows, targets=_targets(training, work), by_shape=piece)
        for training, rows in zip(trainings, prepared, strict=True)
        if rows is not None
        for piece in pieces
    ]
    found: dict[Training, list[dict[int, Responses]]] = {t: [{} for _ in t.answers] for t in trainings}
    solved = spread(threads, lambda part: solve_part(part, work), parts, library=True)
    for part, sides in zip(parts, solved, strict=True):
        for ours, theirs in zip(found[part.training], sides, strict=True):
            ours.update(theirs)
    seconds = (perf_counter() - started) / len(trainings)
    for training in trainings:
        yield from score_training(step, work, training, found[training], seconds=seconds)


def rows_of(training: Training, machine: Machine, work: Work, shared: SharedRows | None) -> TrainingRows | None:
    """The rows of one training; None where preparing them fails, or they come out sparse."""
    rows, sides = work.train_rows(training.trains[0]), [work.held_rows(held) for held in training.answers]
    if shared is not None:
        return CutRows(shared, rows, sides)
    prepared = prepare_rows(machine.before, work, rows, sides)
    if prepared is None or any(sparse.issparse(X) for X in (prepared.train, *prepared.held)):
        return None
    try:
        return OwnRows(points_of(prepared.train), [points_of(X) for X in prepared.held])
    except Exception:  # brute force tells what is wrong
        return None


def solve_part(part: Part, work: Work) -> list[dict[int, Responses]]:
    """For each held-out side the responses of the machines that are sure."""
    found: list[dict[int, Responses]] = [{} for _ in part.training.answers]
    for shape, machines in part.by_shape.items():
        try:
            grams = part.rows.grams(shape)
        except Doubtful:
            continue
        with sklearn.config_context(assume_finite=True):
            solutions = solve_all(machines, grams.train, part.targets)
        for machine in machines:
            solved = solutions[machine.candidate]
            for held, gram, responses in zip(part.training.answers, grams.held, found, strict=True):
                values = None if solved is None else values_of(solved, gram)
                if solved is not None and values is not None:
                    methods = methods_asked(machine.methods, work.losses[held.level])
                    responses[machine.candidate] = responses_of(machine, solved, values, methods)
    return found


def _targets(training: Training, work: Work) -> Targets:
    rows = work.train_rows(training.trains[0])
    return Targets(y=work.task.y[rows], weight=None if work.task.weight is None else work.task.weight[rows])


def _bytes_of(training: Training, work: Work) -> int:
    """What a thread holds at most while it answers one training."""
    ref = training.trains[0]
    size = int(work.splits[ref.splits].train_sizes[ref.part])
    held = sum(int(work.splits[held.splits].held_sizes[held.part]) for held in training.answers)
    return MATRICES * 8 * size * (size + held)


def _shared_rows(machine: Machine, work: Work) -> SharedRows | None:
    """The matrices of all rows, where these are not prepared and fit; None where each training makes its own."""
    size = len(work.task) ** 2 * 8
    if machine.before is not None or size * 4 > work.budget:
        return None
    key = ("vectors", "rows")
    if key not in work.products:
        try:
            points = points_of(work.task.X)
        except Exception:  # some rows cannot be read: those of each training are tried
            return None
        work.products[key] = SharedRows(points, kept=int(work.budget // 4 // size))
    shared: SharedRows = work.products[key]
    return shared


def _about_task(task: Task) -> str | None:
    if task.weight is not None:
        if sklearn.get_config()["enable_metadata_routing"]:
            return "sample weights go where metadata routing sends them"
        if task.weight.min() <= 0:
            return "a row has weight 0, which the fit leaves out"
    kind = container_kind(task.X)
    if kind == "sparse":
        return "X is sparse; kernel matrices are made of dense rows"
    return "X is no table of columns" if kind == "objects" or len(task.X.shape) != 2 else None


def _about_target(machine: Machine, task: Task) -> str | None:
    if task.y.ndim != 1:
        return "y has several columns"
    if not machine.classifies:
        return None if task.y.dtype.kind in "biuf" and task.y.dtype.itemsize <= 8 else f"y is of type {task.y.dtype}"
    if task.classes is None:
        return "y holds no classes"
    if task.y.dtype.kind == "f" and not np.array_equal(task.y, np.round(task.y)):
        return "y holds fractions, which are no classes"
    return "y has a single class" if len(task.classes) < 2 else None
