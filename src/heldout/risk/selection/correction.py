"""A number that stands beside an optimistic one, with its interval where the method has one."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.risk.estimate import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """The risk of what was chosen, with the optimism of choosing taken off; inside sign, lower is better."""

    value: float
    method: str
    interval: Interval | None = None
