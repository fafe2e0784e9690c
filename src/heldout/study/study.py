"""Panels: candidates × parts of one drawn splits, which is how cells are kept; and the study that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from heldout.losses import Loss
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.race import Block, Race, RaceRule

TEST = "test"
VALIDATION = "validation"
SPREAD = "spread"  # held out to learn how far an estimate spreads: never shown, never chosen by
EVERYWHERE = "everywhere"  # a fixed set of rows, some of them trained on: for intervals alone, see study/pose.py


class TrainRef(NamedTuple):
    """The training side of one part of one splits of the study."""

    splits: str
    part: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Cells: every candidate on every part. Its `key` names it and says nothing else: what it is for is its `level`.

    `candidates` is None while they are still to be chosen: the panel waits for the choice it names. A part's
    predictor is trained on the part's own training side, or, where `trains` is given, on those instead; if
    `averaged`, it is the average of one predictor trained on each. In a race, `asked` are the cells of its next round.
    """

    key: str
    level: str  # TEST, VALIDATION or SPREAD
    splits: str
    parts: range
    candidates: range | None
    waits_for: str | None = None
    trains: tuple[TrainRef, ...] | None = None
    averaged: bool = False
    keeps_rows: bool = False  # its row losses are needed, however many they are
    asked: tuple[Block, ...] | None = None  # None: every cell

    def trains_of(self, part: int) -> tuple[TrainRef, ...]:
        return self.trains if self.trains is not None else (TrainRef(self.splits, part),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which candidate does best on one validation panel."""

    key: str
    panel: str
    fold: int | None = None  # the test part whose predictor it chooses, where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The answer of a choice; `candidate` is None when every candidate failed."""

    candidate: int | None
    inside: float | None  # mean validation loss of the chosen, inside sign
    tied: int = 1  # how many candidates share the best mean exactly
    failed: int = 0  # candidates that could not be chosen because a fit of theirs failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Everywhere:
    """What predictors of test parts are asked beside their test cells."""

    parts: tuple[int, ...] = ()  # those whose predictors also answer the rows of EVERYWHERE
    probabilities: bool = False  # there they are asked for probabilities, whatever the losses need
    tests_too: bool = False  # and on the test rows of every part
    words: str = ""  # the same for people, or why nothing is asked


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study:
    """The question as it stands: panels, choices, and what has been chosen so far."""

    search: Search
    splits: Mapping[str, Splits]
    panels: tuple[Panel, ...]
    reported: tuple[Loss, ...]  # the losses that are taken on test rows; the search's own losses choose
    choices: tuple[Choice, ...] = ()
    chosen: Mapping[str, Chosen] = field(default_factory=dict)
    race: RaceRule | None = None  # how candidates are dropped on the way, where that was asked for
    races: Mapping[str, Race] = field(default_factory=dict)  # by validation panel, once they have begun
    everywhere: Everywhere = field(default_factory=Everywhere)  # for intervals alone

    def panel(self, key: str) -> Panel:
        return next(p for p in self.panels if p.key == key)

    def validation_splits(self, choice: Choice) -> Splits:
        """The splits on whose held-out parts a choice is made."""
        return self.splits[self.panel(choice.panel).splits]

    def losses_at(self, level: str) -> tuple[Loss, ...]:
        return self.search.losses if level == VALIDATION else self.reported

    def of_level(self, level: str) -> tuple[Panel, ...]:
        return tuple(p for p in self.panels if p.level == level)
