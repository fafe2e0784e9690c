"""The Dask backend: the same steps, done by the same worker program, wherever Dask finds room."""

from __future__ import annotations

import os
import pickle
import sys
import sysconfig
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from heldout.backends.base import Answered, BackendSettings, cut_for_limits, failed_step, pieces_to_retry
from heldout.backends.dask_cluster import (
    GO_ON,
    check_workers,
    left_unexpectedly,
    open_client,
    scheduler_lost,
    threads_by_worker,
    versions_here,
)
from heldout.backends.dask_data import Unseen, all_workers_see, send
from heldout.backends.dask_worker import BatchReport, BatchSettings, Cancelled, run_batch
from heldout.backends.limits import OutOfTime
from heldout.backends.pickling import dumps, explain_unpicklable, packages_in
from heldout.backends.processes import without_data
from heldout.backends.shared_data import SharedRef, share, transport_folder
from heldout.backends.tasks import Failure, TaskResult
from heldout.base.errors import BackendError, HeldoutError
from heldout.kernels.step import Step, Work
from heldout.task.task import Task

if TYPE_CHECKING:
    from distributed import Client, Future

LARGEST_BATCH = 512
TASK_SECONDS = 0.2  # of work a task: Dask takes some milliseconds for each
SECONDS_A_THREAD = 0.005  # one client and one scheduler serve all threads, so a large cluster gets longer tasks
IN_FLIGHT = 2  # batches a thread: one is done while the next is on its way
LOOK_IDLE, LOOK_BUSY = 1.0, 2.0  # seconds between looks at the cluster while nothing finishes, and while much does
NO_WORKERS_SECONDS = 120.0  # a cluster without workers for so long is given up
RESULT_SECONDS = 60.0  # a result that does not come by then is being computed again
MOST_LOADS = 5  # failed loads of the data before the study is given up


@contextmanager
def open_dask(backend: Any, settings: BackendSettings) -> Iterator[DaskBackend]:
    """The backend of a cluster, given by address or by client, after its workers were found fit for the study."""
    with open_client(backend) as client:
        check_workers(client)
        opened = DaskBackend(client, settings)
        try:
            yield opened
        finally:
            opened.release()


class DaskBackend:
    """Does steps on the workers of a Dask cluster; see `heldout.backends.dask_worker` for what runs there."""

    def __init__(self, client: Client, settings: BackendSettings) -> None:
        self.client = client
        self.limits = settings.limits
        self.sendings = 0  # how often the data were sent
        self._on_lost = settings.on_lost
        self._versions = frozenset(versions_here().items())
        self._mapped: bool | None = None  # whether workers see our files; None until there is one to look at
        self._data: tuple[str, Future] | None = None  # by fingerprint

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        """Do steps, and yield each with its answers as they finish."""
        if not steps:
            return
        context = _write_context(work)
        in_flight = InFlight(self, work, cut_for_limits(steps, self.limits), context)
        try:
            yield from in_flight.answers()
        finally:
            in_flight.close()
            with suppress(OSError):
                os.unlink(context.path)

    def tell_lost(self, cause: str, again: bool) -> None:
        """A worker, or a process of one, died."""
        if self._on_lost is not None:
            self._on_lost(cause, again)

    def send_data(self, task: Task) -> Future:
        """The load task of the study's data, submitted once."""
        if self._data is None or self._data[0] != task.fingerprint:
            _ = task.row_hashes  # hashed once here, not once a worker
            ref = share(task, transport_folder(), task.fingerprint)
            if self._mapped is None:
                self._mapped = all_workers_see(self.client, ref)
            self.sendings += 1
            self._data = task.fingerprint, self.send(ref)
        return self._data[1]

    def send(self, ref: SharedRef) -> Future:
        """The load task of a file that this process wrote."""
        return send(self.client, ref, mapped=bool(self._mapped))

    def give_up_data(self, *, mapped: bool) -> None:
        """Forget what was sent, to be sent anew when next asked for; without `mapped` as messages from now on."""
        self._mapped = self._mapped and mapped
        self.release()

    def release(self) -> None:
        """Let the cluster drop the data."""
        if self._data is not None:
            self._data[1].release()
            self._data = None

    def submit(self, data: Future, context: Future, steps: Sequence[Step], *, threads: int) -> Future:
        """The task of a batch."""
        left = self.limits.time_left()
        settings = BatchSettings(
            versions=self._versions,
            fits=tuple(max(1, step.fits) for step in steps),
            threads=threads,
            fit_seconds=self.limits.fit_seconds,
            fit_bytes=self.limits.fit_bytes,
            seconds_left=None if left == float("inf") else left,
        )
        packed = [dumps(step) for step in steps]
        return self.client.submit(run_batch, data, context, packed, settings, key=f"heldout-steps-{uuid4().hex}")


def _write_context(work: Work) -> SharedRef:
    """Everything of the work but its data, in a file of its own; the user's own modules go with it."""
    bare = without_data(work)
    try:
        own = [package for package in packages_in(bare) if not _installed(package)]
        payload = dumps(bare, by_value=own)
    except HeldoutError:
        raise
    except Exception as error:
        raise BackendError(
            f"The learner cannot travel to Dask workers: {explain_unpicklable(bare)}. Run it in this process with "
            'backend="inline", or make that attribute picklable.'
        ) from error
    return share(payload, transport_folder(), f"work-{uuid4().hex}")


def _installed(package: str) -> bool:
    """Whether a package came by an installer, as opposed to a script's own modules beside it."""
    file = getattr(sys.modules[package], "__file__", None)
    if file is None or package == "heldout":
        return True
    homes = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")}
    return any(Path(file).resolve().is_relative_to(home) for home in homes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Steps that are sent together, by number; `alone` when nothing else is on the cluster for this study."""

    steps: tuple[int, ...]
    alone: bool = False
    threads: int = 1


class BatchQueue:
    """The steps of one run that are still to be sent, by number, and how long they take."""

    def __init__(self, steps: Sequence[Step]) -> None:
        spreading = [number for number, step in enumerate(steps) if step.spreads]
        self._spreading = deque(spreading)
        self._spreads = len(spreading)
        self._only_spreading = len(spreading) == len(steps)
        self._waiting = deque(number for number, step in enumerate(steps) if not step.spreads)
        self._crashed: deque[int] = deque()
        self._mean: float | None = None

    def next_batch(self, *, threads: int, idle: bool) -> Batch | None:
        """What to send to a cluster of so many threads; `idle` when nothing of this run is on it."""
        if self._spreading:
            # Threads change no bit of such a step, and beside others they would only take them from those.
            each = max(1, threads // self._spreads) if self._only_spreading else 1
            return Batch(steps=(self._spreading.popleft(),), threads=each)
        if self._waiting:
            # The last go out in ever smaller batches, so that all workers end together.
            size = min(self._size(threads), -(-len(self._waiting) // (2 * max(threads, 1))))
            return Batch(steps=tuple(self._waiting.popleft() for _ in range(size)))
        if self._crashed and idle:
            return Batch(steps=(self._crashed.popleft(),), alone=True)
        return None

    def observe(self, seconds: float) -> None:
        """A step took so long."""
        self._mean = seconds if self._mean is None else 0.9 * self._mean + 0.1 * seconds

    def add(self, number: int) -> None:
        """One more step is to be done."""
        self._waiting.append(number)

    def put_back(self, batch: Batch) -> None:
        """These were not done, for no fault of their own."""
        self._waiting.extendleft(reversed(batch.steps))

    def take_crash(self, batch: Batch) -> None:
        """Workers died on these: each is to be done again with nothing beside it."""
        self._crashed.extend(batch.steps)

    def _size(self, threads: int) -> int:
        if self._mean is None:
            return 1
        seconds = max(TASK_SECONDS, SECONDS_A_THREAD * threads)
        return max(1, min(LARGEST_BATCH, int(seconds / max(self._mean, 1e-9))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A batch on the cluster, and which sending of the data it reads."""

    future: Future
    batch: Batch
    sending: int


class InFlight:
    """One run of steps: never more on the cluster than its workers can use, answers as they finish, lost ones again."""

    def __init__(self, backend: DaskBackend, work: Work, steps: Sequence[Step], context: SharedRef) -> None:
        self._backend = backend
        self._work = work
        self._steps = list(steps)
        self._context = context
        self._sent_context: Future | None = None
        self._queue = BatchQueue(steps)
        self._in_flight: dict[str, Sent] = {}
        self._finished: SimpleQueue[str] = SimpleQueue()
        self._workers: dict[str, int] = {}
        self._looked = self._staffed = monotonic()
        self._failed_loads = 0

    def answers(self) -> Iterator[Answered]:
        """Each step with its answers, in the order in which they finish."""
        self._look()
        while True:
            self._backend.limits.check_time()
            self.feed()
            if not self._in_flight:
                return
            key = self._next_finished()
            if monotonic() - self._looked > (LOOK_IDLE if key is None else LOOK_BUSY):
                self._look()
            for result in () if key is None else self._take(key, self._in_flight[key]):
                step = self._steps[result.task_id]
                if result.failure is None:
                    yield step, pickle.loads(result.value)
                elif pieces := pieces_to_retry(step, result):
                    for piece in pieces:
                        self._steps.append(piece)
                        self._queue.add(len(self._steps) - 1)
                else:
                    yield step, failed_step(step, self._work, result.failure)

    def close(self) -> None:
        """Leave nothing on the cluster: workers end fits that nobody waits for."""
        futures = [sent.future for sent in self._in_flight.values()]
        self._in_flight.clear()
        if futures and self._backend.client.status == "running":
            with suppress(OSError, TimeoutError, CancelledError):
                self._backend.client.cancel(futures)
        for future in futures:
            future.release()
        self._forget_context()

    def _next_finished(self) -> str | None:
        try:
            return self._finished.get(timeout=max(0.0, min(LOOK_IDLE, self._backend.limits.time_left())))
        except Empty:
            return None

    def _look(self) -> None:
        """See how large the cluster is now; tell of workers that died; give up a cluster that is gone."""
        client = self._backend.client
        workers = threads_by_worker(client)
        for worker in self._workers.keys() - workers.keys():
            if left_unexpectedly(client, worker):
                self._backend.tell_lost(f"the Dask worker {worker} died", True)
        self._workers = workers
        self._looked = now = monotonic()
        if workers:
            self._staffed = now
        elif now - self._staffed > NO_WORKERS_SECONDS:
            raise BackendError(f"The Dask cluster has had no workers for {NO_WORKERS_SECONDS:.0f} seconds. {GO_ON}")

    def feed(self) -> None:
        """Send batches while the cluster has use for more."""
        threads = max(1, sum(self._workers.values()))
        while len(self._in_flight) < IN_FLIGHT * threads:
            if any(sent.batch.alone for sent in self._in_flight.values()):
                return
            batch = self._queue.next_batch(threads=threads, idle=not self._in_flight)
            if batch is None:
                return
            data = self._backend.send_data(self._work.task)
            if self._sent_context is None:
                self._sent_context = self._backend.send(self._context)
            steps = [self._steps[number] for number in batch.steps]
            future = self._backend.submit(data, self._sent_context, steps, threads=batch.threads)
            self._in_flight[future.key] = Sent(future=future, batch=batch, sending=self._backend.sendings)
            self._watch(future)

    def _watch(self, future: Future) -> None:
        future.add_done_callback(lambda ended: self._finished.put(ended.key))

    def _take(self, key: str, sent: Sent) -> list[TaskResult]:
        """What came of a batch; nothing where it must be done again."""
        from distributed import KilledWorker

        try:
            report: BatchReport = sent.future.result(timeout=RESULT_SECONDS)
        except TimeoutError:
            self._watch(sent.future)
            return []
        except CancelledError as error:
            raise scheduler_lost(self._backend.client) from error
        except KilledWorker as error:
            self._drop(key)
            if error.task != key:
                return self._load_again(sent, error, mapped=True)
            return self._judge(sent.batch, deaths=error.allowed_failures + 1, last=error.last_worker.address)
        except Unseen as error:
            self._drop(key)
            return self._load_again(sent, error, mapped=False)
        except Cancelled:  # and yet it was wanted: the scheduler may have taken it back for a while
            self._drop(key)
            self._queue.put_back(sent.batch)
            return []
        except (HeldoutError, OutOfTime):
            raise
        except Exception as error:
            raise BackendError(f"A Dask worker could not do its task: {type(error).__name__}: {error}") from error
        self._drop(key)
        for cause, again in report.lost:
            self._backend.tell_lost(cause, again)
        for result in report.results:
            self._queue.observe(result.seconds)
        return [replace(result, task_id=sent.batch.steps[result.task_id]) for result in report.results]

    def _drop(self, key: str) -> None:
        """The cluster need not keep what came of a batch."""
        self._in_flight.pop(key).future.release()

    def _judge(self, batch: Batch, *, deaths: int, last: str) -> list[TaskResult]:
        """Workers died at a batch: it is tried again with nothing beside it before it is blamed."""
        if not batch.alone:
            self._queue.take_crash(batch)
            return []
        words = f"Every Dask worker that ran it died, also when it ran alone: {deaths} of them, the last was {last}."
        failure = Failure(kind="KilledWorker", message=words)
        return [TaskResult(task_id=number, failure=failure, lost=(words,)) for number in batch.steps]

    def _load_again(self, sent: Sent, error: Exception, *, mapped: bool) -> list[TaskResult]:
        """It was not the steps that failed but the load of what they read."""
        self._queue.put_back(sent.batch)
        if sent.sending == self._backend.sendings:  # else others have seen to it
            self._failed_loads += 1
            if self._failed_loads > MOST_LOADS:
                raise BackendError(f"Dask workers cannot load the data of the study: {error}") from error
            self._backend.give_up_data(mapped=mapped)
            self._forget_context()
        return []

    def _forget_context(self) -> None:
        if self._sent_context is not None:
            self._sent_context.release()
            self._sent_context = None
