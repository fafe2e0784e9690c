"""Reading a journal beside the program that writes it: short looks, no lock of ours, and not a byte changed.

The writer waits no longer than one small query takes. A reader never rescues a file: whoever writes does.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import TypeVar

from heldout.base.errors import JournalError
from heldout.journal import schema
from heldout.journal.files import no_journal, refuse_others, rollback_of

PATIENCE = 5.0  # seconds that a reader waits for a commit to end
_ONE_TRY, _PAUSE = 0.2, 0.02  # seconds
_BUSY, _LOCKED, _CORRUPT, _NO_DATABASE = 5, 6, 11, 26  # SQLite's own numbers
_HALF_A_COMMIT = 776  # a rollback file lies there whose program is dead, and a reader may not apply it

Found = TypeVar("Found")


def read_beside(path: Path, read: Callable[[sqlite3.Connection], Found]) -> Found:
    """What `read` finds in the journal, once a commit that is under way has ended."""
    _refuse_no_file(path)
    deadline = monotonic() + PATIENCE
    while True:
        try:
            with closing(_connect(path)) as connection:
                return read(connection)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            number = getattr(error, "sqlite_errorcode", 0)
            if number == _HALF_A_COMMIT:
                copied = _in_a_copy(path, read)
                if copied is not None:
                    return copied[0]
            elif number & 0xFF not in (_BUSY, _LOCKED):
                raise _cannot_read(path, error, number) from error
            if monotonic() > deadline:
                raise JournalError(
                    f"The journal {str(path)!r} could not be read for {PATIENCE:.0f} seconds: a program is writing a "
                    "lot. Try again in a moment."
                ) from error
        sleep(_PAUSE)


def _refuse_no_file(path: Path) -> None:
    try:
        there, is_file = path.exists(), path.is_file()
    except OSError as error:  # a folder that may not be entered
        raise _cannot_read(path, error, 0) from error
    if not there:
        raise JournalError(
            f"There is no journal {str(path)!r}. heldout evaluate and compare keep one in the folder they are run in; "
            "name another file if it is elsewhere."
        )
    if not is_file:
        raise JournalError(f"The journal {str(path)!r} is not a file. Name one, such as 'study.db'.")


def _connect(path: Path, *, mode: str = "ro") -> sqlite3.Connection:
    # Through SQLite alone: whoever opens and closes the file itself drops the locks that this process has on it.
    connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=_ONE_TRY)
    try:
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # as the writer's
        connection.execute("PRAGMA trusted_schema = OFF")
        if connection.execute("PRAGMA page_count").fetchone()[0]:
            refuse_others(connection, path)
            if not schema.own_statements() <= schema.statements(connection):
                raise _damaged(path, "a table is missing")
    except BaseException:
        connection.close()
        raise
    return connection


def _in_a_copy(path: Path, read: Callable[[sqlite3.Connection], Found]) -> tuple[Found] | None:
    """The same from a copy, in which half a commit of a dead program is undone; None where a program came meanwhile."""
    rollback = rollback_of(path)
    with TemporaryDirectory(prefix="heldout-") as folder:
        copy = Path(folder) / path.name
        try:
            before = [_stamp(one) for one in (path, rollback)]
            shutil.copyfile(path, copy)
            shutil.copyfile(rollback, rollback_of(copy))
            if before != [_stamp(one) for one in (path, rollback)]:
                return None
        except FileNotFoundError:  # the rollback file: whoever opened the journal to write has applied it
            return None
        with closing(_connect(copy, mode="rw")) as connection:
            return (read(connection),)


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _cannot_read(path: Path, error: Exception, number: int) -> JournalError:
    if number & 0xFF == _NO_DATABASE:
        return no_journal(path)
    if number & 0xFF == _CORRUPT or isinstance(error, UnicodeDecodeError):
        return _damaged(path, str(error))
    return JournalError(f"The journal {str(path)!r} cannot be read: {error}. Name a file that you may read.")


def _damaged(path: Path, what: str) -> JournalError:
    return JournalError(
        f"The journal {str(path)!r} is damaged ({what}). Run the command that wrote it again: it keeps a copy, and "
        "saves every row that is whole."
    )
