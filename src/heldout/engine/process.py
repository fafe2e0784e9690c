"""The parent's side of one worker process: its pipe, what it was told and what it still owes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from heldout.base.errors import BackendError
from heldout.engine.jobs import WORKER_MARK
from heldout.engine.threads import THREAD_VARIABLES

BOOT_SECONDS = 60.0
_CONTEXTS_KEPT = 4
# -P keeps the current directory off the path: the worker sees the parent's path and nothing else.
_PROGRAM = "import sys; sys.path[:] = sys.argv[3:]; from heldout.engine.worker import main; main(int(sys.argv[2]))"
_PRELOADED = frozenset({"numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "joblib", "heldout"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The callable of a run, pickled, under a key by content."""

    key: str
    payload: bytes
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Calls sent together: their names, which stay here, and their pickled arguments. A suspect is sent alone."""

    calls: tuple[tuple[Any, bytes], ...]
    alone: bool = False


class WorkerProcess:
    """One worker. It boots while the caller goes on; `greeted` tells when it is ready."""

    def __init__(self) -> None:
        self.born = time.monotonic()
        self.greeted = False
        self.in_flight: OrderedDict[int, Message] = OrderedDict()
        self._contexts: OrderedDict[str, None] = OrderedDict()
        self._sent = 0
        self.connection, theirs = Pipe(duplex=True)
        try:
            self._process = _spawn(theirs)
        except OSError as error:
            self.connection.close()
            raise BackendError(f"A worker process could not be started: {error}. Use jobs=1 (inline).") from error
        finally:
            theirs.close()
        with suppress(OSError):  # dead already: the missing hello will tell
            self.connection.send(_names_to_preload())

    def receive(self) -> tuple[Any, ...] | None:
        """The next message, once the connection is readable; None when the worker is dead."""
        try:
            message: tuple[Any, ...] = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        if message[0] == "stillborn":
            raise BackendError(f"A worker process could not start. Use jobs=1 (inline). It said:\n{message[1]}")
        if message[0] == "hello":
            self.greeted = True
        return message

    def dead(self) -> bool:
        """Whether the process has ended, for the rare case that a child of its own keeps the pipe open."""
        return self._process.poll() is not None

    def give(self, context: Context, message: Message, budget: float) -> None:
        """Send calls, and their context if the worker does not have it. `receive` notices a dead worker, not this."""
        self._sent += 1
        self.in_flight[self._sent] = message
        with suppress(OSError):
            if context.key not in self._contexts:
                self._send(("context", context.key, list(context.path), context.payload))
            self._contexts[context.key] = None
            self._contexts.move_to_end(context.key)
            if len(self._contexts) > _CONTEXTS_KEPT:
                self._send(("drop", self._contexts.popitem(last=False)[0]))
            self._send(("do", self._sent, context.key, [argument for _, argument in message.calls], budget))

    def cancel(self) -> None:
        """Ask to leave everything in flight undone, except the call under way."""
        with suppress(OSError):
            self._send(("cancel", self._sent))

    def _send(self, message: tuple[Any, ...]) -> None:
        self.connection.send_bytes(pickle.dumps(message, protocol=5))

    def late(self) -> bool:
        """Whether its hello is overdue."""
        return not self.greeted and time.monotonic() - self.born > BOOT_SECONDS

    def kill(self) -> None:
        """End the process now."""
        self.connection.close()
        with suppress(OSError):
            self._process.kill()
        self._process.wait()

    def end(self, seconds: float) -> None:
        """Close the pipe, which ends the worker; kill it when it does not within `seconds`."""
        self.connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=max(seconds, 0.0))
        self.kill()

    def disown(self) -> None:
        """In a forked child: let go of the pipe without touching the parent's worker."""
        self.connection.close()
        self._process.returncode = 0

    def obituary(self) -> str:
        """How the worker ended, in words. Call it when `receive` gave None."""
        self.end(5.0)
        code = self._process.returncode
        if code >= 0:
            return f"worker died (exit code {code})"
        return f"worker died (signal {-code}{_signal_name(-code)})"


def _spawn(theirs: Connection) -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise BackendError("This program embeds Python, so no worker process can be started. Use jobs=1 (inline).")
    handle = theirs.fileno()
    environment = {**os.environ, WORKER_MARK: "1", **dict.fromkeys(THREAD_VARIABLES, "1")}
    command = [sys.executable, "-P", "-c", _PROGRAM, "heldout-worker", str(handle), *worker_path()]
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, startupinfo=startup)
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, pass_fds=(handle,))


def worker_path() -> tuple[str, ...]:
    """Our sys.path in a form that another process reads the same way."""
    return tuple(os.path.abspath(entry) for entry in sys.path)


def _names_to_preload() -> list[str]:
    """What a worker imports before its hello: the scientific packages of this process, as its studies use them."""
    always = ["numpy", "scipy.linalg", "scipy.sparse", "sklearn.base", "sklearn.pipeline", "heldout.engine.pickling"]
    loaded = [name.split(".")[:2] for name in tuple(sys.modules)]
    ours = {".".join(parts) for parts in loaded if parts[0] in _PRELOADED and not parts[-1].startswith("_")}
    return always + sorted(ours.intersection(sys.modules) | {"heldout.engine.threads"})


def _signal_name(number: int) -> str:
    try:
        return f", {signal.Signals(number).name}"
    except ValueError:
        return ""
