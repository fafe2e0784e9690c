"""A ledger that lasts: looks at test sets, kept in the journal of the studies that took them."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from os import PathLike
from typing import Any

from heldout.audit.ledger import Look
from heldout.audit.row_views import View
from heldout.audit.rows import TestRows
from heldout.base.errors import JournalError
from heldout.journal.code import digest
from heldout.journal.codec import decode, encode
from heldout.journal.store import Store, open_journal

VERSION = 2  # of what is kept of test rows; version 1 knew X and y together


class JournalLedger:
    """The looks that a journal holds, across programs and days.

    Parameters
    ----------
    path : path
        The journal. It is opened for each call, and shared with a study of this process that has it open.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path

    def record(self, looks: Iterable[Look]) -> None:
        """Keep these looks; one with the question, learner and loss of a look that is kept already is no new one."""
        with open_journal(self._path) as store:
            for look in looks:
                rows = ("look_rows", look.rows.key.encode(), encode(_written_rows(look.rows)))
                store.put([rows, ("looks", _key(look), encode(_written(look)))])

    def looks(self) -> tuple[Look, ...]:
        """Every look, in the order it was recorded."""
        with open_journal(self._path) as store:
            return tuple(_read(store, _rows(store)))

    def looks_at(self, rows: TestRows) -> tuple[Look, ...]:
        """The looks at a test set that shares any row with these, in the order they were recorded."""
        with open_journal(self._path) as store:
            known = _rows(store)
            shared = {key for key, kept in known.items() if kept.shared_with(rows)}
            return tuple(look for look in _read(store, known) if look.rows.key in shared)


def _rows(store: Store) -> dict[str, TestRows]:
    return {key.decode(): _read_rows(decode(content), store) for key, content in store.all_rows("look_rows")}


def _read_rows(words: dict[str, Any], store: Store) -> TestRows:
    version = words.get("version", 1)
    if version != VERSION:
        raise JournalError(
            f"The ledger in the journal {store.path.name!r} has version {version}, this heldout reads {VERSION}, "
            "so it cannot tell whether test rows were looked at before. Name another journal, pass "
            "options=Options(ledger=heldout.audit.MemoryLedger()), or use the heldout that wrote the file."
        )
    views = tuple(View(**view) for view in words["views"])
    tables, columns = tuple(words["tables"]), tuple(words["columns"])
    return TestRows(tables=tables, columns=columns, numbers=words["numbers"], views=views)


def _read(store: Store, rows: dict[str, TestRows]) -> list[Look]:
    looks = []
    for _, content in store.all_rows("looks"):
        words = decode(content)
        test_rows = rows.get(words.pop("rows_key"))
        if test_rows is not None:
            alphabet = inf if words["alphabet"] is None else words["alphabet"]
            looks.append(Look(**{**words, "rows": test_rows, "alphabet": alphabet}))
    return looks


def _written(look: Look) -> dict[str, Any]:
    return {
        "when": look.when,
        "question": look.question,
        "rows_key": look.rows.key,
        "learner": look.learner,
        "learner_key": look.learner_key,
        "loss": look.loss,
        "answer": look.answer,
        "alphabet": None if look.alphabet == inf else look.alphabet,
        "rows_shown": look.rows_shown,
        "told": look.told,
    }


def _written_rows(rows: TestRows) -> dict[str, Any]:
    views = [{name: getattr(view, name) for name in View.__slots__} for view in rows.views]
    tables = {"tables": list(rows.tables), "columns": list(rows.columns)}
    return {"version": VERSION, **tables, "numbers": rows.numbers, "views": views}


def _key(look: Look) -> bytes:
    return digest("look", look.question, look.learner_key, look.loss)
