"""The nursery: one process that imports what workers need, once, and forks them. Linux only.

Importing takes a second of a core, forking some milliseconds: workers boot together while a core is left for the
caller, and one that died is replaced at once. The nursery waits for its children and tells how they ended; when we
end, however we end, it kills those that are left. See `heldout.backends.template` for the program that it runs.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection
from typing import Any

from heldout.backends.child import Ending, Spawned

FORKS = sys.platform.startswith("linux") and hasattr(os, "pidfd_open")
_PATIENCE = 5.0  # seconds for a pid that was asked for


class Nursery:
    """Our end of the nursery process."""

    def __init__(self, command: tuple[list[str], list[str]], environment: dict[str, str], names: Sequence[str]) -> None:
        self.owner = os.getpid()
        self._control, theirs = Pipe(duplex=True)
        try:
            words = [*command[0], str(theirs.fileno()), *command[1]]
            self.process = Spawned(words, environment, theirs.fileno())
        except OSError:
            self._control.close()
            raise
        finally:
            theirs.close()
        self._lock = threading.RLock()
        self._numbers = count(1)
        self._pids: dict[int, int] = {}
        self._endings: dict[int, Ending] = {}
        self._gone = False
        self._control.send(list(names))
        self._finalizer = weakref.finalize(self, _close, self._control, self.process, self._pids, self.owner)

    @property
    def usable(self) -> bool:
        """Whether it lives, and is ours and not that of the process that forked us."""
        with self._lock:
            self._hear(0.0)
        return not self._gone and self.owner == os.getpid()

    def bear(self, theirs: Connection, papers: tuple[Any, ...]) -> Forked:
        """A worker at the other end of a pipe. An OSError where the nursery is gone."""
        with self._lock:
            number = next(self._numbers)
            self._control.send(("bear", number, papers))
            reduction.send_handle(self._control, theirs.fileno(), self.process.pid)
        return Forked(self, number)

    def pid_of(self, number: int) -> int | None:
        deadline = time.monotonic() + _PATIENCE
        with self._lock:
            while number not in self._pids and not self._gone and time.monotonic() < deadline:
                self._hear(0.1)
            return self._pids.get(number)

    def ending_of(self, number: int, seconds: float) -> Ending | None:
        deadline = time.monotonic() + seconds
        while True:
            with self._lock:
                self._hear(0.0)
                if number in self._endings:
                    return self._endings[number]
                if self._gone:  # it killed them all before it went, or was killed itself
                    return self._last_look(number)
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            time.sleep(min(left, 0.002))

    def send_signal(self, number: int, which: int) -> None:
        """The nursery sends it, because it knows whether the child still has its number."""
        with self._lock, suppress(OSError):
            self._control.send(("signal", number, which))

    def disown(self) -> None:
        """In a forked child: let go of the pipe without touching what it belongs to."""
        self._gone = True
        self._control.close()
        self.process.disown()
        self._finalizer.detach()

    def _last_look(self, number: int) -> Ending:
        pid = self._pids.get(number)
        if pid is None:  # it was never born: what ended the nursery ended it
            return self.process.wait(1.0) or Ending(code=None)
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
        return Ending(code=None)

    def _hear(self, seconds: float) -> None:
        try:
            while not self._gone and self._control.poll(seconds):
                kind, number, *rest = self._control.recv()
                if kind == "born":
                    self._pids[number] = rest[0]
                else:
                    self._endings[number] = Ending(code=rest[0], peak=rest[1])
                seconds = 0.0
        except (EOFError, OSError):
            self._gone = True


class Forked:
    """A worker that the nursery forked."""

    def __init__(self, nursery: Nursery, number: int) -> None:
        self._nursery = nursery
        self._number = number

    @property
    def pid(self) -> int | None:
        return self._nursery.pid_of(self._number)

    def wait(self, seconds: float) -> Ending | None:
        """How it ended, if it does within `seconds`."""
        return self._nursery.ending_of(self._number, seconds)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        self._nursery.send_signal(self._number, number)

    def disown(self) -> None:
        """In a forked child: the nursery is let go as a whole."""


def _close(control: Connection, process: Spawned, pids: dict[int, int], owner: int) -> None:
    if os.getpid() != owner:
        return
    control.close()
    if process.wait(2.0 if pids else 0.0) is None:  # without a child it may be busy with its imports, and deaf
        process.kill()
        process.wait(2.0)
