"""The studies of a journal and what is kept of them, for whoever reads while others write."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from heldout.base.errors import JournalError
from heldout.journal import schema
from heldout.journal.codec import decode
from heldout.journal.lock import is_held
from heldout.journal.readonly import read_beside
from heldout.journal.schema import is_whole
from heldout.journal.summaries import head_in, summary_in

FRESH = 1.0  # seconds, far more than the step of any file system's clock


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRow:
    """A study as its journal lists it."""

    number: int
    key: bytes
    state: str
    started: str
    ended: str | None
    seconds: float | None
    words: Mapping[str, Any]  # what it asked


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    """A summary that is kept: `mark` changes whenever it is replaced by another."""

    key: bytes
    mark: bytes
    head: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a journal holds for people, in the order it came in."""

    path: Path
    format: int
    studies: tuple[StudyRow, ...] = ()
    summaries: tuple[SummaryRow, ...] = ()
    damaged: tuple[str, ...] = ()  # rows that are left out, as table/number


class JournalReader:
    """A journal as others may read it while a study runs. Any thread may ask."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().resolve()
        self._stamp: tuple[int, ...] = ()
        self._contents: Contents | None = None
        self._heads: dict[tuple[bytes, bytes], Mapping[str, Any] | None] = {}  # None: damaged
        self._asking = threading.Lock()

    def contents(self) -> Contents:
        """The studies and what is kept of them. The file is read again only where it has changed."""
        with self._asking:
            stamp = _stamp_of(self.path)
            if self._contents is None or not stamp or stamp != self._stamp:
                self._contents, self._stamp = self._read(), stamp
            return self._contents

    @property
    def is_busy(self) -> bool:
        """Whether a program has the journal open to write."""
        return is_held(self.path)

    def summary(self, key: bytes) -> dict[str, Any]:
        """The whole summary under this key; a JournalError where none is kept, or it is damaged."""
        content = self.read_content(key)
        if content is None:
            raise JournalError(f"The journal {str(self.path)!r} keeps no summary of study {key.hex()[:12]}.")
        return summary_in(content)

    def _read(self) -> Contents:
        studies, listed = read_beside(self.path, _list_all)
        rows, damaged = [], list[str]()
        for number, key, content, kept, *rest in studies:
            words = _words_in(content) if is_whole("studies", key, content, kept) else None
            if words is None:
                damaged.append(f"studies/{number}")
            else:
                state, started, ended, seconds = rest
                rows.append(
                    StudyRow(
                        number=number,
                        key=key,
                        state=str(state),
                        started=str(started),
                        ended=None if ended is None else str(ended),
                        seconds=float(seconds) if isinstance(seconds, int | float) else None,
                        words=words,
                    )
                )
        self._heads = {(key, mark): self._head(key, mark) for _, key, mark in listed}
        damaged += [f"summaries/{number}" for number, key, mark in listed if self._heads[key, mark] is None]
        kept_rows = [
            SummaryRow(key=key, mark=mark, head=head) for (key, mark), head in self._heads.items() if head is not None
        ]
        return Contents(
            path=self.path,
            format=schema.FORMAT,
            studies=tuple(rows),
            summaries=tuple(kept_rows),
            damaged=tuple(damaged),
        )

    def _head(self, key: bytes, mark: bytes) -> Mapping[str, Any] | None:
        if (key, mark) in self._heads:
            return self._heads[key, mark]
        try:
            content = self.read_content(key)
            return None if content is None else head_in(content)
        except JournalError:
            return None

    def read_content(self, key: bytes) -> bytes | None:
        """The content of a summary, None where there is none; a JournalError where it is not as it was written."""
        for number, content, mark in read_beside(self.path, partial(_one_summary, key=key)):
            if not is_whole("summaries", key, content, mark):
                raise JournalError(
                    f"The summary {number} in {str(self.path)!r} is damaged. Run the same command again: it answers "
                    "from the journal, and keeps the summary anew."
                )
            return bytes(content)
        return None


def read_summaries(journal: str | os.PathLike[str]) -> dict[bytes, dict[str, Any]]:
    """Every sound summary of a journal by the key of its study, in the order they were kept."""
    reader = JournalReader(journal)
    return {row.key: reader.summary(row.key) for row in reader.contents().summaries}


def _list_all(connection: sqlite3.Connection) -> tuple[list[Any], list[Any]]:
    if _is_empty(connection):
        return [], []
    connection.execute("BEGIN")  # both lists at one moment; nothing is decoded before it ends
    studies = connection.execute(
        "SELECT id, key, content, sum, state, started, ended, seconds FROM studies ORDER BY id"
    ).fetchall()
    listed = connection.execute("SELECT id, key, sum FROM summaries ORDER BY id").fetchall()
    connection.execute("COMMIT")
    return studies, listed


def _one_summary(connection: sqlite3.Connection, *, key: bytes) -> list[Any]:
    if _is_empty(connection):
        return []
    return connection.execute("SELECT id, content, sum FROM summaries WHERE key = ?", (key,)).fetchall()


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Whether a program is about to make the journal."""
    return not connection.execute("PRAGMA page_count").fetchone()[0]


def _words_in(content: bytes) -> Mapping[str, Any] | None:
    try:
        words = decode(content)["words"]
    except (JournalError, KeyError, TypeError, RecursionError):
        return None
    return words if isinstance(words, dict) else None


def _stamp_of(path: Path) -> tuple[int, ...]:
    """What changes when the file does; none while it is so fresh that its time may not tell of the next change."""
    try:
        found = path.stat()
    except OSError:
        return ()
    fresh = abs(time.time() - found.st_mtime) < FRESH
    return () if fresh else (found.st_mtime_ns, found.st_size, found.st_ino)
