"""How data reach Dask workers: by load tasks that can run again wherever a worker was lost.

Nothing is scattered, since scattered data are gone with the worker that holds them. Where all workers see the file that
the client wrote, the load task only names it and they map it. Elsewhere its bytes are arguments of tasks, which the
scheduler keeps.
"""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from heldout.backends.shared_data import SharedRef, transport_folder
from heldout.base.errors import BackendError

if TYPE_CHECKING:
    from distributed import Client, Future

PIECE = 4 << 20  # bytes of one argument: Dask warns of graphs larger than 10 MB
MOST_SENT = 1 << 30  # bytes that may pass through the scheduler, which keeps them as long as the study runs
_making_folder = threading.Lock()


class Unseen(BackendError):
    """A worker does not see the file that it was to map."""


class RemoteFile:
    """A file of the client as a worker has it: mapped where it lies, or written anew from its content.

    Dask keeps it in the worker's memory, hands it to other workers, and drops it when the client needs it no more; a
    file that was written here goes with it.
    """

    def __init__(self, path: str | None, content: bytes = b"") -> None:
        self._path = path
        self._content = content  # where the client's file is not seen
        self._lock = threading.Lock()

    def ref(self) -> SharedRef:
        """Where processes of this machine can map it."""
        with self._lock:
            if self._path is None:
                self._path = _write(self._content)
                weakref.finalize(self, _unlink, self._path)
        if not os.path.exists(self._path):
            raise Unseen(f"A Dask worker does not see the shared data {self._path}.")
        return SharedRef(path=self._path)

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteFile, (None, self._content) if self._content else (self._path,)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + len(self._content)


def load_sent(*pieces: Any) -> RemoteFile:
    """The load task where workers do not see the client's file: it depends on the tasks that hold the pieces."""
    return RemoteFile(None, b"".join(pieces))


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
    answers = client.run(sees_file, ref.path, os.path.getsize(ref.path), on_error="return")
    return bool(answers) and all(seen is True for seen in answers.values())


def send(client: Client, ref: SharedRef, *, mapped: bool) -> Future:
    """Submit the load task of a file that this process wrote; keep the future as long as workers need the data."""
    name = f"heldout-load-{uuid4().hex}"
    if mapped:
        return client.submit(RemoteFile, ref.path, key=name)
    size = os.path.getsize(ref.path)
    if size > MOST_SENT:
        raise BackendError(
            f"The data are {size / 1e9:,.1f} GB and the Dask workers do not see {ref.path}; sent as messages they "
            f"would fill the scheduler's memory (at most {MOST_SENT / 1e9:.1f} GB are). Point TMPDIR to a folder that "
            "all machines share."
        )
    content = Path(ref.path).read_bytes()
    cuts = range(0, size, PIECE)
    pieces = [client.submit(piece_of, content[cut : cut + PIECE], key=f"heldout-piece-{uuid4().hex}") for cut in cuts]
    return client.submit(load_sent, *pieces, key=name)


def _write(content: bytes) -> str:
    with _making_folder:  # threads of a worker share one
        folder = transport_folder()
    handle, path = tempfile.mkstemp(prefix="sent-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError as error:
        _unlink(path)
        raise BackendError(
            f"A Dask worker needs {len(content) / 1e6:,.1f} MB in {os.path.dirname(path)} for the data, but: {error}. "
            "Point TMPDIR to a larger disk where the workers are started."
        ) from error
    return path


def _unlink(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
