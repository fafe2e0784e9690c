"""Reads a journal while another program writes it: its studies, and the summaries of their results.

A reader takes none of our locks, delays the writer by at most one small query, and changes no byte. It never repairs a
file; the writer does.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from heldout.base.errors import JournalError
from heldout.journal import schema
from heldout.journal.lock import is_held
from heldout.journal.studies import head_in, keys_of_splits, splits_in, summary_in, words_in
from heldout.splits.drawn import Splits

PATIENCE = 5.0  # seconds that a reader waits for a commit to end
FRESH = 1.0  # seconds, far more than the step of any file system's clock

Found = TypeVar("Found")


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
    """A stored summary. `mark` changes whenever the summary is replaced."""

    key: bytes
    mark: bytes
    head: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The studies and summaries of a journal, in the order they were written."""

    path: Path
    format: int
    studies: tuple[StudyRow, ...] = ()
    summaries: tuple[SummaryRow, ...] = ()
    damaged: tuple[str, ...] = ()  # rows that are left out, as table/number


class JournalReader:
    """Reads a journal while another program may write it. Threads may share a reader."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().resolve()
        self._stamp: tuple[int, ...] = ()
        self._contents: Contents | None = None
        self._heads: dict[tuple[bytes, bytes], Mapping[str, Any] | None] = {}  # None: damaged
        self._lock = threading.Lock()

    def contents(self) -> Contents:
        """List the studies and summaries. The file is read again only if it has changed."""
        with self._lock:
            stamp = _stamp_of(self.path)
            if self._contents is None or not stamp or stamp != self._stamp:
                self._contents, self._stamp = self._read(), stamp
            return self._contents

    @property
    def is_busy(self) -> bool:
        """Whether a program has the journal open to write."""
        return is_held(self.path)

    def summary(self, key: bytes) -> dict[str, Any]:
        """Read the summary under this key. Raise a JournalError if there is none or it is damaged."""
        content = self.read_content(key)
        if content is None:
            raise JournalError(f"The journal {str(self.path)!r} keeps no summary of study {key.hex()[:12]}.")
        return summary_in(content)

    def read_content(self, key: bytes) -> bytes | None:
        """Read the packed summary under this key; None if there is none. Raise a JournalError if it is damaged."""
        select = "SELECT id, content, sum FROM summaries WHERE key = ?"
        for number, content, mark in _read_beside(self.path, lambda file: file.execute(select, (key,)).fetchall()):
            if not schema.is_whole("summaries", key, content, mark):
                raise JournalError(
                    f"The summary {number} in {str(self.path)!r} is damaged. Run the same command again: it answers "
                    "from the journal, and keeps the summary anew."
                )
            return bytes(content)
        return None

    def _read(self) -> Contents:
        studies, listed = _read_beside(self.path, _list_all) or ((), ())
        rows, damaged = [], list[str]()
        for number, key, content, kept, state, started, ended, seconds in studies:
            words = words_in(content) if schema.is_whole("studies", key, content, kept) else None
            if words is None:
                damaged.append(f"studies/{number}")
                continue
            row = StudyRow(
                number=number,
                key=key,
                state=str(state),
                started=str(started),
                ended=None if ended is None else str(ended),
                seconds=float(seconds) if isinstance(seconds, int | float) else None,
                words=words,
            )
            rows.append(row)
        self._heads = {(key, mark): self._head(key, mark) for _, key, mark in listed}
        damaged += [f"summaries/{number}" for number, key, mark in listed if self._heads[key, mark] is None]
        summaries = [SummaryRow(key=key, mark=mark, head=head) for (key, mark), head in self._heads.items() if head]
        return Contents(
            path=self.path,
            format=schema.FORMAT,
            studies=tuple(rows),
            summaries=tuple(summaries),
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


def read_summaries(journal: str | os.PathLike[str]) -> dict[bytes, dict[str, Any]]:
    """Read every undamaged summary of a journal, by the key of its study, in the order they were kept."""
    reader = JournalReader(journal)
    return {row.key: reader.summary(row.key) for row in reader.contents().summaries}


def list_studies(journal: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """List the studies of a journal: what each asked, and whether it is finished."""
    names = ("state", "started", "ended", "seconds")
    studies = JournalReader(journal).contents().studies
    return [{"study": row.number, **{name: getattr(row, name) for name in names}, **row.words} for row in studies]


def read_splits(journal: str | os.PathLike[str], study: int) -> dict[str, Splits]:
    """Read the splits that a study of this journal drew."""
    path = Path(journal).expanduser().resolve()
    select = "SELECT key, content, sum FROM splits WHERE key BETWEEN ? AND ? ORDER BY key"
    found = {}
    for key, content, kept in _read_beside(path, lambda file: file.execute(select, keys_of_splits(study)).fetchall()):
        name = key.decode(errors="replace").partition("/")[2]
        if not schema.is_whole("splits", key, content, kept):
            raise JournalError(f"The splits {name!r} of study {study} in {str(journal)!r} are damaged.")
        found[name] = splits_in(content)
    return found


def _list_all(connection: sqlite3.Connection) -> tuple[list[Any], list[Any]]:
    connection.execute("BEGIN")  # both lists at one moment; nothing is decoded before it ends
    studies = connection.execute(
        "SELECT id, key, content, sum, state, started, ended, seconds FROM studies ORDER BY id"
    ).fetchall()
    listed = connection.execute("SELECT id, key, sum FROM summaries ORDER BY id").fetchall()
    connection.execute("COMMIT")
    return studies, listed


def _read_beside(path: Path, read: Callable[[sqlite3.Connection], Found]) -> Found | tuple[()]:
    """Run a query on the journal, waiting for any commit to end. Return () if the file is still empty."""
    _refuse_no_file(path)
    try:
        with closing(schema.open_to_read(path, timeout=PATIENCE)) as connection:
            if not schema.pragma(connection, "page_count"):
                return ()  # a program is about to make it
            schema.refuse_other_file(connection, path)
            if not schema.has_all_tables(connection):
                raise _damaged(path, "a table is missing")
            return read(connection)
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        raise _cannot_read(path, error) from error


def _refuse_no_file(path: Path) -> None:
    try:
        there, is_file = path.exists(), path.is_file()
    except OSError as error:  # a folder that may not be entered
        raise _cannot_read(path, error) from error
    if not there:
        raise JournalError(
            f"There is no journal {str(path)!r}. heldout evaluate and compare keep one in the folder they are run in; "
            "name another file if it is elsewhere."
        )
    if not is_file:
        raise JournalError(f"The journal {str(path)!r} is not a file. Name one, such as 'study.db'.")


def _cannot_read(path: Path, error: Exception) -> JournalError:
    number = schema.error_number(error)
    if number == sqlite3.SQLITE_BUSY:
        return JournalError(
            f"The journal {str(path)!r} could not be read for {PATIENCE:.0f} seconds: a program is writing a lot. Try "
            "again in a moment."
        )
    # There is a rollback file of a dead program, which a reader may not apply.
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_ROLLBACK:
        return JournalError(
            f"The journal {str(path)!r} holds half a commit of a program that was ended in the middle of it. Run that "
            "program again, which undoes it and goes on from there; then try again."
        )
    if number == sqlite3.SQLITE_NOTADB:
        return schema.not_a_journal(path)
    if number == sqlite3.SQLITE_CORRUPT or isinstance(error, UnicodeDecodeError):
        return _damaged(path, str(error))
    return JournalError(f"The journal {str(path)!r} cannot be read: {error}. Name a file that you may read.")


def _damaged(path: Path, what: str) -> JournalError:
    return JournalError(
        f"The journal {str(path)!r} is damaged ({what}). Run the command that wrote it again: it keeps a copy, and "
        "saves every row that is whole."
    )


def _stamp_of(path: Path) -> tuple[int, ...]:
    """Return a fingerprint of the file's state; empty if it is so new that its time might miss the next change."""
    try:
        found = path.stat()
    except OSError:
        return ()
    fresh = abs(time.time() - found.st_mtime) < FRESH
    return () if fresh else (found.st_mtime_ns, found.st_size, found.st_ino)
