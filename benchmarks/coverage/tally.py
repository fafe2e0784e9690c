"""From shots to rows of the table: how often each interval covered each truth, and whether the rule holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from benchmarks.coverage.recipes import DEFAULT, Shot
from benchmarks.coverage.truth import Truth

SLACK = 0.03  # a default may cover this much less than it says
OFTEN, SELDOM = 0.90, 0.10  # how often its warning must fire where it does not, and may fire elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One interval method under one recipe in one setting, over all replications."""

    setting: str
    loss: str
    recipe: str
    method: str
    level: float
    replications: int
    truth: Truth
    train_size: int
    expected: float  # coverage of the expected risk at this training size
    at_hand: float  # coverage of the risk of the predictor at hand
    width: float
    fires: float | None  # share of replications with a warning; None where none is asked for

    @property
    def error(self) -> float:
        """The Monte-Carlo error of the coverage that is promised."""
        return monte_carlo_error(self.covers, self.replications)

    @property
    def covers(self) -> float:
        """Coverage of what the estimate speaks of: the predictor that was tested, or the expected risk."""
        return self.at_hand if self.recipe.startswith("Holdout") else self.expected

    @property
    def is_default(self) -> bool:
        """Whether this is the interval a user gets unasked."""
        return self.method.startswith(DEFAULT)


def monte_carlo_error(share: float, replications: int) -> float:
    """The standard error of a share, never 0: a share of none or all is not known exactly either.

    >>> round(monte_carlo_error(0.95, 1000), 4)
    0.007
    """
    shrunk = (share * replications + 1) / (replications + 2)
    return sqrt(shrunk * (1 - shrunk) / replications)


def tally(shots: Iterable[Shot], truths: Mapping[tuple[str, int], Mapping[str, Truth]]) -> list[Row]:
    """A row for each setting, loss, recipe, method and level, in the order they came."""
    groups: dict[tuple[str, str, str, str, float], list[Shot]] = {}
    for shot in shots:
        if not shot.refused:
            name = DEFAULT if shot.method.startswith(DEFAULT) else shot.method
            groups.setdefault((shot.setting, shot.loss, shot.recipe, name, shot.level), []).append(shot)
    return [_row(group, truths) for group in groups.values()]


def _row(group: list[Shot], truths: Mapping[tuple[str, int], Mapping[str, Truth]]) -> Row:
    first = group[0]
    truth = truths[first.setting, first.train_size][first.loss]
    low, high = np.array([s.low for s in group]), np.array([s.high for s in group])
    hand = np.array([s.at_hand for s in group])
    return Row(
        setting=first.setting,
        loss=first.loss,
        recipe=first.recipe,
        method=first.method if len({s.method for s in group}) == 1 else DEFAULT,
        level=first.level,
        replications=len(group),
        truth=truth,
        train_size=first.train_size,
        expected=float(np.mean((low <= truth.value) & (truth.value <= high))),
        at_hand=float(np.mean((low <= hand) & (hand <= high))),
        width=float(np.mean(high - low)),
        fires=float(np.mean([bool(s.fired) for s in group])) if first.method.startswith(DEFAULT) else None,
    )


def fails(rows: Iterable[Row]) -> bool:
    """Whether a default covers too seldom at one of its levels."""
    return any(row.covers < row.level - SLACK for row in rows)


def verdict(rows: list[Row]) -> str:
    """Of one default at all its levels: "covers", "warned" (it does not, and says so), or "FAILS" with the reason."""
    fires = rows[0].fires or 0.0
    if fails(rows):
        return "warned" if fires >= OFTEN else "FAILS: covers too seldom, and seldom warns"
    return "covers" if fires <= SELDOM else "FAILS: warns though it covers"
