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

from heldout.backends.dask.parcel import Parcel
from heldout.backends.dask.versions import check_versions_of_client
from heldout.backends.limits import Limits, OutOfTime
from heldout.backends.pickling import dumps
from heldout.backends.pool import Done, Pool
from heldout.backends.shared_data import SharedRef
from heldout.base.errors import BackendError

LINGER = 15.0  # seconds without work after which a process ends: stages of a study follow each other faster

# Which step of the batch; kind, content and seconds as `heldout.backends.calls.done_of` takes them; how processes died.
Outcome = tuple[int, str, Any, float, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On which terms a batch is done: what must be the same, and what it may take."""

    versions: frozenset[tuple[str, str]]
    threads: int = 1
    fit_seconds: float | None = None
    fit_bytes: int | None = None
    seconds_left: float | None = None  # of the study; machines have clocks of their own

    def limits(self, wanted: Callable[[], bool]) -> Limits:
        deadline = None if self.seconds_left is None else monotonic() + self.seconds_left
        return WhileWanted(fit_seconds=self.fit_seconds, fit_bytes=self.fit_bytes, deadline=deadline, wanted=wanted)


class Recalled(BackendError):
    """A batch was given up because nobody waited for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhileWanted(Limits):
    """Limits of a batch that is given up, fits under way and all, as soon as nobody waits for it."""

    wanted: Callable[[], bool]

    def time_left(self) -> float:
        return Limits.time_left(self) if self.wanted() else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of a batch; and for each process that died, how, and whether what it was at is tried again."""

    outcomes: tuple[Outcome, ...]
    lost: tuple[tuple[str, bool], ...] = ()


class Crew:
    """Processes of one worker for the steps of any study: as many as tasks that run at once.

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
        with self._lock:  # also while a process is started: threads of a worker would start a nursery each
            pool = self._idle.pop()[1] if self._idle else Pool(1)
            pool.start()
        try:
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


_crew = Crew(linger=LINGER)


class FarDoer:
    """Does steps in a process of a crew: the work and its data are files, opened once."""

    def __init__(self, *, work: SharedRef, data: SharedRef, threads: int) -> None:
        self._work = work
        self._data = data
        self._threads = threads
        self._doer: Any = None

    def __call__(self, step: bytes) -> bytes:
        from heldout.backends.base import StepDoer  # kernels and learners are loaded there, not in the Dask worker

        if self._doer is None:
            work = replace(pickle.loads(self._work.open()), jobs=self._threads)
            self._doer = StepDoer(work, self._data)
        return dumps(self._doer(pickle.loads(step)))


def do_batch(data: Parcel, work: Parcel, steps: Sequence[bytes], terms: Terms) -> Report:
    """The task that Dask runs: these steps, pickled; each with its answers pickled, or the reason why it has none."""
    check_versions_of_client(terms.versions)
    doer = FarDoer(work=work.ref(), data=data.ref(), threads=min(terms.threads, _threads_of_worker()))
    limits = terms.limits(_whether_wanted())
    lost: list[tuple[str, bool]] = []
    with _crew.process() as pool:
        finished = pool.run(
            doer, enumerate(steps), limits=limits, on_lost=lambda cause, again: lost.append((cause, again))
        )
        try:
            outcomes = tuple(_outcome(done) for done in finished)
        except OutOfTime:
            if limits.deadline is None or monotonic() < limits.deadline:
                raise Recalled("This batch was cancelled while it ran.") from None
            raise
    return Report(outcomes=outcomes, lost=tuple(lost))


def _outcome(done: Done) -> Outcome:
    if done.failure is None:
        return done.call_id, "value", done.value, done.seconds, done.lost
    failure = done.failure
    return done.call_id, "error", (failure.kind, failure.message, failure.traceback), done.seconds, done.lost


def _whether_wanted() -> Callable[[], bool]:
    """Says whether the task that runs on this thread is still wanted: its client may have cancelled it, or be gone."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    return wanted


def _threads_of_worker() -> int:
    from distributed import get_worker

    return int(get_worker().state.nthreads)
