"""The kernel `vectors`: support vector machines on kernel matrices that candidates of a training set share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import sklearn
from scipy import sparse

from heldout.base.responses import Responses
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.claims import Claims
from heldout.kernels.driver.claim import lacking, methods_asked, target_problem, training_problem
from heldout.kernels.driver.contract import Needs
from heldout.kernels.driver.prepared import Candidate, PreparedKernel, as_asked, prepare_rows, score_training
from heldout.kernels.step import Step, Training, Work
from heldout.kernels.sums.rounding import Undecided
from heldout.kernels.threads import Spread, spreading
from heldout.kernels.vectors.kernel_values import TrainingRows
from heldout.kernels.vectors.machines import MODELS, WORDS, Machine, Shape, read_machine
from heldout.kernels.vectors.solve import Targets, responses_of, solve_all, values_of
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task

MATRIX_BYTES = 1 << 28  # a larger kernel matrix is not computed
MOST_ROWS = int((MATRIX_BYTES // 8) ** 0.5)
MATRICES = 3  # in memory at most for one training set: distances, kernel values, and one being computed


class VectorsKernel(PreparedKernel[Machine]):
    """SVC, SVR, NuSVC and NuSVR, alone or behind other steps of a Pipeline. Tier: rounding.

    LIBSVM, which scikit-learn uses, solves the machine on a precomputed kernel matrix. That matrix differs from
    LIBSVM's own at most in the last bits, so the solver takes the same steps.
    """

    name = "vectors"
    models = MODELS
    words = WORDS
    fits_each = "kernel matrices"

    def read(self, candidate: Candidate) -> Machine:
        return read_machine(candidate)

    def claim(self, search: Search, task: Task) -> Claims:
        def problem(machine: Machine) -> str | None:
            needs = Needs(classes=machine.classifies, numbers=not machine.classifies, one_output=True)
            about = _about_task(task) or lacking(machine.methods(task), search.losses)
            return about or target_problem(task, needs)

        return self.claim_where(search, problem)

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

    def answer_prepared(self, machines: list[Machine], step: Step, work: Work) -> Iterator[Answer]:
        large = tuple(training for training in step.trainings if _bytes_of(training, work) > work.budget)
        if large:
            yield from answer_by_brute_force(replace(step, trainings=large), work)
        small = [training for training in step.trainings if training not in large] if large else step.trainings
        spread = spreading(work.jobs)
        while small:
            fits = max(1, int(work.budget // max(_bytes_of(training, work) for training in small)))
            some, small = small[:fits], small[fits:]
            yield from _answer_together(machines, some, step, work, spread)


KERNEL = VectorsKernel()


Job = tuple[Training, TrainingRows, Targets, Sequence[Machine]]  # machines of one kernel function on one training set


def _answer_together(
    machines: Sequence[Machine], trainings: Sequence[Training], step: Step, work: Work, spread: Spread
) -> Iterator[Answer]:
    started = perf_counter()
    by_shape: dict[Shape, list[Machine]] = {}
    for machine in machines:
        by_shape.setdefault(machine.shape, []).append(machine)
    prepared = spread(lambda training: _prepare(training, machines[0], work), trainings)
    jobs = [
        (training, *made, several)
        for training, made in zip(trainings, prepared, strict=True)
        if made is not None
        for several in by_shape.values()
    ]
    found: dict[Training, list[dict[int, Responses]]] = {t: [{} for _ in t.answers] for t in trainings}
    for job, sides in zip(jobs, spread(lambda job: solve_machines(job, work), jobs), strict=True):
        for ours, theirs in zip(found[job[0]], sides, strict=True):
            ours.update(theirs)
    seconds = (perf_counter() - started) / len(trainings)
    for training in trainings:
        yield from score_training(step, work, training, found[training], seconds=seconds)


def _prepare(training: Training, machine: Machine, work: Work) -> tuple[TrainingRows, Targets] | None:
    """Return the rows of one training, or None where preprocessing fails, or its result is sparse."""
    held = [work.held_rows(held) for held in training.answers]
    rows = prepare_rows(machine.before, work, work.train_rows(training.trains[0]), held)
    if rows is None or any(sparse.issparse(X) for X in (rows.train, *rows.held)):
        return None
    try:
        with as_asked(work):
            return TrainingRows(rows.train, rows.held), Targets(y=rows.y, weight=rows.weight)
    except Exception:  # brute force reports the error
        return None


def solve_machines(job: Job, work: Work) -> list[dict[int, Responses]]:
    """Return, for each held-out part, the responses of the machines that are sure."""
    training, rows, targets, machines = job
    found: list[dict[int, Responses]] = [{} for _ in training.answers]
    with as_asked(work), sklearn.config_context(assume_finite=True):
        try:
            grams = rows.grams(machines[0].shape)
        except Undecided:
            return found
        solutions = solve_all(machines, grams.train, targets)
    for machine in machines:
        solved = solutions[machine.number]
        for held, gram, responses in zip(training.answers, grams.held, found, strict=True):
            values = None if solved is None else values_of(solved, gram)
            if solved is not None and values is not None:
                methods = methods_asked(machine.methods(work.task), work.losses[held.level])
                responses[machine.number] = responses_of(machine, solved, values, methods)
    return found


def _bytes_of(training: Training, work: Work) -> int:
    """Return how much memory one training takes at most."""
    ref = training.trains[0]
    size = int(work.splits[ref.splits].train_sizes[ref.part])
    held = sum(int(work.splits[held.splits].held_sizes[held.part]) for held in training.answers)
    return MATRICES * 8 * size * (size + held)


def _about_task(task: Task) -> str | None:
    if task.weight is not None and task.weight.min() <= 0:
        return "a row has weight 0, which the fit leaves out"
    kind = task.container
    if kind == "sparse":
        return "X is sparse; kernel matrices are made of dense rows"
    return "X is no table of columns" if kind == "objects" or len(task.X.shape) != 2 else None
