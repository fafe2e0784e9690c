"""How far the passes over a stream have come."""

from __future__ import annotations

from heldout.engine.progress import Progress

STEPS = 100  # of one pass, on the bar


class Meter:
    """Counts rows that pass as hundredths of the passes that are planned."""

    def __init__(self, progress: Progress, *, rows: int, passes: int) -> None:
        self._progress, self._rows, self._seen = progress, rows, 0
        self._most = STEPS * passes
        progress.expect_rounds(self._most)

    def __call__(self, rows: int) -> None:
        """So many more rows have passed."""
        self._seen += rows
        reached = min(self._most, self._seen * STEPS // self._rows)  # a pass that was not planned shows nothing
        while self._progress.done < reached:
            self._progress.end_round(failed=False)
