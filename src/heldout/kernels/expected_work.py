"""Expected work of steps, estimated from counts alone, to order steps, to show progress and to price checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log

from heldout.kernels.step import Step, Training, Work, brute_step, count_trains, held_rows, splits_of, train_rows
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task

FIT = 1e6  # operations that a fit of scikit-learn takes however few its rows are: most of a millisecond
_ROUND = log(1.25)  # steps that differ by less than this ratio stay in the plan's order, where neighbours share rows
_FIT_OPERATIONS = 50.0  # operations of a fit for each number in its training rows: only weighs kernels and fits
_COUNTS = ("n_estimators", "iterations")  # parameters that a fit's time grows with, whatever the learner


EIGEN = 9  # operations of a symmetric eigendecomposition, in cubes of its size
ITERATIONS = 20  # iterations of L-BFGS that a fit usually takes
MACHINE = 40  # operations for each pair of training rows that fitting a support vector machine takes


def operations(step: Step, task: Task, splits: Mapping[str, Splits]) -> float | None:
    """Return the order of magnitude of a kernel step's floating-point operations; None for steps that call fit."""
    columns = task.n_columns or 1
    used = splits_of(step.trainings)
    read = sum([len(splits[name].rows) for name in used])
    answers = 2.0 * float(held_rows(step.trainings, splits)) * len(step.candidates)
    if step.kernel == "ridge":
        single = all(int(splits[name].held_sizes.max()) == 1 for name in used)
        systems = len(used) if single else len(step.trainings)
        side = min(columns, max([len(splits[name].rows) for name in used]))
        return read * columns * side + systems * EIGEN * float(side) ** 3 + answers * columns
    if step.kernel == "neighbours":
        return 2.0 * len(task) * len(task) * columns + answers
    if step.kernel == "bayes":
        numbers = getattr(task.X, "nnz", len(task) * columns) / max(1, len(task))  # a row; of sparse rows those kept
        return 2.0 * read * numbers + 2.0 * answers * numbers * (1 if task.classes is None else len(task.classes))
    if step.kernel == "pls":
        side = min(columns, max([len(splits[name].rows) for name in used]))
        runs = 8.0 * len(step.trainings) * len(step.candidates) * columns * side
        return read * columns * side + runs + 2 * answers * columns
    if step.kernel == "lasso":
        passes = 25.0 * len(step.trainings) * len(step.candidates) * columns**2  # over products of columns
        return float(read) * columns**2 + passes + answers * columns
    if step.kernel == "approximate_loo":
        return (12.0 + 3.0 * len(step.candidates)) * read * float(columns) ** 2
    if step.kernel == "glm":
        predictors = len(task.classes) if task.classes is not None and len(task.classes) > 2 else 1
        passes = ITERATIONS * len(step.trainings) * len(step.candidates)
        return (passes * len(task) * 4 + answers) * columns * predictors
    if step.kernel == "discriminants":
        kinds = 1 if task.classes is None else len(task.classes)
        single = all(int(splits[name].held_sizes.max()) == 1 for name in used)
        systems = len(used) if single else len(step.trainings)
        return read * float(columns) ** 2 + systems * EIGEN * float(columns) ** 3 + answers * columns * kinds
    if step.kernel == "smoothers":
        rows = float(max([len(splits[name].rows) for name in used]))
        return rows**2 * columns + (EIGEN + len(step.candidates)) * rows**3 + answers * rows
    if step.kernel == "vectors":
        pairs = len(step.trainings) * float(max(int(splits[name].train_sizes.max()) for name in used)) ** 2
        return pairs * (2 * columns + MACHINE * len(step.candidates))
    return None


def expected_work(step: Step, task: Task, splits: Mapping[str, Splits], search: Search) -> float:
    """Return the order of magnitude of the operations that a step takes."""
    known = operations(step, task, splits)
    if known is not None:
        return known
    rows = train_rows(step.trainings, splits)
    counted = any(_is_count(name) for family in search.families for name in family.candidates.names)
    weight = sum([_members(search, candidate) for candidate in step.candidates]) if counted else len(step.candidates)
    # A path that is read off one fit takes fewer fits than it has candidates.
    shared = step.fits / max(1, count_trains(step.trainings) * len(step.candidates))
    return _FIT_OPERATIONS * rows * (task.n_columns or 1) * weight * shared


def total_work(steps: Sequence[Step], work: Work) -> float:
    """Return the operations that all these steps are expected to take."""
    return sum([expected_work(step, work.task, work.splits, work.search) for step in steps])


def price_of_fit(step: Step, training: Training, candidate: int, work: Work) -> float:
    """Return the operations of one cell's fit: FIT and its expected work, at least the kernel's work on that cell."""
    brute = brute_step((candidate,), (training,))
    alone = replace(step, candidates=(candidate,), trainings=(training,), fits=1)
    fit, kernel = [expected_work(one, work.task, work.splits, work.search) for one in (brute, alone)]
    return max(FIT + fit, kernel)


def longest_first(steps: Sequence[Step], task: Task, splits: Mapping[str, Splits], search: Search) -> list[Step]:
    """Return the steps by falling expected work, so that no long one comes last; equal ones keep their order."""
    work = {id(step): expected_work(step, task, splits, search) for step in steps}
    return sorted(steps, key=lambda step: -round(log(max(work[id(step)], 1.0)) / _ROUND))


def _members(search: Search, candidate: int) -> float:
    """Return the number of members of the candidate's ensemble if a parameter gives it; 1 for all others."""
    for name, value in search.params_of(candidate).items():
        if _is_count(name) and isinstance(value, int | float) and value > 0:
            return float(value)
    return 1.0


def _is_count(name: str) -> bool:
    return name.rpartition("__")[2] in _COUNTS
