"""A child process: how it is started, ended, and what is known of its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

_NAP = 0.002  # seconds between two looks at a child that is about to end
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a process ended: its exit code, negative for a signal, None where nobody could see; and its peak memory."""

    code: int | None
    peak: int = 0  # bytes; 0 where the system does not tell

    def __str__(self) -> str:
        if self.code is None:
            return "worker died"
        if self.code >= 0:
            return f"worker died (exit code {self.code})"
        return f"worker died (signal {-self.code}{_signal_name(-self.code)})"

    @property
    def killed(self) -> bool:
        """Whether somebody else ended it, by hand or for memory; a process does not send itself this signal."""
        return self.code is not None and self.code == -getattr(signal, "SIGKILL", 9)


class Child(Protocol):
    """A child process, started directly or by the nursery."""

    @property
    def pid(self) -> int | None: ...
    def wait(self, seconds: float) -> Ending | None:
        """How it ended, if it does within `seconds`."""

    def kill(self) -> None: ...
    def send_signal(self, number: int) -> None: ...
    def disown(self) -> None: ...


class Spawned:
    """A fresh interpreter that is our own child."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], handle: int, *, leads: bool = False
    ) -> None:
        if sys.platform == "win32":
            os.set_handle_inheritable(handle, True)
            startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
            self._process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, startupinfo=startup)
        else:
            group = 0 if leads else None  # of its own, which what it starts belongs to
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, pass_fds=(handle,), process_group=group
            )
        self._lock = threading.Lock()  # a number may be another process's once the child was seen to end
        self._ending: Ending | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self, seconds: float) -> Ending | None:
        """How it ended, if it does within `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            with self._lock:
                if self._ending is None:
                    self._ending = self._look()
            if self._ending is not None or time.monotonic() >= deadline:
                return self._ending
            time.sleep(_NAP)

    def _look(self) -> Ending | None:
        if sys.platform == "win32":
            code = self._process.poll()
            return None if code is None else Ending(code=code)
        try:
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        except ChildProcessError:  # somebody else waits for all children of this process
            self._process.returncode = 0
            return Ending(code=None)
        if pid == 0:
            return None
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return Ending(code=self._process.returncode, peak=usage.ru_maxrss * _MAXRSS_UNIT)

    def kill(self) -> None:
        self.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def send_signal(self, number: int) -> None:
        with self._lock:
            if self._ending is None:
                self._process.send_signal(number)

    def disown(self) -> None:
        """In a forked child: it is not ours to wait for."""
        self._process.returncode = 0


def _signal_name(number: int) -> str:
    try:
        return f", {signal.Signals(number).name}"
    except ValueError:
        return ""
