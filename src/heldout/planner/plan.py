"""A plan: the steps that answer the panels which know their candidates; and the draft that rules rewrite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heldout.kernels.claims import Claims
from heldout.kernels.step import TIERS, Step
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.study import Panel, Study
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRecord:
    """Records what one pass did to the plan."""

    name: str
    fits_before: int
    fits_after: int
    refusals: tuple[str, ...] = ()  # why it left some steps unchanged
    used: bool = False
    note: str = ""  # what it saved besides fits
    transforms: tuple[int, int] = (0, 0)  # fits of transformers before and after, where it shares those
    seconds: float = 0.0


def transform_words(before: int, after: int) -> str:
    """Return what sharing transformers saved, in words; "" where it saved nothing."""
    return f"{before:,} → {after:,} transformer fits" if after < before else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Holds the steps of one stage. It depends on the question alone, never on what has finished."""

    steps: tuple[Step, ...]
    passes: tuple[PassRecord, ...] = ()

    @property
    def fits(self) -> int:
        return sum(step.fits for step in self.steps)

    @property
    def cells(self) -> int:
        return sum([step.cells for step in self.steps])


def ready_panels(study: Study, done: frozenset[str]) -> tuple[Panel, ...]:
    """Return panels that know their candidates and were not part of an earlier stage, or have a race round to run."""
    known = (panel for panel in study.panels if panel.candidates is not None)
    return tuple(panel for panel in known if panel.key not in done or panel.asked is not None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draft:
    """The steps so far and the question behind them. Brute-force steps have one training each."""

    steps: tuple[Step, ...]
    search: Search
    splits: Mapping[str, Splits]
    task: Task
    asks_predictor: bool  # some loss calls the estimator itself, so it must be fitted as it is
    own_fit_params: bool  # the user gave fit parameters, or metadata is routed
    precision: str = "rounding"  # the loosest tier that may answer
    limited: bool = False  # single fits have a limit of time or memory
    claims: Mapping[str, Claims] = field(default_factory=dict)  # of each kernel that is switched on


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """The result of a rule: new steps, or None where it changed nothing, and the reasons for what it left."""

    steps: tuple[Step, ...] | None = None
    refusals: tuple[str, ...] = ()
    note: str = ""  # what it saves besides fits
    transforms: tuple[int, int] = (0, 0)  # fits of transformers before and after, where it shares those


Rule = Callable[[Draft], Rewrite]


def refused(*reasons: str) -> Rewrite:
    """Return the rewrite of a rule that leaves the draft unchanged, for these reasons."""
    return Rewrite(refusals=tuple(dict.fromkeys(reasons)))


def too_loose(tier: str, draft: Draft) -> str | None:
    """Return why a kernel of this tier may not answer this study, or None."""
    if TIERS.index(tier) <= TIERS.index(draft.precision):
        return None
    return f"its answers are of the tier {tier!r}, which runs where it is asked for: Options(precision={tier!r})"


def general_refusal(draft: Draft) -> str | None:
    """Return why no kernel may answer any part of this study, or None."""
    if draft.asks_predictor:
        return "a scorer calls the estimator itself, so it must be fitted as it is"
    if draft.own_fit_params:
        return "fits take parameters of your own, or routed metadata"
    return None
