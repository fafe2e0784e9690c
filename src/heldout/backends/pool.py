"""A supervised pool of local worker processes: calls stream in, results stream out, a dead worker costs one call."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any

from heldout.backends.calls import Done, Failure, Run, Suspect, done_of, pack_context
from heldout.backends.child import Ending
from heldout.backends.jobs import allowed_jobs
from heldout.backends.limits import NO_LIMITS, Limits, OutOfTime
from heldout.backends.memory import memory_kills
from heldout.backends.pickling import explain_unpicklable
from heldout.backends.process import BOOT_SECONDS, WorkerProcess
from heldout.backends.watch import watched
from heldout.base.errors import BackendError

__all__ = ["Done", "Failure", "Pool", "allowed_jobs", "explain_unpicklable", "shared_pool"]

_GRACE = 0.25
HEARTBEAT = 1.0


class Pool:
    """Local worker processes that do calls of one context after another.

    Parameters
    ----------
    jobs : int
        The number of workers.

    Notes
    -----
    Workers are fresh interpreters that do not run the caller's script again, so a script needs no ``__main__`` guard,
    and what it defines travels by value. A pool serves one run at a time.
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
        """Whether it belongs to this process and was not shut down."""
        return self._finalizer.alive and self._pid == os.getpid()

    def start(self, most: int | None = None) -> None:
        """Start the workers that are missing, and return at once: they boot by themselves.

        There is use for `most` of them, where that is known.
        """
        if not self.usable:
            raise BackendError(
                "This pool was shut down, or belongs to the process that forked this one. Make a new one."
            )
        for worker in [w for w in self.workers if w.dead()]:
            self.workers.remove(worker)
            worker.kill()
        while len(self.workers) < (self.jobs if most is None else min(most, self.jobs)):
            self.workers.append(WorkerProcess())

    def ready(self) -> int:
        """How many workers have booted, without waiting for any."""
        for worker in self.workers:
            if not worker.greeted and worker.connection.poll(0):
                worker.receive()
        return sum(worker.greeted for worker in self.workers)

    def run(
        self,
        context: Callable[[Any], Any],
        calls: Iterable[tuple[Any, Any]],
        *,
        max_batch_seconds: float = 0.1,
        limits: Limits = NO_LIMITS,
        on_lost: Callable[[str, bool], None] | None = None,
    ) -> Iterator[Done]:
        """Do ``context(argument)`` for each ``(call_id, argument)``, and yield results as they finish, in any order.

        Parameters
        ----------
        context : callable
            Sent to each worker once. It must be picklable; large data go into it as a `SharedRef`.
        calls : iterable of (call_id, argument)
            Read as workers need them, never all at once.
        max_batch_seconds : float
            Short calls are sent together, up to about this much work a message.
        limits : Limits
            What a call, and all of them, may take.
        on_lost : callable, optional
            Told of each worker that died: how it ended, and whether what it was at is tried again.

        Yields
        ------
        Done
            One a call. A call that raised, or at which workers died again when it ran alone, has a `Failure`.

        Raises
        ------
        BackendError
            The context or an argument cannot be sent, or workers cannot be started.
        OutOfTime
            The deadline came first. Calls under way are ended.
        """
        if self.running:
            raise BackendError(
                "This pool is in the middle of a run. Finish or close that one first, or use another pool."
            )
        run = Run(context=pack_context(context), jobs=self.jobs, source=iter(calls), batch_seconds=max_batch_seconds)
        run.on_lost, run.memory_kills = on_lost, memory_kills()
        self.start(run.count_up_to(self.jobs))
        self.running, grace = True, _GRACE
        try:
            with watched(self.workers, limits):
                self._feed(run)
                while run.left() or any(worker.in_flight for worker in self.workers):
                    finished = self._collect(run, min(HEARTBEAT, max(0.0, limits.time_left())))
                    self._feed(run)  # before the caller looks at the results, so that no worker waits for the caller
                    yield from finished
                    limits.check_time()
        except (KeyboardInterrupt, OutOfTime):
            grace = 0.0
            raise
        finally:
            if self.usable:
                self._settle(grace)
            self.running = False

    def shutdown(self) -> None:
        """End all workers."""
        self._finalizer()

    def _feed(self, run: Run) -> None:
        for depth in range(1, run.depth() + 1):
            for worker in self.workers:
                owed = worker.in_flight.values()
                if not worker.greeted or len(owed) >= depth or any(message.lost for message in owed):
                    continue
                message = run.next_message(all_idle=not any(one.in_flight for one in self.workers))
                if message is not None:
                    worker.give(run.context, message, 2 * run.batch_seconds)

    def _collect(self, run: Run, seconds: float) -> list[Done]:
        """Wait for something to happen, and take in all that has."""
        speaking = wait([worker.connection for worker in self.workers], timeout=seconds)
        finished: list[Done] = []
        for worker in list(self.workers):
            if worker.connection in speaking:
                message = worker.receive()
                finished += self._replace(worker, run) if message is None else _take_in(worker, message, run)
            elif not speaking and worker.dead():
                finished += self._replace(worker, run)
            elif worker.late():
                raise BackendError(
                    f"A worker process did not start within {BOOT_SECONDS:.0f} seconds. Its own messages, if any, are "
                    "on stderr. Use fewer jobs, or jobs=1 (inline)."
                )
        return finished

    def _replace(self, worker: WorkerProcess, run: Run) -> list[Done]:
        """Put a fresh worker in a dead one's place. The call it was at is suspect; what else it had in store is not."""
        self.workers.remove(worker)
        at, words = worker.at(), worker.last_words()
        ending = worker.end(5.0) or Ending(code=None)
        if not worker.greeted:
            raise BackendError(
                f"A worker process could not start: {ending}. Its own messages are on stderr. Use jobs=1 (inline)."
            )
        culprit = None
        for number, message in reversed(worker.in_flight.items()):
            calls = list(message.calls)
            if at is not None and number == at.message and at.call < len(calls):
                culprit, before = calls.pop(at.call), message.lost
            run.waiting.extendleft(reversed(calls))
        if culprit is None:
            run.blame_nobody(str(ending))
        self.workers.append(WorkerProcess())
        if culprit is None:
            return []
        run.blameless = 0
        verdict = None if worker.verdict is None or worker.verdict.at != at else worker.verdict
        return run.judge(Suspect(call=culprit, lost=(*before, str(ending))), verdict, ending, words)

    def _settle(self, grace: float) -> None:
        """Leave no worker busy: let calls under way end within `grace` seconds, and kill the workers that do not."""
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
        # An interrupt may have torn a message in two, also a hello.
        for worker in busy if grace else [w for w in self.workers if w.in_flight or not w.greeted]:
            self._discard(worker)

    def _discard(self, worker: WorkerProcess) -> None:
        self.workers.remove(worker)
        worker.kill()


def _take_in(worker: WorkerProcess, message: tuple[Any, ...], run: Run) -> list[Done]:
    if message[0] == "broken":
        kind, text, trace = message[2]
        raise BackendError(
            f"A worker could not load what it was sent: {kind}: {text}. Use jobs=1 (inline). In the worker:\n{trace}"
        )
    if message[0] != "done":
        return []
    sent = worker.in_flight.pop(message[1])
    outcomes = message[2]
    run.waiting.extendleft(reversed(sent.calls[len(outcomes) :]))
    if outcomes:
        run.observe(sum(seconds for _, _, seconds in outcomes) / len(outcomes))
    return [
        done_of(call_id, *outcome, lost=sent.lost) for (call_id, _), outcome in zip(sent.calls, outcomes, strict=False)
    ]


def _end_workers(workers: list[WorkerProcess], pid: int) -> None:
    if os.getpid() != pid:
        return
    for worker in workers:
        worker.connection.close()
    deadline = time.monotonic() + 1.0
    while workers:
        worker = workers.pop()
        worker.end(deadline - time.monotonic() if worker.greeted else 0.0)


_live_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_of_this_thread = threading.local()


def _disown_all() -> None:
    # A forked child that kept its copies of the pipes would keep the workers alive past their parent's end.
    for pool in _live_pools:
        for worker in pool.workers:
            worker.disown()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)


def shared_pool(jobs: int) -> Pool:
    """The pool of `jobs` workers that this thread's studies use one after another. `Pool.start` boots it, or a run.

    It is made anew when `jobs` differs, when it was shut down, in a forked child, and while a run of it is still open
    (a study within a study): then the one before ends with its run.
    """
    pool: Pool | None = getattr(_of_this_thread, "pool", None)
    if pool is None or not pool.usable or pool.running or pool.jobs != jobs:
        if pool is not None and pool.usable and not pool.running:
            pool.shutdown()
        pool = _of_this_thread.pool = Pool(jobs)
    return pool
