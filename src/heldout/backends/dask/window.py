"""A window of batches on the cluster: never more than its workers can use, answers as they finish, lost ones again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from heldout.backends.base import IDENTICAL, Answered, failed_step
from heldout.backends.calls import Done, Failure, done_of
from heldout.backends.dask.agenda import Agenda, Batch
from heldout.backends.dask.connect import GO_ON, left_unexpectedly, scheduler_lost, threads_by_worker
from heldout.backends.dask.crew import Recalled, Report
from heldout.backends.dask.parcel import Unseen
from heldout.backends.limits import OutOfTime
from heldout.backends.shared_data import SharedRef
from heldout.base.errors import BackendError, HeldoutError
from heldout.kernels.step import Step, Work
from heldout.planner.brute_force import single_fits

if TYPE_CHECKING:
    from distributed import Future

    from heldout.backends.dask.backend import DaskBackend

IN_FLIGHT = 2  # batches a thread: one is done while the next is on its way
HEARTBEAT = 1.0  # seconds between looks at the cluster while nothing finishes
LOOK_EVERY = 2.0  # seconds between looks while much does
NO_WORKERS_SECONDS = 120.0  # a cluster without workers for so long is given up
RESULT_SECONDS = 60.0  # a result that does not come by then is being computed again
MOST_LOADS = 5  # failed loads of the data before the study is given up


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A batch on the cluster, and which sending of the data it reads."""

    future: Future
    batch: Batch
    sending: int


class Window:
    """One run of steps: what is on the cluster, and what came of it."""

    def __init__(self, backend: DaskBackend, work: Work, steps: Sequence[Step], context: SharedRef) -> None:
        self._backend = backend
        self._work = work
        self._steps = list(steps)
        self._context = context
        self._sent_context: Future | None = None
        self._agenda = Agenda(steps)
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
            self._feed()
            if not self._in_flight:
                return
            key = self._next_finished()
            if monotonic() - self._looked > (HEARTBEAT if key is None else LOOK_EVERY):
                self._look()
            for done in () if key is None else self._take(key, self._in_flight[key]):
                step = self._steps[done.call_id]
                if done.failure is None:
                    yield step, done.value
                elif done.lost and step.tier == IDENTICAL and len(step.candidates) * len(step.trainings) > 1:
                    self._do_one_by_one(step)
                else:
                    yield step, failed_step(step, self._work, done)

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
            return self._finished.get(timeout=max(0.0, min(HEARTBEAT, self._backend.limits.time_left())))
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

    def _feed(self) -> None:
        threads = max(1, sum(self._workers.values()))
        while len(self._in_flight) < IN_FLIGHT * threads:
            if any(sent.batch.alone for sent in self._in_flight.values()):
                return
            batch = self._agenda.next_batch(threads=threads, idle=not self._in_flight)
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

    def _take(self, key: str, sent: Sent) -> list[Done]:
        """What came of a batch; nothing where it must be done again."""
        from distributed import KilledWorker

        try:
            report: Report = sent.future.result(timeout=RESULT_SECONDS)
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
        except Recalled:  # and yet it was wanted: the scheduler may have taken it back for a while
            self._drop(key)
            self._agenda.put_back(sent.batch)
            return []
        except (HeldoutError, OutOfTime):
            raise
        except Exception as error:
            raise BackendError(f"A Dask worker could not do its task: {type(error).__name__}: {error}") from error
        self._drop(key)
        for cause, again in report.lost:
            self._backend.tell_lost(cause, again)
        found = [done_of(sent.batch.steps[number], *said, lost=lost) for number, *said, lost in report.outcomes]
        for done in found:
            self._agenda.observe(done.seconds)
        return found

    def _drop(self, key: str) -> None:
        """The cluster need not keep what came of a batch."""
        self._in_flight.pop(key).future.release()

    def _judge(self, batch: Batch, *, deaths: int, last: str) -> list[Done]:
        """Workers died at a batch: it is tried again with nothing beside it before it is blamed."""
        if not batch.alone:
            self._agenda.suspect(batch)
            return []
        words = f"Every Dask worker that ran it died, also when it ran alone: {deaths} of them, the last was {last}."
        failure = Failure(kind="KilledWorker", message=words)
        return [Done(call_id=number, failure=failure, lost=(words,)) for number in batch.steps]

    def _do_one_by_one(self, step: Step) -> None:
        """Only the culprit among the fits of a step is to be lost."""
        for single in single_fits(step):
            self._steps.append(single)
            self._agenda.add(len(self._steps) - 1)

    def _load_again(self, sent: Sent, error: Exception, *, mapped: bool) -> list[Done]:
        """It was not the steps that failed but the load of what they read."""
        self._agenda.put_back(sent.batch)
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
