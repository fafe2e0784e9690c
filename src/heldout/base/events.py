"""Events that a running study sends to a listener (``Options(on_event=…)``). They are small, plain and frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyStarted:
    """A study begins; nothing is fitted yet."""

    kind: ClassVar[str] = "study started"
    rows: int
    candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlanned:
    """The steps of a stage are planned: the first stage, or one that waited for a choice."""

    kind: ClassVar[str] = "stage planned"
    stage: int  # from 1
    steps: int
    cells: int
    fits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone:
    """A step is done. `done` and `total` count cells; panels that wait for a choice count one candidate each."""

    kind: ClassVar[str] = "step done"
    kernel: str
    cells: int
    fits: int
    failed: int  # cells of this step that have no answer
    done: int
    total: int
    seconds_left: float | None  # as the cost model sees it; None while nothing is known


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFailed:
    """A cell has no answer. The event says which cell, what was tried, and why it failed."""

    kind: ClassVar[str] = "cell failed"
    panel: str
    part: int
    candidate: str
    error: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLost:
    """A worker process died. `again` says whether its task is tried once more, alone."""

    kind: ClassVar[str] = "worker lost"
    cause: str
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFinished:
    """A study ends. `complete` is False if its time limit came first."""

    kind: ClassVar[str] = "study finished"
    complete: bool
    cells: int
    failed: int
    seconds: float


Event = StudyStarted | StagePlanned | StepDone | CellFailed | WorkerLost | StudyFinished
