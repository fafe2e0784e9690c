"""Reading a damaged journal without SQLite: every page is looked at, and every row that is whole is found.

A lost page may hold the way to others that are there, so no tree is followed. A row tells by its checksum that it is
whole and which table it belongs to. The file format is at https://sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

from heldout.journal import schema

PAGE = 4096  # bytes: what every journal is made with
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 13, 10, 2
_WIDTHS = (0, 1, 2, 3, 4, 6, 8)  # bytes of the whole numbers of types 0 to 6
_NO_BYTES = {8: 0, 9: 1}  # types that are their value
_BROKEN = (IndexError, ValueError, OverflowError)

Row = tuple[Any, ...]


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
