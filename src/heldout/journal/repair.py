"""Opening the SQLite file of a journal: a new one, one of ours, a damaged one, or something else."""

from __future__ import annotations

import mmap
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from heldout.base.errors import JournalError
from heldout.journal import schema

PAGE = 4096  # bytes: what every journal is made with
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 13, 10, 2
_WIDTHS = (0, 1, 2, 3, 4, 6, 8)  # bytes of the whole numbers of types 0 to 6
_NO_BYTES = {8: 0, 9: 1}  # types that are their value
_BROKEN = (IndexError, ValueError, OverflowError)

Row = tuple[Any, ...]
_HEADER = b"SQLite format 3\0"
_LAYOUT = bytes([16, 0, 1, 1, 0, 64, 32, 32])  # of the first page: pages of 4096 bytes, a rollback journal
_CACHE = 1 << 13  # kibibytes
# Errors that say nothing about the file: busy, locked, no memory, read-only, input or output, full, cannot be opened.
_OF_THE_MACHINE = {5, 6, 7, 8, 10, 13, 14}


def whole_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Each row of the journal at `path` that can be read whole, with its table, as columns in the table's order."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for number in range(ceil(len(content) / PAGE)):  # the last one may be torn
                for rowid, values in _records_of_page(content, number):
                    table = _table_of(values)
                    if table is not None:
                        yield table, values if table == "splits" else (rowid, *values[1:])


def _records_of_page(content: mmap.mmap, number: int) -> Iterator[tuple[int, Row]]:
    """The records of a page that holds some, with their row numbers: 0 in an index."""
    start = number * PAGE
    head = start + (100 if number == 0 else 0)
    kind, count = int.from_bytes(content[head : head + 1], "big"), int.from_bytes(content[head + 3 : head + 5], "big")
    if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
        return
    first = head + (12 if kind == _INDEX_INNER else 8)
    for place in range(first, min(first + 2 * count, start + PAGE - 1), 2):
        at = start + int.from_bytes(content[place : place + 2], "big")
        try:
            found = _record(content, at + (4 if kind == _INDEX_INNER else 0), in_table=kind == _TABLE_LEAF)
        except _BROKEN:
            continue
        yield found


def _record(content: mmap.mmap, at: int, *, in_table: bool) -> tuple[int, Row]:
    size, at = _varint(content, at)
    rowid, at = _varint(content, at) if in_table else (0, at)
    if size > len(content):
        raise ValueError("a record larger than its file")
    return rowid, _values(_payload(content, at, size, in_table=in_table))


def _payload(content: mmap.mmap, at: int, size: int, *, in_table: bool) -> bytes:
    """The bytes of a record: those on its page, and those on the pages that it overflows to."""
    most = PAGE - 35 if in_table else (PAGE - 12) * 64 // 255 - 23
    if size <= most:
        return content[at : at + size]
    least = (PAGE - 12) * 32 // 255 - 23
    here = least + (size - least) % (PAGE - 4)
    here = here if here <= most else least
    parts, left = [content[at : at + here]], size - here
    page = int.from_bytes(content[at + here : at + here + 4], "big")
    while left > 0:
        start = (page - 1) * PAGE
        part = content[start + 4 : start + 4 + min(left, PAGE - 4)] if page > 0 else b""
        if not part:
            raise ValueError("a page that is not there")
        parts.append(part)
        left -= PAGE - 4
        page = int.from_bytes(content[start : start + 4], "big")
    return b"".join(parts)


def _values(record: bytes) -> Row:
    end, at = _varint(record, 0)
    types = []
    while at < end:
        kind, at = _varint(record, at)
        types.append(kind)
    values: list[Any] = []
    for kind in types:
        size = (kind - 12) // 2 if kind >= 12 else 8 if kind == 7 else 0 if kind in _NO_BYTES else _WIDTHS[kind]
        raw = record[at : at + size]
        if len(raw) < size:
            raise ValueError("a record that ends too soon")
        at += size
        values.append(_value(kind, raw))
    return tuple(values)


def _value(kind: int, raw: bytes) -> Any:
    if kind == 0:
        return None
    if kind in _NO_BYTES:
        return _NO_BYTES[kind]
    if kind == 7:
        return struct.unpack(">d", raw)[0]
    if kind < 7:
        return int.from_bytes(raw, "big", signed=True)
    return raw.decode("utf-8") if kind % 2 else raw


def _varint(content: mmap.mmap | bytes, at: int) -> tuple[int, int]:
    """A whole number of one to nine bytes, and where it ends."""
    value = 0
    for place in range(8):
        byte = content[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | content[at + 8], at + 9


def _table_of(values: Row) -> str | None:
    """The table whose checksum these values carry, None where they are no whole row."""
    if len(values) == 9 and values[0] is None:
        key, content, kept = values[1], values[3], values[4]
        tables: tuple[str, ...] = ("studies",)
    elif len(values) == 4 and values[0] is None:
        _, key, content, kept = values
        tables = schema.ROW_TABLES
    elif len(values) == 4 and isinstance(values[0], int):
        study, name, content, kept = values
        key, tables = schema.splits_key(study, name), ("splits",)
    else:
        return None
    return next((table for table in tables if schema.is_whole(table, key, content, kept)), None)


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
