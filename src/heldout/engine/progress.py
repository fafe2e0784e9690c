"""Progress: one bar with the time left and the failures so far, only for runs long enough to wait for."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Any, Self

from heldout.base.errors import OptionError

SHOW_AFTER = 0.7  # seconds: shorter runs show nothing, and do not pay for the bar


class Progress:
    """Counts fits; `shown` decides whether a bar appears."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._started = monotonic()
        self._bar: Any = None
        self._line: Any = None
        self.total = 0
        self.done = 0
        self.failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def expect(self, fits: int) -> None:
        """So many fits in all are planned by now."""
        self.total = fits

    def advance(self, fits: int, failed: int) -> None:
        """So many more fits are done, so many of their cells failed."""
        self.done += fits
        self.failed += failed
        if self._shown and (self._bar is not None or monotonic() - self._started > SHOW_AFTER):
            self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            self._bar = _rich_bar()
            self._bar.start()
            self._line = self._bar.add_task("fits", total=self.total, failed="")
        failed = f"[red]{self.failed} failed[/red]" if self.failed else ""
        self._bar.update(self._line, completed=self.done, total=self.total, failed=failed)


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}"),
        console=Console(stderr=True),
        transient=True,
    )


def open_progress(progress: bool | str) -> Progress:
    """Progress as the user asked: "auto" shows a bar in a terminal or notebook, True always, False never."""
    if progress == "auto":
        return Progress(shown=sys.stderr.isatty() or "ipykernel" in sys.modules)
    if isinstance(progress, bool):
        return Progress(shown=progress)
    raise OptionError(f'progress= is "auto", True or False, not {progress!r}.')
