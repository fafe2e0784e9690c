"""Backends: where the steps of a plan are done. The numbers are the same on each."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from threading import Timer
from time import perf_counter
from typing import Any, Protocol, cast

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
    """On local worker processes that map the data; `eager` begins here while the work may prove too short for them."""

    def __init__(self, jobs: int, *, eager: bool) -> None:
        self._jobs = jobs
        self._eager = eager

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        yield from Inline().run(work, [step for step in steps if step.spreads])
        left = [step for step in steps if not step.spreads]
        if self._eager:
            done = 0
            for answered in self._begin_inline(work, left):
                done += 1
                yield answered
            left = left[done:]
        if left:
            yield from self._run_on_pool(work, left)

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
                elif left > WORTH_A_BOOT and spent > TRY_INLINE_FOR:
                    pool.start()

    def _run_on_pool(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        pool: Pool = shared_pool(self._jobs)
        pool.start()
        context = _context(work)
        with closing(cast("Generator[Done, None, None]", pool.run(context, enumerate(steps)))) as finished:
            for done in finished:
                step = steps[done.call_id]
                yield step, done.value if done.failure is None else _failed(step, work, done)


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
