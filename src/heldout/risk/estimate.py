"""An estimate: a number with what it estimates, at which training size, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout.base.markup import view
from heldout.risk.estimands import Sizes
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
        """The training sizes in one value, as sentences need them; None for a predictor that came fitted."""
        if self.train_size is None:
            return None
        least, most = self.train_range or (self.train_size, self.train_size)
        return Sizes(self.train_size, least, most, self.fit_size)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Estimate:
        """The estimate that `as_dict` wrote, with the pairs that JSON holds as lists."""
        pairs = {name: values.get(name) for name in ("unclipped", "train_range")}
        numbers = {name: None if pair is None else tuple(map(float, pair)) for name, pair in pairs.items()}
        return cls(**{**values, **numbers})

    def _repr_html_(self) -> str:
        return view(estimate_markup(self.as_dict()))
