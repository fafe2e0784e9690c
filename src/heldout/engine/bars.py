"""Progress bars for terminals and for notebooks."""

from __future__ import annotations

import sys
from importlib import import_module
from time import monotonic
from typing import Any

from heldout.base.markup import Html, element

EVERY = 0.2  # seconds between two drawings
KERNEL_SHELL = "ZMQInteractiveShell"  # what runs a notebook's cells; a kernel's own kind is derived from it


def rich_bar() -> Any:
    """A progress bar for terminals."""
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
    """Whether the kernel of a notebook runs this program. That one was imported says nothing."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return any(kind.__name__ == KERNEL_SHELL for kind in type(shell).__mro__)


class NotebookBar:
    """One output of a cell, drawn again in place, and empty at the end; it has the methods of rich's bar.

    It needs nothing but IPython, where rich's own bar would ask for ipywidgets, and it starts no thread. What comes too
    soon after the last drawing is not drawn.
    """

    def __init__(self) -> None:
        self._output: Any = None
        self._drawn = 0.0

    def start(self) -> None:
        """Nothing is shown before there is something to tell."""

    def add_task(self, description: str, **fields: Any) -> int:
        """There is one line alone."""
        return 0

    def update(self, line: int, *, completed: float, total: float, sentence: str, **fields: Any) -> None:
        """So much of the work is done; the sentence says the rest."""
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
        """Leave nothing behind."""
        if self._output is not None:
            self._output.update({"text/html": "", "text/plain": ""}, raw=True)
            self._output = None


def _drawing(completed: float, total: float, sentence: str) -> dict[str, str]:
    """The bar as an output: markup for a notebook, words for anything else that shows it."""
    share = {"value": f"{min(1.0, completed / total):.4f}"} if total > 0 else {}  # without a value it only moves
    bar = element("progress", max=1, **share, style="width:20em;max-width:40%;vertical-align:middle")
    return {
        "text/html": str(element("div", bar, Html(" "), sentence, class_="heldout-progress")),
        "text/plain": sentence,
    }
