"""Progress of a study: a bar, lines in the log, events for listeners, and a record of lost workers."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from time import monotonic
from types import TracebackType
from typing import Any, Self

from heldout.base.errors import OptionError
from heldout.base.events import CellFailed, Event, StepDone, WorkerLost
from heldout.base.markup import Html, element
from heldout.base.words import clipped, show_seconds
from heldout.kernels.step import Step
from heldout.study.answers import Answer

EVERY = 0.2  # seconds between two drawings
KERNEL_SHELL = "ZMQInteractiveShell"  # runs the cells of a notebook; kernels may use a subclass


def rich_bar() -> Any:
    """Make a progress bar for terminals."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[words]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[failed]}", style="red"),
        console=Console(stderr=True),
        transient=True,
    )


def in_notebook() -> bool:
    """Return whether this program runs in a notebook kernel. That IPython is imported does not show it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return any(kind.__name__ == KERNEL_SHELL for kind in type(shell).__mro__)


class NotebookBar:
    """A progress bar in one output of a notebook cell, updated in place and cleared at the end, with rich's methods.

    It needs only IPython, whereas rich's own notebook bar needs ipywidgets, and it starts no thread. Updates that come
    too soon after the last one are skipped.
    """

    def __init__(self) -> None:
        self._output: Any = None
        self._drawn = 0.0

    def start(self) -> None:
        """Show nothing yet: the first update makes the output."""

    def add_task(self, description: str, **fields: Any) -> int:
        """Return the number of the only line."""
        return 0

    def update(self, line: int, *, completed: float, total: float, sentence: str, **fields: Any) -> None:
        """Show how much of the work is done; `sentence` holds the rest of the text."""
        now = monotonic()
        if self._output is None:
            self._output = import_module("IPython.display").display(
                _drawing(completed, total, sentence), raw=True, display_id=True
            )
        elif now - self._drawn >= EVERY:
            self._output.update(_drawing(completed, total, sentence), raw=True)
        else:
            return
        self._drawn = now

    def stop(self) -> None:
        """Clear the output."""
        if self._output is not None:
            self._output.update({"text/html": "", "text/plain": ""}, raw=True)
            self._output = None


def _drawing(completed: float, total: float, sentence: str) -> dict[str, str]:
    """Return the bar as display data: HTML for a notebook, plain text for other frontends."""
    share = {"value": f"{min(1.0, completed / total):.4f}"} if total > 0 else {}  # without a value it is indeterminate
    bar = element("progress", max=1, **share, style="width:20em;max-width:40%;vertical-align:middle")
    return {
        "text/html": str(element("div", bar, Html(" "), sentence, class_="heldout-progress")),
        "text/plain": sentence,
    }


SHOW_AFTER = 0.7  # seconds: shorter runs show nothing, and do not pay for the bar
LOG_EVERY = 60.0  # seconds between lines in the log, where no bar is shown
LOG = logging.getLogger("heldout")


class Progress:
    """Counts finished cells and work. `shown` selects a bar; without one, the log gets a line each minute."""

    def __init__(
        self,
        *,
        shown: bool,
        on_event: Callable[[Event], Any] | None = None,
        expected: Callable[[Sequence[Step]], float] | None = None,
    ) -> None:
        self.shown = shown
        self._on_event = on_event
        self.expected = expected  # the work of steps, as the cost model sees it; None counts cells
        self._started = monotonic()
        self._bar: Any = None
        self._line: Any = None
        self._stop = threading.Event()
        self._work = self._work_total = self._work_known = 0.0  # done, in all, and done before this run
        self.total = 0
        self.done = 0
        self.failed = 0
        self.stage = 0
        self.failure: str | None = None  # the last one, in words
        self.lost: list[WorkerLost] = []

    def __enter__(self) -> Self:
        if not self.shown and LOG.isEnabledFor(logging.INFO):
            threading.Thread(target=self._log_until_stopped, name="heldout-log", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        if self._bar is not None:
            self._bar.stop()

    def expect(self, steps: Sequence[Step], *, waiting: int = 0) -> None:
        """Add the steps of the next stage to the total. `waiting` counts the cells that still wait for a choice."""
        cells = sum([step.cells for step in steps])
        self.stage += 1
        self.total = self.done + cells + waiting
        work = self._expected(steps)
        self._work_total = self._work + work * (1.0 + waiting / max(cells, 1))

    def expect_rounds(self, rounds: int) -> None:
        """Set the total to a number of rounds of equal work."""
        self.total, self._work_total = rounds, float(rounds)

    def end_round(self, *, failed: bool) -> None:
        """Record that one round has ended."""
        self.done += 1
        self._work += 1.0
        self.failed += failed
        self._show()

    def recall(self, steps: Sequence[Step], left: Sequence[Step]) -> None:
        """Record the steps that an earlier run finished (all but `left`). Ignore them in the speed estimate."""
        known = sum([step.cells for step in steps]) - sum([step.cells for step in left])
        if not known:
            return
        self.done += known
        work = self._expected(steps) - self._expected(left)
        self._work += work
        self._work_known += work

    def advance(self, step: Step, answers: Sequence[Answer] = ()) -> None:
        """Record that a step is done."""
        failures = [failure for answer in answers for failure in answer.failures.values()]
        self.done += step.cells
        self.failed += len(failures)
        if failures:
            self.failure = f"{failures[-1].kind}: {failures[-1].message}"
        self._work += self._expected([step])
        if self._on_event is not None:
            self.tell(
                StepDone(
                    kernel=step.kernel,
                    cells=step.cells,
                    fits=step.fits,
                    failed=len(failures),
                    done=self.done,
                    total=max(self.total, self.done),
                    seconds_left=self.seconds_left(),
                )
            )
        self._show()

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
            self._on_event = None
            warnings.warn(
                f"on_event raised {type(error).__name__}: {error} at {event.kind!r}. It is not called again; the "
                "study goes on.",
                stacklevel=2,
            )

    def seconds_left(self) -> float | None:
        """Estimate the remaining seconds from the pace of this run; None before any work is done."""
        mine = self._work - self._work_known
        if mine <= 0.0:
            return None
        return max(0.0, self._work_total - self._work) * (monotonic() - self._started) / mine

    def facts(self) -> dict[str, Any]:
        """Return the progress as plain values. Another thread may call this."""
        return {
            "stage": self.stage,
            "done": self.done,
            "total": max(self.total, self.done),
            "failed": self.failed,
            "share": min(1.0, self._work / self._work_total) if self._work_total > 0 else 0.0,
            "seconds": monotonic() - self._started,
            "seconds_left": self.seconds_left(),
            "failure": None if self.failure is None else clipped(self.failure, 500),
        }

    def _expected(self, steps: Sequence[Step]) -> float:
        return float(sum([step.cells for step in steps])) if self.expected is None else self.expected(steps)

    def _words(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        left = self.seconds_left()
        remaining = "" if left is None else f", about {show_seconds(left)} left"
        return f"{self.done:,} of {max(self.total, self.done):,} cells{failed}{remaining}"

    def _log_until_stopped(self) -> None:
        while not self._stop.wait(LOG_EVERY):
            LOG.info("%s, %s so far", self._words(), show_seconds(monotonic() - self._started))

    def _show(self) -> None:
        if self.shown and (self._bar is not None or monotonic() - self._started > SHOW_AFTER):
            self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            self._bar = NotebookBar() if in_notebook() else rich_bar()
            self._bar.start()
            self._line = self._bar.add_task("cells", total=None, words="", failed="")
        failed = f"{self.failed:,} failed" if self.failed else ""
        left = self.seconds_left()
        words = f"{self.done:,}/{max(self.total, self.done):,}" + (
            "" if left is None else f"  {show_seconds(left)} left"
        )
        self._bar.update(
            self._line,
            completed=self._work,
            total=max(self._work_total, self._work),
            words=words,
            failed=failed,
            sentence=self._words(),
        )


def open_progress(
    progress: bool | str,
    *,
    on_event: Callable[[Event], Any] | None = None,
    expected: Callable[[Sequence[Step]], float] | None = None,
    told: bool = False,
) -> Progress:
    """Make the progress display that the user asked for: "auto" shows a bar in a terminal or notebook only.

    `told` means that others ask for the progress. If nobody does, cells are counted instead of the `expected` work.
    """
    if progress == "auto":
        shown = sys.stderr.isatty() or in_notebook()
    elif isinstance(progress, bool):
        shown = progress
    else:
        raise OptionError(f'progress= is "auto", True or False, not {progress!r}.')
    seen = shown or told or on_event is not None or LOG.isEnabledFor(logging.INFO)
    return Progress(shown=shown, on_event=on_event, expected=expected if seen else None)
