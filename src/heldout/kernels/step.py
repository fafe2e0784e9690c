"""A step of a plan, and the work it is done on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heldout.base.rowkeys import Rows
from heldout.kernels.trainings import Held, Training, count_asked
from heldout.losses import Loss
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.study import TrainRef
from heldout.task.task import Task

__all__ = ["TIERS", "Held", "Step", "Training", "Work"]

TIERS = ("identical", "rounding", "statistical", "approximate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One unit of work: every one of these candidates in every one of these trainings."""

    kernel: str
    rule: str  # which rule of the planner put it here
    tier: str
    candidates: tuple[int, ...]
    trainings: Sequence[Training]
    fits: int  # how many fits it takes, or as many as its work is worth; 0 for leave-one-out in closed form
    spreads: bool = (
        False  # it spreads its own work over threads of one process, so it is done where the study was asked
    )
    threads: int = 1  # of the BLAS, fixed by the plan, so that the last bits do not depend on who computes

    @property
    def cells(self) -> int:
        return len(self.candidates) * count_asked(self.trainings)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """All that a step needs to be done: the data, the learner, the rows, and what to keep of the answers."""

    task: Task
    search: Search
    splits: Mapping[str, Splits]
    losses: Mapping[str, tuple[Loss, ...]]  # by level: what chooses, and what is reported
    keep_rows: frozenset[str] = frozenset()  # panels whose row losses are kept
    keep_responses: frozenset[str] = frozenset()  # panels whose responses are kept
    watched: frozenset[tuple[str, int, int]] = frozenset()  # cells, by panel, candidate and part, that will be checked
    fit_params: Mapping[str, Any] = field(default_factory=dict)  # passed to fit; what has a row each is cut to the rows
    config: Mapping[str, Any] = field(default_factory=dict)  # scikit-learn's configuration where the study was asked
    jobs: int = 1  # threads a step that spreads may use; they change no bit
    budget: int = 1 << 30  # bytes of working memory a step may take: it cuts blocks, so it never depends on the machine
    room: int = 1 << 30  # bytes that what kernels keep for later steps may take: it saves time and changes no bit
    products: dict[Any, Any] = field(
        default_factory=dict
    )  # what kernels prepared, by key, for later steps to use again

    def train_rows(self, ref: TrainRef) -> Rows:
        return self.splits[ref.splits].train_rows(ref.part)

    def held_rows(self, held: Held) -> Rows:
        return self.splits[held.splits].held_sides[held.part]
