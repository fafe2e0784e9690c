"""Opens table files; gzip and zstd files are decompressed in memory, up to a limit of bytes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from heldout.backends.limits import total_memory
from heldout.base.errors import InputError, first_line
from heldout.base.words import show_bytes
from heldout.task.source import Source

if TYPE_CHECKING:
    import pandas as pd

Read: TypeAlias = "tuple[pd.DataFrame, Source]"  # a table, and how it was read

FREE_BYTES = 1 << 30  # any file may decompress to this many bytes
MOST_TIMES = 100  # a larger one to at most this many times its own size
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
STANDARD_INPUT = "-"  # in place of a path
_PIECE = 1 << 20
_PACKED_PIECE = 1 << 12  # small, since a few bytes may decompress to many


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """Holds the path of a table file, how to read it, and its bytes if it was compressed or came by standard input."""

    path: Path
    types: Mapping[str, str] = field(default_factory=dict)  # the kinds of some columns, in the singular
    missing: tuple[str, ...] | None = None  # texts that stand for a missing value; None for the usual ones
    sep: str | None = None  # what the user says of how the file is written; None: recognised from the file
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    form: str = ""  # the suffix of its format, once it is open
    size: int = 0  # bytes, as it is packed
    content: bytes | None = None  # decompressed, or from standard input; None: read from the path

    @property
    def name(self) -> str:
        return "standard input" if str(self.path) == STANDARD_INPUT else self.path.name

    @property
    def missing_options(self) -> dict[str, Any]:
        """The options of pandas for the texts that stand for a missing value."""
        return {} if self.missing is None else {"na_values": ["", *self.missing], "keep_default_na": False}

    def open(self) -> BinaryIO:
        """Open the table's bytes, decompressed, at their beginning."""
        return self.path.open("rb") if self.content is None else BytesIO(self.content)

    def text(self, encoding: str, newline: str | None = "") -> TextIOWrapper:
        """Open the table's text, with line ends as they are; with a newline of None all become line feeds."""
        return TextIOWrapper(self.open(), encoding=encoding, newline=newline)

    def refuse_beyond(self, count: int, *, whole: bool = True) -> None:
        """Raise InputError if this file may not decompress to `count` bytes; `whole`: it has no more."""
        most = most_unpacked(self.size)
        if count > most:
            size = f"{show_bytes(count)}, " * whole + f"more than {show_bytes(most)}"
            raise InputError(
                f"{self.name!r} has {show_bytes(self.size)} but unpacks to {size}: too much for a table "
                "of that size, or for this machine. If you trust it, unpack it yourself, or take fewer rows."
            )

    def unpack(self, compression: str) -> TableFile:
        """Return the file with its bytes decompressed."""
        pieces: list[bytes] = []
        size = 0
        try:
            with self.open() as packed:
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
        return replace(self, content=b"".join(pieces))


def most_unpacked(size: int) -> int:
    """Return how many bytes a compressed file of that size may decompress to; never more than half of the memory."""
    return min(total_memory() // 2, max(FREE_BYTES, MOST_TIMES * size))


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
