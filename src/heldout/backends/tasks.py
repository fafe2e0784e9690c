"""The tasks of one run: what is still to be sent, in batches of a measured size, and what came of each."""

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
    """What came of one task: a value, or a failure; and the seconds it took in its worker.

    `lost` says how the workers ended that died at it.
    """

    task_id: Any
    value: Any = None
    failure: Failure | None = None
    seconds: float = 0.0
    lost: tuple[str, ...] = ()


class Task(NamedTuple):
    """A name, which stays here; an argument, which is pickled; and how many fits it takes: each may take its time."""

    id: Any
    argument: Any
    fits: float = 1.0


class Batch(NamedTuple):
    """Tasks sent together. One whose worker died is sent alone, with how all workers ended that died at it."""

    tasks: tuple[Task, ...]
    lost: tuple[str, ...] = ()


class TaskQueue:
    """The tasks of a run that are still to be sent, and how long they take.

    A batch is about `batch_seconds` of work; the last ones are smaller, so that all workers end together. Tasks whose
    worker died come last, one at a time, while nothing else is under way.
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
        """What one of so many workers does next; `idle` when no task of this run is under way."""
        if self._waiting:
            size = min(self._batch_size(), -(-len(self._waiting) // (2 * workers)))
            return Batch(tuple(self._waiting.popleft() for _ in range(size)))
        return self._crashed.popleft() if self._crashed and idle else None

    def add(self, task: Task) -> None:
        """Add a task, after all others."""
        self._waiting.append(task)

    def put_back(self, tasks: tuple[Task, ...]) -> None:
        """Put back tasks that were not done, and for no fault of their own: they come next."""
        self._waiting.extendleft(reversed(tasks))

    def retry_alone(self, batch: Batch, ending: str) -> None:
        """Workers died at this batch: each of its tasks is tried again with nothing beside it."""
        self._crashed.extend(Batch((task,), (*batch.lost, ending)) for task in batch.tasks)

    def observe(self, seconds: float) -> None:
        """The tasks of a batch took so long each."""
        self._mean_seconds = seconds if self._mean_seconds is None else 0.5 * (self._mean_seconds + seconds)

    def _batch_size(self) -> int:
        if self._mean_seconds is None or self._one_by_one:
            return 1
        return max(1, min(_LARGEST_BATCH, int(self.batch_seconds / max(self._mean_seconds, 1e-9))))


def read_outcome(task_id: Any, outcome: tuple[str, Any, float], lost: tuple[str, ...]) -> TaskResult:
    """The result of a task from what its worker sent: its kind, the pickled value or an error, and the seconds."""
    kind, content, seconds = outcome
    if kind == "value":
        try:
            return TaskResult(task_id=task_id, value=pickle.loads(content), seconds=seconds, lost=lost)
        except Exception as error:
            content = ("UnreadableResult", f"{type(error).__name__}: {error}", "")
    name, text, trace = content
    failure = Failure(kind=name, message=text, traceback=trace)
    return TaskResult(task_id=task_id, failure=failure, seconds=seconds, lost=lost)
