"""The format of a journal: its tables, its version, and the way from each older version to this one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import blake2b
from typing import Any

APPLICATION = 0x48454C44  # "HELD": tells a journal from any other SQLite file

# Every row carries a checksum over its table, its key and its content. `cells` holds answers that depend on nothing but
# the cell, a row the answers of one step on one held-out side; `steps` the answers of a step whose last bits depend on
# all of it.
TABLES_1 = """
CREATE TABLE studies (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, likeness BLOB NOT NULL, content BLOB NOT NULL, sum BLOB NOT NULL,
    state TEXT NOT NULL, started TEXT NOT NULL, ended TEXT, seconds REAL
);
CREATE INDEX studies_alike ON studies (likeness);
CREATE TABLE splits (
    study INTEGER NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL, sum BLOB NOT NULL, PRIMARY KEY (study, name)
) WITHOUT ROWID;
CREATE TABLE cells (id INTEGER PRIMARY KEY, side BLOB NOT NULL, content BLOB NOT NULL, sum BLOB NOT NULL);
CREATE INDEX cells_of_a_side ON cells (side);
CREATE TABLE steps (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, content BLOB NOT NULL, sum BLOB NOT NULL);
CREATE TABLE checks (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, content BLOB NOT NULL, sum BLOB NOT NULL);
CREATE TABLE looks (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, content BLOB NOT NULL, sum BLOB NOT NULL);
CREATE TABLE look_rows (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, content BLOB NOT NULL, sum BLOB NOT NULL);
"""

Migration = Callable[[sqlite3.Connection], None]


def _add_summaries(connection: sqlite3.Connection) -> None:
    """What studies found, for reports; a file whose version number was damaged may have the table already."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS summaries "
        "(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, content BLOB NOT NULL, sum BLOB NOT NULL)"
    )


# The n-th leads from version n to version n + 1. A released one is never edited; a fixture of each version is kept
# among the tests, and opened by them. One that gives a table another shape teaches it to `salvage.py` too.
MIGRATIONS: tuple[Migration, ...] = (_add_summaries,)

# Tables whose rows are answers: they can be computed again, so a damaged one is dropped and named. The column that
# tells a row's answer, under which its checksum was taken.
ANSWER_TABLES = {"cells": "side", "steps": "key", "checks": "key"}
KEYED_TABLES = {**ANSWER_TABLES, "looks": "key", "look_rows": "key", "summaries": "key", "studies": "key"}
# Tables of one shape: number, key, content, checksum.
ROW_TABLES = (*ANSWER_TABLES, "looks", "look_rows", "summaries")


def checksum(table: str, key: bytes, content: bytes) -> bytes:
    """What a row carries to tell whether a byte of it has changed, and which table it belongs to."""
    found = blake2b(b"%s\0%s\0" % (table.encode(), key), digest_size=8)
    found.update(content)
    return found.digest()


def is_whole(table: str, key: Any, content: Any, kept: Any) -> bool:
    """Whether a row as it was read is the row as it was written. A changed byte may have changed a type."""
    return isinstance(key, bytes) and isinstance(content, bytes) and checksum(table, key, content) == kept


def splits_key(study: int, name: str) -> bytes:
    """Under which the checksum of a row of `splits` is taken."""
    return f"{study}/{name}".encode()


def format_version() -> int:
    """The version that this heldout writes."""
    return 1 + len(MIGRATIONS)


def create(connection: sqlite3.Connection, version: int | None = None) -> None:
    """The tables of a journal of this version, or an older one: those of version 1, led through the migrations."""
    version = format_version() if version is None else version
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES_1.split(";"):
        if statement.strip():
            connection.execute(statement)
    for migrate in MIGRATIONS[: version - 1]:
        migrate(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("COMMIT")


def statements(connection: sqlite3.Connection) -> set[str]:
    """The statements that made the tables and indexes of a file."""
    return {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master") if sql is not None}


def statements_of(version: int) -> set[str]:
    """Those of a journal of this version; none of a version that nobody knows."""
    if not 1 <= version <= format_version():
        return set()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create(connection, version)
        return statements(connection)


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Lead an older journal to this version in one transaction: it is upgraded whole, or left as it was."""
    connection.execute("BEGIN IMMEDIATE")
    for migrate in MIGRATIONS[version - 1 :]:
        migrate(connection)
    connection.execute(f"PRAGMA user_version = {format_version()}")
    connection.execute("COMMIT")
