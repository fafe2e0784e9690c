"""The ledger: every look at a test set, kept by the process or by a journal, and what each test set can still give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import takewhile
from math import inf, isfinite
from os import PathLike
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from heldout.audit.row_views import View
from heldout.audit.test_rows import TestRows
from heldout.base.errors import JournalError
from heldout.journal.identity import digest
from heldout.journal.records import decode, encode
from heldout.journal.store import Store, open_journal
from heldout.risk.earlier_looks import half_width


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """One answer that a test set gave, for one learner and one loss.

    A `question` may have several looks, one for each loss and learner, none of which influenced another. Asking the
    same question again, or resuming it after a stop, is no new look: nothing new is learned.
    """

    when: str  # ISO 8601, UTC
    question: str  # the learner, the data, the splits, the seed, the losses and the answer's coarseness, as one key
    rows: TestRows
    learner: str  # in words
    learner_key: str
    loss: str
    answer: str  # how coarse it was: "full", "value", "rounded:0.01", "pass/fail:0.2"
    alphabet: float  # how many answers there could have been; infinite where no number bounds them
    rows_shown: bool  # results of single rows were to be seen
    told: str = ""  # the answer itself, in words; empty in older journals

    @property
    def price(self) -> float:
        """The alphabet that the intervals of later looks must allow for; infinite if single rows were shown."""
        return inf if self.rows_shown else self.alphabet

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for a table or JSON."""
        return {
            "when": self.when,
            "rows": len(self.rows),
            "rows_key": self.rows.key,
            "learner": self.learner,
            "loss": self.loss,
            "answer": self.answer,
            "told": self.told,
            "alphabet": self.alphabet if isfinite(self.alphabet) else None,
            "rows_shown": self.rows_shown,
            "question": self.question,
        }


@runtime_checkable
class Ledger(Protocol):
    """Keeps looks: in the memory of a process, or in a journal."""

    def record(self, looks: Iterable[Look]) -> None:
        """Record these looks, except those whose question, learner and loss are already recorded."""
        ...

    def looks(self) -> tuple[Look, ...]:
        """Return all looks, in the order they were recorded."""
        ...

    def looks_at(self, rows: TestRows) -> tuple[Look, ...]:
        """Return the looks at test sets that share any row with these, in the order they were recorded."""
        looks = self.looks()
        kept = {look.rows.key: look.rows for look in looks}
        shared = {key for key, known in kept.items() if known.shared_with(rows)}
        return tuple(look for look in looks if look.rows.key in shared)


class MemoryLedger(Ledger):
    """A ledger that lasts as long as the process.

    Examples
    --------
    >>> ledger = MemoryLedger()
    >>> isinstance(ledger, Ledger), ledger.looks()
    (True, ())
    """

    def __init__(self) -> None:
        self._looks: dict[tuple[str, str, str], Look] = {}
        self._rows: dict[str, TestRows] = {}  # many looks are at one set of rows, which is kept once
        self._lock = Lock()

    def record(self, looks: Iterable[Look]) -> None:
        with self._lock:
            for look in looks:
                rows = self._rows.setdefault(look.rows.key, look.rows)
                self._looks.setdefault((look.question, look.learner_key, look.loss), replace(look, rows=rows))

    def looks(self) -> tuple[Look, ...]:
        with self._lock:
            return tuple(self._looks.values())


PROCESS_LEDGER = MemoryLedger()


def process_ledger() -> MemoryLedger:
    """Return the ledger of studies that name none."""
    return PROCESS_LEDGER


def looks_before(ledger: Ledger, rows: TestRows, question: str) -> tuple[Look, ...]:
    """Return the looks at any of these rows from before this question was first asked."""
    return tuple(takewhile(lambda look: look.question != question, ledger.looks_at(rows)))


def list_looks(ledger: Ledger | None = None) -> list[dict[str, Any]]:
    """Return every look, as plain rows.

    Parameters
    ----------
    ledger : Ledger, optional
        The ledger of this process when left out.

    Examples
    --------
    >>> list_looks(MemoryLedger())
    []
    """
    return [look.as_dict() for look in (process_ledger() if ledger is None else ledger).looks()]


VERSION = 2  # of the stored form of test rows; version 1 hashed X and y together


class JournalLedger(Ledger):
    """The looks that a journal holds, across programs and days.

    The journal is opened for each call, and shared with any study of this process that has it open.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path

    def record(self, looks: Iterable[Look]) -> None:
        with open_journal(self._path) as store:
            for look in looks:
                rows = ("look_rows", look.rows.key.encode(), encode(_written_rows(look.rows)))
                key = digest("look", look.question, look.learner_key, look.loss)
                store.put([rows, ("looks", key, encode(_written(look)))])

    def looks(self) -> tuple[Look, ...]:
        with open_journal(self._path) as store:
            rows = {key.decode(): _read_rows(decode(content), store) for key, content in store.all_rows("look_rows")}
            kept = [decode(content) for _, content in store.all_rows("looks")]
        return tuple(_read(fields, rows) for fields in kept if fields["rows_key"] in rows)


def _read(fields: dict[str, Any], rows: dict[str, TestRows]) -> Look:
    alphabet = inf if fields["alphabet"] is None else fields["alphabet"]
    known = {name: value for name, value in fields.items() if name != "rows_key"}
    return Look(**{**known, "alphabet": alphabet, "rows": rows[fields["rows_key"]]})


def _written(look: Look) -> dict[str, Any]:
    return {name: value for name, value in look.as_dict().items() if name != "rows"} | {"learner_key": look.learner_key}


def _read_rows(fields: dict[str, Any], store: Store) -> TestRows:
    version = fields.pop("version", 1)
    if version != VERSION:
        raise JournalError(
            f"The ledger in the journal {store.path.name!r} has version {version}, this heldout reads {VERSION}, "
            "so it cannot tell whether test rows were looked at before. Name another journal, pass "
            "options=Options(ledger=heldout.audit.MemoryLedger()), or use the heldout that wrote the file."
        )
    views = tuple(View(**view) for view in fields["views"])
    tables, columns = tuple(fields["tables"]), tuple(fields["columns"])
    return TestRows(tables=tables, columns=columns, numbers=fields["numbers"], views=views)


def _written_rows(rows: TestRows) -> dict[str, Any]:
    views = [{name: getattr(view, name) for name in View.__slots__} for view in rows.views]
    tables = {"tables": list(rows.tables), "columns": list(rows.columns)}
    return {"version": VERSION, **tables, "numbers": rows.numbers, "views": views}


def list_test_sets(ledger: Ledger, *, level: float) -> list[dict[str, Any]]:
    """Return the test sets of a ledger, in the order of their first look: who looked, and what the next look can get.

    Looks at sets that share rows count for each of them. `next_width` is the largest width of the next look's interval,
    for a loss of range 1. It is None if there is no such bound, because results of single rows were shown or answers
    were not limited to a finite number.
    """
    test_sets = []
    for key, rows in {look.rows.key: look.rows for look in ledger.looks()}.items():
        looks = ledger.looks_at(rows)
        prices = [look.price for look in looks]
        bounded = all(map(isfinite, prices))
        width = min(1.0, 2 * half_width(len(rows), level=level, alphabets=prices)) if bounded else None
        told = [look.as_dict() for look in looks]
        test_sets.append({"rows_key": key, "rows": len(rows), "next_width": width, "looks": told})
    return test_sets
