"""The store of a journal: one SQLite file with one writer, a checksum for each row, and commits in batches."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from heldout.base.errors import FitFailed, JournalError
from heldout.journal import schema
from heldout.journal.lock import JournalLock
from heldout.journal.repair import is_sound, keep_copy, named, repair
from heldout.journal.schema import checksum, is_whole

LONGEST_UNWRITTEN = 0.2  # seconds that a finished answer waits for others to be committed with
MOST_UNWRITTEN = 64 << 20  # bytes that may wait before the study waits for the disk
KEYS_A_QUERY = 500

Row = tuple[str, bytes, bytes]  # table, key, content


class Store:
    """An open journal file. Made by :func:`open_journal`.

    A thread commits together all answers that arrived within a fifth of a second. A study of short fits thus needs few
    disk syncs, and a long fit does not delay what finished before it. An answer is safe once its commit is done.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []  # what people must know: damage
        self._lock = JournalLock(path)
        self._lock.take()
        try:
            self.connection = _connect(path, self.notes)
        except BaseException:
            self._lock.release()
            raise
        self.database = threading.RLock()  # one thread at a time talks to SQLite, none while the program forks
        self._changed = threading.Condition()
        self._waiting: list[tuple[Row, ...]] = []
        self._bytes = 0
        self._writing = self._closing = self._hurry = False
        self._error: JournalError | None = None
        self._thread = threading.Thread(target=self._write_until_closed, name="heldout-journal", daemon=True)
        self._thread.start()
        self.users = 0
        self.when_done: list[tuple[str, Sequence[Any]]] = []  # statements for when all that was begun is done

    def put(self, rows: Sequence[Row]) -> None:
        """Hand over rows that belong together. They are committed soon, in one transaction."""
        size = sum(len(content) for _, _, content in rows)
        with self._changed:
            self._changed.wait_for(lambda: self._bytes <= MOST_UNWRITTEN or self._error is not None)
            self._refuse_if_broken()
            self._waiting.append(tuple(rows))
            self._bytes += size
            if len(self._waiting) == 1 or self._bytes > MOST_UNWRITTEN:
                self._changed.notify_all()  # otherwise the writer sleeps on, since waking it for every row costs more

    def flush(self) -> None:
        """Wait until all rows handed over are committed."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not (self._waiting or self._writing) or self._error is not None)
            self._hurry = False
            self._refuse_if_broken()

    def close(self) -> None:
        """Write all waiting rows, close the file and release the lock."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        with self.database:
            self.connection.close()
        self._lock.release()

    def rows(self, table: str, keys: Iterable[bytes]) -> Generator[tuple[bytes, bytes], None, None]:
        """Yield the undamaged rows of an answer table under these keys, by key and in the order of commits.

        Damaged rows are named in `notes` and deleted, after a copy of the file was kept; they will be computed again.
        No row may be handed over until all have been read.
        """
        wanted, damaged = sorted(set(keys)), list[int]()
        self.flush()
        with self.database, self._errors_named():
            for start in range(0, len(wanted), KEYS_A_QUERY):
                batch = wanted[start : start + KEYS_A_QUERY]
                marks = ", ".join("?" * len(batch))
                select = f"SELECT id, key, content, sum FROM {table} WHERE key IN ({marks}) ORDER BY key, id"
                for number, key, content, kept in self.connection.execute(select, batch):
                    if is_whole(table, key, content, kept):
                        yield key, content
                    else:
                        damaged.append(number)
        if damaged:
            self._drop(table, damaged)

    def all_rows(self, table: str) -> list[tuple[bytes, bytes]]:
        """Read every undamaged row of a table, in the order of commits. `notes` names the others."""
        self.flush()
        found = self.query(f"SELECT id, key, content, sum FROM {table} ORDER BY id")
        damaged = [f"{table}/{number}" for number, *row in found if not is_whole(table, *row)]
        if damaged:
            note = f"{len(damaged):,} damaged rows of the journal {self.path.name!r} are left out ({named(damaged)})."
            self.notes += [] if note in self.notes else [note]
        return [(key, content) for _, key, content, kept in found if is_whole(table, key, content, kept)]

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and return all its rows."""
        with self.database, self._errors_named():
            return self.connection.execute(statement, values).fetchall()

    def replace(self, rows: Iterable[Row]) -> None:
        """Write these rows now, in place of any with the same keys."""
        self.write(_insert("REPLACE", *row) for row in rows)

    def write(self, statements: Iterable[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements in one transaction, now."""
        self.flush()
        with self.database, self._errors_named(), self._transaction():
            for statement, values in statements:
                self.connection.execute(statement, values)

    def _drop(self, table: str, numbers: list[int]) -> None:
        with self.database:
            backup = keep_copy(self.path)
            with self._errors_named(), self._transaction():
                self.connection.executemany(f"DELETE FROM {table} WHERE id = ?", ((number,) for number in numbers))
        names = named([f"{table}/{number}" for number in numbers])
        self.notes.append(
            f"{len(numbers):,} damaged rows of the journal {self.path.name!r} were dropped ({names}) and are computed "
            f"again. The file as it was is {backup.name!r}."
        )

    def _write_until_closed(self) -> None:
        last = -LONGEST_UNWRITTEN
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                self._changed.wait_for(self._pressing, last + LONGEST_UNWRITTEN - monotonic())
                batch, self._waiting, self._bytes = self._waiting, [], 0
                if not batch or self._error is not None:
                    self._changed.notify_all()
                    return
                self._writing = True
                self._changed.notify_all()
            error = self._commit(batch)
            last = monotonic()
            with self._changed:
                self._writing = False
                self._error = error
                self._changed.notify_all()

    def _pressing(self) -> bool:
        return self._closing or self._hurry or self._bytes > MOST_UNWRITTEN

    def _commit(self, batch: list[tuple[Row, ...]]) -> JournalError | None:
        try:
            with self.database, self._transaction():
                for row in (row for rows in batch for row in rows):
                    self.connection.execute(*_insert("IGNORE", *row))
        except (sqlite3.Error, OSError) as error:
            return _cannot_write(self.path, error)
        return None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        with self.connection:  # commits, or rolls back where an error came
            yield

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _cannot_write(self.path, error) from error

    def _refuse_if_broken(self) -> None:
        if self._error is not None:
            raise self._error


def _insert(conflict: str, table: str, key: bytes, content: bytes) -> tuple[str, Sequence[Any]]:
    """Return the SQL that writes a row, and its values. `conflict` says what to do if its key exists."""
    statement = f"INSERT OR {conflict} INTO {table} (key, content, sum) VALUES (?, ?, ?)"
    return statement, (key, content, checksum(table, key, content))


def _connect(path: Path, notes: list[str]) -> sqlite3.Connection:
    """Connect to the journal; create or repair the file if needed. A repair is added to the notes."""
    if path.exists() and not path.is_file():
        raise JournalError(f"The journal {str(path)!r} is not a file. Name one, such as 'study.db'.")
    connection = None
    try:
        if path.exists():
            # A rollback file means that a program was killed during a commit: the journal's first bytes may be
            # half written until SQLite opens it and undoes the commit.
            if not schema.rollback_of(path).exists():
                schema.format_in(path)
            sound, number = is_sound(path), schema.format_in(path)
            if number is not None and not sound:
                schema.refuse_other_format(path, number)
                notes.append(repair(path))
        connection = schema.open_to_write(path)
        if schema.pragma(connection, "page_count"):
            schema.refuse_other_file(connection, path)
        else:
            schema.create(connection)
        # Begin a write and take it back, so that a journal that cannot be written is refused before any fit.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {schema.FORMAT}")
        connection.execute("ROLLBACK")
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error | OSError):
            raise _cannot_write(path, error) from error
        raise
    return connection


def _cannot_write(path: Path, error: Exception) -> JournalError:
    """Convert an SQLite error to one that says what to do."""
    text, number = str(error), schema.error_number(error)
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or number in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        free = shutil.disk_usage(path.parent).free / 1e6 if path.parent.exists() else 0.0
        return JournalError(
            f"The journal {str(path)!r} cannot grow: {text} ({free:,.1f} MB free). What was written stays readable. "
            "Make room and run the same again: it goes on from there."
        )
    if number in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) or isinstance(error, PermissionError):
        return JournalError(
            f"The journal {str(path)!r} cannot be written: {text}. Name a file in a folder where you may write."
        )
    return JournalError(f"The journal {str(path)!r} cannot be used: {text}. Name another file.")


def _finish(store: Store) -> None:
    """Commit waiting rows; if nobody else uses the store, also execute the final statements of its studies."""
    store.flush()
    if store.users == 1 and store.when_done:
        store.write(store.when_done)
        store.when_done.clear()


_open_stores: dict[tuple[int, str], Store] = {}  # by process too: a child that is forked finds none of its own
_opening = threading.RLock()


def _hold_still() -> None:
    """Block transactions before a fork: otherwise the child would roll back a running one in the file when it ends."""
    _opening.acquire()
    for store in _open_stores.values():
        store.database.acquire()


def _go_on() -> None:
    for store in _open_stores.values():
        store.database.release()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_still, after_in_parent=_go_on, after_in_child=_go_on)


@contextmanager
def open_journal(path: str | os.PathLike[str]) -> Iterator[Store]:
    """Open the journal at `path` for this process alone. Parts of the program that name the same file share it."""
    place = Path(path).expanduser().resolve()
    if not place.parent.is_dir():
        raise JournalError(f"The journal {str(path)!r} needs a folder that exists. Make it, or name another file.")
    name = (os.getpid(), str(place))
    with _opening:
        store = _open_stores.get(name)
        if store is None:
            store = _open_stores[name] = Store(place)
        store.users += 1
    try:
        yield store
        _finish(store)
    except FitFailed:  # nothing is left to do: the fits would fail again
        _finish(store)
        raise
    finally:
        with _opening:
            store.users -= 1
            if not store.users:
                del _open_stores[name]
                store.close()
