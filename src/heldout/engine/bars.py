"""Bars that show how much of a call is done: in a terminal, and in a notebook."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from heldout.base.markup import Html, element


class TerminalBar:
    """A bar on stderr with the times beside it and a sentence below it, both cut to the width; gone at the end."""

    def __init__(self) -> None:
        # Another thread draws while fits run, which may replace sys.stdout for a while: neither is touched here.
        console = Console(stderr=True)
        self._live = Live(
            console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._live.start()

    def draw(self, share: float, sentence: str, failed: str, times: str) -> None:
        """Show how much is done."""
        line = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=share, width=max(4, min(28, self._live.console.width - 52)))
        line.add_row(bar, f"{share:.0%}", Text(times, no_wrap=True), Text(failed, style="red"))
        self._live.update(Group(line, Text(sentence, no_wrap=True, overflow="ellipsis")), refresh=True)

    def stop(self) -> None:
        """Remove the bar."""
        self._live.stop()


class NotebookBar:
    """A bar in one output of a notebook cell, updated in place and cleared at the end.

    It needs only IPython, whereas rich's own notebook bar needs ipywidgets.
    """

    def __init__(self) -> None:
        self._output: Any = None

    def draw(self, share: float, sentence: str, failed: str, times: str) -> None:
        """Show how much is done, as HTML for a notebook and as plain text for other frontends."""
        words = "; ".join(filter(None, (sentence, failed, times)))
        bar = element("progress", max=1, value=f"{share:.4f}", style="width:20em;max-width:40%;vertical-align:middle")
        html = str(element("div", bar, Html(" "), words, class_="heldout-progress"))
        bundle = {"text/html": html, "text/plain": words}
        if self._output is None:
            self._output = import_module("IPython.display").display(bundle, raw=True, display_id=True)
        else:
            self._output.update(bundle, raw=True)

    def stop(self) -> None:
        """Clear the output."""
        if self._output is not None:
            self._output.update({"text/html": "", "text/plain": ""}, raw=True)
            self._output = None
