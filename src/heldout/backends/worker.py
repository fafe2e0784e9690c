"""The program of a worker process: it receives tasks, computes them one after another, and sends back results.

Messages are pickled tuples. From the parent::

    ("context", payload, path)               keep the callable in `payload`; `path` is the parent's sys.path
    ("do", arguments, budget, limit)         call it with each argument; begin none after `budget` seconds but the
                                             first; end this process when they take `limit` seconds

To the parent::

    ("ready", pid, held)                     imports are done; the process holds `held` bytes
    ("not started", text)                    it could not start; `text` says why
    ("done", outcomes)                       ("value", pickle, seconds) or ("error", summary, seconds) a task, for fewer
                                             tasks than arguments when the budget was spent
    ("broken", summary)                      the context cannot be loaded here

where a summary is an exception as three texts: type name, message, traceback.
"""

from __future__ import annotations

import ctypes
import faulthandler
import importlib
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, forkserver
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn, TextIO, TypeAlias, cast

from heldout.backends.limits import PRELOAD, TRACES, WORKER_MARK, private_memory
from heldout.base.errors import describe_error

Summary: TypeAlias = tuple[str, str, str]
Outcome: TypeAlias = tuple[str, Any, float]
# -P keeps the current directory off the path: the worker sees the parent's path and nothing else.
PROGRAM = "import sys; sys.path[:] = sys.argv[3:]; from heldout.backends.worker import main; main(int(sys.argv[2]))"
_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Runs in a new worker of the fork server: sets the caller's environment and folder, then calls `main`."""

    environment: dict[str, str]
    folder: str
    path: tuple[str, ...]

    def _bootstrap(self, sentinel: int) -> int:
        os.close(sentinel)
        (handle,) = cast("list[int]", forkserver.get_inherited_fds())
        # The server ends when nobody holds the other end. Only the caller may hold it, since a worker may hang.
        os.close(forkserver._forkserver._forkserver_alive_fd)  # type: ignore[attr-defined]
        os.setpgid(0, 0)  # what a fit starts ends with its worker
        with suppress(OSError, AttributeError):  # a fit with the interpreter lock misses its parent's end
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        os.environ.clear()
        os.environ.update(self.environment)
        with suppress(OSError):
            os.chdir(self.folder)
        if len(os.listdir(f"/proc/{os.getppid()}/task")) > 1:  # a process with threads cannot be forked safely
            os.set_inheritable(handle, True)
            os.execve(sys.executable, worker_command(handle, self.path), self.environment)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed()  # or all workers would draw the same
        main(handle)
        return 0


def worker_command(handle: int, path: Sequence[str]) -> list[str]:
    """Return the command of a fresh interpreter that serves the pipe `handle`, with this path."""
    return [sys.executable, "-P", "-c", PROGRAM, "heldout-worker", str(handle), *path]


def main(handle: int) -> None:
    """Serve the parent at the other end of the inherited pipe `handle` until it closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C may reach the whole group; the parent decides what it means
    if sys.platform == "win32":
        pipe = connection.PipeConnection(handle)
    else:
        pipe = connection.Connection(handle)
        os.set_inheritable(handle, False)
    try:
        _offer_to_be_killed_first()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=pipe.close)
        traces = _open_traces(Path(os.environ[WORKER_MARK], TRACES))
        import_all(os.environ.pop(PRELOAD, ""))
        worker = _Worker(pipe, traces)
    except BaseException:
        try:
            pipe.send_bytes(pickle.dumps(("not started", traceback.format_exc())))
        except OSError:
            os._exit(0)  # nobody waits for us any more
        raise
    worker.serve()


def import_all(names: str) -> None:
    """Import the modules of a comma-separated list, which tasks will need."""
    for name in names.split(",") if names else ():
        with suppress(Exception):  # a context that needs it will say so
            importlib.import_module(name)


def _offer_to_be_killed_first() -> None:
    """Ask the system to end this process, and not its parent, when memory runs out."""
    with suppress(OSError):  # not Linux, or not allowed: then the system picks by size
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def _open_traces(path: Path) -> TextIO:
    """Open a file for tracebacks of all threads: of a crash, at a time limit, and when the parent sends a signal."""
    file = path.open("w", encoding="utf-8")
    faulthandler.enable(file=file)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)
    return file


class _Worker:
    def __init__(self, pipe: connection.Connection, traces: TextIO) -> None:
        self._pipe = pipe
        self._traces = traces  # open as long as we live
        self._inbox: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._context: Callable[[Any], Any] | None = None
        self._pid = os.getpid()

    def serve(self) -> None:
        # A thread reads, so that the parent never waits for a fit to send, and so that its end ends us during a fit.
        threading.Thread(target=self._read, name="heldout-reader", daemon=True).start()
        self._send(("ready", os.getpid(), private_memory(os.getpid())))
        while True:
            kind, *rest = self._inbox.get()
            getattr(self, f"_on_{kind}")(*rest)

    def _read(self) -> None:
        while True:
            try:
                self._inbox.put(pickle.loads(self._pipe.recv_bytes()))
            except (EOFError, OSError):
                _end_all()

    def _send(self, message: tuple[Any, ...]) -> None:
        for stream in (sys.stdout, sys.stderr):  # we end by os._exit, which flushes nothing
            with suppress(Exception):
                stream.flush()
        try:
            self._pipe.send_bytes(pickle.dumps(message, protocol=5))
        except OSError:
            os._exit(0)

    def _on_context(self, payload: bytes, path: list[str]) -> None:
        if sys.path != path:
            sys.path[:] = path
            importlib.invalidate_caches()
        self._context = None
        try:
            self._context = pickle.loads(payload)
        except BaseException as error:
            self._send(("broken", describe_error(error)))

    def _on_do(self, arguments: Sequence[bytes], budget: float, limit: float | None) -> None:
        from heldout.backends.threads import one_thread

        outcomes: list[Outcome] = []
        start = time.perf_counter()
        with one_thread(), self._ended_after(limit):  # where there is a limit, a batch is one task
            for argument in arguments:
                spent = outcomes and time.perf_counter() - start > budget
                if self._context is None or spent:
                    break
                outcomes.append(_outcome(self._context, argument))
                if os.getpid() != self._pid:
                    os._exit(0)  # a fit forked, and this is its child, which returned from the fit too
        self._send(("done", outcomes))

    @contextmanager
    def _ended_after(self, seconds: float | None) -> Iterator[None]:
        """End this process if the body takes longer than `seconds` (if not None). The tracebacks show where it was."""
        if seconds is None:
            yield
            return
        faulthandler.dump_traceback_later(seconds, exit=True, file=self._traces)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _end_all() -> NoReturn:
    """End this process, which nobody waits for any more, and the processes that its fits have started."""
    with suppress(AttributeError, OSError):
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGTERM)
    os._exit(0)


def _outcome(context: Callable[[Any], Any], argument: bytes) -> Outcome:
    from heldout.backends.pickling import dumps, explain_unpicklable

    start = time.perf_counter()
    try:
        value = context(pickle.loads(argument))
    except BaseException as error:  # also SystemExit: a call may not end its worker
        return "error", describe_error(error), time.perf_counter() - start
    seconds = time.perf_counter() - start
    try:
        return "value", dumps(value), seconds
    except Exception as error:
        _, _, trace = describe_error(error)
        return "error", ("UnpicklableResult", explain_unpicklable(value), trace), seconds


if PRELOAD in os.environ:  # in the fork server, which imports this module first, and in fresh interpreters
    import_all(os.environ.pop(PRELOAD))
