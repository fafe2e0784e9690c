"""A supervised pool of local worker processes: tasks stream in, results stream out, a dead worker costs one task."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from multiprocessing.connection import wait
from typing import Any

from heldout.backends.limits import NO_LIMITS, Limits, OutOfTime, memory_kills
from heldout.backends.tasks import TaskQueue, TaskResult, pack_context, read_outcome
from heldout.backends.worker_process import START_SECONDS, WorkerProcess
from heldout.base.errors import BackendError

_GRACE = 0.25  # seconds for tasks under way when a run is closed before its end
LOOK_EVERY = 0.25  # seconds between looks at the workers and their memory
LIMIT_EVERY = 0.05  # seconds between looks where memory is limited: a fit may fill so much meanwhile


class Pool:
    """Local worker processes that do tasks of one context after another.

    Parameters
    ----------
    jobs : int
        The number of workers.

    Notes
    -----
    Workers do not run the caller's script again, so a script needs no ``__main__`` guard, and what it defines travels
    by value. A pool serves one run at a time.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.running = False
        self._pid = os.getpid()
        self.workers: list[WorkerProcess] = []
        self._measured = time.monotonic()  # when their memory was, the last time
        self._finalizer = weakref.finalize(self, _end_workers, self.workers, self._pid)
        _live_pools.add(self)

    @property
    def usable(self) -> bool:
        """Whether it belongs to this process and was not shut down."""
        return self._finalizer.alive and self._pid == os.getpid()

    def start(self, most: int | None = None) -> None:
        """Start the workers that are missing, and return at once: they start by themselves.

        There is use for `most` of them, where that is known.
        """
        if not self.usable:
            raise BackendError(
                "This pool was shut down, or belongs to the process that forked this one. Make a new one."
            )
        for worker in [w for w in self.workers if w.dead()]:
            self._discard(worker)
        while len(self.workers) < (self.jobs if most is None else min(most, self.jobs)):
            self.workers.append(WorkerProcess())

    def ready(self) -> int:
        """How many workers take tasks already, without waiting for any."""
        for worker in self.workers:
            if not worker.ready and worker.connection.poll(0):
                worker.receive()
        return sum(worker.ready for worker in self.workers)

    def run(
        self,
        context: Callable[[Any], Any],
        tasks: Iterable[tuple[Any, ...]],
        *,
        max_batch_seconds: float = 0.1,
        limits: Limits = NO_LIMITS,
        on_lost: Callable[[str, bool], None] | None = None,
    ) -> Iterator[TaskResult]:
        """Do ``context(argument)`` for each task, and yield results as they finish, in any order.

        Parameters
        ----------
        context : callable
            Sent to each worker once. It must be picklable; large data go into it as a `SharedRef`.
        tasks : iterable of (task_id, argument) or (task_id, argument, fits)
            Read as workers need them, never all at once. A task that is several fits may take as often the time.
        max_batch_seconds : float
            Short tasks are sent together, up to about this much work a batch.
        limits : Limits
            What a task, and all of them, may take. With limits of fits each batch is one task.
        on_lost : callable, optional
            Told of each worker that died: how it ended, and whether what it was at is tried again.

        Yields
        ------
        TaskResult
            One a task. A task that raised, or at which workers died again when it ran alone, has a `Failure`.

        Raises
        ------
        BackendError
            The context or an argument cannot be sent, or workers cannot be started.
        OutOfTime
            The deadline came first. Tasks under way are ended.
        """
        if self.running:
            raise BackendError(
                "This pool is in the middle of a run. Finish or close that one first, or use another pool."
            )
        queue = TaskQueue(
            context=pack_context(context),
            jobs=self.jobs,
            source=iter(tasks),
            batch_seconds=max_batch_seconds,
            one_by_one=limits.of_fits,
            on_lost=on_lost,
            memory_kills=memory_kills(),
        )
        self.start(queue.count_up_to(self.jobs))
        self.running, grace = True, _GRACE
        try:
            with nullcontext() if limits.fit_bytes is None else _memory_limited(self.workers, limits.fit_bytes):
                self._feed(queue, limits)
                while queue.left() or any(worker.in_flight for worker in self.workers):
                    finished = self._collect(queue, min(LOOK_EVERY, max(0.0, limits.time_left())))
                    self._feed(queue, limits)  # before the caller looks, so that no worker waits for the caller
                    yield from finished
                    limits.check_time()
        except (KeyboardInterrupt, OutOfTime):
            grace = 0.0
            raise
        finally:
            if self.usable:
                self._drain(grace)
            self.running = False

    def shutdown(self) -> None:
        """End all workers."""
        self._finalizer()

    def _feed(self, queue: TaskQueue, limits: Limits) -> None:
        for depth in range(1, queue.depth() + 1):
            for worker in self.workers:
                owed = worker.in_flight.values()
                if not worker.ready or len(owed) >= depth or any(batch.lost for batch in owed):
                    continue
                batch = queue.next_batch(all_idle=not any(other.in_flight for other in self.workers))
                if batch is not None:
                    worker.give(queue.context, batch, 2 * queue.batch_seconds, limits.fit_seconds)

    def _collect(self, queue: TaskQueue, seconds: float) -> list[TaskResult]:
        """Wait for something to happen, and take in all that has."""
        speaking = wait([worker.connection for worker in self.workers], timeout=seconds)
        if time.monotonic() - self._measured > LOOK_EVERY:
            self._measured = time.monotonic()
            for worker in self.workers:
                worker.measure_memory(None)
        finished: list[TaskResult] = []
        for worker in list(self.workers):
            if worker.connection in speaking:
                message = worker.receive()
                finished += self._replace(worker, queue) if message is None else _take_in(worker, message, queue)
            elif not speaking and worker.dead():
                finished += self._replace(worker, queue)
            elif worker.late():
                raise BackendError(
                    f"A worker process did not start within {START_SECONDS:.0f} seconds. Its own messages, if any, are "
                    "on stderr. Use fewer jobs, or jobs=1 (inline)."
                )
        return finished

    def _replace(self, worker: WorkerProcess, queue: TaskQueue) -> list[TaskResult]:
        """Put a fresh worker in a dead one's place. The batch it was at crashed; what else it had in store did not."""
        self.workers.remove(worker)
        crash = worker.crash(worker.end(5.0))
        if not worker.ready and crash.ending.code is not None:  # None: its fork server was killed, which starts again
            raise BackendError(
                f"A worker process could not start: {crash.ending}. Its own messages are on stderr. Use jobs=1 "
                "(inline)."
            )
        begun, *others = [*worker.in_flight.values(), None]
        for batch in reversed(others):
            queue.put_back(batch.tasks if batch is not None else ())
        self.workers.append(WorkerProcess())
        if begun is None:
            queue.take_idle_crash(str(crash.ending))
            return []
        return queue.take_crash(begun, crash)

    def _drain(self, grace: float) -> None:
        """Leave no worker busy: let tasks under way end within `grace` seconds, and kill the workers that do not."""
        busy = [worker for worker in self.workers if worker.in_flight]
        deadline = time.monotonic() + grace
        if grace:
            for worker in busy:
                worker.cancel()
        while busy and (seconds := deadline - time.monotonic()) > 0:
            for connection in wait([worker.connection for worker in busy], timeout=seconds):
                worker = next(w for w in busy if w.connection is connection)
                message = worker.receive()
                if message is None:
                    busy.remove(worker)
                    self._discard(worker)
                elif message[0] == "done":
                    del worker.in_flight[message[1]]
            busy = [worker for worker in busy if worker.in_flight]
        # An interrupt may have torn a message in two, also that of a worker which became ready.
        for worker in busy if grace else [w for w in self.workers if w.in_flight or not w.ready]:
            self._discard(worker)

    def _discard(self, worker: WorkerProcess) -> None:
        self.workers.remove(worker)
        worker.discard()


def _take_in(worker: WorkerProcess, message: tuple[Any, ...], queue: TaskQueue) -> list[TaskResult]:
    if message[0] == "broken":
        kind, text, trace = message[2]
        raise BackendError(
            f"A worker could not load what it was sent: {kind}: {text}. Use jobs=1 (inline). In the worker:\n{trace}"
        )
    if message[0] != "done":
        return []
    batch, outcomes = worker.in_flight.pop(message[1]), message[2]
    queue.put_back(batch.tasks[len(outcomes) :])
    if outcomes:
        queue.observe(sum(seconds for _, _, seconds in outcomes) / len(outcomes))
    return [
        read_outcome(task.id, *outcome, lost=batch.lost) for task, outcome in zip(batch.tasks, outcomes, strict=False)
    ]


@contextmanager
def _memory_limited(workers: Sequence[WorkerProcess], most: int) -> Iterator[None]:
    """End workers whose task takes more memory than it may, while the body runs.

    A thread of its own looks: the caller may be busy with results, so the loop of a run would look too seldom.
    """
    stop = threading.Event()

    def measure() -> None:
        while not stop.wait(LIMIT_EVERY):
            for worker in tuple(workers):
                worker.measure_memory(most)

    thread = threading.Thread(target=measure, name="heldout-memory", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _end_workers(workers: list[WorkerProcess], pid: int) -> None:
    if os.getpid() != pid:
        return
    for worker in workers:
        worker.connection.close()
    deadline = time.monotonic() + 1.0
    while workers:
        worker = workers.pop()
        worker.discard(deadline - time.monotonic() if worker.ready else 0.0)


_live_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_of_this_thread = threading.local()


def _forget_all() -> None:
    # A forked child that kept its copies of the pipes would keep the workers alive past their parent's end.
    for pool in _live_pools:
        for worker in pool.workers:
            worker.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def shared_pool(jobs: int) -> Pool:
    """The pool of `jobs` workers that this thread's studies use one after another. `Pool.start` starts it, or a run.

    It is made anew when `jobs` differs, when it was shut down, in a forked child, and while a run of it is still open
    (a study within a study): then the one before ends with its run.
    """
    pool: Pool | None = getattr(_of_this_thread, "pool", None)
    if pool is None or not pool.usable or pool.running or pool.jobs != jobs:
        if pool is not None and pool.usable and not pool.running:
            pool.shutdown()
        pool = _of_this_thread.pool = Pool(jobs)
    return pool
