"""The validity of a plan: every cell of its panels answered exactly once, by a predictor of the rows it asks for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from heldout.kernels.step import Held, Plain, Training
from heldout.planner.plan import Draft
from heldout.planner.share_fits import train_keys
from heldout.study.study import Panel, TrainRef


def verify(draft: Draft, panels: Collection[Panel], *, after: str, known: dict[int, Training] | None = None) -> None:
    """Raise AssertionError, naming the pass, when the steps do not answer these panels: that is a bug in heldout.

    `known` are trainings that an earlier pass was verified with, by identity; new ones are added to it.
    """
    rows = _RowKeys(draft)
    known = {} if known is None else known
    counts = {p.key: np.zeros((len(p.candidates or ()), len(p.parts)), dtype=np.int16) for p in panels}
    asked = {p.key: p for p in panels}
    for step in draft.steps:
        if len(set(step.candidates)) < len(step.candidates):
            raise AssertionError(f"After pass {after!r}, a step names a candidate twice.")
        parts: dict[str, list[int]] = {}
        for piece in step.pieces:
            if isinstance(piece, Plain):
                if not _is_plainly_asked(asked.get(piece.panel), piece):
                    raise AssertionError(f"After pass {after!r}, {piece} are answered, which no panel asks.")
                parts.setdefault(piece.panel, []).extend(piece.parts)
        for training in [training for piece in step.pieces if not isinstance(piece, Plain) for training in piece]:
            new = id(training) not in known
            for held in training.answers:
                if new and (held.panel not in asked or not _is_asked(asked[held.panel], held, training, rows)):
                    raise AssertionError(
                        f"After pass {after!r}, {training.trains} are to answer {held}, which no panel asks."
                    )
                parts.setdefault(held.panel, []).append(held.part)
            if new:
                known[id(training)] = training  # kept alive, so that its identity stays its own
        for key, numbers in parts.items():
            panel = asked[key]
            candidates = panel.candidates if panel.candidates is not None else range(0)
            if not all(candidate in candidates for candidate in step.candidates):
                raise AssertionError(f"After pass {after!r}, a step answers candidates that {key!r} does not have.")
            places = np.ix_(np.array(step.candidates) - candidates.start, np.array(numbers) - panel.parts.start)
            if len(set(numbers)) < len(numbers):
                raise AssertionError(f"After pass {after!r}, a step answers a part of {key!r} twice.")
            counts[key][places] += 1
    for key, count in counts.items():
        wrong = int(np.count_nonzero(count != _expected(asked[key])))
        if wrong:
            raise AssertionError(f"After pass {after!r}, {wrong} cells of panel {key!r} are not answered exactly once.")


def _expected(panel: Panel) -> Any:
    """How often each cell is to be answered: once, or in a race not at all where this round does not ask it."""
    if panel.asked is None:
        return 1
    times = np.zeros((len(panel.candidates or ()), len(panel.parts)), dtype=np.int16)
    for block in panel.asked:
        times[np.ix_(block.candidates, block.parts)] += 1
    return times


def _is_plainly_asked(panel: Panel | None, plain: Plain) -> bool:
    """Whether the panel wants these parts answered, each by a predictor of its own training rows."""
    if panel is None or panel.trains is not None or panel.averaged:
        return False
    inside = not plain.parts or (plain.parts[0] in panel.parts and plain.parts[-1] in panel.parts)
    return inside and (plain.level, plain.splits) == (panel.level, panel.splits)


class _RowKeys:
    """What identifies the training rows of each part, looked up only where a plan trains on another part's rows."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._keys: dict[str, list[Any]] = {}

    def same(self, one: tuple[TrainRef, ...], other: tuple[TrainRef, ...]) -> bool:
        return one == other or [self._key(ref) for ref in one] == [self._key(ref) for ref in other]

    def _key(self, ref: TrainRef) -> Any:
        if ref.splits not in self._keys:
            self._keys[ref.splits] = train_keys(self._draft.splits[ref.splits], self._draft.task)
        return self._keys[ref.splits][ref.part]


def _is_asked(panel: Panel, held: Held, training: Training, rows: _RowKeys) -> bool:
    """Whether the panel wants this held-out side answered by a predictor trained so."""
    as_panel = (held.level, held.splits, training.averaged) == (panel.level, panel.splits, panel.averaged)
    return as_panel and held.part in panel.parts and rows.same(training.trains, panel.trains_of(held.part))
