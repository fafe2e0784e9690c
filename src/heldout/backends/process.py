"""The parent's side of one worker process: its pipe, what it was told and what it still owes."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sys
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from uuid import uuid4

from heldout.backends.board import Board, Mark
from heldout.backends.child import Child, Ending, Spawned
from heldout.backends.jobs import WORKER_MARK
from heldout.backends.nursery import FORKS, Nursery
from heldout.backends.shared_data import own_folder, transport_folder
from heldout.backends.threads import THREAD_VARIABLES
from heldout.base.errors import BackendError

BOOT_SECONDS = 60.0
_CONTEXTS_KEPT = 4
_LAST_WORDS = 0.2  # seconds for a worker that is about to be ended to write down where it is
_LONGEST_WORDS = 8_000  # characters
# -P keeps the current directory off the path: the worker sees the parent's path and nothing else.
PROGRAM = "import sys; sys.path[:] = sys.argv[3:]; from heldout.backends.{} import main; main(int(sys.argv[2]))"
_NO_THREADS = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}  # pyarrow starts one, and then nothing can be forked
_PRELOADED = frozenset({"numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "joblib"})
_ALWAYS = ("numpy", "scipy.linalg", "scipy.sparse", "sklearn.base", "sklearn.pipeline", "heldout.backends.base")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The callable of a run, pickled, under a key by content."""

    key: str
    payload: bytes
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Calls sent together: their names, which stay here, and their pickled arguments.

    A suspect is sent alone, with word of the workers that died at it.
    """

    calls: tuple[tuple[Any, bytes], ...]
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why we ended a worker ourselves: what the fit it was at did."""

    kind: str
    message: str
    at: Mark


class WorkerProcess:
    """One worker. It boots while the caller goes on; `greeted` tells when it is ready."""

    def __init__(self) -> None:
        self.born = time.monotonic()
        self.greeted = False
        self.pid = self.held_at_hello = 0  # known once it has greeted
        self.verdict: Verdict | None = None
        self.in_flight: OrderedDict[int, Message] = OrderedDict()
        self.contexts: OrderedDict[str, None] = OrderedDict()
        self._sent = 0
        self._lock = threading.Lock()  # the watch reads the board while we close it
        self.connection, theirs = Pipe(duplex=True)
        try:
            self._papers = transport_folder() / f"worker-{uuid4().hex}"
            self._board: Board | None = Board(self._papers.with_suffix(".board"), new=True)
            self.process = _start(theirs, self.connection, self._papers)
        except OSError as error:
            self.connection.close()
            raise BackendError(f"A worker process could not be started: {error}. Use jobs=1 (inline).") from error
        finally:
            theirs.close()

    def receive(self) -> tuple[Any, ...] | None:
        """The next message, once the connection is readable; None when the worker is dead."""
        try:
            message: tuple[Any, ...] = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        if message[0] == "stillborn":
            raise BackendError(f"A worker process could not start. Use jobs=1 (inline). It said:\n{message[1]}")
        if message[0] == "hello":
            self.greeted, (self.pid, self.held_at_hello) = True, message[1:]
        return message

    def dead(self) -> bool:
        """Whether the process has ended, for the rare case that a child of its own keeps the pipe open."""
        return self.process.wait(0.0) is not None

    def at(self) -> Mark | None:
        """What it is at, as its board says."""
        with self._lock:
            return None if self._board is None else self._board.read()

    def give(self, context: Context, message: Message, budget: float) -> None:
        """Send calls, and their context if the worker does not have it. `receive` notices a dead worker, not this."""
        self._sent += 1
        self.in_flight[self._sent] = message
        with suppress(OSError):
            if context.key not in self.contexts:
                self._send(("context", context.key, list(context.path), context.payload))
            self.contexts[context.key] = None
            self.contexts.move_to_end(context.key)
            if len(self.contexts) > _CONTEXTS_KEPT:
                self._send(("drop", self.contexts.popitem(last=False)[0]))
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

    def condemn(self, verdict: Verdict) -> None:
        """End it for what its fit does, once it wrote down where it is. Whoever waits for it hears that it died."""
        if hasattr(signal, "SIGUSR1"):
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(_LAST_WORDS)
        if self.at() == verdict.at:  # else it came to an end meanwhile
            self.verdict = verdict
            self.process.kill()

    def last_words(self) -> str:
        """What it wrote when it crashed or was condemned: the traceback of its threads."""
        with suppress(OSError):
            return self._papers.with_suffix(".words").read_text(encoding="utf-8", errors="replace")[:_LONGEST_WORDS]
        return ""

    def kill(self) -> Ending | None:
        """End the process now."""
        self.connection.close()
        self.process.kill()
        ending = self.process.wait(5.0 if self.greeted else 0.0)  # one that still boots ends as soon as it can hear
        self._tidy()
        return ending

    def end(self, seconds: float) -> Ending | None:
        """Close the pipe, which ends the worker; kill it when it does not within `seconds`."""
        self.connection.close()
        ending = self.process.wait(max(seconds, 0.0))
        if ending is None:
            return self.kill()
        self._tidy()
        return ending

    def _tidy(self) -> None:
        with self._lock:
            if self._board is not None:
                self._board.close()
            self._board = None
        for kind in (".board", ".words"):
            with suppress(OSError):
                self._papers.with_suffix(kind).unlink()
        shutil.rmtree(own_folder(self._papers), ignore_errors=True)

    def disown(self) -> None:
        """In a forked child: let go of the pipe without touching the parent's worker."""
        self.connection.close()
        self.process.disown()


current_nursery: Nursery | None = None


def _disown_nursery() -> None:
    global current_nursery
    if current_nursery is not None:
        current_nursery.disown()
    current_nursery = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_nursery)


def _start(theirs: Connection, ours: Connection, papers: Path) -> Child:
    """A worker process at the other end of this pipe: forked where that is safe, else a fresh interpreter."""
    if not sys.executable:
        raise BackendError("This program embeds Python, so no worker process can be started. Use jobs=1 (inline).")
    environment = {**os.environ, WORKER_MARK: str(papers), **dict.fromkeys(THREAD_VARIABLES, "1")}
    names = _names_to_preload()
    first, last = _command("worker")
    child: Child
    if FORKS:
        global current_nursery
        if current_nursery is None or not current_nursery.usable:
            current_nursery = Nursery(_command("template"), {**_NO_THREADS, **environment}, names)
        child = current_nursery.bear(theirs, ((first, last), environment, os.getcwd()))
    else:
        child = Spawned([*first, str(theirs.fileno()), *last], environment, theirs.fileno())
    with suppress(OSError):  # dead already: the missing hello will tell
        ours.send(names)
    return child


def _command(program: str) -> tuple[list[str], list[str]]:
    """The command of a program of ours, in two halves: the handle of its pipe goes between them."""
    return [sys.executable, "-P", "-c", PROGRAM.format(program), "heldout-worker"], list(worker_path())


def worker_path() -> tuple[str, ...]:
    """Our sys.path in a form that another process reads the same way."""
    return tuple(os.path.abspath(entry) for entry in sys.path)


def _names_to_preload() -> list[str]:
    """What a worker imports before its hello: the scientific packages of this process, as its studies use them."""
    loaded = [name.split(".")[:2] for name in tuple(sys.modules)]
    ours = {".".join(parts) for parts in loaded if parts[0] in _PRELOADED and not parts[-1].startswith("_")}
    return [*_ALWAYS, *sorted(ours.intersection(sys.modules))]
