"""A plan in the making, and what a rule makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from heldout.kernels.step import TIERS, Step
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draft:
    """The steps so far and the question behind them. Brute-force steps have one training each."""

    steps: tuple[Step, ...]
    search: Search
    splits: Mapping[str, Splits]
    task: Task
    asks_predictor: bool  # some loss calls the estimator itself, so it must be fitted as it is
    own_fit_params: bool  # fits take parameters of the user's own, or routed metadata
    precision: str = "rounding"  # the loosest tier that may answer
    limited: bool = False  # single fits have a limit of time or memory, and are ended at it


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """What a rule did: new steps, or None when it left the draft alone, and why it left what it left."""

    steps: tuple[Step, ...] | None = None
    refusals: tuple[str, ...] = ()
    note: str = ""  # what it saves besides fits
    transforms: tuple[int, int] = (0, 0)  # fits of transformers before and after, where it shares those


Rule = Callable[[Draft], Rewrite]
BRUTE = "brute"


def refused(*reasons: str) -> Rewrite:
    """The rule leaves the draft alone, for these reasons."""
    return Rewrite(refusals=tuple(dict.fromkeys(reasons)))


def too_loose(tier: str, draft: Draft) -> str | None:
    """Why a kernel of this tier may not answer this study, or None."""
    if TIERS.index(tier) <= TIERS.index(draft.precision):
        return None
    return f"its answers are of the tier {tier!r}, which runs where it is asked for: Options(precision={tier!r})"


def general_refusal(draft: Draft) -> str | None:
    """Why no kernel may touch this study at all, or None."""
    if draft.asks_predictor:
        return "a scorer calls the estimator itself, so it must be fitted as it is"
    if draft.own_fit_params:
        return "fits take parameters of your own, or routed metadata"
    return None
