"""Kernels that answer one training set at a time: its rows are prepared once, then all candidates share them.

The steps before the model are fitted and applied by scikit-learn itself, once for each training set, whatever they
are. What the kernel is not sure of is left to brute force, candidate by candidate.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Generic, TypeVar

import joblib
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import ThreadpoolController

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.kernels.brute import answer_by_brute_force, set_seeds, unseeded_names
from heldout.kernels.claims import AcrossKernel, Claims, candidates_of
from heldout.kernels.driver.claim import lacking
from heldout.kernels.scoring import catch_all_warnings, score_block
from heldout.kernels.step import Step, Training, Work, remember
from heldout.kernels.sums.rounding import Refuse
from heldout.kernels.within.signature import signature
from heldout.search.search import Search
from heldout.study.answers import Answer
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """One candidate, taken apart. What a kernel reads besides is in a class of its own."""

    number: int
    before: Pipeline | None  # the steps before the model, not fitted; None where X goes straight to the model
    model: Any  # the last step, not fitted

    @property
    def preparation(self) -> Hashable:
        """Equal for candidates whose steps before the model are equal."""
        return () if self.before is None else signature(self.before.steps)

    @property
    def group(self) -> Hashable:
        """Equal for candidates that are answered together."""
        return self.preparation

    def methods(self, task: Task) -> tuple[str, ...]:
        """The response methods of which the kernel knows the answers."""
        return ("predict",)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreparedRows:
    """One training set and its held-out sides after the steps before the model."""

    train: Any
    held: list[Any]
    y: NDArray[Any]
    weight: NDArray[Any] | None


def take_apart(number: int, estimator: Any) -> Candidate:
    """The steps before the model, and the model. Raises Refuse for Pipelines that do more than call their steps."""
    if not isinstance(estimator, Pipeline):
        return Candidate(number=number, before=None, model=estimator)
    last = estimator.steps[-1][1]
    if type(estimator) is not Pipeline:
        raise Refuse(f"{type(estimator).__name__} is not scikit-learn's own Pipeline")
    if estimator.memory is not None:
        raise Refuse("a Pipeline with memory keeps its own fitted steps")
    if getattr(estimator, "transform_input", None) is not None:
        raise Refuse("a Pipeline with transform_input hands metadata to its steps")
    steps = [step for _, step in estimator.steps[:-1]]
    if all(step is None or (isinstance(step, str) and step == "passthrough") for step in steps):
        return Candidate(number=number, before=None, model=last)
    return Candidate(number=number, before=Pipeline(estimator.steps[:-1]), model=last)


Read = TypeVar("Read", bound=Candidate)


class PreparedKernel(AcrossKernel, Generic[Read]):
    """A kernel that prepares the rows of each training set by scikit-learn's own steps."""

    @abstractmethod
    def read(self, candidate: Candidate) -> Read:
        """One candidate that ends in one of the models. Raises Refuse."""

    def read_all(self, search: Search) -> tuple[dict[int, Read], tuple[str, ...]]:
        """The candidates that are read, by number, and a reason for each kind of others: once for each search."""
        return remember(search.memo, ("read", self.words), lambda: self._read_each(search))

    def _read_each(self, search: Search) -> tuple[dict[int, Read], tuple[str, ...]]:
        found: dict[int, Read] = {}
        refusals: dict[str, None] = {}
        for number, estimator in candidates_of(search):
            try:
                candidate = take_apart(number, estimator)
                if type(candidate.model) not in self.models:
                    raise Refuse(f"{type(candidate.model).__name__} is not {self.words}")
                found[number] = self.read(candidate)
            except Refuse as reason:
                refusals.setdefault(str(reason))
        return found, tuple(refusals)

    def claim_where(self, search: Search, problem: Callable[[Read], str | None]) -> Claims:
        """The candidates that are read, in their groups, but those with a problem."""
        found, refusals = self.read_all(search)
        reasons = dict.fromkeys(refusals)
        groups: dict[Hashable, list[int]] = {}
        for number, candidate in found.items():
            if reason := problem(candidate):
                reasons.setdefault(reason)
            else:
                groups.setdefault(candidate.group, []).append(number)
        return Claims(groups=tuple(map(tuple, groups.values())), refusals=tuple(reasons))

    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        read, _ = self.read_all(work.search)
        candidates = [read[number] for number in step.candidates]
        methods = candidates[0].methods(work.task)
        levels = {held.level for training in step.trainings for held in training.answers}
        if work.fit_params or any(lacking(methods, work.losses[level]) for level in levels):
            yield from answer_by_brute_force(step, work)
        else:
            yield from self.answer_prepared(candidates, step, work)

    @abstractmethod
    def answer_prepared(self, candidates: list[Read], step: Step, work: Work) -> Iterator[Answer]:
        """Every candidate of the step in every training, where responses tell all that the losses ask for."""


def prepare_rows(before: Pipeline | None, work: Work, rows: Rows, sides: Sequence[Rows]) -> PreparedRows | None:
    """Training rows and sides after the steps before the model; None where these fail or warn: brute force tells."""
    if before is None:
        return fit_steps(None, work, rows, sides)
    try:
        with catch_all_warnings() as caught, as_asked(work):
            prepared = fit_steps(before, work, rows, sides)
    except Exception:
        return None
    return None if caught else prepared


def fit_steps(before: Pipeline | None, work: Work, rows: Rows, sides: Sequence[Rows]) -> PreparedRows:
    """Training rows and sides after the steps before the model, fitted on the training rows."""
    task = work.task
    train, held = task.take(rows), [task.take(side) for side in sides]
    if before is not None:
        before = clone(before)
        if unseeded_names(before):
            set_seeds(before, work.search.seed, task.content_key(rows))
        train = before.fit_transform(train, task.y[rows])
        held = [before.transform(side) for side in held]
    weight = None if task.weight is None else task.weight[rows]
    return PreparedRows(train=train, held=held, y=task.y[rows], weight=weight)


@contextmanager
def as_asked(work: Work) -> Iterator[None]:
    """scikit-learn's configuration as it was where the study was asked, and one thread: settings of each thread."""
    one_thread = _openmp().limit(limits=1)
    with sklearn.config_context(**work.config), joblib.parallel_config(backend="sequential"), one_thread:
        yield


@cache
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


def score_training(
    step: Step, work: Work, training: Training, found: Sequence[Mapping[int, Responses]], *, seconds: float
) -> Iterator[Answer]:
    """Score what was found on each held-out side, by candidate; brute force answers the candidates that are missing."""
    missing: dict[tuple[int, ...], list[int]] = {}
    for candidate in step.candidates:
        sides = tuple(side for side, responses in enumerate(found) if candidate not in responses)
        missing.setdefault(sides, []).append(candidate)
    for held, responses in zip(training.answers, found, strict=True):
        sure = tuple(candidate for candidate in step.candidates if candidate in responses)
        if sure:
            each = seconds / len(training.answers)
            yield from score_block(work, [held], sure, [responses[candidate] for candidate in sure], seconds=each)
    for sides, candidates in missing.items():
        if sides:
            alone = training._replace(answers=tuple(training.answers[side] for side in sides))
            yield from answer_by_brute_force(replace(step, candidates=tuple(candidates), trainings=(alone,)), work)
