"""Opening the SQLite file of a journal: a new one, one of ours, an older one, a damaged one, or something else."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

from heldout.base.errors import JournalError
from heldout.engine.journal import schema

_HEADER = b"SQLite format 3\0"
_CACHE = 1 << 15  # kibibytes


def checksum(key: bytes, content: bytes) -> bytes:
    """What a row carries to tell whether a byte of it has changed."""
    return blake2b(key + b"\0" + content, digest_size=8).digest()


def connect(path: Path) -> tuple[sqlite3.Connection, list[str]]:
    """A connection to the journal at `path`, made, upgraded or rescued where needed; and what people must know."""
    notes: list[str] = []
    torn = _rollback_of(path).exists()  # a program was killed within a commit: SQLite undoes it when it opens the file
    if path.exists() and path.stat().st_size and not torn:
        _refuse_other_files(path)
    try:
        if path.exists() and not _is_sound(path):
            notes += _rescue(path)
        connection = _open(path)
    except (sqlite3.Error, OSError) as error:
        raise cannot_write(path, error) from error
    try:
        if not _number(connection, "page_count"):
            schema.create(connection)
        else:
            notes += _bring_up_to_date(connection, path)
        # One write before any fit, so that a journal that cannot be written is refused now.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {schema.format_version()}")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        connection.close()
        raise cannot_write(path, error) from error
    except JournalError:
        connection.close()
        raise
    return connection, notes


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _rollback_of(path: Path) -> Path:
    return path.with_name(path.name + "-journal")


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    # A rollback journal and full syncs: what was committed survives a crash of the machine, not only of the program.
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute(f"PRAGMA cache_size = -{_CACHE}")
    connection.execute("PRAGMA temp_store = MEMORY")
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
    if not path.is_file():
        raise JournalError(f"The journal {str(path)!r} is not a file. Name one, such as 'study.db'.")
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError as error:
        raise JournalError(f"The journal {str(path)!r} cannot be read: {error.strerror}.") from error
    ours = len(head) == 100 and int.from_bytes(head[68:72], "big") == schema.APPLICATION
    if not head.startswith(_HEADER) or not ours:
        raise _no_journal(path)


def _no_journal(path: Path) -> JournalError:
    return JournalError(
        f"{str(path)!r} is no journal of heldout (or its first bytes are damaged), and is left as it is. "
        "Name another file, or move this one away."
    )


def _bring_up_to_date(connection: sqlite3.Connection, path: Path) -> list[str]:
    if _number(connection, "application_id") != schema.APPLICATION:
        raise _no_journal(path)
    version, known = _number(connection, "user_version"), schema.format_version()
    if version == known:
        return []
    if not 1 <= version < known:
        raise JournalError(
            f"The journal {str(path)!r} has format {version}, this heldout reads formats 1 to {known}. Use the heldout "
            "that wrote it or a later one, or name another file."
        )
    backup = _backup(path, f"format-{version}")
    schema.upgrade(connection, version)
    return [f"The journal was upgraded from format {version} to {known}; the file as it was is {backup.name!r}."]


def _is_sound(path: Path) -> bool:
    """Whether SQLite finds its pages in order. A changed byte inside a row is found by the row's own checksum."""
    try:
        with closing(_open(path)) as connection:
            return [row[0] for row in connection.execute("PRAGMA quick_check(1)")] == ["ok"]
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        return False


def _backup(path: Path, word: str) -> Path:
    number = 1
    while (copy := path.with_name(f"{path.name}.{word}-{number}")).exists():
        number += 1
    shutil.copyfile(path, copy)
    return copy


def keep_copy(path: Path) -> Path:
    """A copy of a damaged journal, under a name of its own."""
    return _backup(path, "damaged")


def _rescue(path: Path) -> list[str]:
    """Keep a damaged file as a backup, and make a journal of every row of it that can still be read whole."""
    backup = keep_copy(path)
    fresh = path.with_name(path.name + ".rescued")
    fresh.unlink(missing_ok=True)
    if _rollback_of(path).exists():  # it belongs to the damaged file, and must not be applied to the new one
        _rollback_of(path).replace(backup.with_name(backup.name + ".rollback"))
    saved = 0
    source_uri = f"{backup.resolve().as_uri()}?mode=ro"
    with closing(_open(fresh)) as target, closing(sqlite3.connect(source_uri, uri=True)) as source:
        schema.create(target, _version_in(backup))
        target.execute("BEGIN IMMEDIATE")
        for table in (*schema.KEYED_TABLES, "splits"):
            saved += _copy_table(source, target, table)
        target.execute("COMMIT")
    fresh.replace(path)
    return [
        f"The journal {path.name!r} was damaged: {saved:,} rows could be read and are kept, what is missing is "
        f"computed again. The damaged file is {backup.name!r}."
    ]


def _version_in(path: Path) -> int:
    with path.open("rb") as file:
        version = int.from_bytes(file.read(64)[60:], "big")
    return version if 1 <= version <= schema.format_version() else schema.format_version()


def _copy_table(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> int:
    saved = 0
    for row in _readable_rows(source, table):
        marks = ", ".join("?" * len(row))
        try:
            target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
            saved += 1
        except sqlite3.IntegrityError:  # a NULL where a torn page left one
            continue
    return saved


def _readable_rows(source: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    """The rows of a table up to a page that cannot be read, and from its end back to it."""
    keyed = table in schema.KEYED_TABLES
    rows: dict[object, tuple[object, ...]] = {}
    for order in ("", "ORDER BY id DESC") if keyed else ("",):
        try:
            for row in source.execute(f"SELECT * FROM {table} {order}"):
                if row[0] in rows and keyed:
                    break
                rows[row[0] if keyed else len(rows)] = row
        except sqlite3.DatabaseError:
            continue
    return list(rows.values())
