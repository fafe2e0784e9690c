"""A number found inside, as it is shown: in the user's own sign and clipped to the range of its loss."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.risk.estimands import Sizes
from heldout.risk.estimate import Estimate, Interval
from heldout.risk.estimates import shown_range


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a loss is called, which way round it is shown, and its range inside."""

    loss: str
    sign: int
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What an estimate is called and speaks of."""

    name: str
    estimand: str
    level: float
    train_size: float | Sizes | None
    n: int
    optimistic: bool = False
    reason: str | None = None


def shown_estimate(scale: Scale, about: About, *, value: float | None, interval: Interval | None = None) -> Estimate:
    """The estimate of a value and an interval in inside sign.

    >>> scale = Scale(loss="accuracy", sign=-1, low=-1.0, high=0.0)
    >>> about = About(name="risk", estimand="accuracy of this predictor", level=0.95, train_size=80, n=20)
    >>> found = Interval(low=-1.1, high=-0.7, level=0.95, method="Student", guarantee="asymptotic")
    >>> shown = shown_estimate(scale, about, value=-0.9, interval=found)
    >>> shown.value, shown.low, shown.high
    (0.9, 0.7, 1.0)
    """
    sizes = Sizes.of(about.train_size) if isinstance(about.train_size, float | int) else about.train_size
    least, most = shown_range(scale.low, scale.high, scale.sign)
    ends = None if interval is None else shown_range(interval.low, interval.high, scale.sign)
    return Estimate(
        name=about.name,
        loss=scale.loss,
        value=None if value is None else min(max(scale.sign * value + 0.0, least), most),
        low=None if ends is None else min(max(ends[0], least), most),
        high=None if ends is None else min(max(ends[1], least), most),
        level=about.level,
        method=None if interval is None else interval.method,
        guarantee=None if interval is None else interval.guarantee,
        estimand=about.estimand,
        train_size=None if sizes is None else sizes.mean,
        n=about.n,
        optimistic=about.optimistic,
        greater_is_better=scale.sign < 0,
        reason=about.reason,
        unclipped=ends,
        train_range=None if sizes is None else sizes.range,
        fit_size=None if sizes is None else sizes.fit,
    )
