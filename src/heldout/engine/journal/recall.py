"""A study and its journal: what is known is put into the tables, what is computed is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from heldout.engine.journal.code import digest
from heldout.engine.journal.codec import NotPlain, decode, encode
from heldout.engine.journal.keys import Places, StudyKeys, keyed_by_cell
from heldout.engine.journal.lookup import CandidateLookup
from heldout.engine.journal.records import Asking, Record, cell_answer, cells_record, step_answers, step_record
from heldout.engine.journal.store import Row, Store
from heldout.engine.journal.use import JournalUse, NoJournal
from heldout.engine.spots import Spot, SpotCheck
from heldout.kernels.step import Held, Step, Work
from heldout.study.tables import Answer, BlockAnswer, CellAnswer, PanelTable, Tables

# Failures that say more about the machine and the moment than about the learner: the next run tries again.
PASSING_FAILURES = frozenset({"WorkerDied", "OutOfMemory", "FitTimeout", "FitMemory", "KilledWorker", "MemoryError"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Panels of which the journal holds more than the study at hand needs."""

    rows: frozenset[str] = frozenset()
    responses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Which cells of one part of a panel are asked by cell, and which of them are known."""

    start: int  # the panel's first candidate
    asked: NDArray[np.bool_]
    known: NDArray[np.bool_]


class StudyJournal(NoJournal):
    """The journal as one study sees it.

    `asking` is what the study needs of each answer. `salt` sets answers apart that replace those of a kernel.
    """

    def __init__(self, store: Store, keys: StudyKeys, asking: Asking, kept: Kept, *, salt: bytes = b"") -> None:
        self._store, self._keys, self._asking, self._kept, self._salt = store, keys, asking, kept, salt
        self._parts: dict[tuple[str, int], _Part] = {}
        self.use: JournalUse = JournalUse(path=str(store.path))

    def widened(self, work: Work) -> Work:
        """The work, with all kept of each answer that the journal is to hold."""
        rows, responses = work.keep_rows | self._kept.rows, work.keep_responses | self._kept.responses
        return replace(work, keep_rows=rows, keep_responses=responses)

    def instead_of(self, kernel: str, steps: Sequence[Step]) -> StudyJournal:
        """The journal for answers that replace those of a kernel which failed its check; its own cells are dropped."""
        sides = {side for step in steps if keyed_by_cell(step) for t in step.trainings for side in self._keys.sides(t)}
        self._store.write([("DELETE FROM cells WHERE side = ?", (self._salted(side),)) for side in sorted(sides)])
        other = StudyJournal(self._store, self._keys, self._asking, self._kept, salt=kernel.encode())
        other.use = self.use
        return other

    # What is known.

    def recall(self, steps: Sequence[Step], tables: Tables) -> list[Step]:
        """Put all answers that are known into the tables; the steps that are left, cut to what is not known."""
        self._recall_cells([step for step in steps if keyed_by_cell(step)], tables)
        known = self._recall_steps([step for step in steps if not keyed_by_cell(step)], tables)
        left = (self._cut(step) if keyed_by_cell(step) else None if id(step) in known else step for step in steps)
        return [step for step in left if step is not None]

    def _recall_cells(self, steps: Sequence[Step], tables: Tables) -> None:
        asked = self._ask_cells(steps, tables)
        lookup = CandidateLookup(self._keys.candidates)
        told: dict[str, NDArray[np.float64]] = {}  # losses of the cells of one side, by the key of the loss
        before = b""
        with closing(self._store.rows("cells", asked)) as rows:
            for side, content in rows:
                if side != before:
                    told, before = {}, side
                record = decode(content)
                candidates, places = lookup.find(record["candidates"])
                self._compare(record, (candidates, places), told)
                for held in asked[side]:
                    self._take(record, (candidates, places), held, tables)

    def _ask_cells(self, steps: Sequence[Step], tables: Tables) -> dict[bytes, list[Held]]:
        """The keys of all sides that steps answer by cell. Many steps share a training, each for some candidates.

        In a race one stage after the other asks for more candidates on the same side.
        """
        asked: dict[bytes, list[Held]] = {}
        here: set[tuple[str, int]] = set()
        for step in steps:
            numbers = np.array(step.candidates)
            for training in step.trainings:
                for held in training.answers:
                    place = (held.panel, held.part)
                    if place not in self._parts:
                        self._parts[place] = _empty_part(tables[held.panel])
                    if place not in here:
                        here.add(place)
                        sides = dict(zip(training.answers, self._keys.sides(training), strict=True))
                        asked.setdefault(self._salted(sides[held]), []).append(held)
                    part = self._parts[place]
                    part.asked[numbers - part.start] = True
        return asked

    def _take(
        self, record: Record, found: tuple[NDArray[np.intp], NDArray[np.intp]], held: Held, tables: Tables
    ) -> None:
        """Put the cells of one record that are asked and not known yet."""
        part, (candidates, places) = self._parts[held.panel, held.part], found
        inside = (candidates >= part.start) & (candidates < part.start + len(part.asked))
        candidates, places = candidates[inside], places[inside]
        new = part.asked[candidates - part.start] & ~part.known[candidates - part.start]
        candidates, first = np.unique(candidates[new], return_index=True)  # equal candidates stand in a record twice
        places = places[new][first]
        rows = self._all_at_once(record, held, places)
        if rows is not None:
            tables[held.panel].put_cells(
                candidates,
                held.part,
                record["losses"][places],
                rows or None,
                seconds=(record["fit"][places], record["score"][places]),
            )
            part.known[candidates - part.start] = True
            self.use.recalled += len(candidates)
            return
        extras = dict(record["extras"])
        for candidate, place in zip(candidates.tolist(), places.tolist(), strict=True):
            answer = cell_answer(record, place, extras.get(place, {}), (held, candidate), self._asking)
            if answer is not None:
                tables.put(answer)
                part.known[candidate - part.start] = True
                self.use.recalled += _cells(answer, tables)

    def _all_at_once(
        self, record: Record, held: Held, places: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64] | None, ...] | None:
        """The row losses of these cells for each loss, none where none are needed; None where each cell is to be read.

        A study of many small cells goes on in seconds because its cells are not looked at one by one.
        """
        work = self._asking.work
        same = record["asked"] == list(self._asking.losses[held.level])
        if not same or record["extras"] or held.panel in work.keep_responses:
            return None
        if held.panel not in work.keep_rows:
            return ()
        kept = record["stacked"] and record["stacked"]["rows"]
        if not kept or np.isnan(record["losses"][places]).any():
            return None
        return tuple(None if one is None else one[places] for one in kept)

    def _compare(
        self, record: Record, found: tuple[NDArray[np.intp], NDArray[np.intp]], told: dict[str, NDArray[np.float64]]
    ) -> None:
        """Compare the losses in a record with those that earlier records told of the same cells."""
        candidates, places = found
        for number, loss in enumerate(record["asked"]):
            first = told.setdefault(loss, np.full(len(self._keys.candidates), np.nan))
            values = record["losses"][places, number]
            differ = ~np.isnan(first[candidates]) & ~np.isnan(values) & (first[candidates] != values)
            for candidate in candidates[differ].tolist():
                self.use.note_repeat(self._asking.work.search.describe(candidate))
            first[candidates] = np.where(np.isnan(first[candidates]), values, first[candidates])

    def _recall_steps(self, steps: Sequence[Step], tables: Tables) -> set[int]:
        """Put the answers of the steps that are known, each whole; the identities of those steps."""
        asked = {self._salted(self._keys.step(step)): step for step in steps}
        known = set()
        with closing(self._store.rows("steps", asked)) as rows:
            for key, content in rows:
                step = asked[key]
                answers = step_answers(decode(content), step.candidates, Places(step), self._asking)
                if answers is None:
                    continue
                for answer in answers:
                    tables.put(answer)
                    self.use.recalled += _cells(answer, tables)
                known.add(id(step))
        return known

    def _cut(self, step: Step) -> Step | None:
        """The step without the candidates whose every side is known; None where nothing is left."""
        candidates = np.array(step.candidates)
        done = np.ones(len(candidates), dtype=bool)
        for held in _sides(step):
            part = self._parts[held.panel, held.part]
            done &= part.known[candidates - part.start]
        if not done.any():
            return step
        if done.all():
            return None
        left = tuple(candidates[~done].tolist())
        return replace(step, candidates=left, fits=ceil(step.fits * len(left) / len(candidates)))

    # What is computed.

    def keep(self, step: Step, answers: Sequence[Answer], tables: Tables) -> Sequence[Answer]:
        """Keep the answers of a step; what of them belongs into the tables. Of two answers the first stays."""
        by_cell = keyed_by_cell(step)
        if by_cell:
            answers = [one for one in answers if isinstance(one, CellAnswer) and self._is_new(one, tables)]
        try:
            rows = list(self._cell_rows(step, answers) if by_cell else self._step_rows(step, answers))
        except NotPlain as reason:
            rows = []
            self.use.unkept = (
                f"Some answers are not kept, and would be computed again: a predictor's responses hold {reason}, which "
                "is no plain data."
            )
        if rows:
            self._store.put(rows)
        self.use.computed += sum(_cells(answer, tables) for answer in answers)
        return [self._trimmed(answer) for answer in answers]

    def _is_new(self, answer: CellAnswer, tables: Tables) -> bool:
        part = self._parts[answer.panel, answer.part]
        place = answer.candidate - part.start
        if not part.known[place]:
            part.known[place] = True
            return True
        table = tables[answer.panel]
        recorded = table.losses[answer.candidate - table.candidates.start, answer.part - table.parts.start]
        if not np.array_equal(recorded, np.array(answer.losses), equal_nan=True):
            self.use.note_repeat(self._asking.work.search.describe(answer.candidate))
        return False

    def _cell_rows(self, step: Step, answers: Sequence[Answer]) -> Iterator[Row]:
        """A row a held-out side."""
        groups: dict[tuple[str, int], list[CellAnswer]] = {}
        for answer in answers:
            if isinstance(answer, CellAnswer) and not _passes(answer):
                groups.setdefault((answer.panel, answer.part), []).append(answer)
        for training in step.trainings:
            for side, held in zip(self._keys.sides(training), training.answers, strict=True):
                own = groups.pop((held.panel, held.part), None)
                if own:
                    keys = self._keys.candidates[[answer.candidate for answer in own]]
                    record = cells_record(own, keys, self._asking.losses[held.level])
                    yield "cells", self._salted(side), encode(record)

    def _step_rows(self, step: Step, answers: Sequence[Answer]) -> Iterator[Row]:
        if not any(isinstance(answer, CellAnswer) and _passes(answer) for answer in answers):
            record = step_record(answers, step.candidates, Places(step), self._asking.losses)
            yield "steps", self._salted(self._keys.step(step)), encode(record)

    def _trimmed(self, answer: Answer) -> Answer:
        """The answer without what only the journal keeps."""
        work = self._asking.work
        if answer.rows is not None and answer.panel not in work.keep_rows:
            answer = replace(answer, rows=None)
        if answer.responses is not None and answer.panel not in work.keep_responses:
            answer = replace(answer, responses=None)
        return answer

    # Spot checks.

    def known_checks(self, spots: Sequence[Spot]) -> dict[str, SpotCheck]:
        """The spot checks that were made before, by kernel."""
        asked = {self._check_key(spot): spot for spot in spots}
        return {asked[key].kernel: SpotCheck(**decode(content)) for key, content in self._store.rows("checks", asked)}

    def keep_checks(self, spots: Sequence[Spot], checks: Sequence[SpotCheck]) -> None:
        """Keep what spot checks found, one check a spot."""
        rows = [
            ("checks", self._check_key(spot), encode(asdict(check))) for spot, check in zip(spots, checks, strict=True)
        ]
        if rows:
            self._store.put(rows)

    def _check_key(self, spot: Spot) -> bytes:
        words = [spot.kernel, spot.tier, str(spot.fewer is None), *self._asking.losses[spot.held.level]]
        return digest("check", *words, *self._keys.sides(spot.source), self._keys.candidates[spot.candidate].tobytes())

    def _salted(self, key: bytes) -> bytes:
        return digest(key, self._salt) if self._salt else key


def _empty_part(table: PanelTable) -> _Part:
    count = len(table.candidates)
    return _Part(table.candidates.start, np.zeros(count, dtype=bool), np.zeros(count, dtype=bool))


def _sides(step: Step) -> Iterator[Held]:
    return (held for training in step.trainings for held in training.answers)


def _cells(answer: Answer, tables: Tables) -> int:
    """How many cells of panels are answered; what is asked for intervals alone is none."""
    if answer.panel in tables.asides:
        return 0
    return len(answer.candidates) * len(answer.parts) if isinstance(answer, BlockAnswer) else 1


def _passes(answer: CellAnswer) -> bool:
    return answer.failure is not None and answer.failure.kind in PASSING_FAILURES
