"""What a step is expected to cost, by operation counts: fits where it fits, operations where a kernel computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heldout.kernels.step import Step
from heldout.kernels.trainings import Held, Sides, sides_of, splits_of
from heldout.splits.drawn import Splits
from heldout.task.task import Task

EIGEN = 9  # operations of a symmetric eigendecomposition, in cubes of its size
MACHINE = 40  # operations for each pair of training rows that a support vector machine is solved in


def operations(step: Step, task: Task, splits: Mapping[str, Splits]) -> float | None:
    """Floating-point operations that a kernel's step takes, to the order of magnitude; None for steps that fit."""
    columns = task.n_columns or 1
    used = splits_of(step.trainings)
    read = sum(len(splits[name].rows) for name in used)
    predicted = sum(_rows_of(sides, splits) for sides in sides_of(step.trainings))
    answers = 2.0 * float(predicted) * len(step.candidates)
    if step.kernel == "ridge":
        single = all(int(splits[name].held_sizes.max()) == 1 for name in used)
        systems = len(used) if single else len(step.trainings)
        side = min(columns, max(len(splits[name].rows) for name in used))
        return read * columns * side + systems * EIGEN * float(side) ** 3 + answers * columns
    if step.kernel == "neighbours":
        return 2.0 * len(task) * len(task) * columns + answers
    if step.kernel == "bayes":
        numbers = getattr(task.X, "nnz", len(task) * columns) / max(1, len(task))  # a row; of sparse rows those kept
        return 2.0 * read * numbers + 2.0 * answers * numbers * (1 if task.classes is None else len(task.classes))
    if step.kernel == "pls":
        side = min(columns, max(len(splits[name].rows) for name in used))
        runs = 8.0 * len(step.trainings) * len(step.candidates) * columns * side
        return read * columns * side + runs + 2 * answers * columns
    if step.kernel == "lasso":
        sweeps = 60.0 * len(step.trainings) * len(step.candidates) * columns**2  # and Newton steps, for about as many
        return float(read) * columns**2 + sweeps + answers * columns
    if step.kernel == "approximate_loo":
        return (12.0 + 3.0 * len(step.candidates)) * read * float(columns) ** 2
    if step.kernel == "glm":
        predictors = max(1, len(task.classes) - 1) if task.classes is not None else 1
        passes = 6.0 + 1.5 * len(step.candidates)  # each makes second derivatives of every training set
        return passes * len(step.trainings) * len(task) * (columns * predictors) ** 2 + answers * columns * predictors
    if step.kernel == "discriminants":
        kinds = 1 if task.classes is None else len(task.classes)
        single = all(int(splits[name].held_sizes.max()) == 1 for name in used)
        systems = len(used) if single else len(step.trainings)
        return read * float(columns) ** 2 + systems * EIGEN * float(columns) ** 3 + answers * columns * kinds
    if step.kernel == "smoothers":
        rows = float(max(len(splits[name].rows) for name in used))
        return rows**2 * columns + (EIGEN + len(step.candidates)) * rows**3 + answers * rows
    if step.kernel == "vectors":
        pairs = len(step.trainings) * float(max(int(splits[name].train_sizes.max()) for name in used)) ** 2
        return pairs * (2 * columns + MACHINE * len(step.candidates))
    return None


def _rows_of(sides: Sequence[Held], splits: Mapping[str, Splits]) -> int:
    if isinstance(sides, Sides):
        return int(splits[sides.splits].held_sizes[sides.parts.start : sides.parts.stop].sum())
    return int(sum(splits[held.splits].held_sizes[held.part] for held in sides))
