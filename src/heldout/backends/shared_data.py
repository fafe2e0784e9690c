"""Objects written once and mapped by every worker: transport between our own processes, never a format to keep."""

from __future__ import annotations

import errno
import mmap
import os
import pickle
import shutil
import struct
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from heldout.backends.limits import WORKER_MARK
from heldout.backends.pickling import dumps, explain_unpicklable
from heldout.base.errors import BackendError
from heldout.task.task import Task

try:
    import fcntl
except (
    ImportError
):  # Windows has no flock, so folders of killed programs stay until the system cleans its temporary files.
    fcntl = None  # type: ignore[assignment]

_ALIGNMENT = 64
_HEAD = struct.Struct("<8sQ")
_SPAN = struct.Struct("<QQ")
_MARK = b"heldout1"
_PREFIX = "heldout-"
_LOCK = "owner.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRef:
    """Where a shared object lies. Small and picklable: this is what travels to a worker."""

    path: str

    def open(self) -> Any:
        """Map the file and rebuild the object on the mapping. Keep what it returns: each call builds it anew.

        Arrays of plain numbers come out read-only and lie in the page cache, which all processes share. What has no
        buffers (Python objects in an object array) is private to the caller.
        """
        try:
            with open(self.path, "rb") as file:
                view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except FileNotFoundError as error:
            raise BackendError(
                f"The shared data {self.path} are gone. They live as long as the program that shared them."
            ) from error
        _, count = _HEAD.unpack_from(view)
        spans = [_SPAN.unpack_from(view, _HEAD.size + i * _SPAN.size) for i in range(count)]
        stream, *buffers = (view[start : start + size] for start, size in spans)
        return pickle.loads(stream, buffers=buffers)


def share(obj: object, folder: str | os.PathLike[str], name: str) -> SharedRef:
    """Write `obj` once below `folder` under `name`, for workers to map.

    Parameters
    ----------
    obj : object
        Anything that can be pickled. Buffers (numpy, pandas, scipy sparse, Arrow) are kept apart and mapped.
    folder : path
        Where to write, usually `transport_folder()`.
    name : str
        The name by content, a fingerprint: a file of that name is taken as it is.

    Returns
    -------
    SharedRef
    """
    path = Path(folder) / name
    if path.exists():
        return SharedRef(path=str(path))
    out_of_band: list[pickle.PickleBuffer] = []
    try:
        stream = dumps(obj, buffer_callback=out_of_band.append)
    except Exception as error:
        raise BackendError(f"{explain_unpicklable(obj)}. Use jobs=1 (inline).") from error
    parts = [memoryview(stream), *(buffer.raw() for buffer in out_of_band)]
    spans, size = _lay_out(parts)
    with _room_for(size, path.parent):
        _write(path, parts, spans)
    return SharedRef(path=str(path))


def _lay_out(parts: list[memoryview]) -> tuple[list[tuple[int, int]], int]:
    end = _HEAD.size + len(parts) * _SPAN.size
    spans = []
    for part in parts:
        start = -(-end // _ALIGNMENT) * _ALIGNMENT
        end = start + part.nbytes
        spans.append((start, part.nbytes))
    return spans, end


def _write(path: Path, parts: list[memoryview], spans: list[tuple[int, int]]) -> None:
    handle, unfinished = tempfile.mkstemp(prefix=".unfinished-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_HEAD.pack(_MARK, len(parts)))
            file.writelines(_SPAN.pack(*span) for span in spans)
            for part, (start, _) in zip(parts, spans, strict=True):
                file.seek(start)
                file.write(part)
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise


@contextmanager
def _room_for(size: int, folder: Path) -> Iterator[None]:
    free = shutil.disk_usage(folder).free
    full = (
        f"Sharing the data with the workers needs {_megabytes(size)} in {folder}, which has {_megabytes(free)} free. "
        "Point TMPDIR to a larger disk, or use jobs=1 (inline)."
    )
    if size > free:
        raise BackendError(full)
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise BackendError(full) from error
        raise


def check_room_for(task: Task) -> None:
    """Refuse to go on where the temporary folder surely cannot hold the data that workers would map."""
    with _room_for(_least_size(task.X) + task.y.nbytes, transport_folder()):
        pass


def _least_size(X: Any) -> int:
    """The bytes of a table's numbers, as far as its container tells without a look at them."""
    if hasattr(X, "indptr"):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False).sum())
    if hasattr(X, "estimated_size"):
        return int(X.estimated_size())
    return int(getattr(X, "nbytes", 0))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


class _PrivateFolder:
    """A directory for this process alone, removed when it ends."""

    def __init__(self) -> None:
        sweep_left_behind()
        self.pid = os.getpid()
        try:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_folder_of_worker()))
        except OSError as error:
            raise BackendError(
                f"Workers need a temporary folder, and none can be made: {error}. Point TMPDIR to a folder that can be "
                "written, or use jobs=1 (inline)."
            ) from error
        weakref.finalize(self, _remove, self.path, self.pid, lock_folder(self.path))


def _folder_of_worker() -> Path | None:
    """Where a worker keeps its own: its parent removes that, since a worker may end at any moment."""
    papers = os.environ.get(WORKER_MARK)
    if not papers or not os.path.isdir(os.path.dirname(papers)):
        return None
    folder = own_folder(Path(papers))
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def own_folder(papers: Path) -> Path:
    """The folder of a worker with these papers, for studies within its fits."""
    return papers.with_suffix(".own")


_mine: _PrivateFolder | None = None


def transport_folder() -> Path:
    """This process's own temporary directory, which only its user may enter and which goes when the process ends."""
    global _mine
    if _mine is None or _mine.pid != os.getpid() or not _mine.path.exists():
        _mine = _PrivateFolder()
    return _mine.path


def _remove(path: Path, pid: int, lock: BinaryIO | None) -> None:
    # A forked child runs the same exit hooks; the folder is its parent's.
    if os.getpid() == pid:
        shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        lock.close()


def lock_folder(folder: Path) -> BinaryIO | None:
    """Hold the folder's lock, which the system lets go when we end, however we end. None if another holds it."""
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
    """Remove the folders of programs that were killed before they could."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.getuid() or not (folder / _LOCK).exists():
                continue
            if (lock := lock_folder(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                lock.close()
