"""Defines what a backend is: it computes the steps of a plan somewhere. The numbers are the same on every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from heldout.backends.limits import NO_LIMITS, Limits
from heldout.backends.tasks import Failure as TaskFailure
from heldout.backends.tasks import TaskResult
from heldout.backends.threads import one_thread
from heldout.kernels.perform import perform
from heldout.kernels.scoring import failed_cell
from heldout.kernels.step import BRUTE, Step, Work, single_fits
from heldout.study.answers import Answer, Failure

Answered = tuple[Step, list[Answer]]
OnLost = Callable[[str, bool], None]  # how a worker ended, and whether what it was at is tried again


class Backend(Protocol):
    """Computes steps in any order and yields each with its answers.

    A step may be returned in pieces, as several steps that together answer the same cells. Work that fails also gets
    answers, from `failed_step`. Closing the iterator stops all running work.
    """

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSettings:
    """The settings that every kind of backend is opened with."""

    jobs: int | None = None
    limits: Limits = NO_LIMITS
    isolate: bool = False  # no fit runs in this process: one that ends its process would end the study
    on_lost: OnLost | None = None


class Inline:
    """Computes steps in this process, one after the other, on one thread."""

    def __init__(self, limits: Limits = NO_LIMITS) -> None:
        self._limits = limits

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        with one_thread():
            for step in steps:
                self._limits.check_time()
                yield step, perform(step, work)


def cut_for_limits(steps: Sequence[Step], limits: Limits) -> list[Step]:
    """Cut brute-force steps into single fits if fits are limited, so that the limit holds for each fit."""
    if not limits.of_fits:
        return list(steps)
    return [piece for step in steps for piece in (single_fits(step) if step.kernel == BRUTE else (step,))]


def pieces_to_retry(step: Step, result: TaskResult) -> tuple[Step, ...]:
    """Split a step whose workers died into single fits to try again; empty if it is a single fit already."""
    several = len(step.candidates) * len(step.trainings) > 1
    return single_fits(step) if result.lost and step.tier == "identical" and several else ()


def failed_step(step: Step, work: Work, reason: TaskFailure) -> list[Answer]:
    """Make the answers of a step that could not be computed: every cell of it failed, for the same reason."""
    failure = Failure(kind=reason.kind, message=reason.message, traceback=reason.traceback, stage="fit")
    answers = [held for training in step.trainings for held in training.answers]
    return [failed_cell(work, held, c, failure) for c in step.candidates for held in answers]
