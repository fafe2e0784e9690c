"""Writes objects to temporary files that every worker maps, so that the data are in memory only once."""

from __future__ import annotations

import atexit
import errno
import mmap
import os
import pickle
import shutil
import struct
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from heldout.backends.limits import USE_INLINE, WORKER_MARK
from heldout.backends.pickling import dumps, explain_unpicklable
from heldout.base.archive import replacing
from heldout.base.errors import Argument, BackendError, Sentence

try:
    import fcntl
except ImportError:  # Windows: folders of killed programs stay until the system cleans its temporary files
    fcntl = None  # type: ignore[assignment]

_ALIGNMENT = 64
_HEAD = struct.Struct("<Q")
_PREFIX = "heldout-"
_LOCK = "owner.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRef:
    """The path of a shared object. It is small and picklable: workers are sent this instead of the data."""

    path: str

    def open(self) -> Any:
        """Map the file and rebuild the object from it. Keep the result, since each call builds a new one.

        Arrays of plain numbers are read-only and lie in the page cache, which all processes share.
        """
        try:
            with open(self.path, "rb") as file:
                view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except FileNotFoundError as error:
            raise BackendError(
                f"The shared data {self.path} are gone. They live as long as the program that shared them."
            ) from error
        (index,) = _HEAD.unpack_from(view)
        stream, *buffers = (view[start : start + size] for start, size in pickle.loads(view[index:]))
        return pickle.loads(stream, buffers=buffers)


def share(obj: object, folder: str | os.PathLike[str], name: str) -> SharedRef:
    """Write an object once to the file `name` in `folder`, for workers to map.

    Its buffers (numpy, pandas, scipy sparse, Arrow) are stored apart from its pickle. The name is a fingerprint of the
    content, so an existing file of that name is reused.
    """
    path = Path(folder) / name
    if path.exists():
        return SharedRef(path=str(path))
    out_of_band: list[pickle.PickleBuffer] = []
    try:
        stream = dumps(obj, buffer_callback=out_of_band.append)
    except Exception as error:
        raise BackendError(f"{explain_unpicklable(obj)}.", USE_INLINE) from error
    parts = [memoryview(stream), *(buffer.raw() for buffer in out_of_band)]
    size, free = sum(part.nbytes for part in parts), shutil.disk_usage(path.parent).free
    full = BackendError(
        f"Sharing the data with the workers needs {size / 1e6:,.1f} MB in {path.parent}, which has {free / 1e6:,.1f} "
        "MB free.",
        Sentence("Point TMPDIR to a larger disk, or use {} (inline).", Argument("jobs", 1)),
    )
    if size > free:
        raise full
    try:
        _write(path, parts)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise full from error
        raise
    return SharedRef(path=str(path))


def _write(path: Path, parts: list[memoryview]) -> None:
    """Write the parts at aligned offsets, then a table of the offsets. The first bytes of the file point to it."""
    with replacing(path) as file:
        end, spans = _HEAD.size, []
        for part in parts:
            start = -(-end // _ALIGNMENT) * _ALIGNMENT
            end = start + part.nbytes
            spans.append((start, part.nbytes))
            file.seek(start)
            file.write(part)
        file.seek(end)
        file.write(pickle.dumps(spans))
        file.seek(0)
        file.write(_HEAD.pack(end))


_mine: tuple[int, Path] | None = None  # the process that made it, and the folder


def transport_folder() -> Path:
    """Return this process's temporary directory, which only its user may enter and which is removed when it ends."""
    global _mine
    if _mine is None or _mine[0] != os.getpid() or not _mine[1].exists():
        sweep_left_behind()
        # A worker's parent removes the worker's folder, since a worker may end at any moment.
        parent = os.environ.get(WORKER_MARK)
        try:
            path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent if parent and os.path.isdir(parent) else None))
        except OSError as error:
            raise BackendError(
                f"Workers need a temporary folder, and none can be made: {error}.",
                Sentence("Point TMPDIR to a folder that can be written, or use {} (inline).", Argument("jobs", 1)),
            ) from error
        _mine = os.getpid(), path
        atexit.register(_remove, *_mine, lock_folder(path))
    return _mine[1]


def _remove(pid: int, path: Path, lock: BinaryIO | None) -> None:
    # A forked child runs the same exit hooks; the folder is its parent's.
    if os.getpid() == pid:
        shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        lock.close()


def lock_folder(folder: Path) -> BinaryIO | None:
    """Lock the folder; the system releases the lock when this process ends in any way. None if another holds it."""
    if fcntl is None:
        return None
    file = open(folder / _LOCK, "ab")  # noqa: SIM115 (open as long as we live)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def sweep_left_behind() -> None:
    """Remove the folders of programs that were killed before they could do so."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.getuid() or not (folder / _LOCK).exists():
                continue
            if (lock := lock_folder(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                lock.close()
