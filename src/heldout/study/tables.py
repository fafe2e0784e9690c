"""Tables: the answers of panels as columns, filled as cells come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses, cut_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a cell has no answer, and where."""

    kind: str  # the exception's name
    message: str
    traceback: str
    stage: str  # "fit", "predict" or "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class FitWarning:
    """One warning that a fit gave."""

    category: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellAnswer:
    """The answer of one cell: its mean loss for each loss of the study, and what was asked to be kept."""

    panel: str
    candidate: int
    part: int
    losses: tuple[float, ...]
    rows: tuple[NDArray[np.float64] | None, ...] | None = None
    responses: Responses | None = None
    watched: Responses | None = None  # where the cell will be checked
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    failure: Failure | None = None
    warnings: tuple[FitWarning, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockAnswer:
    """The answers of several candidates on several parts of one panel, in columns: what a kernel gives at once.

    The held-out rows of the parts stand end to end, `cuts` says where each begins and the last ends.
    """

    panel: str
    candidates: tuple[int, ...]
    parts: range
    losses: NDArray[np.float64]  # candidates × parts × losses
    cuts: NDArray[np.intp]
    rows: tuple[NDArray[np.float64] | None, ...] | None = None  # for each loss: candidates × rows
    responses: tuple[Responses, ...] | None = None  # for each candidate: all rows
    watched: Mapping[tuple[int, int], Responses] = field(default_factory=dict)  # of cells that will be checked
    seconds: float = 0.0  # of the whole block

    def place(self, candidate: int, part: int) -> tuple[int, slice] | None:
        """Where a cell stands in the block, if it does."""
        if candidate not in self.candidates or part not in self.parts:
            return None
        start = part - self.parts.start
        return self.candidates.index(candidate), slice(int(self.cuts[start]), int(self.cuts[start + 1]))


Answer = CellAnswer | BlockAnswer


def mean_over_parts(losses: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The mean over parts, the second axis: each counts once, or as much as its rows weigh where they have weights.

    >>> mean_over_parts(np.array([[1.0, 4.0]]), None), mean_over_parts(np.array([[1.0, 4.0]]), np.array([2.0, 1.0]))
    (array([2.5]), array([2.]))
    """
    if weights is None:
        return np.asarray(losses.mean(axis=1))
    return np.asarray(np.average(losses, axis=1, weights=weights))


@dataclass(kw_only=True, eq=False)
class RowLosses:
    """The row losses of single cells in columns: for each loss and part, candidates × rows.

    As objects of their own, those of half a million cells would take several times the room.
    """

    there: NDArray[np.bool_]  # candidates × parts
    parts: list[list[NDArray[np.float64] | None]]  # for each loss, by part; None where none was kept

    @classmethod
    def empty(cls, shape: tuple[int, ...], losses: int, sizes: NDArray[np.intp] | None) -> RowLosses:
        """With the sizes of parts all room is taken now; else that of a part when its first cell comes."""
        every: list[list[NDArray[np.float64] | None]] = [
            [None if sizes is None else np.full((shape[0], int(sizes[part])), np.nan) for part in range(shape[1])]
            for _ in range(losses)
        ]
        return cls(there=np.zeros(shape, dtype=bool), parts=every)

    def put(self, place: tuple[Any, int], rows: tuple[NDArray[np.float64] | None, ...]) -> None:
        """The rows of one candidate on a part, or of several, one below the other."""
        candidate, part = place
        for own, one in zip(self.parts, rows, strict=True):
            matrix = own[part]
            if one is None:
                own[part] = None  # a loss of whole sets has no rows
            elif matrix is None or matrix.shape[1] != one.shape[-1]:
                own[part] = matrix = np.full((len(self.there), one.shape[-1]), np.nan)
            if one is not None and matrix is not None:
                matrix[candidate] = one
        self.there[place] = True

    def get(self, place: tuple[int, int]) -> tuple[NDArray[np.float64] | None, ...] | None:
        if not self.there[place]:
            return None
        found = [own[place[1]] for own in self.parts]
        return tuple(None if one is None else one[place[0]] for one in found)

    def fill(self, matrix: NDArray[np.float64], number: int, starts: NDArray[np.intp]) -> None:
        """Put the losses of one number into a matrix of candidates × rows of all parts."""
        for part, one in enumerate(self.parts[number]):
            if one is not None:
                own = self.there[:, part]
                matrix[own, starts[part] : starts[part + 1]] = one[own]


@dataclass(kw_only=True, eq=False)
class PanelTable:
    """The answers of one panel. Losses are inside sign, NaN where not answered or failed."""

    candidates: range
    parts: range
    losses: NDArray[np.float64]  # candidates × parts × losses
    fit_seconds: NDArray[np.float64]
    score_seconds: NDArray[np.float64]
    answered: NDArray[np.bool_]
    failures: dict[tuple[int, int], Failure] = field(default_factory=dict)
    sizes: NDArray[np.intp] | None = None  # held-out rows of each part, where they are known
    weights: NDArray[np.float64] | None = (
        None  # of each part: the sum of its held-out rows' weights, where they have any
    )
    watched: dict[tuple[int, int], Responses] = field(default_factory=dict)  # of cells that will be checked
    _kept: RowLosses | None = None  # of single cells
    _responses: dict[tuple[int, int], Responses] = field(default_factory=dict)
    _blocks: list[BlockAnswer] = field(default_factory=list)

    @classmethod
    def empty(
        cls, candidates: range, parts: range, losses: int, *, sizes: Any = None, weights: Any = None
    ) -> PanelTable:
        shape = (len(candidates), len(parts))
        return cls(
            candidates=candidates,
            parts=parts,
            losses=np.full((*shape, losses), np.nan),
            fit_seconds=np.zeros(shape),
            score_seconds=np.zeros(shape),
            answered=np.zeros(shape, dtype=bool),
            sizes=sizes,
            weights=weights,
        )

    @property
    def complete(self) -> bool:
        return bool(self.answered.all())

    def put(self, answer: Answer) -> None:
        if isinstance(answer, BlockAnswer):
            self._put_block(answer)
            return
        place = (answer.candidate - self.candidates.start, answer.part - self.parts.start)
        self.losses[place] = answer.losses
        self.fit_seconds[place] = answer.fit_seconds
        self.score_seconds[place] = answer.score_seconds
        self.answered[place] = True
        self.failures.pop((answer.candidate, answer.part), None)  # a cell that is answered again says it anew
        if answer.failure is not None:
            self.failures[answer.candidate, answer.part] = answer.failure
        if answer.rows is not None:
            self._room(len(answer.rows)).put(place, answer.rows)
        if answer.responses is not None:
            self._responses[answer.candidate, answer.part] = answer.responses
        if answer.watched is not None:
            self.watched[answer.candidate, answer.part] = answer.watched

    def put_cells(
        self,
        candidates: NDArray[np.intp],
        part: int,
        losses: NDArray[np.float64],
        rows: tuple[NDArray[np.float64] | None, ...] | None,
        *,
        seconds: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> None:
        """Several candidates on one part: losses, row losses where they are kept, seconds to fit and to score."""
        places = candidates - self.candidates.start, part - self.parts.start
        self.losses[places] = losses
        self.fit_seconds[places], self.score_seconds[places] = seconds
        self.answered[places] = True
        if rows is not None and len(candidates):
            self._room(len(rows)).put(places, rows)

    def forget(self, candidates: Sequence[int], parts: Sequence[int]) -> NDArray[np.bool_]:
        """As if these candidates had never been answered on these parts; gives candidates × parts, True where so."""
        gone = np.zeros(self.answered.shape, dtype=bool)
        gone[self._places(candidates, parts)] = True
        self.losses[gone] = np.nan
        self.fit_seconds[gone] = self.score_seconds[gone] = 0.0
        self.answered[gone] = False
        if self._kept is not None:
            self._kept.there[gone] = False
        for known in (self.failures, self.watched, self._responses):
            for candidate, part in list(known):
                if gone[candidate - self.candidates.start, part - self.parts.start]:
                    del known[candidate, part]
        self._blocks = [one for one in self._blocks if not gone[self._places(one.candidates, one.parts)].all()]
        return gone

    def _places(self, candidates: Sequence[int], parts: Sequence[int]) -> Any:
        return np.ix_([c - self.candidates.start for c in candidates], [p - self.parts.start for p in parts])

    def _room(self, losses: int) -> RowLosses:
        if self._kept is None:
            self._kept = RowLosses.empty(self.answered.shape, losses, self.sizes)
        return self._kept

    def _put_block(self, block: BlockAnswer) -> None:
        places = self._places(block.candidates, block.parts)
        self.losses[places] = block.losses
        self.fit_seconds[places] = block.seconds / max(1, block.losses.shape[0] * block.losses.shape[1])
        self.answered[places] = True
        self.watched.update(block.watched)
        if block.rows is not None or block.responses is not None:
            self._blocks.append(block)

    def row_losses(self, candidate: int, part: int) -> tuple[NDArray[np.float64] | None, ...] | None:
        """The row losses of one cell, for each loss, where they were kept."""
        place = (candidate - self.candidates.start, part - self.parts.start)
        kept = None if self._kept is None else self._kept.get(place)
        if kept is not None:
            return kept
        for block in self._blocks:
            inside = block.place(candidate, part)
            if inside is not None and block.rows is not None:
                return tuple(None if one is None else one[inside] for one in block.rows)
        return None

    def row_matrix(self, number: int, sizes: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """The losses of every candidate on the rows of all parts end to end; None where some were not kept.

        `number` says which loss, `sizes` how many rows each part holds out.
        """
        starts = np.concatenate([[0], np.cumsum(sizes)])
        matrix = np.full((len(self.candidates), int(starts[-1])), np.nan)
        for block in self._blocks:
            kept = None if block.rows is None else block.rows[number]
            if kept is not None:
                first, last = block.parts.start - self.parts.start, block.parts.stop - self.parts.start
                places = [candidate - self.candidates.start for candidate in block.candidates]
                matrix[places, starts[first] : starts[last]] = kept
        if self._kept is not None:
            self._kept.fill(matrix, number, starts)
        return None if np.isnan(matrix).any() else matrix

    def responses(self, candidate: int, part: int) -> Responses | None:
        """The responses of one cell, where they were kept."""
        if (candidate, part) in self._responses:
            return self._responses[candidate, part]
        for block in self._blocks:
            place = block.place(candidate, part)
            if place is not None and block.responses is not None:
                return cut_rows(block.responses[place[0]], place[1])
        return None


@dataclass(kw_only=True, eq=False)
class Tables:
    """All answers of a study, by panel, and the warnings its fits gave."""

    panels: dict[str, PanelTable] = field(default_factory=dict)
    warnings: dict[tuple[str, str], list[tuple[str, int, int]]] = field(default_factory=dict)
    asides: dict[str, PanelTable] = field(default_factory=dict)  # by name, of what no panel asks: for intervals alone

    def __getitem__(self, panel: str) -> PanelTable:
        return self.asides[panel] if panel in self.asides else self.panels[panel]

    def open(
        self, key: str, candidates: range, parts: range, losses: int, *, sizes: Any = None, weights: Any = None
    ) -> None:
        """An empty table of a panel, once. With the sizes of its parts all room it needs is taken at once."""
        if key not in self.panels:
            self.panels[key] = PanelTable.empty(candidates, parts, losses, sizes=sizes, weights=weights)

    def open_aside(self, name: str, candidate: int, parts: int) -> None:
        """An empty table of one candidate that no panel asks. Its failures and warnings are not those of the study."""
        if name not in self.asides:
            self.asides[name] = PanelTable.empty(range(candidate, candidate + 1), range(parts), 1)

    def put(self, answer: Answer) -> None:
        self[answer.panel].put(answer)
        if isinstance(answer, BlockAnswer) or answer.panel in self.asides:
            return
        for warning in answer.warnings:
            places = self.warnings.setdefault((warning.category, warning.message), [])
            places.append((answer.panel, answer.candidate, answer.part))

    def forget(self, candidates: Sequence[int], sides: Iterable[tuple[str, int]]) -> None:
        """As if these candidates had never been answered on these parts of panels."""
        parts: dict[str, list[int]] = {}
        for panel, part in sides:
            parts.setdefault(panel, []).append(part)
        gone = {panel: self[panel].forget(candidates, own) for panel, own in parts.items()}

        def is_gone(panel: str, candidate: int, part: int) -> bool:
            table = self.panels[panel]
            return panel in gone and bool(gone[panel][candidate - table.candidates.start, part - table.parts.start])

        left = {told: [cell for cell in cells if not is_gone(*cell)] for told, cells in self.warnings.items()}
        self.warnings = {told: cells for told, cells in left.items() if cells}

    def warnings_in_order(self) -> list[tuple[str, str, list[tuple[str, int, int]]]]:
        """Each warning with its cells, in the order of the study, whatever the order in which cells were answered."""
        places = {panel: place for place, panel in enumerate(self.panels)}

        def order(cell: tuple[str, int, int]) -> tuple[int, int, int]:
            return places[cell[0]], cell[1], cell[2]

        found = [(kind, text, sorted(cells, key=order)) for (kind, text), cells in self.warnings.items()]
        return sorted(found, key=lambda one: (order(one[2][0]), one[0], one[1]))

    def failures(self) -> list[tuple[str, int, int, Failure]]:
        """Every failed cell, in the order of panels, candidates and parts."""
        found: list[tuple[str, int, int, Failure]] = []
        for key, table in self.panels.items():
            found += [(key, c, p, failure) for (c, p), failure in sorted(table.failures.items(), key=lambda kv: kv[0])]
        return found
