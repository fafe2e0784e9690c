"""What runs on a Dask worker: a batch of steps, handed to a supervised process of its own.

Dask runs tasks on threads of one process. There a fit that crashes takes the worker with it, warnings and BLAS limits
of two fits mix, and a fit that keeps the interpreter lock silences the worker's heartbeat. So each thread has a process
of the local pool beside it, the same program as on the user's machine: bits, failures and their names are the same too.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from heldout.backends.dask_cluster import check_versions_of_client
from heldout.backends.dask_data import RemoteFile
from heldout.backends.limits import Limits, OutOfTime
from heldout.backends.pickling import dumps
from heldout.backends.pool import Pool
from heldout.backends.shared_data import SharedRef
from heldout.backends.tasks import TaskResult
from heldout.base.errors import BackendError

LINGER = 15.0  # seconds without work after which a process ends: stages of a study follow each other faster


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """How a batch is done: what must be the same as at the client, and what it may take."""

    versions: frozenset[tuple[str, str]]
    fits: tuple[int, ...]  # of each step
    threads: int = 1
    fit_seconds: float | None = None
    fit_bytes: int | None = None
    seconds_left: float | None = None  # of the study; machines have clocks of their own


class Cancelled(BackendError):
    """A batch was given up because nobody waited for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancellableLimits(Limits):
    """Limits of a batch that is given up, fits under way and all, as soon as nobody waits for it."""

    wanted: Callable[[], bool]

    def time_left(self) -> float:
        return Limits.time_left(self) if self.wanted() else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReport:
    """What came of a batch; and for each process that died, how, and whether what it was at is tried again."""

    results: tuple[TaskResult, ...]  # by place in the batch; a value is the pickled answers
    lost: tuple[tuple[str, bool], ...] = ()


class WorkerPools:
    """Processes of one Dask worker for the steps of any study: as many as tasks that run at once.

    Those that have had nothing to do for a while are ended, and the data they have mapped go with them: nobody has to
    tell the worker that a study is over, or that its client died.
    """

    def __init__(self, *, linger: float) -> None:
        self._linger = linger
        self._idle: list[tuple[float, Pool]] = []  # since when, the longest first
        self._lock = threading.Lock()

    @contextmanager
    def process(self) -> Iterator[Pool]:
        """A pool of one process, nobody else's for the while; one that fails is not used again."""
        with self._lock:
            pool = self._idle.pop()[1] if self._idle else Pool(1)
        try:
            pool.start()
            yield pool
        except BaseException:
            pool.shutdown()
            raise
        with self._lock:
            self._idle.append((monotonic(), pool))
            if len(self._idle) == 1:
                self._look_after(self._linger)

    def _look_after(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._end_idle)
        timer.daemon = True
        timer.start()

    def _end_idle(self) -> None:
        now = monotonic()
        with self._lock:
            ended = [pool for since, pool in self._idle if now - since >= self._linger]
            self._idle = [(since, pool) for since, pool in self._idle if now - since < self._linger]
            if self._idle:
                self._look_after(self._idle[0][0] + self._linger - now)
        for pool in ended:
            pool.shutdown()


_pools = WorkerPools(linger=LINGER)


class RemoteRunner:
    """Does steps in a process beside a Dask worker: the work and its data are files, opened once."""

    def __init__(self, *, work: SharedRef, data: SharedRef, threads: int) -> None:
        self._work = work
        self._data = data
        self._threads = threads
        self._runner: Any = None

    def __call__(self, step: bytes) -> bytes:
        from heldout.backends.processes import StepRunner  # learners are loaded there, not in the Dask worker

        if self._runner is None:
            work = replace(pickle.loads(self._work.open()), jobs=self._threads)
            self._runner = StepRunner(work, self._data)
        return dumps(self._runner(step))


def run_batch(data: RemoteFile, work: RemoteFile, steps: Sequence[bytes], settings: BatchSettings) -> BatchReport:
    """The task that Dask runs: these steps, pickled; each with its answers pickled, or the reason why it has none."""
    check_versions_of_client(settings.versions)
    wanted, threads = _watch_task()
    runner = RemoteRunner(work=work.ref(), data=data.ref(), threads=min(settings.threads, threads))
    limits = CancellableLimits(
        fit_seconds=settings.fit_seconds,
        fit_bytes=settings.fit_bytes,
        deadline=None if settings.seconds_left is None else monotonic() + settings.seconds_left,
        wanted=wanted,
    )
    lost: list[tuple[str, bool]] = []
    tasks = [(number, step, fits) for number, (step, fits) in enumerate(zip(steps, settings.fits, strict=True))]
    with _pools.process() as pool:
        try:
            running = pool.run(runner, tasks, limits=limits, on_lost=lambda cause, again: lost.append((cause, again)))
            results = tuple(running)
        except OutOfTime:
            if limits.deadline is None or monotonic() < limits.deadline:
                raise Cancelled("This batch was cancelled while it ran.") from None
            raise
    return BatchReport(results=results, lost=tuple(lost))


def _watch_task() -> tuple[Callable[[], bool], int]:
    """Whether the task on this thread is still wanted, since its client may be gone; and the threads of the worker."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return wanted, int(worker.state.nthreads)
