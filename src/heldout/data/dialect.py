"""Recognises how a text file writes a table, by its first lines: encoding, separator, decimal mark, lines above it."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from heldout.base.errors import InputError, OptionError
from heldout.data.amounts import number_form
from heldout.data.compressed import TableFile

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|"}
UTF8 = "utf-8-sig"  # with or without a byte-order mark
_MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = {UTF8: "", "cp1252": "Latin-1 (cp1252)"}
_FIRST_LINES, _FIRST_CELLS = 100, 20_000
_PIECE = 1 << 20
_SEP_LINE = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # which spreadsheets write and read
_OTHER = {",": ".", ".": ","}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Describes how a text file writes a table."""

    encoding: str
    separator: str
    decimal: str
    skipped: int = 0  # lines above the header that are no part of the table
    newline: str | None = ""  # None: lines end in a carriage return alone, which pandas would misread
    words: str = ""  # what is not as usual, for people


def recognise(file: TableFile, usual: str) -> Dialect:
    """Return the dialect of a file whose suffix says that columns are separated by `usual`; what the user says wins.

    The separator is the one by which the first lines have equally many fields, as many as the header. A comma in a
    number is a decimal comma where some number cannot be read otherwise, such as 1,5; if all are like 1,234, it is one
    in a table separated by semicolons.
    """
    encoding = encoding_of(file)
    with file.text(encoding) as text:
        lines = list(islice(text, _FIRST_LINES))
        is_whole = not text.readline()
    hint = _SEP_LINE.fullmatch(lines[0]) if lines else None
    skipped = 1 if hint else next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    given = file.sep or (hint[1] if hint else None)
    tables = {sep: _rows(lines[skipped:], sep, is_whole=is_whole) for sep in ((given,) if given else SEPARATORS)}
    separator = max(tables, key=lambda sep: (*_evenness(tables[sep]), sep == usual))
    rows = tables[separator]
    if skipped and not hint and len(next(csv.reader([lines[skipped - 1]], delimiter=separator), [])) == len(rows[0]):
        skipped -= 1  # the header begins with the mark of a comment
    decimal, assumed = (file.decimal, "") if file.decimal else _decimal(rows[1:], separator)
    words = [
        f"columns separated by {SEPARATORS.get(separator, repr(separator))}" * (separator != usual),
        f"decimal {'commas' if decimal == ',' else 'points'}" * (decimal == "," or bool(assumed)) + assumed,
        encoding_words(encoding),
        f"{skipped} line{'s' * (skipped > 1)} above the header left out" * (skipped > 0),
    ]
    return Dialect(
        encoding=encoding,
        separator=separator,
        decimal=decimal,
        skipped=skipped,
        newline=None if any(line.endswith("\r") for line in lines) else "",
        words=", ".join(filter(None, words)),
    )


def encoding_words(encoding: str) -> str:
    """Return the name of an encoding for people; empty for UTF-8."""
    return _NAMES.get(encoding, encoding.upper().removesuffix("-LE").removesuffix("-BE"))


def encoding_of(file: TableFile) -> str:
    """Return the encoding of a file: the user's, UTF-8 or UTF-16 as its bytes show, or else cp1252 if that is likely.

    Western text in one byte a letter seldom has two letters beyond ASCII side by side; text in other scripts has.
    """
    if file.encoding is not None:
        return UTF8 if file.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else file.encoding
    with file.open() as source:
        first = source.read(4096)
    for mark, name in _MARKS:
        if first.startswith(mark):
            return name
    even, odd = first[::2].count(0), first[1::2].count(0)
    if max(even, odd) > len(first) / 4 > 10 * min(even, odd):
        return "utf-16-be" if even > odd else "utf-16-le"
    with suppress(UnicodeDecodeError), file.text("utf-8") as text:
        while text.read(_PIECE):
            pass
        return UTF8
    with file.open() as source:
        content = source.read()
    beyond, side_by_side = (sum(map(len, re.findall(form, content))) for form in (rb"[\x80-\xff]", rb"[\x80-\xff]{3,}"))
    if 2 * side_by_side > beyond or re.search(rb"[\x00\x81\x8d\x8f\x90\x9d]", content):
        raise InputError(
            f"{file.name!r} is not UTF-8 text, and not likely Latin-1. Name its encoding, as in --encoding cp1251 or "
            "--encoding shift_jis, or save it again with UTF-8 encoding."
        )
    return "cp1252"


def rows_in(lines: Iterable[str], dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text as pandas reads them, header first, each with the number of the line it begins in.

    Lines are counted from 1, and blank lines are no rows.
    """
    reader = csv.reader(islice(lines, dialect.skipped, None), delimiter=dialect.separator)
    begin = dialect.skipped + 1
    for row in reader:
        if row and not (len(row) == 1 and row[0].isspace()):
            yield begin, row
        begin = dialect.skipped + reader.line_num + 1


def check_encoding(name: str) -> None:
    """Raise an OptionError if Python knows no text encoding of that name."""
    try:
        "".encode(name)
    except (LookupError, UnicodeError, ValueError):
        raise OptionError(
            f"--encoding {name}: there is no such encoding. Names are utf-8, utf-16, cp1252, latin-1 and the like."
        ) from None


def _rows(lines: Sequence[str], separator: str, *, is_whole: bool) -> list[list[str]]:
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return [[]]
    return (rows if is_whole or len(rows) < 2 else rows[:-1]) or [[]]  # the last row may be cut inside quotes


def _evenness(rows: Sequence[Sequence[str]]) -> tuple[bool, float, int]:
    """Return whether the header has as many fields as most rows, the share of such rows, and how many fields."""
    width, count = Counter(map(len, rows)).most_common(1)[0]
    return (width > 1 and len(rows[0]) == width), count / len(rows) if width > 1 else 0.0, width


def _decimal(rows: Iterable[Sequence[str]], separator: str) -> tuple[str, str]:
    """Return the decimal mark of these rows, and in words what was assumed where they leave it open."""
    certain: set[str] = set()
    unclear: dict[str, str] = {}
    for cell in islice((cell.strip() for row in rows for cell in row), _FIRST_CELLS):
        mark = "," if "," in cell else "."
        ways = [one for one in ",." if mark in cell and number_form(one, _OTHER[one]).fullmatch(cell)]
        if len(ways) == 1:
            certain.add(ways[0])
        elif ways:
            unclear.setdefault(mark, cell)
    if certain or not unclear or separator != ";":
        return ("," if certain == {","} else "."), ""
    decimal, cell = next(iter(unclear.items())) if len(unclear) == 1 else (".", unclear["."])
    plain, whole = cell.replace(decimal, "."), cell.replace(decimal, "")
    return decimal, f" ({cell!r} is {plain}; --decimal {_OTHER[decimal]} makes it {whole})"
