"""The program of the nursery: import once, then fork a worker for each pipe that comes, and tell how each ends.

Messages from the parent: the names to import; then ``("bear", number, papers)`` followed by the handle of a pipe, and
``("signal", number, which)``. To the parent: ``("born", number, pid)`` and ``("ended", number, code, peak)``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from multiprocessing import reduction
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

from heldout.backends.child import Spawned
from heldout.backends.worker import import_all
from heldout.backends.worker import main as serve

_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def main(handle: int) -> NoReturn:
    """Serve the parent at the other end of the inherited pipe `handle` until it closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a program that ignores its children's ends hands that down
    control = Connection(handle)
    os.set_inheritable(handle, False)
    nursery = _Template(control)
    try:
        import_all(control.recv())
        nursery.serve()
    except (EOFError, OSError):
        nursery.kill_all()
    os._exit(0)


class _Template:
    def __init__(self, control: Connection) -> None:
        self._control = control
        self._children: dict[int, tuple[int, int]] = {}  # by number: pid and a handle of the process

    def serve(self) -> NoReturn:
        while True:
            for ready in wait([self._control, *(handle for _, handle in self._children.values())]):
                if ready is self._control:
                    kind, number, what = self._control.recv()
                    getattr(self, f"_on_{kind}")(number, what)
                else:
                    self._bury(ready)

    def _on_bear(self, number: int, papers: tuple[Any, ...]) -> None:
        pipe = reduction.recv_handle(self._control)
        pid = os.fork() if _threads() == 1 else self._spawn(pipe, papers)
        if pid == 0:
            self._be_worker(pipe, papers)
        os.close(pipe)
        self._children[number] = (pid, os.pidfd_open(pid))
        self._control.send(("born", number, pid))

    def _spawn(self, pipe: int, papers: tuple[Any, ...]) -> int:
        """A fresh interpreter: a process with threads cannot be forked safely, and some library started one."""
        (first, last), environment, folder = papers
        with suppress(OSError):
            os.chdir(folder)
        child = Spawned([*first, str(pipe), *last], environment, pipe, leads=True)
        child.disown()  # we wait for it by its number
        return child.pid

    def _be_worker(self, pipe: int, papers: tuple[Any, ...]) -> NoReturn:
        try:
            os.setpgid(0, 0)  # what a fit starts ends with its worker: see `_bury`
            _end_with_parent()
            self._control.close()
            for _, handle in self._children.values():
                os.close(handle)
            _, environment, folder = papers
            os.environ.clear()
            os.environ.update(environment)
            with suppress(OSError):
                os.chdir(folder)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed()  # or all workers would draw the same
            serve(pipe)
        finally:
            os._exit(1)

    def _on_signal(self, number: int, which: int) -> None:
        if number in self._children:
            with suppress(ProcessLookupError):
                os.kill(self._children[number][0], which)  # not waited for yet, so the number is still its own

    def _bury(self, handle: object) -> None:
        number = next(number for number, (_, own) in self._children.items() if own == handle)
        pid, own = self._children.pop(number)
        _end_group(pid)
        _, status, usage = os.wait4(pid, 0)
        os.close(own)
        self._control.send(("ended", number, os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024))

    def kill_all(self) -> None:
        """Leave no worker behind, also none that does not listen."""
        for pid, _ in self._children.values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _end_group(pid)


def _end_group(pid: int) -> None:
    """Ask what a worker's fits have started to end; it is not waited for yet, so the number is still its group's.

    Not by SIGKILL: those that ignore this signal, as the resource trackers of Python and joblib do, tidy up first.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGTERM)


def _end_with_parent() -> None:
    """Have the system kill this process when its parent dies: a fit that keeps the interpreter lock hears of no end."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))
