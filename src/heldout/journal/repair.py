"""Repairs a damaged journal: keeps a copy of the file, and saves every row that SQLite can still read in full.

The file format is described at https://sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from heldout.base.archive import replacing
from heldout.journal import schema

PAGE = 4096  # bytes: what every journal is made with
MOST_ROWS_OF_A_PAGE = PAGE // 24
MOST_NAMED, MOST_GAP = 5, 10_000  # of the rows that are lost
_ROWS = 13  # the first byte of a page that holds rows of a table
_LAYOUT = bytes([16, 0, 1, 1, 0, 64, 32, 32])  # in the header: pages of 4096 bytes, a rollback journal
_OF_THE_MACHINE = {  # errors that say nothing about the file
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN),
}

Row = tuple[Any, ...]


def is_sound(path: Path) -> bool:
    """Return whether SQLite finds all tables and indexes intact. Changed bytes inside rows are found by checksums."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=5.0)) as connection:
            if not schema.pragma(connection, "page_count"):
                return True
            if [row[0] for row in connection.execute("PRAGMA integrity_check(1)")] != ["ok"]:
                return False
            has_all_tables = schema.has_all_tables(connection)
    except sqlite3.OperationalError as error:
        if schema.error_number(error) in _OF_THE_MACHINE:
            raise
        return False
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # damaged names are quoted in SQLite's own complaints
        return False
    with path.open("rb") as file:
        return has_all_tables and file.read(24)[16:] == _LAYOUT


def keep_copy(path: Path) -> Path:
    """Copy a damaged journal to a new name beside it."""
    number = 1
    while (copy := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    with replacing(copy) as target, path.open("rb") as source:
        shutil.copyfileobj(source, target)
    return copy


def repair(path: Path) -> str:
    """Replace a damaged journal by one with all readable rows. Return a note for the user."""
    backup = keep_copy(path)
    repaired = path.with_name(path.name + ".repaired")
    repaired.unlink(missing_ok=True)
    if schema.rollback_of(path).exists():  # it belongs to the damaged file, and must not be applied to the new one
        schema.rollback_of(path).replace(backup.with_name(backup.name + ".rollback"))
    kept = 0
    with closing(schema.open_to_write(repaired)) as target:
        schema.create(target)
        target.execute("BEGIN IMMEDIATE")
        for table, row in _readable_rows(backup):
            values = row if table == "studies" else row[:4]
            marks = ", ".join("?" * len(values))
            kept += target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", values).rowcount
        target.execute("COMMIT")
        lost = [f"{table}/{number}" for table in schema.TABLES for number in _missing_numbers(target, table)]
    repaired.replace(path)
    names = f" (not {named(lost)})" if lost else ""
    return (
        f"The journal {path.name!r} was damaged: {kept:,} rows could be read and are kept{names}, what is missing is "
        f"computed again. The damaged file is {backup.name!r}."
    )


def named(rows: list[str]) -> str:
    """Name the first few of these rows in a message."""
    return ", ".join(rows[:MOST_NAMED]) + (f" and {len(rows) - MOST_NAMED:,} more" if len(rows) > MOST_NAMED else "")


def _missing_numbers(connection: sqlite3.Connection, table: str) -> list[int]:
    """Return the row numbers missing from a table, whose rows are numbered in sequence."""
    there = [number for (number,) in connection.execute(f"SELECT id FROM {table} ORDER BY id")]
    return [number for last, found in pairwise([0, *there]) for number in range(last + 1, min(found, last + MOST_GAP))]


def _readable_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield every undamaged row of a damaged file, with the table that its checksum belongs to.

    A lost page may hold the references to intact pages. Each page of rows is therefore copied in turn into a small
    database as the only page of its only table, and SQLite reads it there.
    """
    with TemporaryDirectory(prefix="heldout-", dir=path.parent) as folder:
        copy = Path(folder) / "pages.db"
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute(schema.CREATE_TABLE["studies"].replace(" NOT NULL", "").replace(" UNIQUE", ""))
        head = bytearray(copy.read_bytes()[:PAGE])
        count = ceil(path.stat().st_size / PAGE)
        head[28:32] = count.to_bytes(4, "big")
        shutil.copyfile(path, copy)
        with copy.open("r+b") as file:
            file.truncate(count * PAGE)
            file.write(head)
            for number in range(1, count):
                file.seek(number * PAGE)
                page = file.read(PAGE)
                if page[0] == _ROWS:
                    file.seek(PAGE)
                    file.write(page)
                    file.flush()
                    for row in _rows_of_page(copy):
                        table = next((table for table in schema.TABLES if schema.is_whole(table, *row[1:4])), None)
                        if table is not None:
                            yield table, row


def _rows_of_page(copy: Path) -> Iterator[Row]:
    """Yield the rows that SQLite can read on the second page of this file: one query each, as some may be damaged."""
    with closing(schema.open_to_read(copy, timeout=5.0, options="&immutable=1")) as connection:
        for place in range(MOST_ROWS_OF_A_PAGE):
            try:
                row = connection.execute("SELECT * FROM studies LIMIT 1 OFFSET ?", (place,)).fetchone()
            except sqlite3.DatabaseError:
                continue
            if row is None:
                return
            yield row
