"""What a kernel says of a search before any fit: which candidates it answers together, and why not others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from heldout.kernels.brute import make_candidate
from heldout.kernels.step import Plain, Step, Training, Work, join, pieces_of, remember, splits_of
from heldout.search.search import Family, Search
from heldout.splits.drawn import Splits
from heldout.study.answers import Answer
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Groups of candidates that a kernel answers together, and a reason for each kind it refused."""

    groups: tuple[tuple[int, ...], ...] = ()
    refusals: tuple[str, ...] = ()


class AcrossKernel(ABC):
    """A kernel that answers many training sets of one learner family from shared products.

    Of models that are not among its `models`, whose names are `words`, it is not asked.
    """

    name: str  # also the rule's name: "ridge"
    tier: str = "rounding"
    models: Collection[type]  # the types of the last step that it knows
    words: str
    fits_each: str = ""  # of one that makes every candidate's fit: what those share, in words. The plan counts its fits
    # Whether it answers parts of single rows from one decomposition as long as each training answers its own row alone.
    # What else their predictors are asked is asked apart.
    leaves_rows_out: bool = False

    @abstractmethod
    def claim(self, search: Search, task: Task) -> Claims:
        """The groups of candidates it can answer on this task."""

    @abstractmethod
    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        """Why this training must be left to brute force, or None."""

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        """Whether `refuses` surely refuses none of these parts, each trained on its own rows; else each is asked."""
        return False

    @abstractmethod
    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        """The responses of every candidate of the step in every training, scored."""

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        """How many fits a candidate the leave-one-out of these takes in the plan's count; None: as many as rows."""
        return None

    def ignores_origin(self, search: Search, task: Task, candidate: int) -> bool:
        """Whether responses stay the same, rounding apart, whatever is added to a column.

        Their check goes by columns moved to zero where those far from it lose digits.
        """
        return False


def chain_of(estimator: Any) -> list[tuple[str, Any]]:
    """The steps of a candidate in order, nested Pipelines opened, steps that do nothing left out.

    Names are full parameter prefixes: the step ``ridge`` of a Pipeline has parameters ``ridge__…``; the estimator
    itself, outside any Pipeline, has the name ``""``.
    """
    if not isinstance(estimator, Pipeline):
        return [("", estimator)]
    chain: list[tuple[str, Any]] = []
    for name, step in estimator.steps:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        chain += [(f"{name}__{inner}" if inner else name, one) for inner, one in chain_of(step)]
    return chain


def last_types(search: Search) -> list[type | None]:
    """The type of each family's last step, where no candidate can have another; None where one may."""
    return remember(search.memo, "last types", lambda: [last_type(family) for family in search.families])


def last_type(family: Family) -> type | None:
    replaced = set(_step_names(family.estimator)) & set(family.candidates.names)
    chain = chain_of(family.estimator)
    return None if replaced or not chain else type(chain[-1][1])


def claim_each(kernels: Iterable[AcrossKernel], search: Search, task: Task) -> dict[str, Claims]:
    """What each kernel claims, by name. Kernels that know none of the models are not asked."""
    kinds = last_types(search)
    claims: dict[str, Claims] = {}
    for kernel in kernels:
        if any(kind is None or kind in kernel.models for kind in kinds):
            claims[kernel.name] = kernel.claim(search, task)
        else:
            others = [f"{kind.__name__} is not {kernel.words}" for kind in kinds if kind is not None]
            claims[kernel.name] = Claims(refusals=tuple(dict.fromkeys(others)))
    return claims


def _step_names(estimator: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(estimator, Pipeline):
        yield f"{prefix}steps"
        for name, step in estimator.steps:
            yield f"{prefix}{name}"
            yield from _step_names(step, f"{prefix}{name}__")


AVERAGED = "the tested predictor is an average of several"
MOST_KEPT = 2_000
PLAIN = (int, float, str, bytes, np.generic, type(None))  # values that set_params takes as they are


def candidates_of(search: Search) -> Iterator[tuple[int, Any]]:
    """Every candidate of a search as an unfitted estimator, to look at and to clone, never to fit or to change.

    Those of a search of moderate size are made once, since several kernels and rules look at them.
    """
    made = (make_candidate(search, candidate) for candidate in range(len(search)))
    if len(search) > MOST_KEPT:
        yield from enumerate(made)
        return
    yield from enumerate(remember(search.memo, "candidates", lambda: list(made)))


def sort_out(
    kernel: AcrossKernel, step: Step, search: Search, task: Task, splits: Mapping[str, Splits]
) -> tuple[Sequence[Training], Sequence[Training], list[str]]:
    """The step's trainings that the kernel accepts, those it refuses, and why."""
    accepted: list[Sequence[Training]] = []
    others: list[Training] = []
    reasons: list[str] = []
    for piece in step.pieces:
        if isinstance(piece, Plain) and kernel.takes_all(search, task, piece.parts, splits[piece.splits]):
            accepted.append(piece)
            continue
        for training in piece:
            averaged = training.averaged or len(training.trains) != 1
            reason = AVERAGED if averaged else kernel.refuses(search, task, training, splits)
            if reason is None:
                accepted.append((training,))
            else:
                others.append(training)
                reasons.append(reason)
    return join(accepted), tuple(others), reasons


def step_of(
    kernel: AcrossKernel,
    candidates: tuple[int, ...],
    trainings: Sequence[Training],
    task: Task,
    splits: Mapping[str, Splits],
) -> Step:
    """The step in which a kernel answers these candidates in these trainings.

    It counts as one fit a training set, or a candidate too where the kernel makes each; for leave-one-out as many as
    the kernel says.
    """
    known = {name: _one_out_fits(kernel, task, splits[name]) for name in splits_of(trainings)}
    others = 0
    for piece in pieces_of(trainings):
        names = [piece.splits] * len(piece.parts) if isinstance(piece, Plain) else [t.trains[0].splits for t in piece]
        others += sum([known[name] is None for name in names])
    one_out = sum([fits for fits in known.values() if fits is not None])
    return Step(
        kernel=kernel.name,
        rule=kernel.name,
        tier=kernel.tier,
        candidates=candidates,
        trainings=trainings,
        fits=others * (len(candidates) if kernel.fits_each else 1) + len(candidates) * one_out,
        spreads=True,
    )


def _one_out_fits(kernel: AcrossKernel, task: Task, splits: Splits) -> int | None:
    single = splits.train is None and int(splits.held_sizes.max()) == 1
    return kernel.one_out_fits(task, splits) if single else None
