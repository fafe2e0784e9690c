"""Limits: how long a fit or a whole study may take, and how much memory a fit may."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from heldout.base.options import Options


class OutOfTime(Exception):
    """The time of the whole study is up. Never leaves the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may take; None is no limit."""

    fit_seconds: float | None = None
    fit_bytes: int | None = None
    deadline: float | None = None  # on the monotonic clock

    @property
    def of_fits(self) -> bool:
        """Whether single fits are limited, which only a process of their own can be."""
        return self.fit_seconds is not None or self.fit_bytes is not None

    def time_left(self) -> float:
        return float("inf") if self.deadline is None else self.deadline - monotonic()

    def check_time(self) -> None:
        if self.time_left() <= 0:
            raise OutOfTime


NO_LIMITS = Limits()


def limits_of(options: Options, *, deadline: float | None = None) -> Limits:
    """The limits that the options set."""
    assert options.fit_memory is None or isinstance(options.fit_memory, int), "Options reads texts"
    return Limits(fit_seconds=options.fit_timeout, fit_bytes=options.fit_memory, deadline=deadline)
