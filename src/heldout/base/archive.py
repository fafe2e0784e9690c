"""Replaces files only by whole ones; reads and writes a zip of JSON and arrays, with a format and a version."""

from __future__ import annotations

import errno
import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy as np

from heldout.base.errors import StoredError
from heldout.base.shown import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

Arrays = dict[str, np.ndarray[Any, Any]]
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,  # an encrypted member, or an unknown compression
    TypeError,
    ValueError,
    msgspec.ValidationError,  # values of other types than the file should have
)
_SAME_TIME = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Names a kind of file, and the version of its format that this heldout writes and reads."""

    name: str  # in the file: "heldout result"
    words: str  # in errors: "a saved result"
    manifest: str  # the member with the JSON
    version: int
    again: str  # the way out when the version is another: "run the study again"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file, which replaces `path` when the body has ended. A body that fails leaves `path` as it was."""
    target = Path(path)
    part = target.with_name(f"{target.name}.{os.urandom(4).hex()}.part")
    try:
        with part.open("xb") as file:  # a new file: never one, or a link, that somebody else has put there
            yield file
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def write_archive(path: str | Path, form: Format, manifest: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a file. An existing one is replaced only after the new one is complete."""
    head = {"format": form.name, "version": form.version, **manifest}
    with replacing(path) as target, zipfile.ZipFile(target, "w", compression=zipfile.ZIP_DEFLATED) as file:
        _add(file, form.manifest, json.dumps(head, ensure_ascii=False, allow_nan=False).encode())
        for name, values in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, values, allow_pickle=False)
            _add(file, f"{name}.npy", buffer.getvalue())


@contextmanager
def refused_unless_whole(path: str | Path, form: Format) -> Iterator[None]:
    """Convert errors raised inside by a damaged or incomplete file to a StoredError that names it."""
    try:
        yield
    except FileNotFoundError:
        raise StoredError(f"There is no file {str(path)!r}.") from None
    except StoredError:
        raise
    except (*_UNREADABLE, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a place in the file that cannot be
            raise
        whole = form.words.replace(" ", " whole ", 1)  # "a saved result" → "a whole saved result"
        raise StoredError(f"{str(path)!r} is not {whole}: {error}") from error


@contextmanager
def opened_archive(path: str | Path, form: Format) -> Iterator[tuple[dict[str, Any], zipfile.ZipFile]]:
    """Open a file of this format, and yield its manifest and the zip file with its arrays. It cannot run code."""
    with refused_unless_whole(path, form), zipfile.ZipFile(path) as file:
        manifest = json.loads(file.read(form.manifest))
        if not isinstance(manifest, dict) or manifest.get("format") != form.name:
            raise StoredError(f"{str(path)!r} is not {form.words}.")
        if manifest.get("version") != form.version:
            raise StoredError(
                f"{str(path)!r} has format version {manifest.get('version')!r}, this heldout reads version "
                f"{form.version}. Read it with the heldout that wrote it, or {form.again}."
            )
        yield manifest, file


class StoredColumn(msgspec.Struct):
    """A column in the JSON of a file: the name of its array or, if `array` is None, its values."""

    array: str | None = None
    values: list[Any] | None = None


def read_array(file: zipfile.ZipFile, name: str) -> np.ndarray[Any, Any]:
    """Read one array of an open file."""
    values: np.ndarray[Any, Any] = np.load(io.BytesIO(file.read(f"{name}.npy")), allow_pickle=False)
    return values


def pack_columns(folder: str, columns: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Store columns of plain dtype as separate arrays, and other columns as values in the JSON."""
    packed: dict[str, Any] = {}
    for i, (name, values) in enumerate(columns.items()):
        if isinstance(values, np.ndarray) and values.dtype.kind in "biufmM":
            arrays[f"{folder}/{i}"] = values
            packed[name] = {"array": f"{folder}/{i}"}
        else:
            packed[name] = {"values": plain(list(values))}
    return packed


def unpack_columns(packed: Mapping[str, StoredColumn], file: zipfile.ZipFile) -> dict[str, Any]:
    """Read the columns that :func:`pack_columns` packed. They must have equal lengths."""
    columns = {
        name: column.values or [] if column.array is None else read_array(file, column.array)
        for name, column in packed.items()
    }
    if len({len(values) for values in columns.values()}) > 1:
        raise ValueError("the columns of a table have several lengths")
    return columns


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, date_time=_SAME_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    file.writestr(info, content)
