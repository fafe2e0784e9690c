"""A plan: the steps that answer the panels which know their candidates, and what still waits."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.kernels.step import Step
from heldout.study.study import Panel, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRecord:
    """What one pass did to the plan."""

    name: str
    fits_before: int
    fits_after: int
    refusals: tuple[str, ...] = ()  # why it left what it left
    used: bool = False
    note: str = ""  # what it saved besides fits
    transforms: tuple[int, int] = (0, 0)  # fits of transformers before and after, where it shares those
    seconds: float = 0.0


def transform_words(before: int, after: int) -> str:
    """What sharing transformers saved, in words."""
    return f"{before:,} → {after:,} transformer fits" if after < before else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps of one stage. It depends on the question alone, never on what has finished."""

    steps: tuple[Step, ...]
    passes: tuple[PassRecord, ...] = ()

    @property
    def fits(self) -> int:
        return sum(step.fits for step in self.steps)

    @property
    def cells(self) -> int:
        return sum(step.cells for step in self.steps)


def ready_panels(study: Study, done: frozenset[str]) -> tuple[Panel, ...]:
    """Panels that know their candidates and were not part of an earlier stage, and those with a round to run."""
    known = (panel for panel in study.panels if panel.candidates is not None)
    return tuple(panel for panel in known if panel.key not in done or panel.asked is not None)
