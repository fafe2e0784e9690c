"""The validity of a plan: every cell of its panels answered exactly once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from heldout.kernels.step import Step
from heldout.study.panels import Panel


def verify(steps: Iterable[Step], panels: Iterable[Panel], *, after: str) -> None:
    """Raise AssertionError, naming the pass, when a cell is answered never or twice: that is a bug in heldout."""
    counts = {p.key: np.zeros((len(p.candidates or ()), len(p.parts)), dtype=np.int16) for p in panels}
    starts = {p.key: ((p.candidates or range(0)).start, p.parts.start) for p in panels}
    for step in steps:
        parts: dict[str, list[int]] = {}
        for training in step.trainings:
            for held in training.answers:
                parts.setdefault(held.panel, []).append(held.part)
        for panel, numbers in parts.items():
            first, start = starts[panel]
            places = np.ix_(np.array(step.candidates) - first, np.array(numbers) - start)
            np.add.at(counts[panel], places, 1)
    for key, count in counts.items():
        if not (count == 1).all():
            wrong = int(np.count_nonzero(count != 1))
            raise AssertionError(f"After pass {after!r}, {wrong} cells of panel {key!r} are not answered exactly once.")
