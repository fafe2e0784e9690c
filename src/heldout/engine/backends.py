"""Backends: where the steps of a plan are done. The numbers are the same on each."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from threading import Timer
from time import perf_counter
from typing import Any, Protocol, cast

from sklearn import config_context
from threadpoolctl import threadpool_limits

from heldout.base.errors import BackendError, OptionError, did_you_mean
from heldout.engine.pool import Done, Pool, allowed_jobs, explain_unpicklable, shared_pool
from heldout.engine.shared import SharedRef, share, transport_folder
from heldout.engine.threads import one_thread
from heldout.kernels.perform import perform
from heldout.kernels.scoring import failed_cell
from heldout.kernels.step import Step, Work
from heldout.study.tables import Answer, Failure

Answered = tuple[Step, list[Answer]]

# Booting workers takes about a second, so short studies are done where they were asked. Which side does a step
# cannot change its answer, so these may be seconds.
WORTH_A_BOOT = 1.5  # seconds of work left that workers must still be booted for: about what booting one takes
WORTH_A_MOVE = 0.02  # seconds of work left that goes to workers which have booted: sending it takes some milliseconds
TRY_INLINE_FOR = 0.25  # seconds, before the work left is judged worth a boot
SURELY_LARGE = 20_000_000  # numbers of X that all fits read together: then workers are booted at once
FEW_ROUNDS = 4  # more rounds than this, and the unevenness of the last one is small
LARGE = 2_000_000  # the same for workers that have booted: to send the work costs less than to try it here first


class Backend(Protocol):
    """Does steps in any order and gives each back with its answers."""

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]: ...


class Inline:
    """In this process, one step after the other, on one thread."""

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        with one_thread():
            for step in steps:
                yield step, perform(step, work)


class Processes:
    """On local worker processes that map the data; `eager` begins here while the work may prove too short for them.

    Studies that were each too short for workers add up: who asks for many of them gets workers too.
    """

    _rented = 0.0  # seconds of work that studies of this process did without workers

    def __init__(self, jobs: int, *, eager: bool) -> None:
        self._jobs = jobs
        self._eager = eager
        self._rate = 0.0  # seconds that a step of this study took on a worker, once some have

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        yield from Inline().run(work, [step for step in steps if step.spreads])
        left = [step for step in steps if not step.spreads]
        if self._eager and self._has_one_too_many(left):
            yield from self._run_on_pool(work, left[1:], beside=left[0])
            return
        if self._eager:
            done = 0
            for answered in self._begin_inline(work, left):
                done += 1
                yield answered
            left = left[done:]
        if left:
            yield from self._run_on_pool(work, left)

    def _has_one_too_many(self, steps: Sequence[Step]) -> bool:
        """Whether one step would have the machine to itself at the end: it is done here, beside the workers' own."""
        few = self._jobs < len(steps) <= FEW_ROUNDS * self._jobs
        return (
            few and len(steps) % self._jobs == 1 and self._rate > WORTH_A_MOVE and bool(shared_pool(self._jobs).ready())
        )

    def _begin_inline(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        """Do steps here until the rest is worth the workers, and while they boot.

        A first step that is long in itself boots them too: by the time it ends they are there.
        """
        reads = len(work.task) * (work.task.n_columns or 1) * sum(step.fits for step in steps)
        pool = shared_pool(self._jobs)
        if len(steps) > 1 and reads > (LARGE if pool.ready() else SURELY_LARGE):
            return
        started = perf_counter()
        with one_thread():
            for number, step in enumerate(steps, 1):
                with _booting_meanwhile(pool) if number == 1 < len(steps) else nullcontext():
                    answers = perform(step, work)
                yield step, answers
                spent = perf_counter() - started
                left = spent / number * (len(steps) - number)
                if pool.ready():
                    if left > WORTH_A_MOVE:
                        return
                elif left + self._rented > WORTH_A_BOOT and spent > TRY_INLINE_FOR:
                    pool.start()
        Processes._rented += perf_counter() - started

    def _run_on_pool(self, work: Work, steps: Sequence[Step], *, beside: Step | None = None) -> Iterator[Answered]:
        pool: Pool = shared_pool(self._jobs)
        pool.start()
        context = _context(work)
        started = perf_counter()
        with (
            nullcontext() if beside is None else _done_beside(beside, work) as own,
            closing(cast("Generator[Done, None, None]", pool.run(context, enumerate(steps)))) as finished,
        ):
            for done in finished:
                step = steps[done.call_id]
                yield step, done.value if done.failure is None else _failed(step, work, done)
            if beside is not None and own is not None:
                yield beside, own.result()
        self._rate = (perf_counter() - started) * self._jobs / len(steps)


@contextmanager
def _done_beside(step: Step, work: Work) -> Iterator[Future[list[Answer]]]:
    """Do a step in a thread of this process, on one thread of the BLAS."""

    def do() -> list[Answer]:
        # OpenMP counts threads for each thread that calls it, the BLAS for the whole process.
        with config_context(**work.config), threadpool_limits(1, user_api="openmp"):
            return perform(step, work)

    with one_thread(), ThreadPoolExecutor(1) as thread:
        yield thread.submit(do)


@contextmanager
def _booting_meanwhile(pool: Pool) -> Iterator[None]:
    """Boot the workers as soon as what is done inside proves long."""
    if pool.ready():
        yield
        return
    alarm = Timer(WORTH_A_BOOT, _boot, (pool,))
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()
        alarm.join()


def _boot(pool: Pool) -> None:
    with suppress(BackendError):  # whoever needs the workers starts them again, and is told
        pool.start()


class StepDoer:
    """What travels to the workers: the work with its data left behind in a mapped file."""

    def __init__(self, work: Work, task: SharedRef) -> None:
        self._work = replace(work, task=None, products={})  # type: ignore[arg-type]
        self._task = task

    def __call__(self, step: Step) -> list[Answer]:
        if self._work.task is None:
            self._work = replace(self._work, task=self._task.open())
        return perform(step, self._work)


def _context(work: Work) -> StepDoer:
    _ = work.task.row_hashes  # hashed once here, not once a worker
    doer = StepDoer(work, share(work.task, transport_folder(), work.task.fingerprint))
    problem = explain_unpicklable(doer._work)
    if problem:
        raise BackendError(
            f"The learner cannot travel to worker processes: {problem}. Run it in this process with "
            'backend="inline", or make that attribute picklable.'
        )
    return doer


def _failed(step: Step, work: Work, done: Done) -> list[Answer]:
    assert done.failure is not None
    failure = Failure(
        kind=done.failure.kind, message=done.failure.message, traceback=done.failure.traceback, stage="fit"
    )
    answers = [held for training in step.trainings for held in training.answers]
    return [failed_cell(work, held, c, failure) for c in step.candidates for held in answers]


@contextmanager
def _given(backend: Backend) -> Iterator[Backend]:
    yield backend


def open_backend(backend: Any, jobs: int | None) -> AbstractContextManager[Backend]:
    """The backend the user asked for: None decides by the work there is; "inline" or "processes" force one."""
    if backend not in (None, "inline", "processes"):
        near = did_you_mean(str(backend), ["inline", "processes"])
        raise OptionError(f"There is no backend {backend!r}. {near}")
    workers = allowed_jobs(jobs)
    if backend == "inline" or (workers == 1 and backend is None):
        return _given(Inline())
    return _given(Processes(workers, eager=backend is None))
