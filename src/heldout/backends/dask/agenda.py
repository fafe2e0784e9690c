"""What is still to be sent to the cluster: steps in batches worth a message, suspects one by one at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from heldout.kernels.step import Step

LARGEST_BATCH = 512
TASK_SECONDS = 0.2  # of work a task: Dask takes some milliseconds for each
SECONDS_A_THREAD = 0.005  # one client and one scheduler serve all threads, so a large cluster gets longer tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Steps that are sent together, by number; `alone` when nothing else is on the cluster for this study."""

    steps: tuple[int, ...]
    alone: bool = False
    threads: int = 1


class Agenda:
    """The steps of one run, by number, and how long they take."""

    def __init__(self, steps: Sequence[Step]) -> None:
        spreading = [number for number, step in enumerate(steps) if step.spreads]
        self._spreading = deque(spreading)
        self._spreads = len(spreading)
        self._only_spreading = len(spreading) == len(steps)
        self._waiting = deque(number for number, step in enumerate(steps) if not step.spreads)
        self._suspects: deque[int] = deque()
        self._mean: float | None = None

    def left(self) -> bool:
        return bool(self._spreading or self._waiting or self._suspects)

    def next_batch(self, *, threads: int, idle: bool) -> Batch | None:
        """What to send to a cluster of so many threads; `idle` when nothing of this run is on it."""
        if self._spreading:
            # Threads change no bit of such a step, and beside others they would only take them from those.
            each = max(1, threads // self._spreads) if self._only_spreading else 1
            return Batch(steps=(self._spreading.popleft(),), threads=each)
        if self._waiting:
            # The last go out in ever smaller batches, so that all workers end together.
            size = min(self._size(threads), -(-len(self._waiting) // (2 * max(threads, 1))))
            return Batch(steps=tuple(self._waiting.popleft() for _ in range(size)))
        if self._suspects and idle:
            return Batch(steps=(self._suspects.popleft(),), alone=True)
        return None

    def observe(self, seconds: float) -> None:
        """A step took so long."""
        self._mean = seconds if self._mean is None else 0.9 * self._mean + 0.1 * seconds

    def add(self, number: int) -> None:
        """One more step is to be done."""
        self._waiting.append(number)

    def put_back(self, batch: Batch) -> None:
        """These were not done, for no fault of their own."""
        self._waiting.extendleft(reversed(batch.steps))

    def suspect(self, batch: Batch) -> None:
        """Workers died on these: each is to be done again with nothing beside it."""
        self._suspects.extend(batch.steps)

    def _size(self, threads: int) -> int:
        if self._mean is None:
            return 1
        seconds = max(TASK_SECONDS, SECONDS_A_THREAD * threads)
        return max(1, min(LARGEST_BATCH, int(seconds / max(self._mean, 1e-9))))
