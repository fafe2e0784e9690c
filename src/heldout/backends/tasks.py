"""The queue of tasks of one run, which forms batches by measured durations; and the results of tasks."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

_LARGEST_BATCH = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a task has no value: the exception's type name, message and traceback; or kind ``WorkerDied``."""

    kind: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """The result of one task: a value, or a failure; and the seconds it took in its worker.

    `lost` says how each worker that died during it ended.
    """

    task_id: Any
    value: Any = None
    failure: Failure | None = None
    seconds: float = 0.0
    lost: tuple[str, ...] = ()


class Task(NamedTuple):
    """A task: an id, which is not sent; an argument, which is pickled; and its number of fits, for time limits."""

    id: Any
    argument: Any
    fits: float = 1.0


class Batch(NamedTuple):
    """Tasks that are sent together. If its worker dies, each task is sent alone; `lost` says how its workers ended."""

    tasks: tuple[Task, ...]
    lost: tuple[str, ...] = ()


class TaskQueue:
    """Queue of the tasks of a run that are still to be sent, in batches of about equal duration.

    A batch is about `batch_seconds` of work. The last ones are smaller, so that all workers finish together. Tasks
    whose worker died come last, one at a time, while no other task is running.
    """

    def __init__(self, tasks: Iterable[Any], *, batch_seconds: float, one_by_one: bool = False) -> None:
        self.batch_seconds = batch_seconds
        self._one_by_one = one_by_one
        self._waiting = deque(Task(*task) for task in tasks)
        self._crashed: deque[Batch] = deque()
        self._mean_seconds: float | None = None

    def __len__(self) -> int:
        return len(self._waiting) + len(self._crashed)

    def next_batch(self, workers: int, *, idle: bool) -> Batch | None:
        """Return the next batch for one of `workers` workers, or None. `idle` says that no task is running."""
        if self._waiting:
            size = min(self._batch_size(), -(-len(self._waiting) // (2 * workers)))
            return Batch(tuple(self._waiting.popleft() for _ in range(size)))
        return self._crashed.popleft() if self._crashed and idle else None

    def add(self, task: Task) -> None:
        """Add a task, after all others."""
        self._waiting.append(task)

    def put_back(self, tasks: tuple[Task, ...]) -> None:
        """Put back tasks that were not computed through no fault of their own. They come next."""
        self._waiting.extendleft(reversed(tasks))

    def retry_alone(self, batch: Batch, ending: str) -> None:
        """Queue each task of a batch whose worker died, to be tried alone after all others."""
        self._crashed.extend(Batch((task,), (*batch.lost, ending)) for task in batch.tasks)

    def observe(self, seconds: float) -> None:
        """Record the seconds per task of a finished batch, which determine the size of later batches."""
        self._mean_seconds = seconds if self._mean_seconds is None else 0.5 * (self._mean_seconds + seconds)

    def _batch_size(self) -> int:
        if self._mean_seconds is None or self._one_by_one:
            return 1
        return max(1, min(_LARGEST_BATCH, int(self.batch_seconds / max(self._mean_seconds, 1e-9))))


def read_outcome(task_id: Any, outcome: tuple[str, Any, float], lost: tuple[str, ...]) -> TaskResult:
    """Make the result of a task from the worker's message: a kind, a pickled value or an error, and seconds."""
    kind, content, seconds = outcome
    if kind == "value":
        try:
            return TaskResult(task_id=task_id, value=pickle.loads(content), seconds=seconds, lost=lost)
        except Exception as error:
            content = ("UnreadableResult", f"{type(error).__name__}: {error}", "")
    name, text, trace = content
    failure = Failure(kind=name, message=text, traceback=trace)
    return TaskResult(task_id=task_id, failure=failure, seconds=seconds, lost=lost)
