"""The program of a worker process: receive calls, do them one after another, send back what came of each.

Messages are pickled tuples. From the parent::

    ("context", key, path, payload)          keep the callable in `payload`; `path` is the parent's sys.path
    ("drop", key)                            forget it
    ("do", number, key, arguments, budget)   call it with each argument; begin none after `budget` seconds but the first
    ("cancel", number)                       do nothing more of the messages up to this number

To the parent::

    ("hello", pid, held)                     all is imported, and takes so many bytes
    ("stillborn", text)                      it is not, for this reason
    ("done", number, outcomes)               ("value", pickle, seconds) or ("error", summary, seconds) a call, for fewer
                                             calls than arguments when the budget was spent
    ("broken", key, summary)                 the context cannot be loaded here

where a summary is an exception as three texts: type name, message, traceback.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

from heldout.backends.board import Board, take_board
from heldout.backends.jobs import WORKER_MARK
from heldout.backends.memory import held_by_me, offer_to_be_killed_first
from heldout.base.error_text import describe_error

Summary: TypeAlias = tuple[str, str, str]
Outcome: TypeAlias = tuple[str, Any, float]


def main(handle: int) -> None:
    """Serve the parent at the other end of the inherited pipe `handle` until it closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    if sys.platform == "win32":
        pipe = connection.PipeConnection(handle)
    else:
        pipe = connection.Connection(handle)
        os.set_inheritable(handle, False)
    try:
        offer_to_be_killed_first()
        papers = Path(os.environ[WORKER_MARK])
        board = Board(papers.with_suffix(".board"), new=False)
        take_board(board)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: _let_go(pipe, board))
        _write_last_words(papers.with_suffix(".words"))
        import_all(pipe.recv())
        worker = _Worker(pipe, board)
    except BaseException:
        try:
            pipe.send_bytes(pickle.dumps(("stillborn", traceback.format_exc())))
        except OSError:
            os._exit(0)  # nobody waits for us any more
        raise
    worker.serve()


def import_all(names: Sequence[str]) -> None:
    """Import what calls will need."""
    for name in names:
        with suppress(Exception):  # a context that needs it will say so
            importlib.import_module(name)


def _let_go(pipe: connection.Connection, board: Board) -> None:
    """In a child that a fit forked: what it does is not told as the worker's doing."""
    pipe.close()
    board.let_go()


def _write_last_words(path: Path) -> None:
    """Write where every thread is when we crash, or are told that we will be ended."""
    file = path.open("w", encoding="utf-8")  # open as long as we live
    faulthandler.enable(file=file)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)


class _Worker:
    def __init__(self, pipe: connection.Connection, board: Board) -> None:
        self._pipe = pipe
        self._board = board
        self._inbox: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._contexts: dict[str, Callable[[Any], Any]] = {}
        self._cancelled = 0
        self._pid = os.getpid()

    def serve(self) -> None:
        # A thread reads, so that the parent's sends never wait for a fit, and so that its end ends us even within one.
        threading.Thread(target=self._read, name="heldout-reader", daemon=True).start()
        self._send(("hello", os.getpid(), held_by_me()))
        while True:
            kind, *rest = self._inbox.get()
            getattr(self, f"_on_{kind}")(*rest)

    def _read(self) -> None:
        while True:
            try:
                message = pickle.loads(self._pipe.recv_bytes())
            except (EOFError, OSError):
                os._exit(0)
            if message[0] == "cancel":
                self._cancelled = message[1]
            else:
                self._inbox.put(message)

    def _send(self, message: tuple[Any, ...]) -> None:
        for stream in (sys.stdout, sys.stderr):  # we end by os._exit, which flushes nothing
            with suppress(Exception):
                stream.flush()
        try:
            self._pipe.send_bytes(pickle.dumps(message, protocol=5))
        except OSError:
            os._exit(0)

    def _on_context(self, key: str, path: list[str], payload: bytes) -> None:
        if sys.path != path:
            sys.path[:] = path
            importlib.invalidate_caches()
        try:
            self._contexts[key] = pickle.loads(payload)
        except BaseException as error:
            self._send(("broken", key, summarise(error)))

    def _on_drop(self, key: str) -> None:
        self._contexts.pop(key, None)

    def _on_do(self, number: int, key: str, arguments: Sequence[bytes], budget: float) -> None:
        from heldout.backends.pickling import dumps
        from heldout.backends.threads import one_thread

        outcomes: list[Outcome] = []
        context = self._contexts.get(key)
        start = time.perf_counter()
        with one_thread():
            for place, argument in enumerate(arguments if context is not None else ()):
                spent = outcomes and time.perf_counter() - start > budget
                if spent or self._cancelled >= number:
                    break
                self._board.begin(number, place)
                outcomes.append(_outcome(context, argument, dumps))
                if os.getpid() != self._pid:
                    os._exit(0)  # a fit forked, and its child came back from the fit as well
        self._board.end()
        self._send(("done", number, outcomes))  # a fit that made this impossible is to be blamed for it
        self._board.rest()


def _outcome(context: Callable[[Any], Any] | None, argument: bytes, dumps: Callable[[Any], bytes]) -> Outcome:
    assert context is not None
    start = time.perf_counter()
    try:
        value = context(pickle.loads(argument))
    except BaseException as error:  # also SystemExit: a call may not end its worker
        return "error", summarise(error), time.perf_counter() - start
    seconds = time.perf_counter() - start
    try:
        return "value", dumps(value), seconds
    except Exception as error:
        from heldout.backends.pickling import explain_unpicklable

        _, _, trace = summarise(error)
        return "error", ("UnpicklableResult", explain_unpicklable(value), trace), seconds


def summarise(error: BaseException) -> Summary:
    """An exception as text: type name, message and formatted traceback (exceptions themselves may not travel)."""
    return describe_error(error)
