"""The rows that heldout draws, as plain pairs: strategies are asked directly, with the seeds of a study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heldout.base.rowkeys import derive
from heldout.splits.drawn import Splits
from heldout.task import Task, declare

Part = tuple[Any, Any]


def task_of(X: Any, y: Any, classification: bool) -> Task:
    return declare(X, y, classification=classification)


def pairs_of(splits: Splits) -> list[Part]:
    return [(splits.train_rows(part), splits.held_rows(part)) for part in range(len(splits))]


def outer_parts(task: Task, test: Any, *, seed: int = 0) -> list[Part]:
    """The test splits of ``evaluate(…, test=test, seed=seed)``."""
    rows = task.all_rows
    return pairs_of(test.draw(task, rows, seed=derive(seed, "test", task.content_key(rows))))


def inner_parts(task: Task, validation: Any, rows: Any, *, seed: int = 0) -> list[Part]:
    """The validation splits of ``Tuned(…, validation=validation, random_state=seed)`` on these rows."""
    return pairs_of(validation.draw(task, rows, seed=derive(seed, "validation", task.content_key(rows))))


def inner_of(task: Task, validation: Any, outer: list[Part]) -> Callable[[int], list[Part]]:
    return lambda i: inner_parts(task, validation, outer[i][0])
