"""What an interval method declares of itself, and refusals that several methods share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heldout.risk.estimate import Interval
from heldout.risk.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to make an interval from a record.

    `refusal` says in a clause why the method cannot speak of a record ("it needs one test set, and there are 5
    parts"), or gives None where it can. `interval` takes a record that was not refused, the value that is
    shown, and the level.
    """

    key: str  # as a user asks for it
    name: str  # as it is shown
    refusal: Callable[[Record], str | None]
    interval: Callable[[Record, float, float], Interval]


def refuse_dependent_test_rows(record: Record) -> str | None:
    """Why the rows of this record are not one sample of independent, equally weighted draws, or None."""
    if record.parts != 1:
        return f"it speaks of one test set, and there are {record.parts} held-out parts"
    if record.grouped:
        return "the test rows come in groups, so they are not independent: groups would have to be counted, not rows"
    if record.timed:
        return "the test rows follow each other in time, so they are not independent"
    if record.weights is not None:
        return "the test rows have weights, and this method counts each row once"
    if record.row_losses is None:
        return "this score belongs to whole sets and has no losses of single rows; KFold or Resample give several sets"
    return None
