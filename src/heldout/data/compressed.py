"""Opens table files; gzip and zstd files are decompressed in memory, up to a limit of bytes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from heldout.backends.limits import total_memory
from heldout.base.errors import InputError, first_line
from heldout.base.words import show_bytes

FREE_BYTES = 1 << 30  # any file may decompress to this many bytes
MOST_TIMES = 100  # a larger one to at most this many times its own size
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_PIECE = 1 << 20
_PACKED_PIECE = 1 << 12  # small, since a few bytes may decompress to many


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """Holds the path of a table file, how to read it, and its decompressed bytes if it was compressed."""

    path: Path
    types: Mapping[str, str] = field(default_factory=dict)  # the kinds of some columns, in the singular
    missing: tuple[str, ...] | None = None  # texts that stand for a missing value; None for the usual ones
    unpacked: bytes | None = None

    @property
    def name(self) -> str:
        return self.path.name

    def open(self) -> BinaryIO:
        """Open the table's bytes, decompressed, at their beginning."""
        return self.path.open("rb") if self.unpacked is None else BytesIO(self.unpacked)

    def refuse_beyond(self, count: int, *, whole: bool = True) -> None:
        """Raise InputError if this file may not decompress to `count` bytes; `whole`: it has no more."""
        most = most_unpacked(self.path)
        if count > most:
            size = f"{show_bytes(count)}, " * whole + f"more than {show_bytes(most)}"
            raise InputError(
                f"{self.name!r} has {show_bytes(self.path.stat().st_size)} but unpacks to {size}: too much for a table "
                "of that size, or for this machine. If you trust it, unpack it yourself, or take fewer rows."
            )

    def unpack(self, compression: str) -> TableFile:
        """Return the file with its bytes decompressed."""
        pieces: list[bytes] = []
        size = 0
        try:
            with self.path.open("rb") as packed:
                for piece in _unpacked(packed, compression, self.name):
                    size += len(piece)
                    self.refuse_beyond(size, whole=False)
                    pieces.append(piece)
        except (InputError, MemoryError):
            raise
        except Exception as error:  # each library has errors of its own
            if isinstance(error, OSError) and error.errno:
                raise
            form = COMPRESSIONS[compression]
            raise InputError(f"{self.name!r} is not a whole {form} file: {first_line(error)}.") from None
        if not size:
            raise InputError(f"{self.name!r} is empty: it has no header and no rows.")
        return replace(self, unpacked=b"".join(pieces))


def most_unpacked(path: Path) -> int:
    """Return how many bytes a compressed file may decompress to; never more than half of the memory."""
    return min(total_memory() // 2, max(FREE_BYTES, MOST_TIMES * path.stat().st_size))


def _unpacked(packed: BinaryIO, compression: str, name: str) -> Iterator[bytes]:
    """Return an iterator over the decompressed bytes; zstd needs Python 3.14, zstandard or pyarrow."""
    if compression == ".gz":
        return _pieces(gzip.GzipFile(fileobj=packed))
    if find_spec("compression") is not None:
        return _pieces(import_module("compression.zstd").open(packed, "rb"))
    if find_spec("zstandard") is not None:
        return _unzstd_frames(packed)
    if find_spec("pyarrow") is not None:
        return _pieces(import_module("pyarrow").CompressedInputStream(packed, "zstd"))
    raise InputError(
        f"Reading {name!r} needs zstandard or pyarrow, and neither is installed. Install one (pip install zstandard), "
        "or pack the table with gzip."
    )


def _pieces(stream: Any) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield bytes(piece)


def _unzstd_frames(packed: BinaryIO) -> Iterator[bytes]:
    """Yield the decompressed bytes frame by frame, since zstandard's own reader accepts truncated files."""
    maker = import_module("zstandard").ZstdDecompressor()
    frame = maker.decompressobj()
    while piece := packed.read(_PACKED_PIECE):
        while piece:
            if frame.eof:
                frame = maker.decompressobj()
            yield frame.decompress(piece)
            piece = frame.unused_data
    if not frame.eof:
        raise EOFError("it ends in the middle")
