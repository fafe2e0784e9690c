"""A worker process as seen by its parent: sends tasks, receives messages, measures memory, and reports how it ended."""

from __future__ import annotations

import pickle
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from heldout.backends.launch import Ending, launch, worker_path
from heldout.backends.limits import TRACES, USE_INLINE, private_memory
from heldout.backends.pickling import dumps, explain_unpicklable
from heldout.backends.shared_data import transport_folder
from heldout.backends.tasks import Batch, Failure
from heldout.base.errors import BackendError, Sentence
from heldout.base.words import show_bytes, show_seconds
from heldout.kernels.step import Step

DIED, OUT_OF_MEMORY, TOO_LONG, TOO_LARGE = "WorkerDied", "OutOfMemory", "FitTimeout", "FitMemory"
START_SECONDS = 120.0
_TRACE_SECONDS = 0.2  # for a worker that is about to be ended to write down where it is
_LONGEST_TRACES = 8_000  # characters
_TIMED_OUT = "Timeout ("  # what `faulthandler` writes before it ends a worker


def pack_context(context: Callable[[Any], Any]) -> bytes:
    """Return the message that sends workers the callable of a run, with the path to import from."""
    return pickle.dumps(("context", _pickled(context), list(worker_path())), protocol=5)


def _pickled(obj: object) -> bytes:
    try:
        # A step names nothing but heldout's own classes, so plain pickling will do, which is quick.
        return pickle.dumps(obj, protocol=5) if isinstance(obj, Step) else dumps(obj)
    except Exception as error:
        raise BackendError(f"{explain_unpicklable(obj)}.", USE_INLINE) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """How a worker died: its exit, the traceback that it wrote, its memory, and the limit that it exceeded, or None."""

    ending: Ending
    traceback: str
    peak: int  # bytes, as last seen
    limit: Failure | None = None

    def failure(self, *, tries: int, for_memory: bool) -> Failure:
        """Return the failure of a task whose workers died. `for_memory` says that the system killed them for memory."""
        size = f" Its process was seen to hold {show_bytes(self.peak)}." if self.peak else ""
        again = f" It was tried {tries} times, the last time with nothing beside it." if tries > 1 else ""
        if for_memory:
            text = f"The system killed this fit for memory: {self.ending}.{size}{again}"
            return Failure(kind=OUT_OF_MEMORY, message=f"{text} Use fewer jobs, a smaller model, or a larger machine.")
        hint = " If memory was short, use fewer jobs." if self.ending.killed else ""
        text = f"This fit ended its process: {self.ending}.{size}{again}{hint}"
        return Failure(kind=DIED, message=text, traceback=self.traceback)


class WorkerProcess:
    """One worker. It starts in the background; `ready` says whether it takes tasks."""

    def __init__(self) -> None:
        self._born = time.monotonic()
        self.ready = False
        self.pid = self._held_when_ready = self._peak = 0  # known once it is ready
        self.batch: Batch | None = None  # what it is at
        self._sent = 0  # batches
        self._context = b""  # what it holds
        self._over_memory: tuple[int, Failure] | None = None  # the batch it was ended for, and why
        self._fit_seconds: float | None = None
        self.connection, theirs = Pipe(duplex=True)
        try:
            self._files = Path(mkdtemp(prefix="worker-", dir=transport_folder()))
            self.process = launch(theirs, self._files)
        except OSError as error:
            self.connection.close()
            raise BackendError(f"A worker process could not be started: {error}.", USE_INLINE) from error
        finally:
            theirs.close()

    def receive(self) -> tuple[Any, ...] | None:
        """Return the next message, once the connection is readable; None if the worker is dead."""
        try:
            message: tuple[Any, ...] = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        if message[0] == "not started":
            raise BackendError("A worker process could not start.", Sentence("{} It said:\n{}", USE_INLINE, message[1]))
        if message[0] == "ready":
            self.pid, self._held_when_ready = message[1:]
            self.ready, self._peak = True, self._held_when_ready
        return message

    def dead(self) -> bool:
        """Return whether the process has ended. This is for the rare case that a child process keeps the pipe open."""
        return self.process.wait(0.0) is not None

    def late(self) -> bool:
        """Return whether it is not ready in time."""
        return not self.ready and time.monotonic() - self._born > START_SECONDS

    def give(self, context: bytes, batch: Batch, budget: float, fit_seconds: float | None) -> None:
        """Send tasks, and their context if the worker lacks it. A dead worker is noticed by `receive`, not here."""
        arguments = [_pickled(task.argument) for task in batch.tasks]
        self._sent += 1
        self.batch, self._fit_seconds = batch, fit_seconds
        limit = None if fit_seconds is None else fit_seconds * sum(task.fits for task in batch.tasks)
        with suppress(OSError):
            if context != self._context:
                self.connection.send_bytes(context)
                self._context = context
            self.connection.send_bytes(pickle.dumps(("do", arguments, budget, limit), protocol=5))

    def measure_memory(self, most: int | None) -> None:
        """Record how much memory it holds, and end it if its task has added more than `most`; None is no limit."""
        number = self._sent
        if self.batch is None or self._over_memory is not None:
            return
        held = private_memory(self.pid)
        self._peak = max(self._peak, held)
        added = held - self._held_when_ready
        if most is None or added <= most:
            return
        if hasattr(signal, "SIGUSR1"):
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(_TRACE_SECONDS)
        if self.batch is not None and number == self._sent:  # else it came to an end meanwhile
            text = (
                f"The fit took {show_bytes(added)} of memory, more than its limit of {show_bytes(most)}, and was "
                "ended. Raise Options(fit_memory=…), with fewer jobs where the machine cannot hold so much for each."
            )
            self._over_memory = number, Failure(kind=TOO_LARGE, message=text)
            self._kill()

    def crash(self, ending: Ending) -> Crash:
        """Return what is known of its end, and remove its files."""
        traces = ""
        with suppress(OSError):
            traces = (self._files / TRACES).read_text(encoding="utf-8", errors="replace")[:_LONGEST_TRACES]
        shutil.rmtree(self._files, ignore_errors=True)
        limit = None
        if self._over_memory is not None and self._over_memory[0] == self._sent:
            limit = Failure(kind=TOO_LARGE, message=self._over_memory[1].message, traceback=traces)
        elif self.batch is not None and self._fit_seconds is not None and ending.code == 1 and _TIMED_OUT in traces:
            fits = sum(task.fits for task in self.batch.tasks)
            many = "" if fits == 1 else f" for each of {fits:.0f} fits"
            text = (
                f"The fit took longer than its limit of {show_seconds(self._fit_seconds)}{many} and was ended. "
                "The traceback shows where it was. Raise Options(fit_timeout=…) if it was not stuck."
            )
            limit = Failure(kind=TOO_LONG, message=text, traceback=traces)
        return Crash(ending=ending, traceback=traces, peak=self._peak, limit=limit)

    def end(self, seconds: float) -> Ending:
        """Close the pipe, which ends the worker. Kill it if it does not end within `seconds`."""
        self.connection.close()
        ending = self.process.wait(max(seconds, 0.0))
        if ending is None:
            self._kill()
            ending = self.process.wait(0.0 if self.process.pid is None else 5.0)  # one to be forked ends by itself
        return ending or Ending(code=None)

    def discard(self, seconds: float = 0.0) -> None:
        """End it, and remove its files."""
        self.end(seconds)
        shutil.rmtree(self._files, ignore_errors=True)

    def _kill(self) -> None:
        self.process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def forget(self) -> None:
        """Close the pipe of a forked child, without affecting the parent's worker."""
        self.connection.close()
        self.process.forget()
