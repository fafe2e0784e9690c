"""What an interval method declares of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heldout.risk.estimate import Interval
from heldout.risk.intervals.draws import refuse_dependent_test_rows
from heldout.risk.record import Record

Refusal = Callable[[Record], str | None]

__all__ = ["Method", "Refusal", "refuse_dependent_test_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to make an interval from a record.

    `refusal` says in a clause why the method cannot speak of a record ("it needs one test set, and there are 5
    parts"), or gives None where it can. `interval` takes a record that was not refused, the value that is
    shown, and the level; its interval is finite, holds the value, and holds the interval of every lower level.
    """

    key: str  # as a user asks for it
    name: str  # as it is shown
    refusal: Refusal
    interval: Callable[[Record, float, float], Interval]
    early: Refusal | None = None  # `refusal` as far as it needs no loss; None: `refusal` looks at no loss
    belongs_to: str | None = None  # the estimate it is an interval of, where that is not the risk
    estimand: str | None = None  # that estimate in words

    def early_refusal(self, record: Record) -> str | None:
        """Why the recipe and the kind of loss rule the method out, before any loss is known."""
        return (self.refusal if self.early is None else self.early)(record)
