"""The watch over workers: ends those whose fit takes longer, or more memory, than it may."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from time import monotonic

from heldout.backends.board import Mark
from heldout.backends.limits import Limits
from heldout.backends.memory import private_memory
from heldout.backends.process import Verdict, WorkerProcess
from heldout.base.amounts import show_bytes, show_seconds

TOO_LONG, TOO_LARGE = "FitTimeout", "FitMemory"
_EVERY = 0.05  # seconds between looks: a fit may take so much longer, and the memory that it can fill meanwhile


def watched(workers: Sequence[WorkerProcess], limits: Limits) -> AbstractContextManager[None]:
    """Hold the fits of these workers to their limits while the body runs, in a thread of its own.

    The caller may be busy with results, so its own loop would look too seldom.
    """
    return _watching(workers, limits) if limits.of_fits else nullcontext()


@contextmanager
def _watching(workers: Sequence[WorkerProcess], limits: Limits) -> Iterator[None]:
    read = private_memory() if limits.fit_bytes is not None else None
    stop = threading.Event()
    thread = threading.Thread(target=_look_until, args=(stop, workers, limits, read), name="heldout-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _look_until(
    stop: threading.Event, workers: Sequence[WorkerProcess], limits: Limits, read: Callable[[int], int] | None
) -> None:
    while not stop.wait(_EVERY):
        for worker in tuple(workers):
            at = worker.at() if worker.greeted and worker.verdict is None else None
            if at is None or at.since == inf:
                continue
            verdict = _late(at, limits)
            if verdict is None and read is not None:
                verdict = _large(at, limits, read(worker.pid) - worker.held_at_hello)
            if verdict is not None:
                worker.condemn(verdict)


def _late(at: Mark, limits: Limits) -> Verdict | None:
    if limits.fit_seconds is None or monotonic() - at.since <= limits.fit_seconds * at.fits:
        return None
    many = "" if at.fits == 1 else f" for each of {at.fits:.0f} fits"
    return Verdict(
        at=at,
        kind=TOO_LONG,
        message=f"The fit took longer than its limit of {show_seconds(limits.fit_seconds)}{many} and was ended. "
        "The traceback shows where it was. Raise Options(fit_timeout=…) if it was not stuck.",
    )


def _large(at: Mark, limits: Limits, added: int) -> Verdict | None:
    if limits.fit_bytes is None or added <= limits.fit_bytes:
        return None
    return Verdict(
        at=at,
        kind=TOO_LARGE,
        message=f"The fit took {show_bytes(added)} of memory, more than its limit of {show_bytes(limits.fit_bytes)}, "
        "and was ended. Raise Options(fit_memory=…), with fewer jobs where the machine cannot hold so much for each.",
    )
