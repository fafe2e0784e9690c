"""How data reach Dask workers: by load tasks that can run again wherever a worker was lost.

Nothing is scattered, since scattered data are gone with the worker that holds them. Where all workers see the file that
the client wrote, the load task only names it and they map it. Elsewhere its bytes are the arguments of piece tasks,
which the scheduler keeps, and the load task puts them together.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from heldout.backends.shared_data import SharedRef, transport_folder
from heldout.base.errors import BackendError

if TYPE_CHECKING:
    from distributed import Client, Future

PIECE = 4 << 20  # bytes: Dask warns of graphs larger than 10 MB
MOST_SENT = 4 << 30  # bytes that may pass through the scheduler, which keeps them as long as the study runs


class Unseen(BackendError):
    """A worker does not see the file that it was to map."""


class Parcel:
    """A shared file as a worker has it: mapped where the client wrote it, or written anew from pieces that were sent.

    Dask keeps it in the worker's memory, hands it to other workers, and drops it when the client needs it no more; a
    file that was written here goes with it.
    """

    def __init__(self, *, path: str | None = None, pieces: Sequence[Any] = ()) -> None:
        self._path = path
        self._own = path is None  # the file is this process's own: others get its bytes, not its name
        self._pieces = pieces
        self._lock = threading.Lock()

    def ref(self) -> SharedRef:
        """Where processes of this machine can map it."""
        with self._lock:
            if self._path is None:
                self._path = _write(self._pieces)
                self._pieces = ()
                weakref.finalize(self, _unlink, self._path)
        if not os.path.exists(self._path):
            raise Unseen(f"A Dask worker does not see the shared data {self._path}.")
        return SharedRef(path=self._path)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        with self._lock:
            if not self._own:
                return load_mapped, (self._path,)
            pieces = self._pieces if self._path is None else [_mapped(self._path)]
        beside = pickle.PickleBuffer if protocol >= 5 else bytes  # buffers travel without a copy, where they may
        return load_pieces, tuple(beside(piece) for piece in pieces)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(memoryview(piece).nbytes for piece in self._pieces)


def load_mapped(path: str) -> Parcel:
    """The load task where workers see the client's file."""
    return Parcel(path=path)


def load_pieces(*pieces: Any) -> Parcel:
    """The load task where they do not: it depends on the tasks that hold the pieces."""
    return Parcel(pieces=pieces)


def piece_of(content: bytes) -> bytes:
    """A piece, held by the scheduler as this task's argument."""
    return content


def sees_file(path: str, size: int) -> bool:
    """Whether this process can read that file, and it is whole."""
    try:
        return os.path.getsize(path) == size and os.access(path, os.R_OK)
    except OSError:
        return False


def all_workers_see(client: Client, ref: SharedRef) -> bool:
    """Whether every worker there is now can map a file of the client."""
    found = client.run(sees_file, ref.path, os.path.getsize(ref.path), on_error="return")
    return bool(found) and all(seen is True for seen in found.values())


def send(client: Client, ref: SharedRef, *, mapped: bool) -> Future:
    """Submit the load task of a file that this process wrote; keep the future as long as workers need the data."""
    name = f"heldout-load-{uuid4().hex}"
    if mapped:
        return client.submit(load_mapped, ref.path, key=name)
    size = os.path.getsize(ref.path)
    if size > MOST_SENT:
        raise BackendError(
            f"The data are {size / 1e9:,.1f} GB and the Dask workers do not see {ref.path}; sent as messages they "
            f"would fill the scheduler's memory (at most {MOST_SENT / 1e9:.1f} GB are). Point TMPDIR to a folder that "
            "all machines share."
        )
    pieces = [client.submit(piece_of, content, key=f"heldout-piece-{uuid4().hex}") for content in _pieces_of(ref.path)]
    return client.submit(load_pieces, *pieces, key=name)


def _pieces_of(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while content := file.read(PIECE):
            yield content


_making_folder = threading.Lock()


def _write(pieces: Sequence[Any]) -> str:
    with _making_folder:  # threads of a worker share one
        folder = transport_folder()
    handle, path = tempfile.mkstemp(prefix="parcel-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
    except OSError as error:
        _unlink(path)
        size = sum(memoryview(piece).nbytes for piece in pieces)
        raise BackendError(
            f"A Dask worker needs {size / 1e6:,.1f} MB in {os.path.dirname(path)} for the data, but: {error}. Point "
            "TMPDIR to a larger disk where the workers are started."
        ) from error
    return path


def _mapped(path: str) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _unlink(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
