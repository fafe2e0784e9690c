"""Tables: the answers of panels as columns, filled as cells are answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses, cut_rows
from heldout.study.study import TEST, Panel, Study, TrainRef, aside_of

Cell = tuple[int, int]  # candidate and part
Rows = tuple[NDArray[np.float64] | None, ...]  # for each loss; None for a loss of whole sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Says why a cell has no answer, and where it failed."""

    kind: str  # the exception's class name
    message: str
    traceback: str
    stage: str  # "fit", "predict" or "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class FitWarning:
    """Holds one warning that a fit gave."""

    category: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """The answers of several candidates on adjacent parts of one panel, in columns. A cell is a block of one by one.

    The held-out rows of the parts are concatenated. A loss that could not be computed is NaN.
    """

    panel: str
    candidates: tuple[int, ...]
    parts: range
    losses: NDArray[np.float64]  # candidates × parts × losses
    rows: Rows | None = None  # for each loss: candidates × rows
    responses: tuple[Responses, ...] | None = None  # for each candidate: all rows
    watched: Mapping[Cell, Responses] = field(default_factory=dict)  # of cells that will be checked
    fit_seconds: float | NDArray[np.float64] = 0.0  # of a cell, or of each: candidates × parts
    score_seconds: float | NDArray[np.float64] = 0.0
    failures: Mapping[Cell, Failure] = field(default_factory=dict)
    warnings: Mapping[Cell, tuple[FitWarning, ...]] = field(default_factory=dict)

    @classmethod
    def of_cell(cls, panel: str, cell: Cell, losses: Sequence[float], **columns: Any) -> Self:
        """Return the answer of one cell: its losses, and other columns by their names here."""
        numbers = np.array(losses, dtype=np.float64).reshape(1, 1, -1)
        return cls(panel=panel, candidates=cell[:1], parts=range(cell[1], cell[1] + 1), losses=numbers, **columns)

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.candidates) * len(self.parts)

    @property
    def cells(self) -> Iterator[Cell]:
        return product(self.candidates, self.parts)

    def warned(self, before: tuple[FitWarning, ...]) -> Self:
        """Return the same answer, with these warnings before each cell's own."""
        if not before:
            return self
        return replace(self, warnings={cell: (*before, *self.warnings.get(cell, ())) for cell in self.cells})


def mean_over_parts(losses: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the mean over parts (axis 1). With `weights` each part counts as much as its rows weigh, otherwise once.

    >>> mean_over_parts(np.array([[1.0, 4.0]]), None), mean_over_parts(np.array([[1.0, 4.0]]), np.array([2.0, 1.0]))
    (array([2.5]), array([2.]))
    """
    if weights is None:
        return np.asarray(losses.mean(axis=1))
    return np.asarray(np.average(losses, axis=1, weights=weights))


@dataclass(kw_only=True, eq=False)
class PanelTable:
    """The answers of one panel. Losses are lower-is-better, and NaN where a cell is not answered or failed.

    The row losses of all cells are one matrix for each loss. As separate arrays, those of half a million cells would
    take several times the memory.
    """

    candidates: range
    parts: range
    losses: NDArray[np.float64]  # candidates × parts × losses
    fit_seconds: NDArray[np.float64]
    score_seconds: NDArray[np.float64]
    answered: NDArray[np.bool_]
    cuts: NDArray[np.intp]  # where each part's held-out rows begin and the last ends, among all concatenated
    weights: NDArray[np.float64] | None = None  # of each part: the sum of its rows' weights, where they have any
    failures: dict[Cell, Failure] = field(default_factory=dict)
    warnings: dict[Cell, tuple[FitWarning, ...]] = field(default_factory=dict)
    watched: dict[Cell, Responses] = field(default_factory=dict)  # of cells that will be checked
    _told: dict[Any, tuple[FitWarning, ...]] = field(default_factory=dict)  # warnings of many cells are kept once
    _rows: list[NDArray[np.float64] | None] | None = None  # for each loss: candidates × rows of all parts
    _has_rows: NDArray[np.bool_]  # candidates × parts
    _responses: list[tuple[slice, Responses]] = field(default_factory=list)  # with the places of the parts of each
    _place: NDArray[np.intp]  # candidates × parts: in the list above, −1 where none were kept

    @classmethod
    def empty(
        cls, candidates: range, parts: range, losses: int, *, sizes: Sequence[int] | NDArray[Any], weights: Any = None
    ) -> PanelTable:
        """Return a table without answers. `sizes` are the numbers of held-out rows of the parts."""
        shape = (len(candidates), len(parts))
        return cls(
            candidates=candidates,
            parts=parts,
            losses=np.full((*shape, losses), np.nan),
            fit_seconds=np.zeros(shape),
            score_seconds=np.zeros(shape),
            answered=np.zeros(shape, dtype=bool),
            cuts=np.append(0, np.cumsum(sizes)).astype(np.intp),
            weights=weights,
            _has_rows=np.zeros(shape, dtype=bool),
            _place=np.full(shape, -1),
        )

    @property
    def complete(self) -> bool:
        return bool(self.answered.all())

    def put(self, answer: Answer) -> None:
        """Store an answer. It replaces earlier answers of its cells."""
        lines = [candidate - self.candidates.start for candidate in answer.candidates]
        parts = slice(answer.parts.start - self.parts.start, answer.parts.stop - self.parts.start)
        places = lines, parts
        self.losses[places] = answer.losses
        self.fit_seconds[places] = answer.fit_seconds
        self.score_seconds[places] = answer.score_seconds
        self.answered[places] = True
        for kept in (self.failures, self.warnings):
            for cell in answer.cells if kept else ():
                kept.pop(cell, None)
        self.failures.update(answer.failures)
        self.warnings.update((cell, self._told.setdefault(kept, kept)) for cell, kept in answer.warnings.items())
        self.watched.update(answer.watched)
        self._has_rows[places] = answer.rows is not None
        if answer.rows is not None:
            if self._rows is None:
                shape = (len(self.candidates), int(self.cuts[-1]))
                self._rows = [None if losses is None else np.full(shape, np.nan) for losses in answer.rows]
            for matrix, losses in zip(self._rows, answer.rows, strict=True):
                if matrix is not None:
                    matrix[lines, self.cuts[parts.start] : self.cuts[parts.stop]] = losses
        self._place[places] = -1
        for line, responses in zip(lines, answer.responses or (), strict=False):
            self._place[line, parts] = len(self._responses)
            self._responses.append((parts, responses))

    def forget(self, candidates: Sequence[int], parts: Sequence[int]) -> None:
        """Remove the answers of these candidates on these parts, as if they had never been given."""
        gone = np.zeros(self.answered.shape, dtype=bool)
        gone[np.ix_(np.array(candidates) - self.candidates.start, np.array(parts) - self.parts.start)] = True
        self.losses[gone] = np.nan
        self.fit_seconds[gone] = self.score_seconds[gone] = 0.0
        self.answered[gone] = self._has_rows[gone] = False
        self._place[gone] = -1
        known: dict[Cell, Any]
        for known in (self.failures, self.warnings, self.watched):
            for candidate, part in list(known):
                if gone[candidate - self.candidates.start, part - self.parts.start]:
                    del known[candidate, part]

    def row_losses(self, candidate: int, part: int) -> Rows | None:
        """Return the row losses of one cell, one array a loss; None where they were not kept."""
        line, number = candidate - self.candidates.start, part - self.parts.start
        if self._rows is None or not self._has_rows[line, number]:
            return None
        rows = slice(self.cuts[number], self.cuts[number + 1])
        return tuple(None if matrix is None else matrix[line, rows] for matrix in self._rows)

    def row_matrix(self, number: int) -> NDArray[np.float64] | None:
        """Return loss `number` of every candidate on the rows of all parts; None where some were not kept."""
        matrix = None if self._rows is None or not self._has_rows.all() else self._rows[number]
        return None if matrix is None or np.isnan(matrix).any() else matrix

    def responses(self, candidate: int, part: int) -> Responses | None:
        """Return the responses of one cell, or None where they were not kept."""
        place = part - self.parts.start
        number = self._place[candidate - self.candidates.start, place]
        if number < 0:
            return None
        parts, responses = self._responses[int(number)]
        if parts.stop - parts.start == 1:
            return responses
        start, stop = self.cuts[place : place + 2] - self.cuts[parts.start]
        return cut_rows(responses, slice(start, stop))


@dataclass(kw_only=True, eq=False)
class Tables:
    """All answers of a study, by panel."""

    panels: dict[str, PanelTable] = field(default_factory=dict)
    asides: dict[str, PanelTable] = field(default_factory=dict)  # extra predictions for intervals, by name

    def __getitem__(self, panel: str) -> PanelTable:
        return self.asides[panel] if panel in self.asides else self.panels[panel]

    def open(self, study: Study, panels: Iterable[Panel], *, weight: NDArray[np.float64] | None = None) -> None:
        """Add an empty table for each of these panels, once. `weight` are the rows' weights; None: they have none."""
        for panel in panels:
            if panel.key in self.panels:
                continue
            assert panel.candidates is not None, "a panel that waits has no cells"
            splits, run = study.splits[panel.splits], slice(panel.parts.start, panel.parts.stop)
            weights = None if weight is None else splits.held_sums(weight)[run]
            losses, sizes = len(study.losses_at(panel.level)), splits.held_sizes[run]
            table = PanelTable.empty(panel.candidates, panel.parts, losses, sizes=sizes, weights=weights)
            self.panels[panel.key] = table

    def open_aside(self, name: str, candidate: int, sizes: NDArray[np.intp]) -> None:
        """Add an empty table for extra predictions of one candidate.

        Its failures and warnings do not count for the study.
        """
        if name not in self.asides:
            line, parts = range(candidate, candidate + 1), range(len(sizes))
            self.asides[name] = PanelTable.empty(line, parts, 1, sizes=sizes)

    def everywhere(self, study: Study) -> list[tuple[int, tuple[TrainRef, ...], Responses]]:
        """Return what predictors of test parts answered on the rows of EVERYWHERE: part, training sides, responses."""
        tested = study.of_level(TEST)
        found: list[tuple[int, tuple[TrainRef, ...], Responses]] = []
        for place, part in enumerate(study.everywhere.parts):
            panel = next(panel for panel in tested if part in panel.parts)
            table = self.asides.get(aside_of(panel.candidates[0])) if panel.candidates else None
            responses = None if table is None else table.responses(table.candidates[0], place)
            if responses is not None:
                found.append((part, panel.trains_of(part), responses))
        return found

    def put(self, answer: Answer) -> None:
        self[answer.panel].put(answer)

    def forget(self, candidates: Sequence[int], sides: Iterable[tuple[str, int]]) -> None:
        """Remove the answers of these candidates on these (panel, part) pairs, as if they had never been given."""
        parts: dict[str, list[int]] = {}
        for panel, part in sides:
            parts.setdefault(panel, []).append(part)
        for panel, numbers in parts.items():
            self[panel].forget(candidates, numbers)

    def warnings_in_order(self) -> list[tuple[str, str, list[tuple[str, int, int]]]]:
        """Return each warning with its cells, in the order of the study, not that in which cells were answered."""
        found: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
        for key, table in self.panels.items():
            for cell in sorted(table.warnings):
                for category, message in sorted((one.category, one.message) for one in table.warnings[cell]):
                    found.setdefault((category, message), []).append((key, *cell))
        return [(*warning, cells) for warning, cells in found.items()]

    def failures(self) -> list[tuple[str, int, int, Failure]]:
        """Return every failed cell, in the order of panels, candidates and parts."""
        panels = self.panels.items()
        return [(key, *cell, table.failures[cell]) for key, table in panels for cell in sorted(table.failures)]
