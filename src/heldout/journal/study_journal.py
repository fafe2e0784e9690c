"""Reads the answers of a study from its journal, and keeps those that are computed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, JournalError, Sentence
from heldout.base.options import Options
from heldout.journal.identity import digest
from heldout.journal.keys import (
    CandidateLookup,
    SearchKeys,
    StepPanels,
    StudyKeys,
    keyed_by_cell,
    loss_keys,
    unanswered,
)
from heldout.journal.records import (
    Needed,
    NotPlain,
    Record,
    RecordedCells,
    decode,
    encode,
    joined,
    record_of,
    step_answers,
    step_record,
)
from heldout.journal.store import Row, Store, open_journal
from heldout.journal.studies import StudyEntry
from heldout.kernels.step import Held, Step, Work
from heldout.planner.checked_cells import CheckedCell, KernelCheck
from heldout.study.answers import Answer, Tables
from heldout.study.study import Study

MOST_NAMED = 20
# Failures that depend on the machine and the moment rather than on the learner: the next run tries again.
PASSING_FAILURES = frozenset({"WorkerDied", "OutOfMemory", "FitTimeout", "FitMemory", "KilledWorker", "MemoryError"})
MOST_RESPONSES = 1 << 24  # numbers: past this the journal keeps responses only where it is told to
CELL_BYTES = 64  # of a cell of which nothing but losses is kept


@dataclass(kw_only=True, eq=False)
class JournalUse:
    """Counts what a journal did for a study: cells recalled, computed, or answered twice; and notes of damage."""

    path: str
    study: bytes = b""  # the study's key, under which its summary is kept
    words: Mapping[str, Any] = field(default_factory=dict)  # what it asked
    recalled: int = 0  # cells whose answer was in the journal
    computed: int = 0  # cells that were computed
    repeats: list[str] = field(default_factory=list)  # candidates that were answered twice, not alike; not all
    unkept: str = ""  # why some answers could not be kept
    notes: list[str] = field(default_factory=list)  # damage

    def note_repeat(self, words: str) -> None:
        """Note that a candidate was answered twice, with different answers."""
        if words not in self.repeats and len(self.repeats) < MOST_NAMED:
            self.repeats.append(words)

    def __str__(self) -> str:
        words = f"{self.path}: {self.recalled:,} cells from the journal, {self.computed:,} computed"
        return "\n".join([words, *self.notes, *filter(None, [self.unkept])])


class StudyJournal:
    """The journal of one study.

    `needed` is what the study needs of each answer. `kept` is the study's work, with all that the journal keeps marked.
    """

    def __init__(self, store: Store, keys: StudyKeys, needed: Needed, kept: Work) -> None:
        self._store, self._keys, self._needed, self._kept = store, keys, needed, kept
        self.use = JournalUse(path=str(store.path))
        self.answered = False  # the study came to its end

    def widened(self, work: Work) -> Work:
        """Return the work, marked to keep all row losses and responses that the journal stores."""
        return replace(work, keep_rows=self._kept.keep_rows, keep_responses=self._kept.keep_responses)

    def drop(self, steps: Sequence[Step]) -> None:
        """Delete the cells of these steps, whose kernel failed its check. The study then starts again."""
        # This comes before the failure is stored: a journal with the failure must have no cell of the kernel.
        sides = {side for step in steps if keyed_by_cell(step) for t in step.trainings for side in self._keys.sides(t)}
        self._store.write([("DELETE FROM cells WHERE key = ?", (side,)) for side in sorted(sides)])

    # What is known.

    def recall(self, steps: Sequence[Step], tables: Tables) -> list[Step]:
        """Put all known answers into the tables, and return the steps that are left, without known candidates."""
        self._recall_cells([step for step in steps if keyed_by_cell(step)], tables)
        known = self._recall_steps([step for step in steps if not keyed_by_cell(step)], tables)
        left = (unanswered(step, tables) if keyed_by_cell(step) else step for step in steps if id(step) not in known)
        return [step for step in left if step is not None]

    def _recall_cells(self, steps: Sequence[Step], tables: Tables) -> None:
        asked = self._ask_cells(steps)
        lookup = CandidateLookup(self._keys.candidates)
        losses: dict[str, NDArray[np.float64]] = {}  # losses of the cells of one side, by the key of the loss
        before = b""
        with closing(self._store.rows("cells", asked)) as rows:
            for side, content in rows:
                if side != before:
                    losses, before = {}, side
                record = decode(content)
                candidates, places = lookup.find(record["candidates"])
                self._compare(record, (candidates, places), losses)
                for held, wanted in asked[side].items():
                    asked_here = wanted[candidates]
                    self._take(record, (candidates[asked_here], places[asked_here]), held, tables)

    def _ask_cells(self, steps: Sequence[Step]) -> dict[bytes, dict[Held, NDArray[np.bool_]]]:
        """Collect the held-out sides that steps ask for, by key, with a mask of the candidates asked for each."""
        asked: dict[bytes, dict[Held, NDArray[np.bool_]]] = {}
        keys: dict[Held, bytes] = {}
        for step in steps:
            for training in step.trainings:
                if any(held not in keys for held in training.answers):
                    keys.update(zip(training.answers, self._keys.sides(training), strict=True))
                for held in training.answers:
                    nobody = np.zeros(len(self._keys.candidates), dtype=bool)
                    asked.setdefault(keys[held], {}).setdefault(held, nobody)[list(step.candidates)] = True
        return asked

    def _take(
        self, record: Record, found: tuple[NDArray[np.intp], NDArray[np.intp]], held: Held, tables: Tables
    ) -> None:
        """Put the cells of a record into the tables, unless the tables know them already."""
        (candidates, places), table = found, tables[held.panel]
        new = ~table.answered[candidates - table.candidates.start, held.part - table.parts.start]
        candidates, first = np.unique(candidates[new], return_index=True)  # equal candidates stand in a record twice
        if len(candidates):
            at = places[new][first]
            recorded = RecordedCells(record=record, candidates=candidates.tolist(), places=at, helds=[held])
            for answer in recorded.known(self._needed):
                tables.put(answer)
                self.use.recalled += _cells(answer, tables)

    def _compare(
        self, record: Record, found: tuple[NDArray[np.intp], NDArray[np.intp]], earlier: dict[str, NDArray[np.float64]]
    ) -> None:
        """Note cells whose losses differ between this record and earlier records of the same held-out side."""
        candidates, places = found
        for number, loss in enumerate(record["asked"]):
            first = earlier.setdefault(loss, np.full(len(self._keys.candidates), np.nan))
            values = record["losses"][places, 0, number]
            differ = ~np.isnan(first[candidates]) & ~np.isnan(values) & (first[candidates] != values)
            for candidate in candidates[differ].tolist():
                self.use.note_repeat(self._needed.work.search.describe(candidate))
            first[candidates] = np.where(np.isnan(first[candidates]), values, first[candidates])

    def _recall_steps(self, steps: Sequence[Step], tables: Tables) -> set[int]:
        """Put the answers of known steps into the tables; return the identities of those steps."""
        asked = {self._keys.step(step): step for step in steps}
        known = set()
        with closing(self._store.rows("steps", asked)) as rows:
            for key, content in rows:
                step = asked[key]
                answers = step_answers(decode(content), step.candidates, StepPanels(step), self._needed)
                if answers is None:
                    continue
                for answer in answers:
                    tables.put(answer)
                    self.use.recalled += _cells(answer, tables)
                known.add(id(step))
        return known

    # What is computed.

    def keep(self, step: Step, answers: Sequence[Answer], tables: Tables) -> Sequence[Answer]:
        """Keep the answers of a step. Return them for the tables, without what only the journal keeps."""
        # If a cell is answered twice, the first answer is kept.
        by_cell = keyed_by_cell(step)
        if by_cell:
            answers = [answer for answer in answers if self._is_new(answer, tables)]
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

    def _is_new(self, answer: Answer, tables: Tables) -> bool:
        """Return whether the answer of a cell is new, and note a second answer that differs from the first."""
        ((candidate, part),) = answer.cells
        table = tables[answer.panel]
        place = candidate - table.candidates.start, part - table.parts.start
        if not table.answered[place]:
            return True
        if not np.array_equal(table.losses[place], answer.losses[0, 0], equal_nan=True):
            self.use.note_repeat(self._needed.work.search.describe(candidate))
        return False

    def _cell_rows(self, step: Step, answers: Sequence[Answer]) -> Iterator[Row]:
        """Yield the rows to write: one per held-out side, or several if more is kept of some of its cells."""
        groups: dict[tuple[str, int], list[Answer]] = {}
        for answer in answers:
            if not _passes(answer):
                groups.setdefault((answer.panel, answer.parts.start), []).append(answer)
        for training in step.trainings:
            for side, held in zip(self._keys.sides(training), training.answers, strict=True):
                for together in joined(groups.pop((held.panel, held.part), ())):
                    keys = self._keys.candidates[list(together.candidates)]
                    yield "cells", side, encode(record_of(together, keys, self._needed.losses[held.level]))

    def _step_rows(self, step: Step, answers: Sequence[Answer]) -> Iterator[Row]:
        if not any(map(_passes, answers)):
            record = step_record(answers, step.candidates, StepPanels(step), self._needed.losses)
            yield "steps", self._keys.step(step), encode(record)

    def _trimmed(self, answer: Answer) -> Answer:
        """Return the answer without the row losses and responses that only the journal keeps."""
        work = self._needed.work
        if answer.rows is not None and answer.panel not in work.keep_rows:
            answer = replace(answer, rows=None)
        if answer.responses is not None and answer.panel not in work.keep_responses:
            answer = replace(answer, responses=None)
        return answer

    # Checks of kernels.

    def known_checks(self, cells: Sequence[CheckedCell]) -> dict[str, KernelCheck]:
        """Return the checks of kernels that were made before, by the panel of the checked cell."""
        asked = {self._check_key(cell): cell for cell in cells}
        return {asked[key].panel: KernelCheck(**decode(content)) for key, content in self._store.rows("checks", asked)}

    def keep_checks(self, checks: Mapping[CheckedCell, KernelCheck]) -> None:
        """Keep the results of checks of kernels."""
        rows = [("checks", self._check_key(cell), encode(asdict(check))) for cell, check in checks.items()]
        if rows:
            self._store.put(rows)

    def _check_key(self, cell: CheckedCell) -> bytes:
        words = [cell.kernel, cell.tier, str(cell.fewer is None), *self._needed.losses[cell.held.level]]
        candidate = self._keys.candidates[cell.candidate].tobytes()
        return digest("cell check", *words, *self._keys.sides(cell.source), candidate)


def _cells(answer: Answer, tables: Tables) -> int:
    """Count the cells of an answer; cells that only an interval needs are not counted."""
    return 0 if answer.panel in tables.asides else answer.count


def _passes(answer: Answer) -> bool:
    return any(failure.kind in PASSING_FAILURES for failure in answer.failures.values())


@contextmanager
def journal_of(path: str | PathLike[str], study: Study, work: Work, options: Options) -> Iterator[StudyJournal]:
    """Open the journal of a study while it runs. All checks that may refuse it are made here, before the first fit."""
    if work.fit_params:
        raise JournalError(
            "A journal cannot know fit parameters again.", Sentence("Pass {}.", Argument("journal", None))
        )
    started = perf_counter()
    search = SearchKeys(study.search)
    question = StudyEntry(study, work.task, search)
    kept = kept_of(study, work, options.journal_detail)
    with open_journal(path) as store:
        _refuse_small_disk(store.path.parent, study, kept)
        question.begin(store, anew=options.journal_anew)
        needed = Needed(work=work, losses=loss_keys(work.losses))
        journal = StudyJournal(store, StudyKeys(work, search), needed, kept)
        journal.use.study, journal.use.words = question.key, question.words
        yield journal
        store.flush()
        if journal.answered:
            question.end(store, seconds=perf_counter() - started)
        journal.use.notes += store.notes
        store.notes.clear()


def kept_of(study: Study, work: Work, detail: str | None) -> Work:
    """Mark what the journal is to keep of each panel, beyond what the study itself needs.

    "responses" lets later studies take other losses, "losses" keeps the loss of each row, "summaries" nothing more.
    None means "responses" if there are few, else "summaries".
    """
    panels = frozenset(panel.key for panel in study.panels)
    if detail is None:
        detail = "responses" if _numbers(study, panels) <= MOST_RESPONSES else "summaries"
    rows = work.keep_rows | (panels if detail == "losses" else frozenset())
    responses = work.keep_responses | (panels if detail == "responses" else frozenset())
    return replace(work, keep_rows=rows, keep_responses=responses)


def _numbers(study: Study, panels: frozenset[str]) -> int:
    """Count the held-out rows of all cells of these panels. A panel that waits for a choice counts one candidate."""
    return sum(
        int(study.splits[p.splits].held_sizes[p.parts.start : p.parts.stop].sum())
        * (1 if p.candidates is None else len(p.candidates))
        for p in study.panels
        if p.key in panels
    )


def _refuse_small_disk(folder: PathLike[str], study: Study, kept: Work) -> None:
    cells = sum(len(p.parts) * (1 if p.candidates is None else len(p.candidates)) for p in study.panels)
    need = cells * CELL_BYTES + 8 * (_numbers(study, kept.keep_rows) + _numbers(study, kept.keep_responses))
    free = shutil.disk_usage(folder).free
    if need > free:
        raise JournalError(
            f"The journal may take {need / 1e6:,.0f} MB, and {str(folder)!r} has {free / 1e6:,.0f} MB free.",
            Sentence(
                "Make room, name a file on another disk, or keep less: {}.",
                Argument("journal_detail", "summaries", of="Options"),
            ),
        )
