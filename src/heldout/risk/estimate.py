"""Estimates: a number with its estimand, its training size and its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from heldout.base.shown import html_of
from heldout.risk.estimands import Estimand, Sizes, Subject

GUARANTEES = ("exact", "finite-sample", "asymptotic", "heuristic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Holds a confidence interval in the internal sign (lower is better), not clipped to the range of the loss."""

    low: float
    high: float
    level: float
    method: str  # "Clopper–Pearson", "corrected t", "Student"
    guarantee: str  # one of GUARANTEES
    seed: int | None = None  # of a method that shuffles or resamples: what it drew with


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Holds an estimate as it is shown: in the user's own sign; its ends are clipped to the range of the loss.

    `value` is None if a fit that it needs failed, or if only pass or fail is disclosed. `low` and `high` are None if
    there is no interval. `reason` says why there is none, or under which condition the interval holds.
    """

    name: str
    loss: str
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str | None
    guarantee: str | None
    estimand: Estimand
    train_size: float | None  # rows the learner was given (a mean, where folds differ)
    n: int  # rows that were predicted
    optimistic: bool = False
    greater_is_better: bool = False
    reason: str | None = None
    unclipped: tuple[float, float] | None = None
    interval_seed: int | None = None  # what a method that shuffles or resamples drew with
    train_range: tuple[float, float] | None = None  # the least and the most of them, where they differ by more than 2 %
    fit_size: float | None = None  # rows that a single fit used, where the learner held some of its rows out
    answer: str | None = None  # what is told instead of the full number: "rounded to 0.01", "pass: at most 0.2"

    @property
    def sizes(self) -> Sizes | None:
        """The training sizes as one value, for sentences; None for a predictor that was given already fitted."""
        if self.train_size is None:
            return None
        least, most = self.train_range or (self.train_size, self.train_size)
        return Sizes(self.train_size, least, most, self.fit_size)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, for JSON that people read."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "estimand": str(self.estimand)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Estimate:
        """Rebuild an estimate from its :func:`stored_values`; lists from JSON become pairs again."""
        plain = dict(values)
        estimand = Estimand(plain["estimand"], Subject(plain.pop("subject")), plain.pop("later"))
        return msgspec.convert({**plain, "estimand": estimand}, cls, dec_hook=lambda kind, value: value)

    def _repr_html_(self) -> str:
        return html_of("estimate", self.as_dict())


def stored_values(estimate: Estimate) -> dict[str, Any]:
    """Return all fields of an estimate as plain values, for files."""
    return {**estimate.as_dict(), "subject": str(estimate.estimand.subject), "later": estimate.estimand.later}


@dataclass(frozen=True, slots=True, kw_only=True)
class LossRange:
    """Holds the name of a loss, its sign when shown, and its range in the internal sign."""

    loss: str
    sign: int
    low: float
    high: float

    def clipped(self, shown: float) -> float:
        """Return a shown number, clipped to the range of the loss."""
        least, most = shown_range(self.low, self.high, self.sign)
        return min(max(shown, least), most)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateInfo:
    """Holds the name of an estimate and what it estimates."""

    name: str
    estimand: Estimand
    level: float
    train_size: float | Sizes | None
    n: int
    optimistic: bool = False
    reason: str | None = None


def user_estimate(
    scale: LossRange, about: EstimateInfo, *, value: float | None, interval: Interval | None = None, clip: bool = True
) -> Estimate:
    """Return the Estimate for a value and an interval in internal sign; `clip` clips the value to the range too.

    >>> from heldout.risk.estimands import predictor_risk
    >>> scale = LossRange(loss="accuracy", sign=-1, low=-1.0, high=0.0)
    >>> estimand = predictor_risk("accuracy", train_size=80, sign=-1)
    >>> about = EstimateInfo(name="risk", estimand=estimand, level=0.95, train_size=80, n=20)
    >>> found = Interval(low=-1.1, high=-0.7, level=0.95, method="Student", guarantee="asymptotic")
    >>> shown = user_estimate(scale, about, value=-0.9, interval=found)
    >>> shown.value, shown.low, shown.high
    (0.9, 0.7, 1.0)
    """
    sizes = Sizes.of(about.train_size) if isinstance(about.train_size, float | int) else about.train_size
    shown = None if value is None else scale.sign * value + 0.0  # + 0.0 turns −0.0 into 0.0
    return Estimate(
        name=about.name,
        loss=scale.loss,
        value=scale.clipped(shown) if clip and shown is not None else shown,
        level=about.level,
        estimand=about.estimand,
        train_size=None if sizes is None else sizes.mean,
        n=about.n,
        optimistic=about.optimistic,
        greater_is_better=scale.sign < 0,
        reason=about.reason,
        train_range=None if sizes is None else sizes.range,
        fit_size=None if sizes is None else sizes.fit,
        **shown_interval(scale, interval),
    )


def shown_interval(scale: LossRange, interval: Interval | None) -> dict[str, Any]:
    """Return the interval fields of an Estimate, as shown, clipped and unclipped; all None without an interval."""
    if interval is None:
        return dict.fromkeys(("low", "high", "unclipped", "method", "guarantee", "interval_seed"))
    low, high = shown_range(interval.low, interval.high, scale.sign)
    return {
        "low": scale.clipped(low),
        "high": scale.clipped(high),
        "unclipped": (low, high),
        "method": interval.method,
        "guarantee": interval.guarantee,
        "interval_seed": interval.seed,
    }


def shown_range(low: float, high: float, sign: int) -> tuple[float, float]:
    """Return a range in the user's own sign; for a score the ends are negated and swapped.

    >>> shown_range(-0.9, -0.8, -1)
    (0.8, 0.9)
    """
    return (low + 0.0, high + 0.0) if sign > 0 else (-high + 0.0, -low + 0.0)
