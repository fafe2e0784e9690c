"""The tasks of one run of a pool: what is still to be sent, in batches of a measured size, and what came of each."""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from heldout.backends.launch import Ending, worker_path
from heldout.backends.limits import memory_kills
from heldout.backends.pickling import dumps, explain_unpicklable
from heldout.base.amounts import show_bytes
from heldout.base.errors import BackendError

DIED, OUT_OF_MEMORY, TOO_LONG, TOO_LARGE = "WorkerDied", "OutOfMemory", "FitTimeout", "FitMemory"
# A worker that crashed did so by its own doing, so once more is enough; one that was killed may have been unlucky.
TRIES_OF_CRASHES, TRIES_OF_KILLS = 2, 3
_LARGEST_BATCH = 512
_MOST_IDLE_CRASHES = 5


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The callable of a run, pickled, under a key by content."""

    key: str
    payload: bytes
    path: tuple[str, ...]


class Task(NamedTuple):
    """A name, which stays here; a pickled argument; and how many fits it takes, each of which has the limit's time."""

    id: Any
    argument: bytes
    fits: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Tasks sent together. One whose worker died is sent alone, with how all workers ended that died at it."""

    tasks: tuple[Task, ...]
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """How a worker died: its exit, the traceback that it wrote, its memory, and which limit it was ended for."""

    ending: Ending
    traceback: str
    peak: int  # bytes, as last seen
    limit: Failure | None = None


@dataclass(slots=True, kw_only=True)
class TaskQueue:
    """One run's state: the tasks still to send, and how long they take."""

    context: Context
    jobs: int
    source: Iterator[tuple[Any, ...]]  # (id, argument) or (id, argument, fits)
    batch_seconds: float
    one_by_one: bool = False  # a batch is one task, and a worker has one batch, so that its time and memory are known
    on_lost: Callable[[str, bool], None] | None = None
    memory_kills: int | None = None  # of this system, when the run began
    _waiting: deque[Task] = field(default_factory=deque)
    _crashed: deque[Batch] = field(default_factory=deque)
    _mean_seconds: float | None = None
    _idle_crashes: int = 0  # workers that died at nothing, one after the other

    def next_batch(self, *, all_idle: bool) -> Batch | None:
        """Tasks for a worker; those whose worker died come last, one at a time, while no other task is under way."""
        size = self._batch_size()
        self._look_ahead(2 * self.jobs * size)
        # The last tasks go out in ever smaller batches, so that all workers end together.
        size = min(size, -(-len(self._waiting) // (2 * self.jobs)))
        tasks = tuple(self._waiting.popleft() for _ in range(size))
        if not tasks and self._crashed and all_idle:
            return self._crashed.popleft()
        return Batch(tasks=tasks) if tasks else None

    def put_back(self, tasks: tuple[Task, ...]) -> None:
        """These were not begun."""
        self._waiting.extendleft(reversed(tasks))

    def take_crash(self, batch: Batch, crash: Crash) -> list[TaskResult]:
        """A worker died at a batch: the failure of its task, or nothing where its tasks are tried again, each alone."""
        self._idle_crashes = 0
        lost = (*batch.lost, str(crash.ending))
        tries = TRIES_OF_KILLS if crash.ending.killed else TRIES_OF_CRASHES
        again = crash.limit is None and (len(batch.tasks) > 1 or len(lost) < tries)
        if self.on_lost is not None:
            self.on_lost(str(crash.ending) if crash.limit is None else crash.limit.message, again)
        if again:
            self._crashed.extend(Batch(tasks=(task,), lost=lost) for task in batch.tasks)
            return []
        failure = crash.limit or self._failure_of(crash, lost)
        return [TaskResult(task_id=task.id, failure=failure, lost=lost) for task in batch.tasks]

    def take_idle_crash(self, ending: str) -> None:
        """A worker died at no task; an error where that happens again and again."""
        self._idle_crashes += 1
        if self._idle_crashes > _MOST_IDLE_CRASHES:
            raise BackendError(
                f"{self._idle_crashes} workers died, one after the other, before they began a task; the last: "
                f"{ending}. Their own messages, if any, are on stderr. Use jobs=1 (inline)."
            )
        if self.on_lost is not None:
            self.on_lost(ending, True)

    def count_up_to(self, most: int) -> int:
        """How many tasks there are, or `most` where there are more."""
        self._look_ahead(most)
        return min(most, len(self._waiting))

    def left(self) -> bool:
        self._look_ahead(1)
        return bool(self._waiting or self._crashed)

    def depth(self) -> int:
        """Batches in flight a worker: a second hides the pipe's delay; long tasks wait here for any worker."""
        short = self._mean_seconds is not None and self._mean_seconds < 10 * self.batch_seconds
        return 2 if short and not self.one_by_one else 1

    def observe(self, seconds: float) -> None:
        """A task took so long."""
        self._mean_seconds = seconds if self._mean_seconds is None else 0.5 * (self._mean_seconds + seconds)

    def _batch_size(self) -> int:
        if self._mean_seconds is None or self.one_by_one:
            return 1
        return max(1, min(_LARGEST_BATCH, int(self.batch_seconds / max(self._mean_seconds, 1e-9))))

    def _look_ahead(self, count: int) -> None:
        for task_id, argument, *fits in islice(self.source, max(0, count - len(self._waiting))):
            self._waiting.append(Task(task_id, _pack(argument), *fits))

    def _failure_of(self, crash: Crash, lost: tuple[str, ...]) -> Failure:
        """The failure of a task whose worker died each time."""
        size = f" Its process was seen to hold {show_bytes(crash.peak)}." if crash.peak else ""
        again = f" It was tried {len(lost)} times, the last time with nothing beside it." if len(lost) > 1 else ""
        if crash.ending.killed and self.memory_kills is not None and (memory_kills() or 0) > self.memory_kills:
            text = f"The system killed this fit for memory: {crash.ending}.{size}{again}"
            return Failure(kind=OUT_OF_MEMORY, message=f"{text} Use fewer jobs, a smaller model, or a larger machine.")
        hint = " If memory was short, use fewer jobs." if crash.ending.killed else ""
        text = f"This fit ended its process: {crash.ending}.{size}{again}{hint}"
        return Failure(kind=DIED, message=text, traceback=crash.traceback)


def read_outcome(task_id: Any, kind: str, content: Any, seconds: float, *, lost: tuple[str, ...] = ()) -> TaskResult:
    """What a worker's outcome of a task says."""
    if kind == "value":
        try:
            return TaskResult(task_id=task_id, value=pickle.loads(content), seconds=seconds, lost=lost)
        except Exception as error:
            content = ("UnreadableResult", f"{type(error).__name__}: {error}", "")
    name, text, trace = content
    failure = Failure(kind=name, message=text, traceback=trace)
    return TaskResult(task_id=task_id, failure=failure, seconds=seconds, lost=lost)


def _pack(obj: object) -> bytes:
    try:
        return dumps(obj)
    except Exception as error:
        raise BackendError(f"{explain_unpicklable(obj)}. Use jobs=1 (inline).") from error


def pack_context(context: Callable[[Any], Any]) -> Context:
    """A callable as it is sent to workers."""
    payload = _pack(context)
    return Context(key=hashlib.blake2b(payload, digest_size=16).hexdigest(), payload=payload, path=worker_path())
