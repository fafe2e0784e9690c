"""The calls of one run of a pool: what is still to be sent, in batches of a measured size, and what came of each."""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from heldout.base.errors import BackendError
from heldout.engine.pickling import dumps, explain_unpicklable
from heldout.engine.process import Context, Message, worker_path

_LARGEST_BATCH = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a call has no value: the exception's type name, message and traceback; or kind ``WorkerDied``."""

    kind: str
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of one call: a value, or a failure; and the seconds it took in its worker."""

    call_id: Any
    value: Any = None
    failure: Failure | None = None
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Run:
    """One run's state: the calls still to send, and how long they take."""

    context: Context
    jobs: int
    source: Iterator[tuple[Any, Any]]
    batch_seconds: float
    waiting: deque[tuple[Any, bytes]] = field(default_factory=deque)
    suspects: deque[tuple[Any, bytes]] = field(default_factory=deque)
    mean_seconds: float | None = None

    def next_message(self, *, idle: bool) -> Message | None:
        if self.suspects and idle:
            return Message(calls=(self.suspects.popleft(),), alone=True)
        size = self._batch_size()
        self._look_ahead(2 * self.jobs * size)
        # The last calls go out in ever smaller batches, so that all workers end together.
        size = min(size, -(-len(self.waiting) // (2 * self.jobs)))
        calls = tuple(self.waiting.popleft() for _ in range(size))
        return Message(calls=calls) if calls else None

    def left(self) -> bool:
        self._look_ahead(1)
        return bool(self.waiting or self.suspects)

    def depth(self) -> int:
        """Messages in flight a worker: a second hides the pipe's delay; long calls wait here for any worker."""
        return 2 if self.mean_seconds is not None and self.mean_seconds < 10 * self.batch_seconds else 1

    def observe(self, seconds: float) -> None:
        self.mean_seconds = seconds if self.mean_seconds is None else 0.5 * (self.mean_seconds + seconds)

    def _batch_size(self) -> int:
        if self.mean_seconds is None:
            return 1
        return max(1, min(_LARGEST_BATCH, int(self.batch_seconds / max(self.mean_seconds, 1e-9))))

    def _look_ahead(self, count: int) -> None:
        for call_id, argument in islice(self.source, max(0, count - len(self.waiting))):
            self.waiting.append((call_id, _pack(argument)))


def done_of(call_id: Any, kind: str, content: Any, seconds: float) -> Done:
    if kind == "value":
        try:
            return Done(call_id=call_id, value=pickle.loads(content), seconds=seconds)
        except Exception as error:
            content = ("UnreadableResult", f"{type(error).__name__}: {error}", "")
    name, text, trace = content
    return Done(call_id=call_id, failure=Failure(kind=name, message=text, traceback=trace), seconds=seconds)


def _pack(obj: object) -> bytes:
    try:
        return dumps(obj)
    except Exception as error:
        raise BackendError(f"{explain_unpicklable(obj)}. Use jobs=1 (inline).") from error


def pack_context(context: Callable[[Any], Any]) -> Context:
    payload = _pack(context)
    return Context(key=hashlib.blake2b(payload, digest_size=16).hexdigest(), payload=payload, path=worker_path())
