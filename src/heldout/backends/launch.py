"""Starts worker processes, and reports how they ended.

On Linux a fork server of `multiprocessing` imports the libraries once and forks each worker in some milliseconds.
Elsewhere, and if that module does not work as expected, each worker is a fresh interpreter. Neither runs the caller's
script again, so a script needs no ``__main__`` guard.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from heldout.backends.limits import PRELOAD, USE_INLINE, WORKER_MARK
from heldout.backends.threads import THREAD_VARIABLES
from heldout.backends.worker import Start, worker_command
from heldout.base.errors import BackendError

_NO_THREADS = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}  # pyarrow starts one, which prevents forking
_PRELOADED = frozenset({"numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "joblib"})
_ALWAYS = ("numpy", "scipy.linalg", "scipy.sparse", "sklearn.base", "sklearn.pipeline", "heldout.backends.processes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a process ended: its exit code, negative for a signal; None if it is unknown."""

    code: int | None

    def __str__(self) -> str:
        if self.code is None:
            return "worker died"
        if self.code >= 0:
            return f"worker died (exit code {self.code})"
        with suppress(ValueError):
            return f"worker died (signal {-self.code}, {signal.Signals(-self.code).name})"
        return f"worker died (signal {-self.code})"

    @property
    def killed(self) -> bool:
        """Whether another process killed it, by hand or for lack of memory: a process sends itself no SIGKILL."""
        return self.code is not None and self.code == -getattr(signal, "SIGKILL", 9)


class Process:
    """A started worker process."""

    pid: int | None = None  # once it is known
    _ending: Ending | None = None

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def wait(self, seconds: float) -> Ending | None:
        """Return how it ended; None if it still runs after `seconds`. Processes started by its fits are ended too."""
        with self._lock:
            if self._ending is None:
                self._ending = self._wait(seconds)
                if self._ending is not None:
                    _end_group(self.pid)
            return self._ending

    def send_signal(self, number: int) -> None:
        if self.wait(0.0) is None and self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def forget(self) -> None:
        """Close this forked child's handle of the process, which belongs to the parent."""
        self._ending = Ending(code=None)

    def _wait(self, seconds: float) -> Ending | None:
        raise NotImplementedError


class ForkedProcess(Process):
    """A worker of the fork server, which writes the worker's pid to a pipe, and later its exit code."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self._status = status

    def forget(self) -> None:
        if self._ending is None:
            os.close(self._status)
        super().forget()

    def _wait(self, seconds: float) -> Ending | None:
        deadline = time.monotonic() + seconds
        while wait([self._status], timeout=max(0.0, deadline - time.monotonic())):
            try:
                number = forkserver.read_signed(self._status)
            except (EOFError, OSError):
                number = None
            if self.pid is None and number is not None:
                self.pid = number
            else:
                os.close(self._status)
                return Ending(code=number)
        return None


class FreshProcess(Process):
    """A worker in a fresh interpreter."""

    def __init__(self, pipe: Connection, environment: dict[str, str]) -> None:
        super().__init__()
        handle, more = pipe.fileno(), dict[str, Any]()
        if sys.platform == "win32":
            os.set_handle_inheritable(handle, True)
            more["startupinfo"] = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
        else:
            more |= {"pass_fds": (handle,), "process_group": 0}
        command = worker_command(handle, worker_path())
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, **more)
        self.pid = self._process.pid

    def forget(self) -> None:
        self._process.returncode = 0
        super().forget()

    def _wait(self, seconds: float) -> Ending | None:
        try:
            return Ending(code=self._process.wait(max(0.0, seconds)))
        except subprocess.TimeoutExpired:
            return None


def _end_group(pid: int | None) -> None:
    """Tell the processes that a worker's fits have started to end.

    SIGKILL is not used: the resource trackers of Python and joblib ignore this signal and clean up first.
    """
    if pid is not None and hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGTERM)


def launch(pipe: Connection, files: Path) -> Process:
    """Start a worker at the other end of this pipe. `files` is the folder of its files."""
    if not sys.executable:
        raise BackendError("This program embeds Python, so no worker process can be started.", USE_INLINE)
    environment = {**os.environ, WORKER_MARK: str(files), **dict.fromkeys(THREAD_VARIABLES, "1")}
    environment[PRELOAD] = ",".join(_names_to_preload())
    if fork_server.works:
        try:
            return fork_server.fork(pipe, environment, files.parent)
        except (AttributeError, TypeError, ValueError):  # this Python's module has other calls
            fork_server.works = False
        except OSError as error:
            if error.errno is not None:
                raise
            fork_server.works = False  # the path of the temporary folder is too long for a socket
    return FreshProcess(pipe, environment)


class ForkServer:
    """The fork server of this process. It ends when this process does."""

    def __init__(self) -> None:
        self.works = sys.platform.startswith("linux")
        self._server: Any = None
        self._lock = threading.Lock()

    def fork(self, pipe: Connection, environment: dict[str, str], folder: Path) -> ForkedProcess:
        """Start a worker at the other end of this pipe; the server's socket is in `folder`, which we remove."""
        with self._lock, _unset_start_method(), _environment_of_server(environment), _socket_in(folder):
            try:
                status, data = self._started().connect_to_new_process([pipe.fileno()])
            except (ChildProcessError, ConnectionError, FileNotFoundError):  # it was killed, or its socket removed
                self._server = None
                status, data = self._started().connect_to_new_process([pipe.fileno()])
        start = Start(environment=environment, folder=_current_folder(), path=worker_path())
        # No `init_main_from_…` among the preparation data: the caller's script is not run again.
        with suppress(BrokenPipeError), os.fdopen(data, "wb") as file:
            file.write(pickle.dumps({"sys_path": list(worker_path())}) + pickle.dumps(start))
        return ForkedProcess(status)

    def _started(self) -> Any:
        if self._server is None:
            self._server = forkserver.ForkServer()
            self._server.set_forkserver_preload(["heldout.backends.worker"])
        self._server.ensure_running()
        return self._server

    def forget(self) -> None:
        """Close a forked child's handle of the server, which belongs to the parent and ends with it."""
        if self._server is not None and self._server._forkserver_alive_fd is not None:
            os.close(self._server._forkserver_alive_fd)
        self._server, self._lock = None, threading.Lock()


fork_server = ForkServer()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=fork_server.forget)


@contextmanager
def _unset_start_method() -> Iterator[None]:
    """Restore the unset start method: starting the server would fix it, but the choice is the user's."""
    method = multiprocessing.get_start_method(allow_none=True)
    try:
        yield
    finally:
        if method is None:
            multiprocessing.set_start_method(None, force=True)


@contextmanager
def _socket_in(folder: Path) -> Iterator[None]:
    """Let multiprocessing put its socket into `folder`. Its own folder prints a traceback at exit if it is gone."""
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    before, config["tempdir"] = config.get("tempdir"), str(folder)
    try:
        yield
    finally:
        config["tempdir"] = before


@contextmanager
def _environment_of_server(environment: dict[str, str]) -> Iterator[None]:
    """Set the environment of the fork server: one thread per library, our path, and no current directory in it."""
    path = {"PYTHONPATH": os.pathsep.join(worker_path()), "PYTHONSAFEPATH": "1"}
    wanted = {**_NO_THREADS, **environment, **path}
    before = {name: os.environ.get(name) for name, value in wanted.items() if os.environ.get(name) != value}
    os.environ.update({name: wanted[name] for name in before})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def worker_path() -> tuple[str, ...]:
    """Return our sys.path in a form that another process reads in the same way."""
    return tuple(os.path.abspath(entry) for entry in sys.path)


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return "/"


def _names_to_preload() -> list[str]:
    """Return what a worker imports first: the scientific packages that this process has loaded."""
    loaded = [name.split(".")[:2] for name in tuple(sys.modules)]
    ours = {".".join(parts) for parts in loaded if parts[0] in _PRELOADED and not parts[-1].startswith("_")}
    return [*_ALWAYS, *sorted(ours.intersection(sys.modules))]
