"""The ledger: every look at a test set, across the studies of one process or of one journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf, isfinite
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from heldout.audit.rows import TestRows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """One answer that a test set gave: one learner, one loss.

    A `question` may have several looks, one a loss and learner, none of which had a say in another. Asked again, or
    gone on with after a stop, it is no new look: nothing new is learned.
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
    told: str = ""  # the answer itself, in words; journals of before it was kept have none

    @property
    def price(self) -> float:
        """The alphabet that later looks have to pay for: unbounded once rows were shown."""
        return inf if self.rows_shown else self.alphabet

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for a table or JSON."""
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
    """What keeps looks: the memory of a process, or a journal."""

    def record(self, looks: Iterable[Look]) -> None:
        """Keep these looks; one with the question, learner and loss of a look that is kept already is no new one."""
        ...

    def looks(self) -> tuple[Look, ...]:
        """Every look, in the order it was recorded."""
        ...

    def looks_at(self, rows: TestRows) -> tuple[Look, ...]:
        """The looks at a test set that shares any row with these, in the order they were recorded."""
        ...


class MemoryLedger:
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
        """Keep these looks; one with the question, learner and loss of a look that is kept already is no new one."""
        with self._lock:
            for look in looks:
                rows = self._rows.setdefault(look.rows.key, look.rows)
                self._looks.setdefault((look.question, look.learner_key, look.loss), replace(look, rows=rows))

    def looks(self) -> tuple[Look, ...]:
        """Every look, in the order it was recorded."""
        with self._lock:
            return tuple(self._looks.values())

    def looks_at(self, rows: TestRows) -> tuple[Look, ...]:
        """The looks at a test set that shares any row with these, in the order they were recorded."""
        with self._lock:
            shared = {key for key, kept in self._rows.items() if kept.shared_with(rows)}
        return tuple(look for look in self.looks() if look.rows.key in shared)


PROCESS_LEDGER = MemoryLedger()


def process_ledger() -> MemoryLedger:
    """The ledger of studies that name none."""
    return PROCESS_LEDGER


def looks_before(ledger: Ledger, rows: TestRows, question: str) -> tuple[Look, ...]:
    """The looks at any of these rows that came before this question was first asked."""
    earlier = []
    for look in ledger.looks_at(rows):
        if look.question == question:
            break
        earlier.append(look)
    return tuple(earlier)


def list_looks(ledger: Ledger | None = None) -> list[dict[str, Any]]:
    """Every look, as plain rows.

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
