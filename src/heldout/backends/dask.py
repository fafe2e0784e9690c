"""The Dask backend: sends steps to the workers of a Dask cluster, which run the worker program of local studies."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from heldout.backends.base import Answered, BackendSettings, OnLost, cut_for_limits, failed_step, pieces_to_retry
from heldout.backends.dask_cluster import GO_ON, left_unexpectedly, open_client, scheduler_lost, threads_by_worker
from heldout.backends.dask_worker import (
    BatchReport,
    BatchSettings,
    Cancelled,
    RemoteFile,
    Unseen,
    run_batch,
    versions_of,
)
from heldout.backends.limits import OutOfTime
from heldout.backends.pickling import dumps, explain_unpicklable
from heldout.backends.processes import RUN_HERE, without_data
from heldout.backends.shared_data import SharedRef, share, transport_folder
from heldout.backends.tasks import Batch, Failure, Task, TaskQueue, TaskResult
from heldout.base.environment import is_library
from heldout.base.errors import BackendError, HeldoutError
from heldout.kernels.step import Step, Work

if TYPE_CHECKING:
    from distributed import Client, Future

ALWAYS_COMPARED = ("heldout", "sklearn", "numpy", "scipy")
COMPARED_IF_LOADED = ("pandas", "polars", "lightgbm", "xgboost", "catboost")  # they hold the data or fit the learner
BATCH_SECONDS = 0.2  # of work a task: Dask takes some milliseconds for each
SECONDS_A_THREAD = 0.005  # one client and one scheduler serve all threads, so a large cluster gets longer tasks
IN_FLIGHT = 2  # batches a thread: one is done while the next is on its way
LOOK_IDLE, LOOK_BUSY = 1.0, 2.0  # seconds between looks at the cluster while nothing finishes, and while much does
NO_WORKERS_SECONDS = 120.0  # a cluster without workers for so long is given up
RESULT_SECONDS = 60.0  # a result that does not come by then is being computed again
MOST_LOADS = 5  # failed loads of the data before the study is given up
MOST_SENT = 1 << 30  # bytes that may pass through the scheduler, which keeps them as long as the study runs


@contextmanager
def open_dask(backend: Any, settings: BackendSettings) -> Iterator[DaskBackend]:
    """Open the backend of a cluster, given by address or by client."""
    with open_client(backend) as client:
        opened = DaskBackend(client, settings)
        try:
            yield opened
        finally:
            opened.release()


class DaskBackend:
    """Computes steps on the workers of a Dask cluster; `heldout.backends.dask_worker` is what runs there."""

    def __init__(self, client: Client, settings: BackendSettings) -> None:
        self.client = client
        self.limits = settings.limits
        self.on_lost: OnLost = settings.on_lost or (lambda cause, again: None)
        self.sendings = 0  # how often the data were sent
        self._modules = (*ALWAYS_COMPARED, *(name for name in COMPARED_IF_LOADED if name in sys.modules))
        self.versions = versions_of(self._modules)
        self._mapped = True  # workers see our files, until one does not
        self._data: tuple[str, Future] | None = None  # by fingerprint

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        """Compute steps, and yield each with its answers as it finishes. Steps that use several threads come first."""
        if not steps:
            return
        context = _write_context(work)
        spread, others = ([step for step in steps if step.spreads is spreads] for spreads in (True, False))
        try:
            for together in filter(None, (spread, others)):
                in_flight = InFlight(self, work, cut_for_limits(together, self.limits), context)
                try:
                    yield from in_flight.answers()
                finally:
                    in_flight.close()
        finally:
            with suppress(OSError):
                os.unlink(context.path)

    def send_data(self, work: Work) -> Future:
        """Submit the task that loads the data of the study, unless that was done before."""
        task = work.task
        if self._data is None or self._data[0] != task.fingerprint:
            _ = task.row_hashes  # hashed once here, not once a worker
            self.sendings += 1
            self._data = task.fingerprint, self.send(share(task, transport_folder(), task.fingerprint))
        return self._data[1]

    def send(self, ref: SharedRef) -> Future:
        """Submit the load task of a file that this process wrote.

        Nothing is scattered, since scattered data are lost with the worker that holds them. If workers see the file,
        they map it. Otherwise its bytes are the argument of the task, which the scheduler keeps.
        """
        from dask import config

        key = f"heldout-load-{uuid4().hex}"
        if self._mapped:
            return self.client.submit(RemoteFile, ref.path, key=key)
        size = os.path.getsize(ref.path)
        if size > MOST_SENT:
            raise BackendError(
                f"The data are {size / 1e9:,.1f} GB and the Dask workers do not see {ref.path}; sent as messages they "
                f"would fill the scheduler's memory (at most {MOST_SENT / 1e9:.1f} GB are). Point TMPDIR to a folder "
                "that all machines share."
            )
        with config.set({"distributed.admin.large-graph-warning-threshold": 2 * MOST_SENT}):
            return self.client.submit(RemoteFile, None, Path(ref.path).read_bytes(), key=key)

    def send_anew(self, *, mapped: bool) -> None:
        """Release the data, so that the next use sends them again. Unless `mapped`, bytes are sent from now on."""
        self._mapped = self._mapped and mapped
        self.release()

    def release(self) -> None:
        """Let the cluster free the data."""
        if self._data is not None:
            self._data[1].release()
            self._data = None

    def submit(self, data: Future, context: Future, steps: Sequence[Step], *, threads: int) -> Future:
        """Submit a batch of steps as one Dask task."""
        left = self.limits.time_left()
        settings = BatchSettings(
            modules=self._modules,
            versions=frozenset(self.versions.items()),
            fits=tuple(max(1, step.fits) for step in steps),
            threads=threads,
            fit_seconds=self.limits.fit_seconds,
            fit_bytes=self.limits.fit_bytes,
            seconds_left=None if left == float("inf") else left,
        )
        packed = [dumps(step) for step in steps]
        return self.client.submit(run_batch, data, context, packed, settings, key=f"heldout-steps-{uuid4().hex}")


def _write_context(work: Work) -> SharedRef:
    """Write the work without its data to a file, including classes and functions of the user's own modules."""
    bare = without_data(work)
    try:
        payload = dumps(bare, importable=is_library)
    except HeldoutError:
        raise
    except Exception as error:
        raise BackendError(
            f"The learner cannot travel to Dask workers: {explain_unpicklable(bare)}.", RUN_HERE
        ) from error
    return share(payload, transport_folder(), f"work-{uuid4().hex}")


class Sent(NamedTuple):
    """A batch on the cluster, and the number of the data transfer that it uses."""

    future: Future
    batch: Batch
    sending: int


class InFlight:
    """The steps of one run that are on the cluster. It sends as many as workers can use, and sends lost ones again."""

    def __init__(self, backend: DaskBackend, work: Work, steps: Sequence[Step], context: SharedRef) -> None:
        self._backend = backend
        self._work = work
        self._context = context
        self._sent_context: Future | None = None
        self._spread = sum(step.spreads for step in steps)  # these are all of the steps, or none
        tasks = [Task(number, step) for number, step in enumerate(steps)]
        self._queue = TaskQueue(tasks, batch_seconds=BATCH_SECONDS, one_by_one=self._spread > 0)
        self._in_flight: dict[str, Sent] = {}
        self._finished: SimpleQueue[str] = SimpleQueue()
        self._workers: dict[str, int] = {}
        self._looked = self._staffed = monotonic()
        self._failed_loads = 0

    def answers(self) -> Iterator[Answered]:
        """Yield each step with its answers, in the order in which they finish."""
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
                step: Step = result.task_id
                if result.failure is None:
                    yield step, pickle.loads(result.value)
                elif pieces := pieces_to_retry(step, result):
                    for piece in pieces:
                        self._queue.add(Task(None, piece))
                else:
                    yield step, failed_step(step, self._work, result.failure)

    def close(self) -> None:
        """Cancel what is still on the cluster. Workers then end fits that are no longer needed."""
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
        """Ask the scheduler for its workers. Report those that died, and raise if there have been none for too long."""
        client = self._backend.client
        workers = threads_by_worker(client)
        for worker in self._workers.keys() - workers.keys():
            if left_unexpectedly(client, worker):
                self._backend.on_lost(f"the Dask worker {worker} died", True)
        self._workers = workers
        self._queue.batch_seconds = max(BATCH_SECONDS, SECONDS_A_THREAD * sum(workers.values()))
        self._looked = now = monotonic()
        if workers:
            self._staffed = now
        elif now - self._staffed > NO_WORKERS_SECONDS:
            raise BackendError(f"The Dask cluster has had no workers for {NO_WORKERS_SECONDS:.0f} seconds.", GO_ON)

    def feed(self) -> None:
        """Send batches until every thread of the cluster has enough to do."""
        threads = max(1, sum(self._workers.values()))
        while len(self._in_flight) < IN_FLIGHT * threads:
            if any(sent.batch.lost for sent in self._in_flight.values()):
                return
            batch = self._queue.next_batch(threads, idle=not self._in_flight)
            if batch is None:
                return
            data = self._backend.send_data(self._work)
            if self._sent_context is None:
                self._sent_context = self._backend.send(self._context)
            each = max(1, threads // self._spread) if self._spread else 1
            steps = [task.argument for task in batch.tasks]
            future = self._backend.submit(data, self._sent_context, steps, threads=each)
            self._in_flight[future.key] = Sent(future, batch, self._backend.sendings)
            self._watch(future)

    def _watch(self, future: Future) -> None:
        future.add_done_callback(lambda ended: self._finished.put(ended.key))

    def _take(self, key: str, sent: Sent) -> list[TaskResult]:
        """Return the results of a finished batch, one per step; empty if the batch must be computed again."""
        from distributed import KilledWorker

        try:
            report: BatchReport = sent.future.result(timeout=RESULT_SECONDS)
        except TimeoutError:
            self._watch(sent.future)
            return []
        except CancelledError as error:
            raise scheduler_lost(self._backend.client) from error
        except (KilledWorker, Unseen) as error:
            self._drop(key)
            if isinstance(error, Unseen) or error.task != key:
                return self._load_again(sent, error)
            died = f"{error.allowed_failures + 1} of them, the last was {error.last_worker.address}"
            return self._blame(sent.batch, died)
        except Cancelled:  # but it is wanted: the scheduler may have withdrawn it for a while
            self._drop(key)
            self._queue.put_back(sent.batch.tasks)
            return []
        except (HeldoutError, OutOfTime):
            raise
        except Exception as error:
            way_out = []
            if isinstance(error, ImportError | AttributeError):  # it lacks heldout, or has another version
                versions = ", ".join(f"{name} {version}" for name, version in self._backend.versions.items())
                way_out = [f"Install the versions of the client there: {versions}."]
            text = f"A Dask worker could not do its task: {type(error).__name__}: {error}."
            raise BackendError(text, *way_out) from error
        self._drop(key)
        for cause, again in report.lost:
            self._backend.on_lost(cause, again)
        self._queue.observe(sum(result.seconds for result in report.results) / len(report.results))
        return [replace(result, task_id=sent.batch.tasks[result.task_id].argument) for result in report.results]

    def _drop(self, key: str) -> None:
        """Let the cluster free the result of a batch."""
        self._in_flight.pop(key).future.release()

    def _blame(self, batch: Batch, died: str) -> list[TaskResult]:
        """Handle a batch whose workers died: try each step again alone or, if it was alone, let it fail."""
        if not batch.lost:
            self._queue.retry_alone(batch, died)
            return []
        words = f"Every Dask worker that ran it died, also when it ran alone: {died}."
        failure = Failure(kind="KilledWorker", message=words)
        return [TaskResult(task_id=task.argument, failure=failure, lost=(words,)) for task in batch.tasks]

    def _load_again(self, sent: Sent, error: Exception) -> list[TaskResult]:
        """Handle a batch that failed because its data could not be loaded: send the data again, then the batch."""
        self._queue.put_back(sent.batch.tasks)
        if sent.sending == self._backend.sendings:  # otherwise the data were sent again already
            self._failed_loads += 1
            if self._failed_loads > MOST_LOADS:
                raise BackendError(f"Dask workers cannot load the data of the study: {error}") from error
            self._backend.send_anew(mapped=not isinstance(error, Unseen))
            self._forget_context()
        return []

    def _forget_context(self) -> None:
        if self._sent_context is not None:
            self._sent_context.release()
            self._sent_context = None
