"""Opening the journal of a study: what it may keep, and that there is room for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from time import perf_counter

from heldout.base.errors import Argument, JournalError, Sentence
from heldout.base.options import Options
from heldout.journal.keys import SearchKeys, StudyKeys, loss_keys
from heldout.journal.questions import Question
from heldout.journal.recall import StudyJournal
from heldout.journal.records import Asking
from heldout.journal.store import open_journal
from heldout.journal.use import NoJournal
from heldout.kernels.step import Work
from heldout.study.study import Study

MOST_RESPONSES = 1 << 24  # numbers: past this the journal keeps responses only where it is told to
CELL_BYTES = 64  # of a cell of which nothing but losses is kept


@contextmanager
def journal_of(path: str | PathLike[str] | None, study: Study, work: Work, options: Options) -> Iterator[NoJournal]:
    """The journal of a study, open while it runs; where none was asked for, one that keeps nothing.

    Everything that can be refused is refused here, before the first fit.
    """
    if path is None:
        yield NoJournal()
        return
    if work.fit_params:
        raise JournalError(
            "A journal cannot know fit parameters again.", Sentence("Pass {}.", Argument("journal", None))
        )
    started = perf_counter()
    search = SearchKeys(study.search)
    question = Question(study, work.task, search)
    kept = kept_of(study, work, options.journal_detail)
    with open_journal(path) as store:
        _refuse_small_disk(store.path.parent, study, kept)
        question.begin(store, anew=options.journal_anew)
        asking = Asking(work=work, losses=loss_keys(work.losses))
        journal = StudyJournal(store, StudyKeys(work, search), asking, kept)
        journal.use.study, journal.use.words = question.key, question.words
        yield journal
        store.flush()
        if journal.answered:
            question.end(store, seconds=perf_counter() - started)
        journal.use.notes += store.notes
        store.notes.clear()


def kept_of(study: Study, work: Work, detail: str | None) -> Work:
    """The work of a study, with all kept that the journal is to hold of each panel beyond what the study needs.

    "responses" lets later studies take other losses, "losses" keeps the loss of each row, "summaries" nothing more.
    None stands for "responses", as long as they are few.
    """
    panels = frozenset(panel.key for panel in study.panels)
    if detail is None:
        detail = "responses" if _numbers(study, panels) <= MOST_RESPONSES else "summaries"
    rows = work.keep_rows | (panels if detail == "losses" else frozenset())
    responses = work.keep_responses | (panels if detail == "responses" else frozenset())
    return replace(work, keep_rows=rows, keep_responses=responses)


def _numbers(study: Study, panels: frozenset[str]) -> int:
    """Held-out rows of all cells of these panels, one candidate for a panel that waits."""
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
