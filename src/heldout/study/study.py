"""The question that a study asks: panels of cells, choices between candidates, and how evaluation and tuning pose both.

A panel is candidates × parts of one drawn splits, which is how cells are kept. For interval rules some predictors of
test parts also answer a fixed set of rows, without further fits. How far these predictors differ there, and how much
better they do on their own training rows, tells how far an estimate from them varies. Nothing else may use these
answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from heldout.base.errors import Argument, OptionError, Sentence, SplitError, Splitter
from heldout.base.rowkeys import Rows, derive
from heldout.losses import Loss, needed_methods
from heldout.losses.rows import no_loss
from heldout.search.search import Search
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.given import Given
from heldout.splits.shared_blocks import SharedBlocks, refuse_unshareable, shared_blocks
from heldout.splits.strategy import draw_in_sequence
from heldout.study.race import SEVERAL_PARTS, Block, Race, RaceRule, check_race
from heldout.task.task import Task

TEST = "test"
VALIDATION = "validation"
SPREAD = "spread"  # held out to learn how far an estimate varies: never shown, never used to choose
EVERYWHERE = "everywhere"  # a fixed set of rows, some of them trained on: for intervals alone, see `with_everywhere`
OUTER = "outer"  # the test splits
FINAL = "final"  # the choice made on all rows
BLOCKS = "blocks"  # blocks that are left out in pairs
# The first of these methods that a predictor has is called. The last is no method: it marks the request as optional.
OPTIONAL = "if sound"
PROBABILITIES, DECISIONS = ("predict_proba", "predict", OPTIONAL), ("decision_function", "predict", OPTIONAL)


class TrainRef(NamedTuple):
    """Names the training rows of one part of one splits of the study."""

    splits: str
    part: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Cells: every candidate on every part. Its `key` only names it; its `level` says what it is for.

    `candidates` is None while they are still to be chosen: the panel waits for the choice `waits_for`. A part's
    predictor is trained on the part's own training rows, or, where `trains` is given, on those instead. If `averaged`,
    it is the average of one predictor trained on each. In a race, `asked` are the cells of its next round.
    """

    key: str
    level: str  # TEST, VALIDATION or SPREAD
    splits: str
    parts: range
    candidates: range | None
    waits_for: str | None = None
    trains: tuple[TrainRef, ...] | None = None
    averaged: bool = False
    keeps_rows: bool = False  # row losses are kept, however many they are
    asked: tuple[Block, ...] | None = None  # None: every cell

    def trains_of(self, part: int) -> tuple[TrainRef, ...]:
        return self.trains if self.trains is not None else (TrainRef(self.splits, part),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Asks which candidate does best on one validation panel."""

    key: str
    panel: str
    fold: int | None = None  # the test part whose predictor it chooses, where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The answer of a choice. `candidate` is None when every candidate failed."""

    candidate: int | None
    inside: float | None  # mean validation loss of the chosen, inside sign
    tied: int = 1  # how many candidates share the best mean exactly
    failed: int = 0  # candidates that could not be chosen because a fit of theirs failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Everywhere:
    """Declares the extra predictions, for intervals and familiar scores, that the predictors of test parts make."""

    parts: tuple[int, ...] = ()  # test parts whose predictors also answer the rows of EVERYWHERE
    probabilities: bool = False  # they give probabilities there, whatever the losses need
    tests_too: bool = False  # and also on the test rows of every part
    words: str = ""  # the same as text, or why there are none
    recorded: tuple[str, ...] = ()  # PROBABILITIES or DECISIONS: on test rows, for familiar scores and tables alone
    unrecorded: str = ""  # why there are none of these


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study:
    """The question in its current state: panels, choices, and what has been chosen so far."""

    search: Search
    splits: Mapping[str, Splits]
    panels: tuple[Panel, ...]
    reported: tuple[Loss, ...]  # losses on test rows; the search's own losses choose
    choices: tuple[Choice, ...] = ()
    chosen: Mapping[str, Chosen] = field(default_factory=dict)
    race: RaceRule | None = None  # how candidates are dropped early; None: no race
    races: Mapping[str, Race] = field(default_factory=dict)  # by validation panel, once they have begun
    everywhere: Everywhere = field(default_factory=Everywhere)  # for intervals alone
    name: str | None = None  # what the user calls it

    def validation_splits(self, choice: Choice) -> Splits:
        """Return the splits on whose held-out parts a choice is made."""
        return next(self.splits[panel.splits] for panel in self.panels if panel.key == choice.panel)

    def losses_at(self, level: str) -> tuple[Loss, ...]:
        return self.search.losses if level == VALIDATION else self.reported

    def of_level(self, level: str) -> tuple[Panel, ...]:
        return tuple(p for p in self.panels if p.level == level)


@dataclass(kw_only=True, eq=False)
class _Posed:
    """Builds a study: each choice adds its validation splits, a panel of them, and the panels that wait for it."""

    search: Search
    splits: dict[str, Splits]
    race: RaceRule | None = None
    validation: list[Panel] = field(default_factory=list)
    tests: list[Panel] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)

    def choose(self, choice: Choice, splits_key: str, inner: Splits, waiting: Sequence[Panel]) -> None:
        """Ask for this choice on the validation splits `inner`; the panels in `waiting` test what it chooses."""
        search, parts = self.search, range(len(inner.held_sizes))
        if self.race is not None:
            check_race(self.race, search, len(parts))
        if search.choose == "one_se" and len(parts) < 2:
            raise OptionError(
                Sentence(
                    "{} needs at least two validation parts to know a standard error, but there is one.",
                    Argument("choose", "one_se"),
                ),
                Sentence("Use {} or {}, or {}.", *SEVERAL_PARTS, Argument("choose", "best")),
            )
        every = range(search.size)
        asked = Panel(key=choice.panel, level=VALIDATION, splits=splits_key, parts=parts, candidates=every)
        trains, averaged = _final_trains(search, splits_key, len(parts)), search.final == "ensemble"
        self.splits[splits_key] = inner
        self.validation.append(asked)
        self.choices.append(choice)
        self.tests += [replace(panel, waits_for=choice.key, trains=trains, averaged=averaged) for panel in waiting]

    def study(self, reported: tuple[Loss, ...]) -> Study:
        panels, choices = (*self.validation, *self.tests), tuple(self.choices)
        search, splits, race = self.search, self.splits, self.race
        return Study(search=search, splits=splits, panels=panels, choices=choices, reported=reported, race=race)


def pose_evaluation(
    search: Search, task: Task, outer: Splits, *, reported: tuple[Loss, ...], race: RaceRule | None = None
) -> Study:
    """Return the study of a learner's risk on the held-out rows of `outer`.

    A tuned learner first chooses inside each part.
    """
    posed, parts = _Posed(search=search, splits={OUTER: outer}, race=race), range(outer.parts)
    if not search.tuned:
        posed.tests = [Panel(key=TEST, level=TEST, splits=OUTER, parts=parts, candidates=range(search.size))]
        return posed.study(reported)
    if isinstance(search.validation, Given) and len(parts) > 1:
        raise SplitError(
            f"Given names rows of the whole task, so it cannot be the validation of each of {len(parts)} test folds.",
            Sentence(
                "Use {} or {}, or {} or {}.",
                Argument("validation", Splitter("Holdout", "…")),
                Splitter("KFold", "…"),
                Argument("test", Splitter("Given", "…")),
                Splitter("Holdout", "…"),
            ),
        )
    for part in parts:
        inner = draw_validation(search, task, outer.train_rows(part), outer=outer, part=part)
        choice = Choice(key=f"fold/{part}", panel=f"{VALIDATION}/{part}", fold=part)
        panel = Panel(key=f"{TEST}/{part}", level=TEST, splits=OUTER, parts=range(part, part + 1), candidates=None)
        posed.choose(choice, f"inner/{part}", inner, [panel])
    return posed.study(reported)


def pose_tuning(
    search: Search, task: Task, rows: Rows, *, outer: Splits | None = None, race: RaceRule | None = None
) -> Study:
    """Return the study that chooses a candidate on `rows` alone, as fitting a tuned learner does."""
    if isinstance(search.validation, SharedBlocks) and outer is not None:
        refuse_unshareable(outer)
        inner = outer
    else:
        inner = draw_validation(search, task, rows)
    posed = _Posed(search=search, splits={}, race=race)
    posed.choose(Choice(key=FINAL, panel=VALIDATION), FINAL, inner, ())
    return posed.study(search.losses)


def draw_validation(
    search: Search, task: Task, rows: Rows, *, outer: Splits | None = None, part: int | None = None
) -> Splits:
    """Draw validation splits of these rows, in their order.

    They depend on the seed and the rows' content, not on `part`.
    """
    if isinstance(search.validation, SharedBlocks) and outer is not None and part is not None:
        return shared_blocks(outer, part)
    # A user's splitter may repeat a training row. Validation could then hold out a row that it also trains on.
    if not (np.diff(rows) > 0).all() and (np.diff(np.sort(rows)) == 0).any():
        raise SplitError(
            f"The training rows of test fold {part} repeat, so validation would train on rows that it holds out. "
            "Use test splits that name each training row once."
        )
    seeded = getattr(search.validation, "seeded", True)
    seed = derive(search.seed, VALIDATION, task.content_key(rows)) if seeded else 0
    try:
        return draw_in_sequence(search.validation, task, rows, seed=seed)
    except SplitError as error:
        if part is None:
            raise
        raise SplitError(f"Validation splits inside test fold {part}: {error}") from error


def _final_trains(search: Search, inner_key: str, parts: int) -> tuple[TrainRef, ...] | None:
    """Return what the tested predictor is trained on. None means all training rows of the part."""
    if search.final == "keep" and parts != 1:
        raise SplitError(
            f'final="keep" keeps the predictor trained without the development rows, but this validation has '
            f'{parts} parts. Use validation=Holdout(…) or Given(…), or final="retrain" or "ensemble".'
        )
    return None if search.final == "retrain" else tuple(TrainRef(inner_key, part) for part in range(parts))


def asked_parts(study: Study, most: int) -> tuple[int, ...]:
    """Return at most `most` test parts of the first repeat, spread evenly."""
    outer = study.splits[OUTER]
    first = outer.parts // outer.recipe.repeats
    return tuple(np.unique(np.linspace(0, first - 1, min(first, most)).round().astype(int)).tolist())


def with_everywhere(study: Study, task: Task, everywhere: Everywhere, *, rows: int) -> Study:
    """Return the study in which these predictors also answer `rows` rows, drawn by the seed and the rows' content.

    The added splits have a part for each predictor and no training rows: these rows are answered, not held out.
    """
    drawn, times = study.splits[OUTER].rows, len(everywhere.parts)
    if rows < len(drawn):
        chance = np.random.default_rng(derive(study.search.seed, EVERYWHERE, task.content_key(drawn)))
        drawn = np.sort(chance.permutation(drawn)[:rows])
    asked = Splits(
        rows=drawn,
        held=np.tile(drawn, times),
        held_cuts=np.arange(times + 1) * len(drawn),
        train=np.empty(0, dtype=np.intp),
        train_cuts=np.zeros(times + 1, dtype=np.intp),
        recipe=Recipe(kind=EVERYWHERE, words="rows that predictors are asked about for the interval"),
    )
    return replace(study, splits={**study.splits, EVERYWHERE: asked}, everywhere=everywhere)


def aside_of(candidate: int) -> str:
    """Return the name under which the extra predictions of one candidate are kept."""
    return f"{EVERYWHERE}/{candidate}"


def losses_by_level(study: Study) -> dict[str, tuple[Loss, ...]]:
    """Return the losses of each level. They decide which response methods are called there."""
    losses = {level: study.losses_at(level) for level in (TEST, VALIDATION, SPREAD)}
    methods = (PROBABILITIES,) if study.everywhere.probabilities else needed_methods(study.reported)
    nothing = Loss(name=EVERYWHERE, methods=methods, sign=1, low=0.0, high=0.0, rows=no_loss)
    wish = PROBABILITIES if study.everywhere.tests_too else study.everywhere.recorded
    if wish:
        first, *rest = study.reported
        losses[TEST] = (replace(first, methods=(*first.methods, wish)), *rest)
    return {**losses, EVERYWHERE: (nothing,)}


def without(part: int) -> str:
    """Return the name of the splits that leave out block `part` altogether, and hold out each other block in turn."""
    return f"without/{part}"


def pose_pairs_of_blocks(
    search: Search, task: Task, blocks: Splits, *, known: int, reported: tuple[Loss, ...]
) -> Study:
    """Return the extra study behind some intervals: every pair of blocks left out, in every repetition.

    For each pair of the K blocks the learner is trained on the K − 2 others and tested on both. This gives, for each
    block i, a (K−1)-fold estimate without block i. It is compared with the losses on block i
    (Bates–Hastie–Tibshirani), or with the estimates that leave out other blocks (ratio of jackknives). A tuned learner
    chooses inside each of these training sets: that is a third level of splitting.

    Parameters
    ----------
    blocks : Splits
        K blocks in each repetition, which partition the rows.
    known : int
        How many of its parts the main study already answers. The others are asked here too.
    """
    posed = _Posed(search=search, splits={BLOCKS: blocks})
    posed.splits |= {without(part): shared_blocks(blocks, part) for part in range(len(blocks))}
    if not search.tuned:
        asked = [_spread_panel(key, key, range(len(posed.splits[key]))) for key in list(posed.splits)[1:]]
        if known < len(blocks):
            asked.append(_spread_panel(BLOCKS, BLOCKS, range(known, len(blocks))))
        posed.tests = [replace(panel, candidates=range(search.size)) for panel in asked]
        return posed.study(reported)
    for part in range(known, len(blocks)):
        _choose_for(posed, task, f"{BLOCKS}/{part}", (BLOCKS, part))
    size = len(blocks) // blocks.recipe.repeats
    for start in range(0, len(blocks), size):
        for i, j in combinations(range(start, start + size), 2):  # a block's place is that among the other blocks
            _choose_for(posed, task, f"pair/{i}/{j}", (without(i), j - start - 1), (without(j), i - start))
    return posed.study(reported)


def _spread_panel(key: str, splits: str, parts: range) -> Panel:
    """Return a panel that waits for its candidate, on parts of these splits; it keeps row losses of whole blocks."""
    return Panel(key=key, level=SPREAD, splits=splits, parts=parts, candidates=None, keeps_rows=splits == BLOCKS)


def _choose_for(posed: _Posed, task: Task, name: str, *sides: tuple[str, int]) -> None:
    """Ask for a choice on the training rows of the first side (splits, part); its predictor answers every side."""
    splits, part = sides[0]
    inner = draw_validation(posed.search, task, posed.splits[splits].train_rows(part))
    panels = [_spread_panel(f"{splits}/{part}", splits, range(part, part + 1)) for splits, part in sides]
    posed.choose(Choice(key=name, panel=f"{VALIDATION}/{name}"), f"inner/{name}", inner, panels)
