"""The backend of local worker processes: which steps go to workers, and how their failures are handled."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from time import perf_counter
from typing import cast

from heldout.backends.base import Answered, BackendSettings, Inline, cut_for_limits, failed_step, pieces_to_retry
from heldout.backends.pickling import explain_unpicklable
from heldout.backends.pool import Pool, shared_pool
from heldout.backends.shared_data import SharedRef, share, transport_folder
from heldout.backends.tasks import TaskResult
from heldout.base.errors import Argument, BackendError, Sentence
from heldout.kernels.perform import perform
from heldout.kernels.step import Step, Work
from heldout.study.answers import Answer

# Starting workers takes about a second, so short studies run in this process. Which process computes a step
# cannot change its answer, so these limits may be in seconds.
WORTH_A_START = 1.5  # seconds of work left that workers must still be started for: about what starting one takes
WORTH_A_MOVE = 0.02  # seconds of work left that goes to workers which are ready: sending it takes some milliseconds
TRY_INLINE_FOR = 0.05  # seconds, before the work left is judged worth a start
SURELY_LARGE = 20_000_000  # numbers of X that all fits read together: then workers are started at once
LARGE = 2_000_000  # the same for workers that are ready: to send the work costs less than to try it here first
RUN_HERE = Sentence("Run it in this process with {}, or make that attribute picklable.", Argument("backend", "inline"))


class Processes:
    """Computes steps on local worker processes. Work that may be too short for them begins in this process."""

    inline_seconds = 0.0  # of all studies: those that were each too short for workers add up

    def __init__(self, jobs: int, settings: BackendSettings, *, begin_inline: bool) -> None:
        self._jobs = jobs
        self._limits = settings.limits
        self._on_lost = settings.on_lost
        self._begins_inline = begin_inline and not settings.isolate and not settings.limits.of_fits

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        yield from Inline(self._limits).run(work, [step for step in steps if step.spreads])
        left = cut_for_limits([step for step in steps if not step.spreads], self._limits)
        if self._begins_inline:
            done = 0
            for answered in self._begin_inline(work, left):
                done += 1
                yield answered
            left = left[done:]
        if left:
            yield from self._run_on_pool(work, left)

    def _begin_inline(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        """Compute steps in this process until the rest is worth sending to workers, and while those start."""
        reads = len(work.task) * (work.task.n_columns or 1) * sum(step.fits for step in steps)
        pool = shared_pool(self._jobs)
        if len(steps) > 1 and reads > (LARGE if pool.ready() else SURELY_LARGE):
            return
        started = perf_counter()
        for number, answered in enumerate(Inline(self._limits).run(work, steps), 1):
            yield answered
            spent = perf_counter() - started
            left = spent / number * (len(steps) - number)
            if pool.ready():
                if left > WORTH_A_MOVE:
                    return
            elif left + Processes.inline_seconds > WORTH_A_START and spent > TRY_INLINE_FOR:
                pool.start(len(steps) - number)
        Processes.inline_seconds += perf_counter() - started

    def _run_on_pool(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        pool = shared_pool(self._jobs)
        if not pool.ready():
            pool.start(len(steps))  # workers start while the data are written
        runner = runner_of(work)
        again: list[Step] = []
        for step, result in self._results(pool, runner, steps):
            pieces = () if result.failure is None else pieces_to_retry(step, result)
            if pieces:
                again += pieces
            else:
                yield step, _answers(step, work, result)
        for step, result in self._results(pool, runner, again):
            yield step, _answers(step, work, result)

    def _results(self, pool: Pool, runner: StepRunner, steps: Sequence[Step]) -> Iterator[tuple[Step, TaskResult]]:
        tasks = ((number, step, max(1, step.fits)) for number, step in enumerate(steps))
        running = pool.run(runner, tasks, limits=self._limits, on_lost=self._on_lost)
        with closing(cast("Generator[TaskResult, None, None]", running)) as results:
            for result in results:
                yield steps[result.task_id], result


class StepRunner:
    """Computes steps on a worker. It is sent with the work but without the data, which the worker maps from a file."""

    def __init__(self, work: Work, task: SharedRef) -> None:
        self._work = without_data(work)
        self._task = task

    def __call__(self, step: Step) -> list[Answer]:
        if self._work.task is None:
            self._work = replace(self._work, task=self._task.open())
        return perform(step, self._work)


def without_data(work: Work) -> Work:
    """Copy the work without its data and without the products that kernels keep."""
    return replace(work, task=None, products={})  # type: ignore[arg-type]


def runner_of(work: Work) -> StepRunner:
    """Make the runner that workers are sent, and write the data for them to map."""
    _ = work.task.row_hashes  # hashed once here, not once a worker
    problem = explain_unpicklable(without_data(work))
    if problem:
        raise BackendError(f"The learner cannot travel to worker processes: {problem}.", RUN_HERE)
    return StepRunner(work, share(work.task, transport_folder(), work.task.fingerprint))


def _answers(step: Step, work: Work, result: TaskResult) -> list[Answer]:
    if result.failure is not None:
        return failed_step(step, work, result.failure)
    answers: list[Answer] = result.value
    return answers
