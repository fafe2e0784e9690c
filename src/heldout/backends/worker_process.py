"""The parent's side of one worker process: its pipe, what it was sent and what it still owes."""

from __future__ import annotations

import pickle
import shutil
import signal
import time
from collections import OrderedDict
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any
from uuid import uuid4

from heldout.backends.launch import Ending, launch
from heldout.backends.limits import private_memory
from heldout.backends.shared_data import own_folder, transport_folder
from heldout.backends.tasks import TOO_LARGE, TOO_LONG, Batch, Context, Crash, Failure
from heldout.base.amounts import show_bytes, show_seconds
from heldout.base.errors import BackendError

START_SECONDS = 120.0
_CONTEXTS_KEPT = 4
_TRACE_SECONDS = 0.2  # for a worker that is about to be ended to write down where it is
_LONGEST_TRACES = 8_000  # characters
_TIMED_OUT = "Timeout ("  # what `faulthandler` writes before it ends a worker


class WorkerProcess:
    """One worker. It starts while the caller goes on; `ready` tells when it takes tasks."""

    def __init__(self) -> None:
        self._born = time.monotonic()
        self.ready = False
        self.pid = self._held_when_ready = self._peak = 0  # known once it is ready
        self.in_flight: OrderedDict[int, Batch] = OrderedDict()
        self.contexts: OrderedDict[str, None] = OrderedDict()
        self._sent = 0
        self._over_memory: tuple[int, Failure] | None = None  # the batch it was ended for, and why
        self._fit_seconds: float | None = None
        self.connection, theirs = Pipe(duplex=True)
        try:
            self._files = transport_folder() / f"worker-{uuid4().hex}"
            self.process = launch(theirs, self._files)
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
        if message[0] == "not started":
            raise BackendError(f"A worker process could not start. Use jobs=1 (inline). It said:\n{message[1]}")
        if message[0] == "ready":
            self.pid, self._held_when_ready = message[1:]
            self.ready, self._peak = True, self._held_when_ready
        return message

    def dead(self) -> bool:
        """Whether the process has ended, for the rare case that a child of its own keeps the pipe open."""
        return self.process.wait(0.0) is not None

    def late(self) -> bool:
        """Whether it should have been ready before now."""
        return not self.ready and time.monotonic() - self._born > START_SECONDS

    def give(self, context: Context, batch: Batch, budget: float, fit_seconds: float | None) -> None:
        """Send tasks, and their context if the worker does not have it. `receive` notices a dead worker, not this."""
        self._sent += 1
        self.in_flight[self._sent] = batch
        self._fit_seconds = fit_seconds
        limit = None if fit_seconds is None else fit_seconds * sum(task.fits for task in batch.tasks)
        with suppress(OSError):
            if context.key not in self.contexts:
                self._send(("context", context.key, list(context.path), context.payload))
            self.contexts[context.key] = None
            self.contexts.move_to_end(context.key)
            if len(self.contexts) > _CONTEXTS_KEPT:
                self._send(("drop", self.contexts.popitem(last=False)[0]))
            arguments = [task.argument for task in batch.tasks]
            self._send(("do", self._sent, context.key, arguments, budget, limit))

    def cancel(self) -> None:
        """Ask to leave everything in flight undone, except the task under way."""
        with suppress(OSError):
            self._send(("cancel", self._sent))

    def _send(self, message: tuple[Any, ...]) -> None:
        self.connection.send_bytes(pickle.dumps(message, protocol=5))

    def measure_memory(self, most: int | None) -> None:
        """Remember how much memory it holds; end it where what its task has added is more than `most`."""
        number = self._sent
        if not self.in_flight or self._over_memory is not None:
            return
        held = private_memory(self.pid)
        self._peak = max(self._peak, held)
        added = held - self._held_when_ready
        if most is None or added <= most:
            return
        if hasattr(signal, "SIGUSR1"):
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(_TRACE_SECONDS)
        if number in self.in_flight:  # else it came to an end meanwhile
            text = (
                f"The fit took {show_bytes(added)} of memory, more than its limit of {show_bytes(most)}, and was "
                "ended. Raise Options(fit_memory=…), with fewer jobs where the machine cannot hold so much for each."
            )
            self._over_memory = number, Failure(kind=TOO_LARGE, message=text)
            self._kill()

    def crash(self, ending: Ending) -> Crash:
        """What is known of its end."""
        traces = ""
        with suppress(OSError):
            traces = self._files.with_suffix(".traces").read_text(encoding="utf-8", errors="replace")[:_LONGEST_TRACES]
        self._tidy()
        number, batch = next(iter(self.in_flight.items()), (0, None))
        limit = None
        if self._over_memory is not None and self._over_memory[0] == number:
            limit = Failure(kind=TOO_LARGE, message=self._over_memory[1].message, traceback=traces)
        elif batch is not None and self._fit_seconds is not None and ending.code == 1 and _TIMED_OUT in traces:
            fits = sum(task.fits for task in batch.tasks)
            many = "" if fits == 1 else f" for each of {fits:.0f} fits"
            text = (
                f"The fit took longer than its limit of {show_seconds(self._fit_seconds)}{many} and was ended. "
                "The traceback shows where it was. Raise Options(fit_timeout=…) if it was not stuck."
            )
            limit = Failure(kind=TOO_LONG, message=text, traceback=traces)
        return Crash(ending=ending, traceback=traces, peak=self._peak, limit=limit)

    def end(self, seconds: float) -> Ending:
        """Close the pipe, which ends the worker; kill it when it does not within `seconds`."""
        self.connection.close()
        ending = self.process.wait(max(seconds, 0.0))
        if ending is None:
            self._kill()
            ending = self.process.wait(0.0 if self.process.pid is None else 5.0)  # one to be forked ends by itself
        return ending or Ending(code=None)

    def discard(self, seconds: float = 0.0) -> None:
        """End it, and remove its files."""
        self.end(seconds)
        self._tidy()

    def _kill(self) -> None:
        self.process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _tidy(self) -> None:
        with suppress(OSError):
            self._files.with_suffix(".traces").unlink()
        shutil.rmtree(own_folder(self._files), ignore_errors=True)

    def forget(self) -> None:
        """In a forked child: let go of the pipe without touching the parent's worker."""
        self.connection.close()
        self.process.forget()
