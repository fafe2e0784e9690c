"""The file of a journal: its tables and checksums, how it is opened, and which files are refused."""

from __future__ import annotations

import sqlite3
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from heldout.base.errors import JournalError

APPLICATION = 0x48454C44  # "HELD": tells a journal from any other SQLite file
FORMAT = 4  # a change of the tables, or of what their rows hold, is another format
HEADER_BYTES = 100  # of every SQLite file: https://sqlite.org/fileformat2.html
_MAGIC = b"SQLite format 3\0"
_CACHE = 1 << 13  # kibibytes

# `cells` holds answers that depend on nothing but the cell: a row has the answers of one step for one held-out side, so
# that a key may have several rows. `steps` holds the answers of steps whose last bits depend on the whole step. Both,
# and `checks`, can be computed again: a damaged row is dropped and named.
ANSWER_TABLES = ("cells", "steps", "checks")
TABLES = (*ANSWER_TABLES, "looks", "look_rows", "summaries", "splits", "studies")
_COLUMNS_OF_STUDIES = ", likeness BLOB NOT NULL, state TEXT NOT NULL, started TEXT NOT NULL, ended TEXT, seconds REAL"


def _create_table(table: str) -> str:
    unique, more = "" if table == "cells" else " UNIQUE", _COLUMNS_OF_STUDIES if table == "studies" else ""
    columns = f"id INTEGER PRIMARY KEY, key BLOB NOT NULL{unique}, content BLOB NOT NULL, sum BLOB NOT NULL{more}"
    return f"CREATE TABLE {table} ({columns})"


CREATE_TABLE = {table: _create_table(table) for table in TABLES}
_CREATE_INDEXES = ("CREATE INDEX cells_by_key ON cells (key)", "CREATE INDEX studies_alike ON studies (likeness)")


def checksum(table: str, key: bytes, content: bytes) -> bytes:
    """Return a checksum of a row's table, key and content, which shows whether a byte of the row has changed."""
    digest = blake2b(b"%s\0%s\0" % (table.encode(), key), digest_size=8)
    digest.update(content)
    return digest.digest()


def is_whole(table: str, key: Any, content: Any, kept: Any) -> bool:
    """Return whether a row is as it was written. A changed byte may also have changed a value's type."""
    return isinstance(key, bytes) and isinstance(content, bytes) and checksum(table, key, content) == kept


def create(connection: sqlite3.Connection) -> None:
    """Create the tables of a journal."""
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("BEGIN IMMEDIATE")
    for statement in (*CREATE_TABLE.values(), *_CREATE_INDEXES):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def has_all_tables(connection: sqlite3.Connection) -> bool:
    """Return whether all tables and indexes of a journal exist."""
    made = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master")}
    return {*CREATE_TABLE.values(), *_CREATE_INDEXES} <= made


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """Read a pragma whose value is a number."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open a connection that writes. Committed rows survive a crash of the machine, not only of the program."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
    try:
        read_any_text(connection)
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute(f"PRAGMA cache_size = -{_CACHE}")
        connection.execute("PRAGMA temp_store = MEMORY")
        # Deleted rows are overwritten, so that a repair, which reads every page, never restores them.
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(path: Path, *, timeout: float, options: str = "") -> sqlite3.Connection:
    """Open a read-only connection that trusts nothing in the file.

    The file is opened by SQLite only: if this process opened and closed it directly, its locks on it would be lost.
    """
    uri = f"{path.as_uri()}?mode=ro{options}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout)
    read_any_text(connection)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def error_number(error: Exception) -> int:
    """Return SQLite's primary error code; 0 for any other error."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def read_any_text(connection: sqlite3.Connection) -> None:
    """Read texts with a damaged byte without an error: the checksum of their row finds the damage."""
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")


def rollback_of(path: Path) -> Path:
    """Return the path of the rollback file, where SQLite keeps what a commit replaces until the commit has ended."""
    return path.with_name(path.name + "-journal")


def format_in(path: Path) -> int | None:
    """Read the format number from a journal's header; None if the file is empty. Raise for any other file."""
    with path.open("rb") as file:
        head = file.read(HEADER_BYTES)
    ours = head.startswith(_MAGIC) and int.from_bytes(head[68:72], "big") == APPLICATION
    if head and not (ours and len(head) == HEADER_BYTES):
        raise not_a_journal(path)
    return int.from_bytes(head[60:64], "big") if head else None


def refuse_other_file(connection: sqlite3.Connection, path: Path) -> None:
    """Raise a JournalError for an SQLite file that is no journal, or a journal of another format."""
    if pragma(connection, "application_id") != APPLICATION:
        raise not_a_journal(path)
    refuse_other_format(path, pragma(connection, "user_version"))


def refuse_other_format(path: Path, number: int) -> None:
    """Raise a JournalError if this format number is not ours."""
    if number != FORMAT:
        raise JournalError(
            f"The journal {str(path)!r} has format {number}, this heldout reads format {FORMAT} alone. Use the "
            "heldout that wrote it, or name another file."
        )


def not_a_journal(path: Path) -> JournalError:
    """Make the error for a file that is no journal."""
    return JournalError(
        f"{str(path)!r} is no journal of heldout (or its first bytes are damaged), and is left as it is. "
        "Name another file, or move this one away."
    )
