"""Kernels that answer one training set at a time: its rows are prepared once, then all candidates share them.

scikit-learn itself fits and applies the steps before the model, whatever they are, once for each training set. The
candidates of which the kernel is not sure are left to brute force, one by one.
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
from sklearn.feature_selection import SelectKBest, SelectPercentile
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
from heldout.kernels.within.sizes import size_of
from heldout.search.search import Search
from heldout.study.answers import Answer
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """Holds one candidate, split into the steps before the model and the model. Kernels extend it in a subclass."""

    number: int
    before: Pipeline | None  # the steps before the model, not fitted; None where X goes straight to the model
    model: Any  # the last step, not fitted

    @property
    def preparation(self) -> Hashable:
        """Key that is equal for candidates whose steps before the model are equal."""
        return () if self.before is None else signature(self.before.steps)

    @property
    def group(self) -> Hashable:
        """Key that is equal for candidates that are answered together."""
        return self.preparation

    def methods(self, task: Task) -> tuple[str, ...]:
        """Return the response methods whose answers the kernel computes."""
        return ("predict",)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreparedRows:
    """Holds one training set and its held-out sets after the steps before the model."""

    train: Any
    held: list[Any]
    y: NDArray[Any]
    weight: NDArray[Any] | None


def take_apart(number: int, estimator: Any) -> Candidate:
    """Split an estimator into steps and model. Raise Refuse for a Pipeline that does more than call its steps."""
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
    """Base class of kernels whose rows are prepared by scikit-learn's own steps, once for each training set."""

    @abstractmethod
    def read(self, candidate: Candidate) -> Read:
        """Return a candidate as this kernel reads it, if it ends in one of `models`. Raise Refuse if not answered."""

    def read_all(self, search: Search) -> tuple[dict[int, Read], tuple[str, ...]]:
        """Return the candidates that can be read, by number, and why others cannot; once for each search."""
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
        """Return claims on the readable candidates, in their groups, except those that have a problem."""
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
        """Yield the answers of the step's candidates in its trainings, if the losses need responses alone."""


def prepare_rows(before: Pipeline | None, work: Work, rows: Rows, sides: Sequence[Rows]) -> PreparedRows | None:
    """Return the rows after the steps before the model; None if these fail or warn, as brute force reports it."""
    if before is None:
        return fit_steps(None, work, rows, sides)
    try:
        with catch_all_warnings() as caught, as_asked(work):
            prepared = fit_steps(before, work, rows, sides)
    except Exception:
        return None
    return None if caught else prepared


def fit_steps(before: Pipeline | None, work: Work, rows: Rows, sides: Sequence[Rows]) -> PreparedRows:
    """Return training and held-out rows after the steps before the model, fitted on the training rows."""
    task = work.task
    train, held = task.take(rows), [task.take(side) for side in sides]
    if before is not None:
        key = task.content_key(rows)
        steps: Any = _with_scores(before, work, key, train, task.y[rows])
        if steps is None:
            steps = clone(before)
            if unseeded_names(steps):
                set_seeds(steps, work.search.seed, key)
            train = steps.fit_transform(train, task.y[rows])
        else:
            train = steps.transform(train)
        held = [steps.transform(side) for side in held]
    weight = None if task.weight is None else task.weight[rows]
    return PreparedRows(train=train, held=held, y=task.y[rows], weight=weight)


def _with_scores(before: Pipeline, work: Work, key: int, X: Any, y: NDArray[Any]) -> Any:
    """Return a univariate selector as if fitted; its scores are computed once for all sizes. None for other steps."""
    first = before.steps[0][1]
    if len(before.steps) > 1 or type(first) not in (SelectKBest, SelectPercentile):
        return None
    size = size_of(first)
    assert size is not None
    count = getattr(first, size.parameter)
    if size.kind is SelectKBest and (not isinstance(count, int) or count > X.shape[1]):  # which scikit-learn judges
        return None

    def scores() -> Any:
        with catch_all_warnings() as caught:
            fitted = size.fit(clone(first), X, y)
        return None if caught else fitted  # an ordinary fit tells its warnings

    fitted = remember(work.products, ("scores", signature(first, without=(size.parameter,)), key), scores)
    return None if fitted is None else size.read(fitted, first, X)[0]


@contextmanager
def as_asked(work: Work) -> Iterator[None]:
    """Set the study's scikit-learn configuration and a limit of one thread; each thread has its own settings."""
    one_thread = _openmp().limit(limits=1)
    with sklearn.config_context(**work.config), joblib.parallel_config(backend="sequential"), one_thread:
        yield


@cache
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


def score_training(
    step: Step, work: Work, training: Training, found: Sequence[Mapping[int, Responses]], *, seconds: float
) -> Iterator[Answer]:
    """Yield the scores of what was found on each held-out set; brute force answers missing candidates."""
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
