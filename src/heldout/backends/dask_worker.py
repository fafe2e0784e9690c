"""The code that runs on a Dask worker: it passes a batch of steps to a supervised process next to the worker.

Dask runs tasks on threads of one process. There, a crashing fit ends the worker, two fits share warnings and BLAS
limits, and a fit that holds the interpreter lock stops the worker's heartbeat.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from time import monotonic
from typing import Any

from heldout.backends.limits import Limits, OutOfTime
from heldout.backends.pickling import dumps
from heldout.backends.pool import Pool
from heldout.backends.shared_data import SharedRef, transport_folder
from heldout.backends.tasks import TaskResult
from heldout.base.environment import library_version
from heldout.base.errors import BackendError

LINGER = 15.0  # seconds without work after which a process ends: stages of a study follow each other faster
_making_folder = threading.Lock()


class Unseen(BackendError):
    """The file that a worker should map is not visible there."""


class Cancelled(BackendError):
    """A batch was stopped because the client no longer waits for it."""


class RemoteFile:
    """A file of the client on a Dask worker: mapped if the worker sees it, else written there from its content.

    Dask keeps it in the worker's memory, copies it to other workers, makes it again if a worker was lost, and drops it
    when the client no longer needs it. A file that was written here is then deleted.
    """

    def __init__(self, path: str | None, content: bytes = b"") -> None:
        self._path = path
        self._content = content  # where the client's file is not seen
        self._lock = threading.Lock()

    def ref(self) -> SharedRef:
        """Return a reference with which processes of this machine can map the file."""
        with self._lock:
            if self._path is None:
                self._path = _write(self._content)
                weakref.finalize(self, _unlink, self._path)
        if not os.path.exists(self._path):
            raise Unseen(f"A Dask worker does not see the shared data {self._path}.")
        return SharedRef(path=self._path)

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteFile, (None, self._content) if self._content else (self._path,)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + len(self._content)


def _write(content: bytes) -> str:
    with _making_folder:  # threads of a worker share one
        folder = transport_folder()
    handle, path = tempfile.mkstemp(prefix="sent-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError as error:
        _unlink(path)
        raise BackendError(
            f"A Dask worker needs {len(content) / 1e6:,.1f} MB in {os.path.dirname(path)} for the data, but: {error}. "
            "Point TMPDIR to a larger disk where the workers are started."
        ) from error
    return path


def _unlink(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of the libraries of these modules in this process."""
    found = {"Python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    found.update(filter(None, map(library_version, modules)))
    return {name: version for name, version in found.items() if version != "unknown"}


@cache
def check_versions(modules: tuple[str, ...], wanted: frozenset[tuple[str, str]]) -> None:
    """Raise a BackendError if the client's versions of these modules differ from those of this process."""
    here = versions_of(modules)
    differ = [
        f"{name} {here.get(name, 'is missing')} (the client has {version})"
        for name, version in sorted(wanted)
        if here.get(name) != version
    ]
    if differ:
        raise BackendError(
            f"A Dask worker differs from the client, so its numbers could too: {', '.join(differ)}. "
            "Install the same versions there."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """The settings of a batch: the versions that the worker must have, its threads and its limits."""

    modules: tuple[str, ...]
    versions: frozenset[tuple[str, str]]
    fits: tuple[int, ...]  # of each step
    threads: int = 1
    fit_seconds: float | None = None
    fit_bytes: int | None = None
    seconds_left: float | None = None  # of the study; machines have clocks of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReport:
    """The results of a batch; for each process that died, how it ended and whether its task is tried again."""

    results: tuple[TaskResult, ...]  # by place in the batch; a value is the pickled answers
    lost: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _CancellableLimits(Limits):
    """Limits of a batch that ends, together with its running fits, as soon as the client no longer waits for it."""

    wanted: Callable[[], bool]

    def time_left(self) -> float:
        return Limits.time_left(self) if self.wanted() else 0.0


class WorkerPools:
    """Pools of one process each, for the steps of any study: as many as tasks that run at once on a Dask worker.

    A pool that has been idle for a while is ended, which also frees the data it has mapped. Nobody thus has to tell the
    worker that a study is over or that its client died.
    """

    def __init__(self, *, linger: float) -> None:
        self._linger = linger
        self._idle: dict[Pool, threading.Timer] = {}
        self._lock = threading.Lock()

    @contextmanager
    def process(self) -> Iterator[Pool]:
        """Lend a pool to one task. A pool that fails is shut down and not used again."""
        with self._lock:
            pool, timer = self._idle.popitem() if self._idle else (Pool(1), None)
        if timer is not None:
            timer.cancel()
        try:
            pool.start()
            yield pool
        except BaseException:
            pool.shutdown()
            raise
        timer = threading.Timer(self._linger, self._end, [pool])
        timer.daemon = True
        with self._lock:
            self._idle[pool] = timer
        timer.start()

    def _end(self, pool: Pool) -> None:
        with self._lock:
            idle = self._idle.pop(pool, None)
        if idle is not None:
            pool.shutdown()


_pools = WorkerPools(linger=LINGER)


def run_step(work: SharedRef, data: SharedRef, threads: int, step: bytes) -> bytes:
    """Compute a pickled step in a process next to a Dask worker."""
    return dumps(_open_runner(work, data, threads)(pickle.loads(step)))


@lru_cache(maxsize=1)
def _open_runner(work: SharedRef, data: SharedRef, threads: int) -> Callable[[Any], Any]:
    from heldout.backends.processes import StepRunner  # learners are loaded there, not in the Dask worker

    return StepRunner(replace(pickle.loads(work.open()), jobs=threads), data)


def run_batch(data: RemoteFile, work: RemoteFile, steps: Sequence[bytes], settings: BatchSettings) -> BatchReport:
    """Compute pickled steps; the function of every Dask task. The report holds pickled answers or failures."""
    check_versions(settings.modules, settings.versions)
    wanted, threads = _watch_task()
    runner = partial(run_step, work.ref(), data.ref(), min(settings.threads, threads))
    limits = _CancellableLimits(
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
    """Return a function that says whether a client still waits for this task, and the number of threads here."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return wanted, int(worker.state.nthreads)
