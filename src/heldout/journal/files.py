"""Opening the SQLite file of a journal: a new one, one of ours, a damaged one, or something else."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

from heldout.base.errors import JournalError
from heldout.journal import schema
from heldout.journal.salvage import whole_rows

_HEADER = b"SQLite format 3\0"
_LAYOUT = bytes([16, 0, 1, 1, 0, 64, 32, 32])  # of the first page: pages of 4096 bytes, a rollback journal
_CACHE = 1 << 13  # kibibytes
# Errors that say nothing about the file: busy, locked, no memory, read-only, input or output, full, cannot be opened.
_OF_THE_MACHINE = {5, 6, 7, 8, 10, 13, 14}


def connect(path: Path) -> tuple[sqlite3.Connection, list[str]]:
    """A connection to the journal at `path`, made or rescued where needed; and what people must know."""
    notes: list[str] = []
    if path.exists() and not path.is_file():
        raise JournalError(f"The journal {str(path)!r} is not a file. Name one, such as 'study.db'.")
    try:
        # Beside a rollback file lies a journal whose program was killed within a commit: its first bytes may be half
        # written until SQLite, on opening it, has undone that.
        if path.exists() and not rollback_of(path).exists():
            _refuse_other_files(path)
        if path.exists():
            sound = _is_sound(path)
            _refuse_other_files(path)
            notes += [] if sound else _rescue(path)
        connection = _open(path)
    except (sqlite3.Error, OSError) as error:
        raise cannot_write(path, error) from error
    try:
        if not _number(connection, "page_count"):
            schema.create(connection)
        else:
            refuse_others(connection, path)
        _try_to_write(connection)
    except (sqlite3.Error, OSError) as error:
        connection.close()
        raise cannot_write(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection, notes


def _try_to_write(connection: sqlite3.Connection) -> None:
    """Begin a write and take it back, so that a journal that cannot be written is refused before any fit.

    The rollback file is made and written for it; the journal itself stays as it is, to the byte.
    """
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {schema.FORMAT}")
    connection.execute("ROLLBACK")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def rollback_of(path: Path) -> Path:
    """Where SQLite keeps what a commit replaces, until it has ended."""
    return path.with_name(path.name + "-journal")


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    try:
        return _set_up(connection)
    except BaseException:
        connection.close()
        raise


def _set_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # a changed byte is no reason to stop
    # A rollback journal and full syncs: what was committed survives a crash of the machine, not only of the program.
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute(f"PRAGMA cache_size = -{_CACHE}")
    connection.execute("PRAGMA temp_store = MEMORY")
    # What is deleted is wiped, so that a rescue, which looks at every page, never brings it back.
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def cannot_write(path: Path, error: Exception) -> JournalError:
    """What a failure of SQLite means to people, and the way out."""
    text = str(error)
    if "full" in text or "disk I/O error" in text or "No space" in text:
        free = shutil.disk_usage(path.parent).free / 1e6 if path.parent.exists() else 0.0
        return JournalError(
            f"The journal {str(path)!r} cannot grow: {text} ({free:,.1f} MB free). What was written stays readable. "
            "Make room and run the same again: it goes on from there."
        )
    if "readonly" in text or "unable to open" in text or isinstance(error, PermissionError):
        return JournalError(
            f"The journal {str(path)!r} cannot be written: {text}. Name a file in a folder where you may write."
        )
    return JournalError(f"The journal {str(path)!r} cannot be used: {text}. Name another file.")


def _refuse_other_files(path: Path) -> None:
    """Refuse a file that is not ours; an empty one becomes a journal."""
    with path.open("rb") as file:
        head = file.read(100)
    ours = len(head) == 100 and int.from_bytes(head[68:72], "big") == schema.APPLICATION
    if head and not (head.startswith(_HEADER) and ours):
        raise no_journal(path)


def no_journal(path: Path) -> JournalError:
    """What is said of a file that is something else."""
    return JournalError(
        f"{str(path)!r} is no journal of heldout (or its first bytes are damaged), and is left as it is. "
        "Name another file, or move this one away."
    )


def refuse_others(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse an SQLite file that is no journal, or a journal of another format."""
    if _number(connection, "application_id") != schema.APPLICATION:
        raise no_journal(path)
    _refuse_other_format(path, _number(connection, "user_version"))


def _refuse_other_format(path: Path, version: int) -> None:
    if version != schema.FORMAT:
        raise JournalError(
            f"The journal {str(path)!r} has format {version}, this heldout reads format {schema.FORMAT} alone. Use the "
            "heldout that wrote it, or name another file."
        )


def _is_sound(path: Path) -> bool:
    """Whether SQLite finds tables and indexes in order. A changed byte inside a row is found by the row's checksum."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=5.0)) as connection:
            if not _number(connection, "page_count"):
                return True
            if [row[0] for row in connection.execute("PRAGMA integrity_check(1)")] != ["ok"]:
                return False
            tables = schema.statements(connection)
        with path.open("rb") as file:
            head = file.read(100)
        ours = int.from_bytes(head[68:72], "big") == schema.APPLICATION
        other = not ours or _version_in(path) != schema.FORMAT  # it is refused anyway
        return other or (head[16:24] == _LAYOUT and schema.own_statements() <= tables)
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_MACHINE:
            raise
        return False
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # damaged names are quoted in SQLite's own complaints
        return False


def keep_copy(path: Path) -> Path:
    """A copy of a damaged journal, under a name of its own."""
    number = 1
    while (copy := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    part = copy.with_name(copy.name + ".part")  # a kill leaves no half copy under the name of a whole one
    shutil.copyfile(path, part)
    part.replace(copy)
    return copy


def _rescue(path: Path) -> list[str]:
    """Keep a damaged file as a backup, and make a journal of every row of it that can still be read whole."""
    _refuse_other_format(path, _version_in(path))
    backup = keep_copy(path)
    fresh = path.with_name(path.name + ".rescued")
    fresh.unlink(missing_ok=True)
    if rollback_of(path).exists():  # it belongs to the damaged file, and must not be applied to the new one
        rollback_of(path).replace(backup.with_name(backup.name + ".rollback"))
    saved = 0
    with closing(_open(fresh)) as target:
        schema.create(target)
        target.execute("BEGIN IMMEDIATE")
        for table, row in whole_rows(backup):
            marks = ", ".join("?" * len(row))
            saved += target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row).rowcount
        target.execute("COMMIT")
    fresh.replace(path)
    return [
        f"The journal {path.name!r} was damaged: {saved:,} rows could be read and are kept, what is missing is "
        f"computed again. The damaged file is {backup.name!r}."
    ]


def _version_in(path: Path) -> int:
    with path.open("rb") as file:
        return int.from_bytes(file.read(64)[60:], "big")
