"""The calls of one run of a pool: what is still to be sent, in batches of a measured size, and what came of each."""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from heldout.backends.blame import Failure, failure_of_death, tries
from heldout.backends.child import Ending
from heldout.backends.memory import memory_kills
from heldout.backends.pickling import dumps, explain_unpicklable
from heldout.backends.process import Context, Message, Verdict, worker_path
from heldout.base.errors import BackendError

__all__ = ["Done", "Failure", "Run", "Suspect", "done_of", "pack_context"]

_LARGEST_BATCH = 512
_MOST_BLAMELESS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of one call: a value, or a failure; and the seconds it took in its worker.

    `lost` says how the workers ended that died at it.
    """

    call_id: Any
    value: Any = None
    failure: Failure | None = None
    seconds: float = 0.0
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A call whose worker died at it: it is tried again with nothing else under way, before it is blamed."""

    call: tuple[Any, bytes]
    lost: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Run:
    """One run's state: the calls still to send, and how long they take."""

    context: Context
    jobs: int
    source: Iterator[tuple[Any, Any]]
    batch_seconds: float
    waiting: deque[tuple[Any, bytes]] = field(default_factory=deque)
    suspects: deque[Suspect] = field(default_factory=deque)
    mean_seconds: float | None = None
    blameless: int = 0  # workers that died at nothing, one after the other
    on_lost: Callable[[str, bool], None] | None = None
    memory_kills: int | None = None  # of this system, when the run began

    def next_message(self, *, all_idle: bool) -> Message | None:
        """Calls for a worker; suspects come last, one at a time, while no other call is under way."""
        size = self._batch_size()
        self._look_ahead(2 * self.jobs * size)
        # The last calls go out in ever smaller batches, so that all workers end together.
        size = min(size, -(-len(self.waiting) // (2 * self.jobs)))
        calls = tuple(self.waiting.popleft() for _ in range(size))
        if not calls and self.suspects and all_idle:
            suspect = self.suspects.popleft()
            return Message(calls=(suspect.call,), lost=suspect.lost)
        return Message(calls=calls) if calls else None

    def judge(self, suspect: Suspect, verdict: Verdict | None, ending: Ending, words: str) -> list[Done]:
        """A worker died at a call: what came of the call, unless it is tried again."""
        call_id, _ = suspect.call
        again = verdict is None and len(suspect.lost) < tries(ending)
        if self.on_lost is not None:
            self.on_lost(str(ending) if verdict is None else verdict.message, again)
        if again:
            self.suspects.append(suspect)
            return []
        if verdict is not None:
            failure = Failure(kind=verdict.kind, message=verdict.message, traceback=words)
        else:
            grown = self.memory_kills is not None and (memory_kills() or 0) > self.memory_kills
            failure = failure_of_death(ending, lost=suspect.lost, words=words, out_of_memory=grown)
        return [Done(call_id=call_id, failure=failure, lost=suspect.lost)]

    def blame_nobody(self, ending: str) -> None:
        """A worker died at no call; an error where that happens again and again."""
        self.blameless += 1
        if self.blameless > _MOST_BLAMELESS:
            raise BackendError(
                f"{self.blameless} workers died, one after the other, before they began a call; the last: {ending}. "
                "Their own messages, if any, are on stderr. Use jobs=1 (inline)."
            )
        if self.on_lost is not None:
            self.on_lost(ending, True)

    def count_up_to(self, most: int) -> int:
        """How many calls there are, or `most` where there are more."""
        self._look_ahead(most)
        return min(most, len(self.waiting))

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


def done_of(call_id: Any, kind: str, content: Any, seconds: float, *, lost: tuple[str, ...] = ()) -> Done:
    """What a worker's outcome of a call says."""
    if kind == "value":
        try:
            return Done(call_id=call_id, value=pickle.loads(content), seconds=seconds, lost=lost)
        except Exception as error:
            content = ("UnreadableResult", f"{type(error).__name__}: {error}", "")
    name, text, trace = content
    failure = Failure(kind=name, message=text, traceback=trace)
    return Done(call_id=call_id, failure=failure, seconds=seconds, lost=lost)


def _pack(obj: object) -> bytes:
    try:
        return dumps(obj)
    except Exception as error:
        raise BackendError(f"{explain_unpicklable(obj)}. Use jobs=1 (inline).") from error


def pack_context(context: Callable[[Any], Any]) -> Context:
    payload = _pack(context)
    return Context(key=hashlib.blake2b(payload, digest_size=16).hexdigest(), payload=payload, path=worker_path())
