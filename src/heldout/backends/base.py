"""Backends: where the steps of a plan are done. The numbers are the same on each."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from threading import Timer
from time import perf_counter
from typing import Any, Protocol, cast

from sklearn import config_context

from heldout.backends.board import begin_fits
from heldout.backends.dask.connect import names_dask
from heldout.backends.limits import NO_LIMITS, Limits
from heldout.backends.pool import Done, Pool, allowed_jobs, explain_unpicklable, shared_pool
from heldout.backends.shared_data import SharedRef, check_room_for, share, transport_folder
from heldout.backends.threads import one_openmp_thread, one_thread
from heldout.base.errors import BackendError, OptionError, did_you_mean
from heldout.kernels.perform import perform
from heldout.kernels.scoring import failed_cell
from heldout.kernels.step import Step, Work
from heldout.planner.brute_force import single_fits
from heldout.planner.plan import BRUTE
from heldout.study.answers import Answer, Failure

Answered = tuple[Step, list[Answer]]
IDENTICAL = "identical"

# Booting workers takes about a second, so short studies are done where they were asked. Which side does a step
# cannot change its answer, so these may be seconds.
WORTH_A_BOOT = 1.5  # seconds of work left that workers must still be booted for: about what booting one takes
WORTH_A_MOVE = 0.02  # seconds of work left that goes to workers which have booted: sending it takes some milliseconds
TRY_INLINE_FOR = 0.05  # seconds, before the work left is judged worth a boot
SURELY_LARGE = 20_000_000  # numbers of X that all fits read together: then workers are booted at once
FEW_ROUNDS = 4  # more rounds than this, and the unevenness of the last one is small
LARGE = 2_000_000  # the same for workers that have booted: to send the work costs less than to try it here first


class Backend(Protocol):
    """Does steps in any order and gives each back with its answers."""

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]: ...


class Inline:
    """In this process, one step after the other, on one thread."""

    def __init__(self, limits: Limits = NO_LIMITS) -> None:
        self._limits = limits

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        with one_thread():
            for step in steps:
                self._limits.check_time()
                yield step, perform(step, work)


class Processes:
    """On local worker processes that map the data; `eager` begins here while the work may prove too short for them.

    Studies that were each too short for workers add up: who asks for many of them gets workers too.
    """

    _rented = 0.0  # seconds of work that studies of this process did without workers

    def __init__(
        self,
        jobs: int,
        *,
        eager: bool,
        limits: Limits = NO_LIMITS,
        on_lost: Callable[[str, bool], None] | None = None,
    ) -> None:
        self._jobs = jobs
        self._eager = eager and not limits.of_fits
        self._limits = limits
        self._on_lost = on_lost
        self._rate = 0.0  # seconds that a step of this study took on a worker, once some have

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        yield from Inline(self._limits).run(work, [step for step in steps if step.spreads])
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
                self._limits.check_time()
                with _booting_meanwhile(pool, len(steps)) if number == 1 < len(steps) else nullcontext():
                    answers = perform(step, work)
                yield step, answers
                spent = perf_counter() - started
                left = spent / number * (len(steps) - number)
                if pool.ready():
                    if left > WORTH_A_MOVE:
                        return
                elif left + self._rented > WORTH_A_BOOT and spent > TRY_INLINE_FOR:
                    check_room_for(work.task)
                    pool.start(len(steps) - number)
        Processes._rented += perf_counter() - started

    def _run_on_pool(self, work: Work, steps: Sequence[Step], *, beside: Step | None = None) -> Iterator[Answered]:
        pool: Pool = shared_pool(self._jobs)
        if not pool.ready():
            check_room_for(work.task)
            pool.start(len(steps))  # workers boot while the data are written
        context = _context(work)
        again: list[Step] = []
        started = perf_counter()
        with nullcontext() if beside is None else _done_beside(beside, work) as own:
            for step, done in self._done(pool, context, steps):
                if done.failure is None:
                    yield step, done.value
                elif done.lost and step.tier == IDENTICAL and len(step.candidates) * len(step.trainings) > 1:
                    again += single_fits(step)  # only the culprit among its fits is to be lost
                else:
                    yield step, failed_step(step, work, done)
            if beside is not None and own is not None:
                yield beside, own.result()
        self._rate = (perf_counter() - started) * self._jobs / len(steps)
        for step, done in self._done(pool, context, again):
            yield step, done.value if done.failure is None else failed_step(step, work, done)

    def _done(self, pool: Pool, context: StepDoer, steps: Sequence[Step]) -> Iterator[tuple[Step, Done]]:
        # A step names nothing but heldout's own classes, so plain pickling will do, which is quick.
        packed = ((number, pickle.dumps(step, protocol=5)) for number, step in enumerate(steps))
        running = pool.run(context, packed, limits=self._limits, on_lost=self._on_lost)
        with closing(cast("Generator[Done, None, None]", running)) as finished:
            for done in finished:
                yield steps[done.call_id], done


@contextmanager
def _done_beside(step: Step, work: Work) -> Iterator[Future[list[Answer]]]:
    """Do a step in a thread of this process, on one thread of the BLAS."""

    def do() -> list[Answer]:
        # OpenMP counts threads for each thread that calls it, the BLAS for the whole process.
        with config_context(**work.config), one_openmp_thread():
            return perform(step, work)

    with one_thread(), ThreadPoolExecutor(1) as thread:
        yield thread.submit(do)


@contextmanager
def _booting_meanwhile(pool: Pool, steps: int) -> Iterator[None]:
    """Boot the workers as soon as what is done inside proves long."""
    if pool.ready():
        yield
        return
    alarm = Timer(WORTH_A_BOOT, _boot, (pool, steps))
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()
        alarm.join()


def _boot(pool: Pool, steps: int) -> None:
    with suppress(BackendError):  # whoever needs the workers starts them again, and is told
        pool.start(steps)


class StepDoer:
    """What travels to the workers: the work with its data left behind in a mapped file."""

    def __init__(self, work: Work, task: SharedRef) -> None:
        self._work = replace(work, task=None, products={})  # type: ignore[arg-type]
        self._task = task

    def __call__(self, asked: Step | bytes) -> list[Answer]:
        step: Step = pickle.loads(asked) if isinstance(asked, bytes) else asked
        if self._work.task is None:
            self._work = replace(self._work, task=self._task.open())
        pieces = single_fits(step) if step.kernel == BRUTE and step.fits > 1 else (step,)
        answers: list[Answer] = []
        for piece in pieces:
            begin_fits(max(1, piece.fits))
            answers += perform(piece, self._work)
        return answers


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


def failed_step(step: Step, work: Work, done: Done) -> list[Answer]:
    """The answers of a step that its worker could not do: every cell of it failed, for the same reason."""
    assert done.failure is not None
    failure = Failure(
        kind=done.failure.kind, message=done.failure.message, traceback=done.failure.traceback, stage="fit"
    )
    answers = [held for training in step.trainings for held in training.answers]
    return [failed_cell(work, held, c, failure) for c in step.candidates for held in answers]


@contextmanager
def _given(backend: Backend) -> Iterator[Backend]:
    yield backend


def open_backend(
    backend: Any,
    jobs: int | None,
    *,
    limits: Limits = NO_LIMITS,
    careful: bool = False,
    on_lost: Callable[[str, bool], None] | None = None,
) -> AbstractContextManager[Backend]:
    """The backend the user asked for: None decides by the work there is; "inline", "processes" or Dask force one."""
    if names_dask(backend):
        from heldout.backends.dask.backend import open_dask

        return open_dask(backend, limits=limits, on_lost=on_lost)
    if backend not in (None, "inline", "processes"):
        near = did_you_mean(str(backend), ["inline", "processes", "dask://host:8786"])
        raise OptionError(f"There is no backend {backend!r}. {near}")
    workers = allowed_jobs(jobs)
    if backend == "inline" and limits.of_fits:
        raise OptionError(
            "fit_timeout= and fit_memory= end the process that a fit runs in, so they cannot be had with "
            'backend="inline". Leave backend out, or leave the limits out.'
        )
    if backend == "inline" or (workers == 1 and backend is None and not limits.of_fits):
        return _given(Inline(limits))
    return _given(Processes(workers, eager=backend is None and not careful, limits=limits, on_lost=on_lost))
