"""A supervised pool of local worker processes. It sends tasks and yields results; a dead worker costs one task."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from heldout.backends.launch import Ending
from heldout.backends.limits import NO_LIMITS, USE_INLINE, Limits, memory_kills
from heldout.backends.tasks import TaskQueue, TaskResult, read_outcome
from heldout.backends.worker_process import START_SECONDS, WorkerProcess, pack_context
from heldout.base.errors import BackendError, Sentence

# A task that crashed its worker is tried once more only; one whose worker was killed may have had bad luck.
TRIES_OF_CRASHES, TRIES_OF_KILLS = 2, 3
_MOST_IDLE_CRASHES = 5
LOOK_EVERY = 0.25  # seconds between looks at the workers and their memory
LIMIT_EVERY = 0.05  # seconds between looks at their memory where it is limited: a fit may fill so much meanwhile


class Pool:
    """A pool of `jobs` local worker processes, which compute the tasks of one context after another.

    Workers do not run the caller's script again; what the script defines is pickled by value. A pool serves one run at
    a time.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.running = False
        self._pid = os.getpid()
        self.workers: list[WorkerProcess] = []
        self._finalizer = weakref.finalize(self, _end_workers, self.workers, self._pid)
        _live_pools.add(self)

    @property
    def usable(self) -> bool:
        """Whether the pool belongs to this process and was not shut down."""
        return self._finalizer.alive and self._pid == os.getpid()

    def start(self, most: int | None = None) -> None:
        """Start missing workers, up to `most` (None: all), and return at once. They get ready in the background."""
        if not self.usable:
            raise BackendError(
                "This pool was shut down, or belongs to the process that forked this one. Make a new one."
            )
        for worker in [w for w in self.workers if w.dead()]:
            self._discard(worker)
        while len(self.workers) < (self.jobs if most is None else min(most, self.jobs)):
            self.workers.append(WorkerProcess())

    def ready(self) -> int:
        """Return how many workers are ready for tasks, without waiting."""
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
        """Compute ``context(argument)`` for each task, and yield results as they finish, in any order.

        The context is pickled and sent to each worker once; large data go into it as a `SharedRef`. A task is its id,
        its argument, and the number of fits in it if that is not one, by which its time limit is multiplied. Short
        tasks are sent together, unless single fits are limited. `on_lost` is called for each worker that died, with how
        it ended and whether its task is tried again. A task has a `Failure` if it raised, or if its workers died again
        when it ran alone.
        """
        if self.running:
            raise BackendError(
                "This pool is in the middle of a run. Finish or close that one first, or use another pool."
            )
        run = _Run(
            context=pack_context(context),
            queue=TaskQueue(tasks, batch_seconds=max_batch_seconds, one_by_one=limits.of_fits),
            limits=limits,
            on_lost=on_lost or (lambda cause, again: None),
            memory_kills=memory_kills(),
        )
        self.start(len(run.queue))
        self.running = True
        try:
            with _memory_measured(self.workers, limits.fit_bytes):
                self._feed(run)
                while run.queue or self._busy():
                    finished = self._collect(run, min(LOOK_EVERY, max(0.0, limits.time_left())))
                    self._feed(run)  # before the caller looks, so that no worker waits for the caller
                    yield from finished
                    limits.check_time()
        except BaseException:
            # Nobody waits for tasks that still run, and an interrupt may have cut a message in two, even
            # that of a worker which became ready. Others take their place when there is work again.
            for worker in [w for w in self.workers if w.batch is not None or not w.ready] if self.usable else ():
                self._discard(worker)
            raise
        finally:
            self.running = False

    def shutdown(self) -> None:
        """End all workers."""
        self._finalizer()

    def _busy(self) -> list[WorkerProcess]:
        return [worker for worker in self.workers if worker.batch is not None]

    def _feed(self, run: _Run) -> None:
        for worker in self.workers:
            if worker.ready and worker.batch is None:
                batch = run.queue.next_batch(self.jobs, idle=not self._busy())
                if batch is None:
                    return
                worker.give(run.context, batch, 2 * run.queue.batch_seconds, run.limits.fit_seconds)

    def _collect(self, run: _Run, seconds: float) -> list[TaskResult]:
        """Wait for messages or deaths of workers, and return the results that follow."""
        speaking = wait([worker.connection for worker in self.workers], timeout=seconds)
        finished: list[TaskResult] = []
        for worker in list(self.workers):
            if worker.connection in speaking:
                message = worker.receive()
                finished += self._replace(worker, run) if message is None else run.take_in(worker, message)
            elif not speaking and worker.dead():
                finished += self._replace(worker, run)
            elif worker.late():
                raise BackendError(
                    f"A worker process did not start within {START_SECONDS:.0f} seconds. Its own messages, if any, are "
                    "on stderr.",
                    USE_INLINE,
                )
        return finished

    def _replace(self, worker: WorkerProcess, run: _Run) -> list[TaskResult]:
        """Replace a dead worker by a new one."""
        self.workers.remove(worker)
        ending = worker.end(5.0)
        if not worker.ready and ending.code is not None:  # None: its fork server was killed, which starts again
            worker.discard()
            raise BackendError(
                f"A worker process could not start: {ending}. Its own messages are on stderr.", USE_INLINE
            )
        self.workers.append(WorkerProcess())
        return run.take_crash(worker, ending)

    def _discard(self, worker: WorkerProcess) -> None:
        self.workers.remove(worker)
        worker.discard()


@dataclass(slots=True, kw_only=True)
class _Run:
    """The state of one run of a pool: the queue, the limits, and how many idle workers died in a row."""

    context: bytes
    queue: TaskQueue
    limits: Limits
    on_lost: Callable[[str, bool], None]
    memory_kills: int | None  # of this system, when the run began
    idle_crashes: int = 0  # one after the other

    def take_in(self, worker: WorkerProcess, message: tuple[Any, ...]) -> list[TaskResult]:
        """Turn a message of a worker into the results of its tasks."""
        if message[0] == "broken":
            kind, text, trace = message[1]
            raise BackendError(
                f"A worker could not load what it was sent: {kind}: {text}.",
                Sentence("{} In the worker:\n{}", USE_INLINE, trace),
            )
        if message[0] != "done" or worker.batch is None:
            return []
        batch, worker.batch, outcomes = worker.batch, None, message[1]
        self.queue.put_back(batch.tasks[len(outcomes) :])
        if outcomes:
            self.queue.observe(sum(seconds for _, _, seconds in outcomes) / len(outcomes))
        return [
            read_outcome(task.id, outcome, batch.lost) for task, outcome in zip(batch.tasks, outcomes, strict=False)
        ]

    def take_crash(self, worker: WorkerProcess, ending: Ending) -> list[TaskResult]:
        """Handle the tasks of a dead worker: each is tried again alone, or fails."""
        crash, batch = worker.crash(ending), worker.batch
        if batch is None:
            self.idle_crashes += 1
            if self.idle_crashes > _MOST_IDLE_CRASHES:
                raise BackendError(
                    f"{self.idle_crashes} workers died, one after the other, before they began a task; the last: "
                    f"{ending}. Their own messages, if any, are on stderr.",
                    USE_INLINE,
                )
            self.on_lost(str(ending), True)
            return []
        self.idle_crashes = 0
        lost = (*batch.lost, str(ending))
        tries = TRIES_OF_KILLS if ending.killed else TRIES_OF_CRASHES
        again = crash.limit is None and (len(batch.tasks) > 1 or len(lost) < tries)
        self.on_lost(str(ending) if crash.limit is None else crash.limit.message, again)
        if again:
            self.queue.retry_alone(batch, str(ending))
            return []
        by_system = ending.killed and self.memory_kills is not None and (memory_kills() or 0) > self.memory_kills
        failure = crash.limit or crash.failure(tries=len(lost), for_memory=by_system)
        return [TaskResult(task_id=task.id, failure=failure, lost=lost) for task in batch.tasks]


@contextmanager
def _memory_measured(workers: Sequence[WorkerProcess], most: int | None) -> Iterator[None]:
    """Measure the workers while the body runs, and end those whose task uses more memory than allowed.

    This needs its own thread: the caller may be busy with results, so the loop of a run would check too seldom.
    """
    stop = threading.Event()

    def measure() -> None:
        while not stop.wait(LOOK_EVERY if most is None else LIMIT_EVERY):
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
    # A forked child that kept its copies of the pipes would keep the workers alive after their parent has ended.
    for pool in _live_pools:
        for worker in pool.workers:
            worker.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def shared_pool(jobs: int) -> Pool:
    """Return the pool of `jobs` workers that this thread's studies use one after another.

    If one of its runs is still open (a study within a study), another pool is made, and the old one ends with its run.
    """
    pool: Pool | None = getattr(_of_this_thread, "pool", None)
    if pool is None or not pool.usable or pool.running or pool.jobs != jobs:
        if pool is not None and pool.usable and not pool.running:
            pool.shutdown()
        pool = _of_this_thread.pool = Pool(jobs)
    return pool
