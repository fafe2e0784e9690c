"""Progress of studies: a bar, lines in the log, events for listeners, and a record of lost workers."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from time import monotonic
from types import TracebackType
from typing import Any, Self, TypeVar

from heldout.base.errors import OptionError
from heldout.base.events import CellFailed, Event, StepDone, WorkerLost
from heldout.base.words import clipped, show_clock, time_left
from heldout.kernels.step import Step
from heldout.study.answers import Answer

Item = TypeVar("Item")

SHOW_AFTER = 1.0  # seconds: shorter runs show nothing, and do not pay for the bar
EVERY = 0.5  # seconds between two drawings
LOG_EVERY = 60.0  # seconds between lines in the log, where no bar is shown
LOG = logging.getLogger("heldout")
KERNEL_SHELL = "ZMQInteractiveShell"  # runs the cells of a notebook; kernels may use a subclass
FIRST_FACTOR = 3.0  # times of a family are known to this factor after one step, to its square root after four, …


def in_notebook() -> bool:
    """Return whether this program runs in a notebook kernel. That IPython is imported does not show it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return any(kind.__name__ == KERNEL_SHELL for kind in type(shell).__mro__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What progress asks about the study that runs: its listener, and work, families and words for its steps."""

    on_event: Callable[[Event], Any] | None = None
    expected: Callable[[Sequence[Step]], float] | None = None  # the work of steps by the cost model; None counts cells
    family: Callable[[Step], str] = lambda step: step.kernel  # steps that take alike for the same work
    place: Callable[[Step], str] = lambda step: ""  # where in the study a step is, in words
    best: Callable[[], str] = lambda: ""  # the best validation number so far, in words


@dataclass(slots=True)
class Pace:
    """What steps of one family have taken so far."""

    seconds: float = 0.0
    work: float = 0.0
    steps: int = 0

    @property
    def factor(self) -> float:
        """By how much their mean may mislead about the next ones."""
        return float(FIRST_FACTOR ** (1.0 / sqrt(max(1, self.steps))))  # another thread may read it half made


class Progress:
    """Counts finished cells and their seconds, over all studies of one call, and shows them while it is entered.

    `shown` selects a bar; without one, the log gets a line each minute. A cell is called a fit where people read it:
    that is what it takes by brute force.
    """

    def __init__(self, *, shown: bool, started: float | None = None) -> None:
        self.shown = shown
        self._begin_anew(started)

    def _begin_anew(self, started: float | None) -> None:
        self._started = monotonic() if started is None else started  # of the call, or of the command
        self._entered = 0
        self._thread: tuple[threading.Event, threading.Thread] | None = None
        self._ended = False
        self._watch = Watch()
        self._on_event: Callable[[Event], Any] | None = None
        self._deaf = False  # the listener has raised
        self._count = "{done:,} of {total:,} fits"
        self._labels: list[str] = []  # of the studies that run in turn
        self._later = 0  # cells of studies that have not begun
        self._past = (0, 0)  # cells done, and failed, of studies before this one
        self._began = self._last = monotonic()  # when the study began, and when its last step was done
        self._paces: dict[str, Pace] = {}
        self._left: dict[str, float] = {}  # work of planned steps, by family
        self._waiting = 0  # cells whose work is not known yet
        self._measured = 0  # cells done in this run of the study
        self._last_step: Step | None = None
        self.total = self.done = self.failed = self.stage = 0  # of the study that runs
        self.failure: str | None = None  # the last one, in words
        self.lost: list[WorkerLost] = []

    # ------------------------------------------------------------------ showing it

    @property
    def is_seen(self) -> bool:
        """Whether anybody looks: at a bar, or into the log."""
        return self.shown or LOG.isEnabledFor(logging.INFO)

    def __enter__(self) -> Self:
        if self._ended:  # a study that is asked later, such as the choice on all rows
            self._begin_anew(None)
        self._entered += 1
        if self._entered == 1 and self.is_seen:
            stop = threading.Event()
            thread = threading.Thread(target=self._tell_until, args=(stop,), name="heldout-progress", daemon=True)
            thread.start()
            self._thread = stop, thread
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._entered -= 1
        if self._entered:
            return
        if self._thread is not None:
            (stop, thread), self._thread = self._thread, None
            stop.set()
            thread.join()
        # What it holds of the study may be large.
        self._ended, self._watch, self._on_event, self._last_step = True, Watch(), None, None

    def _tell_until(self, stop: threading.Event) -> None:
        """Draw the bar, or write into the log, also while a single long fit runs."""
        bar: Any = None
        wait = SHOW_AFTER if self.shown else LOG_EVERY
        with suppress(OSError, ValueError):  # nobody reads stderr any more, which is no reason to end a study
            while not stop.wait(wait):
                failed = self.counts()[2]
                words = self.sentence(), f"{failed:,} failed" if failed else "", self.times()
                if not self.shown:
                    LOG.info("%s", "; ".join(filter(None, words)))
                    continue
                if bar is None:
                    from heldout.engine import bars  # rich is not imported for a short run

                    bar, wait = bars.NotebookBar() if in_notebook() else bars.TerminalBar(), EVERY
                bar.draw(self.share, *words)
            if bar is not None:
                bar.stop()

    @property
    def share(self) -> float:
        """The share of all cells that is done."""
        done, total, _ = self.counts()
        return done / total if total else 0.0

    def counts(self) -> tuple[int, int, int]:
        """Return how many cells are done, how many there are, and how many failed, in all studies of the call."""
        done, failed = self._past[0] + self.done, self._past[1] + self.failed
        return done, self._past[0] + max(self.total, self.done) + self._later, failed

    def sentence(self) -> str:
        """Say where the work is: which learner and fold, how many fits are done, and the best so far."""
        done, total, _ = self.counts()
        place = "" if self._last_step is None else self._watch.place(self._last_step)
        count = self._count.format(done=done, total=total) if total else "planning"
        parts = [*self._labels, place, count, self._watch.best()]
        return ", ".join(part for part in parts if part)

    def times(self) -> str:
        """Say how long the call has taken, and how long it will take as far as that is known."""
        left = self.seconds_left()
        return f"{show_clock(self.seconds)}, {'time left not known yet' if left is None else time_left(*left)}"

    @property
    def seconds(self) -> float:
        """Seconds since the call, or the command, began."""
        return monotonic() - self._started

    def seconds_left(self) -> tuple[float, float | None] | None:
        """Return between how many seconds are left, from what steps of each family took so far; None if not known.

        What a family or a learner takes that was not measured yet nobody knows: then there is no upper bound.
        """
        paces, left = dict(self._paces), dict(self._left)
        busy = sum(pace.seconds for pace in paces.values())
        if busy <= 0.0:
            return None
        known = [(paces[family], rest) for family, rest in left.items() if family in paces]
        needs = [(pace.seconds / (pace.work or 1.0) * rest, pace.factor) for pace, rest in known]
        needs.append((busy / max(1, self._measured) * self._waiting, FIRST_FACTOR))  # of these the number is known
        clock = (self._last - self._began) / busy  # seconds that pass for each second of a fit, with all jobs
        low = clock * sum(need / factor for need, factor in needs)
        high = clock * sum(need * factor for need, factor in needs)
        silent = monotonic() - self._last
        low = max(0.0, low - silent)
        if self._later or len(known) < len(left):
            return (low, None) if low >= 1.0 else None
        # A step that takes longer than all that was expected to be left may take as long again.
        return low, max(high - silent, silent) if high else 0.0

    def facts(self) -> dict[str, Any]:
        """Return the progress as plain values. Another thread may call this."""
        done, total, failed = self.counts()
        return {
            "stage": self.stage,
            "done": done,
            "total": total,
            "failed": failed,
            "share": self.share,
            "sentence": clipped(self.sentence(), 500),
            "seconds": self.seconds,
            "seconds_left": self.seconds_left(),
            "failure": None if self.failure is None else clipped(self.failure, 500),
        }

    # ------------------------------------------------------------------ counting

    def in_turn(self, items: Mapping[str, Item], cells: Callable[[Item], int]) -> Iterator[tuple[str, Item]]:
        """Yield items whose studies run one after another, with their names; those to come count in the total."""
        sizes = [cells(item) for item in items.values()]
        before = max(0, self._later - sum(sizes))  # an outer loop has announced them already
        self._labels.append("")
        try:
            for number, (name, item) in enumerate(items.items(), 1):
                self._later = before + sum(sizes[number - 1 :])
                self._labels[-1] = f"{name} ({number} of {len(items)})" if name else ""
                yield name, item
        finally:
            self._labels.pop()
            self._later = before

    def begin(self, watch: Watch, cells: int = 0) -> None:
        """Begin with the next study, which asks for so many cells."""
        past, later = (self._past[0] + self.done, self._past[1] + self.failed), max(0, self._later - cells)
        # Another thread reads these: no call comes between, where it could see some of them alone.
        self._past, self._later, self.total, self.done, self.failed = past, later, cells, 0, 0
        self.stage, self.failure, self.lost = 0, None, []
        self._watch, self._last_step, self._left, self._waiting = watch, None, {}, 0
        self._on_event = None if self._deaf else watch.on_event
        self._paces, self._measured = {}, 0
        self._began = self._last = monotonic()

    def expect(self, steps: Sequence[Step], *, waiting: int = 0) -> None:
        """Add the steps of the next stage to the total. `waiting` counts the cells that still wait for a choice."""
        self.stage += 1
        self.total = self.done + sum([step.cells for step in steps]) + waiting
        self._left, self._waiting = self._work_by_family(steps), waiting

    def expect_rounds(self, rounds: int, words: str) -> None:
        """Set the total to a number of rounds of equal work; `words` may show {done} and {total}."""
        self.total, self._left, self._count, self._past = rounds, {"": float(rounds)}, words, (0, 0)

    def end_round(self, *, failed: bool) -> None:
        """Record that one round has ended."""
        self.failed += failed
        self._measure(1, {"": 1.0}, 0.0)

    def recall(self, steps: Sequence[Step], left: Sequence[Step]) -> None:
        """Record the steps that an earlier run finished (all but `left`). They tell nothing about the pace."""
        known = sum([step.cells for step in steps]) - sum([step.cells for step in left])
        if known:
            self.done += known
            self._left = self._work_by_family(left)

    def advance(self, step: Step, answers: Sequence[Answer] = ()) -> None:
        """Record that a step is done."""
        failures = [failure for answer in answers for failure in answer.failures.values()]
        self.failed += len(failures)
        if failures:
            self.failure = f"{failures[-1].kind}: {failures[-1].message}"
        self._last_step = step
        self._measure(step.cells, self._work_by_family([step]), self._seconds_of(answers))
        if self._on_event is not None:
            left = self.seconds_left()
            self.tell(
                StepDone(
                    kernel=step.kernel,
                    cells=step.cells,
                    fits=step.fits,
                    failed=len(failures),
                    done=self.done,
                    total=max(self.total, self.done),
                    seconds_left=None if left is None or left[1] is None else (left[0] + left[1]) / 2,
                )
            )

    def tell_failures(self, answers: Sequence[Answer], describe: Callable[[int], str]) -> None:
        """Send an event for each failed cell."""
        for answer in answers if self._on_event is not None else ():
            for (candidate, part), failure in answer.failures.items():
                self.tell(
                    CellFailed(
                        panel=answer.panel,
                        part=part,
                        candidate=describe(candidate),
                        error=failure.kind,
                        message=failure.message,
                    )
                )

    def lose(self, cause: str, again: bool) -> None:
        """Record that a worker died, and send an event."""
        event = WorkerLost(cause=cause, again=again)
        self.lost.append(event)
        self.tell(event)

    def tell(self, event: Event) -> None:
        """Pass an event to the listener. One that raises is reported once and not called again."""
        if self._on_event is None:
            return
        try:
            self._on_event(event)
        except Exception as error:
            self._on_event, self._deaf = None, True
            warnings.warn(
                f"on_event raised {type(error).__name__}: {error} at {event.kind!r}. It is not called again; the "
                "study goes on.",
                stacklevel=2,
            )

    def _work_by_family(self, steps: Sequence[Step]) -> dict[str, float]:
        watch, work = self._watch, dict[str, float]()
        for step in steps:
            expected = step.cells if watch.expected is None else watch.expected([step])
            work[watch.family(step)] = work.get(watch.family(step), 0.0) + expected
        return work

    def _seconds_of(self, answers: Sequence[Answer]) -> float:
        if self._watch.expected is None:  # nobody looks
            return 0.0
        took = [(answer.fit_seconds + answer.score_seconds, answer.count) for answer in answers]
        return sum([(each if isinstance(each, float) else float(each.mean())) * count for each, count in took])

    def _measure(self, cells: int, work: Mapping[str, float], seconds: float) -> None:
        """Record work that is done and what it took; without `seconds`, the time since the last."""
        now = monotonic()
        for family, amount in work.items():
            pace = self._paces.setdefault(family, Pace())
            pace.seconds += seconds or now - self._last
            pace.work += amount
            pace.steps += 1
            self._left[family] = max(0.0, self._left.get(family, 0.0) - amount)
        self.done += cells
        self._measured += cells
        self._last = now


def open_progress(progress: Any, *, started: float | None = None) -> Progress:
    """Return the progress that the user asked for: "auto" shows a bar in a terminal or notebook only.

    One that is open already is returned as it is, so that studies within one call share it. `started` is when the
    call or the command began, on the monotonic clock; None is now.
    """
    if isinstance(progress, Progress):
        return progress
    if progress == "auto":
        shown = sys.stderr.isatty() or in_notebook()
    elif isinstance(progress, bool):
        shown = progress
    else:
        raise OptionError(f'progress= is "auto", True or False, not {progress!r}.')
    return Progress(shown=shown, started=started)
