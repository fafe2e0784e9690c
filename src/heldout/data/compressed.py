"""Opens table files, unpacking gzip and zstd in memory up to a limit of bytes."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from heldout.backends.limits import total_memory
from heldout.base.amounts import show_bytes
from heldout.base.errors import InputError

FREE_BYTES = 1 << 30  # a small file may always unpack to this much
MOST_TIMES = 100  # beyond that, to at most so many times its own size
_PIECE = 1 << 20
_PACKED_PIECE = 1 << 12  # small, since a few bytes may unpack to many


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a table is to be read."""

    types: Mapping[str, str] = field(default_factory=dict)  # the kind of some columns, in the singular
    missing: tuple[str, ...] | None = None  # texts that stand for nothing; None for the usual ones
    most_bytes: int | None = None  # None: what the file's size and the machine's memory allow


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A file to read, with its bytes where they had to be unpacked."""

    place: Path
    reading: Reading
    unpacked: bytes | None = None

    @property
    def name(self) -> str:
        return self.place.name

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The table's bytes from their beginning."""
        file: BinaryIO = self.place.open("rb") if self.unpacked is None else BytesIO(self.unpacked)
        with file:
            yield file

    def refuse_beyond(self, count: int) -> None:
        """Refuse a table of more bytes than this file may unpack to."""
        limit = most_bytes(self.place, self.reading)
        if count > limit:
            raise too_large(self.place, limit, count)


def most_bytes(place: Path, reading: Reading) -> int:
    """How many bytes a packed file may unpack to."""
    if reading.most_bytes is not None:
        return reading.most_bytes
    return min(total_memory() // 2, max(FREE_BYTES, MOST_TIMES * place.stat().st_size))


def too_large(place: Path, limit: int, count: int | None = None) -> InputError:
    """The error of a file that unpacks to more than it may."""
    much = f"more than {show_bytes(limit)}" if count is None else f"{show_bytes(count)}, more than {show_bytes(limit)}"
    return InputError(
        f"{place.name!r} has {show_bytes(place.stat().st_size)} but unpacks to {much}: too much for a table of that "
        "size, or for this machine. If you trust it, unpack it yourself, or take fewer rows."
    )


def open_table_file(place: Path, compression: str, reading: Reading) -> TableFile:
    """The file, unpacked into memory where its name says that it is packed."""
    if not compression:
        return TableFile(place=place, reading=reading)
    limit = most_bytes(place, reading)
    pieces: list[bytes] = []
    size = 0
    word, unpack = _PACKERS[compression]
    try:
        for piece in unpack(place):
            size += len(piece)
            if size > limit:
                raise too_large(place, limit)
            pieces.append(piece)
    except (EOFError, zlib.error, gzip.BadGzipFile, _Damaged) as error:
        raise InputError(f"{place.name!r} is not a whole {word} file: {error}.") from None
    if not size:
        raise InputError(f"{place.name!r} is empty: it has no header and no rows.")
    return TableFile(place=place, reading=reading, unpacked=b"".join(pieces))


class _Damaged(Exception):
    """Raised where packed bytes are damaged."""


def _gunzip(place: Path) -> Iterator[bytes]:
    with gzip.open(place, "rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _unzstd(place: Path) -> Iterator[bytes]:
    """Unpack zstd with the library at hand: Python's own from 3.14 on, zstandard, or pyarrow."""
    with place.open("rb") as packed:
        try:
            if find_spec("compression") is not None:
                zstd = import_module("compression.zstd")
                yield from _pieces(zstd.open(packed, "rb"))
            elif find_spec("zstandard") is not None:
                yield from _unzstd_frames(packed)
            elif find_spec("pyarrow") is not None:
                yield from _pieces(import_module("pyarrow").CompressedInputStream(packed, "zstd"))
            else:
                raise InputError(
                    f"Reading {place.name!r} needs zstandard or pyarrow, and neither is installed. Install one "
                    "(pip install zstandard), or pack the table with gzip."
                )
        except InputError:
            raise
        except Exception as error:  # each library has errors of its own
            raise _Damaged((str(error).splitlines() or [type(error).__name__])[0].rstrip(".")) from None


def _pieces(stream: Any) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield bytes(piece)


def _unzstd_frames(packed: BinaryIO) -> Iterator[bytes]:
    """Unpack frame by frame: zstandard's own reader takes a truncated file for a whole one."""
    maker = import_module("zstandard").ZstdDecompressor()
    frame = maker.decompressobj()
    while piece := packed.read(_PACKED_PIECE):
        while piece:
            if frame.eof:
                frame = maker.decompressobj()
            yield frame.decompress(piece)
            piece = frame.unused_data
    if not frame.eof:
        raise _Damaged("it ends in the middle")


_PACKERS: Mapping[str, tuple[str, Callable[[Path], Iterator[bytes]]]] = {
    ".gz": ("gzip", _gunzip),
    ".zst": ("zstd", _unzstd),
}
COMPRESSIONS = tuple(_PACKERS)
