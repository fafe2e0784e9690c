"""The format of a journal: its tables and its version. Another version is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from hashlib import blake2b
from typing import Any

APPLICATION = 0x48454C44  # "HELD": tells a journal from any other SQLite file
FORMAT = 3  # a change of the tables, or of what their rows hold, is another format

# Every row carries a checksum over its table, its key and its content. `cells` holds answers that depend on nothing but
# the cell, a row the answers of one step on one held-out side; `steps` the answers of a step whose last bits depend on
# all of it.
TABLES = """
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
CREATE TABLE summaries (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, content BLOB NOT NULL, sum BLOB NOT NULL);
"""

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


def create(connection: sqlite3.Connection) -> None:
    """The tables of a journal."""
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def statements(connection: sqlite3.Connection) -> set[str]:
    """The statements that made the tables and indexes of a file."""
    return {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master") if sql is not None}


@cache
def own_statements() -> frozenset[str]:
    """Those of a journal."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create(connection)
        return frozenset(statements(connection))
