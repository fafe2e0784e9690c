"""Claims: which candidates of a search a kernel answers together, decided before any fit, and why not the others."""

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
    """Holds the groups of candidates that a kernel answers together, and a reason for each kind that it refuses."""

    groups: tuple[tuple[int, ...], ...] = ()
    refusals: tuple[str, ...] = ()


class AcrossKernel(ABC):
    """Base class of kernels that answer many training sets of one learner family from shared intermediate results.

    A kernel is asked only about searches that may contain one of its `models`. `words` names these models in refusals.
    """

    name: str  # also the rule's name: "ridge"
    tier: str = "rounding"
    models: Collection[type]  # the types of the last step that it knows
    words: str
    fits_each: str = ""  # if the kernel fits every candidate: what fits share, in words. The plan counts these fits
    # Whether it answers leave-one-out from one decomposition, for which each training must answer its own row alone.
    # Other held-out rows of those trainings are then asked in a step of their own.
    leaves_rows_out: bool = False

    @abstractmethod
    def claim(self, search: Search, task: Task) -> Claims:
        """Return the groups of candidates that the kernel can answer on this task, and why not the others."""

    @abstractmethod
    def refuses(self, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
        """Return why this training must be left to brute force, or None if the kernel answers it."""

    def takes_all(self, search: Search, task: Task, parts: range, splits: Splits) -> bool:
        """Return whether `refuses` surely accepts all these parts, each with its own rows; if not, ask it for each."""
        return False

    @abstractmethod
    def answer(self, step: Step, work: Work) -> Iterator[Answer]:
        """Yield the scored responses of every candidate of the step in every training."""

    def one_out_fits(self, task: Task, splits: Splits) -> int | None:
        """Return how many fits a candidate the plan counts for this leave-one-out; None means one for each row."""
        return None

    def ignores_origin(self, search: Search, task: Task, candidate: int) -> bool:
        """Return whether responses stay the same, apart from rounding, if a constant is added to a column.

        If so, brute force may check the kernel on columns moved near zero, where it loses no digits.
        """
        return False


def chain_of(estimator: Any) -> list[tuple[str, Any]]:
    """Return the steps of an estimator in order, with nested Pipelines flattened and passthrough steps left out.

    Names are full parameter prefixes: the step ``ridge`` of a Pipeline has the parameters ``ridge__…``. An estimator
    that is not a Pipeline has the name ``""``.
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
    """Return the type of each family's last step, or None if the parameters may replace that step."""
    return remember(search.memo, "last types", lambda: [last_type(family) for family in search.families])


def last_type(family: Family) -> type | None:
    replaced = set(_step_names(family.estimator)) & set(family.candidates.names)
    chain = chain_of(family.estimator)
    return None if replaced or not chain else type(chain[-1][1])


def claim_each(kernels: Iterable[AcrossKernel], search: Search, task: Task) -> dict[str, Claims]:
    """Return each kernel's claims by its name. A kernel that knows none of the models is not asked."""
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
    """Yield each candidate's number and unfitted estimator, to read and to clone, never to fit or change.

    Up to MOST_KEPT candidates are made once and kept, since several kernels and rules read them.
    """
    made = (make_candidate(search, candidate) for candidate in range(len(search)))
    if len(search) > MOST_KEPT:
        yield from enumerate(made)
        return
    yield from enumerate(remember(search.memo, "candidates", lambda: list(made)))


Sorted = tuple[Sequence[Training], Sequence[Training], list[str]]  # trainings: accepted, refused, and why


def sort_out(
    kernel: AcrossKernel, steps: Iterable[Step], search: Search, task: Task, splits: Mapping[str, Splits]
) -> list[Sorted]:
    """Return, for each step, the trainings that the kernel accepts, those that it refuses, and the reasons."""
    return [_sorted(kernel, step, search, task, splits) for step in steps]


def _sorted(kernel: AcrossKernel, step: Step, search: Search, task: Task, splits: Mapping[str, Splits]) -> Sorted:
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
    """Return the step in which a kernel answers these candidates in these trainings.

    It counts as one fit for each training set, times the candidates if the kernel fits each of them. Leave-one-out
    counts as many fits as the kernel says.
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
