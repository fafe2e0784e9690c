"""An estimate: a number with what it estimates, at which training size, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heldout.base.markup import view
from heldout.risk.estimate_markup import estimate_markup

GUARANTEES = ("exact", "finite-sample", "asymptotic", "heuristic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval in the loss's own inside sign (lower is better), not clipped."""

    low: float
    high: float
    level: float
    method: str  # "Clopper–Pearson", "corrected t", "Student"
    guarantee: str  # one of GUARANTEES
    seed: int | None = None  # of a method that shuffles or resamples: what it drew with


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number as it is shown: in the user's own sign, clipped to the loss's range.

    `value` is None when a fit that it needs failed, and where only pass or fail is told; `low` and `high` are None
    when there is no interval. `reason` says why, or under which condition the interval holds.
    """

    name: str
    loss: str
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str | None
    guarantee: str | None
    estimand: str
    train_size: float | None  # rows the predictors were trained on (a mean, where folds differ)
    n: int  # rows that were predicted
    optimistic: bool = False
    greater_is_better: bool = False
    reason: str | None = None
    unclipped: tuple[float, float] | None = None
    interval_seed: int | None = None  # what a method that shuffles or resamples drew with
    answer: str | None = None  # what is told instead of the full number: "rounded to 0.01", "pass: at most 0.2"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def _repr_html_(self) -> str:
        return view(estimate_markup(self.as_dict()))
