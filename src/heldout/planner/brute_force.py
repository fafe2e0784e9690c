"""The plan every study begins as: one fit for each candidate and training set of each panel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from heldout.kernels.step import Held, Step, Training
from heldout.study.panels import Panel

MOST_STEPS = 20_000  # past this, several candidates share a step, so that planning stays cheap


def plan_brute_force(panels: Iterable[Panel]) -> tuple[Step, ...]:
    """Steps of as few candidates as the number of cells allows; the batch size depends on counts alone."""
    panels = tuple(panels)
    cells = sum(len(p.candidates or ()) * len(p.parts) for p in panels)
    batch = max(1, ceil(cells / MOST_STEPS))
    return tuple(step for panel in panels for step in _steps_of(panel, batch))


def _steps_of(panel: Panel, batch: int) -> Iterator[Step]:
    candidates = panel.candidates or range(0)
    for part in panel.parts:
        for start in range(0, len(candidates), batch):
            together = tuple(candidates[start : start + batch])
            held = Held(panel.key, panel.level, panel.splits, part)
            training = Training(panel.trains_of(part), panel.averaged, (held,))
            yield Step(
                kernel="brute",
                rule="brute force",
                tier="identical",
                candidates=together,
                trainings=(training,),
                fits=len(together) * len(training.trains),
            )
