"""Posing the question: from a learner and drawn outer splits to a study of panels and choices.

For the rules of intervals some predictors of test parts also answer a fixed set of rows, at no further fits: how far
they differ there, and how much better they do on the rows that they were trained on, tells how far an estimate from
them spreads. Nothing else may look at these answers.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, Sentence, SplitError, Splitter
from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.base.seeds import derive
from heldout.losses import Loss, needed_methods
from heldout.search.search import Search
from heldout.splits.drawn import Recipe, Splits
from heldout.splits.given import Given
from heldout.splits.shared_blocks import SharedBlocks, refuse_unshareable, shared_blocks
from heldout.splits.strategy import draw_in_sequence
from heldout.study.choose import check_parts
from heldout.study.race import RaceRule, check_race
from heldout.study.study import EVERYWHERE, SPREAD, TEST, VALIDATION, Choice, Everywhere, Panel, Study, TrainRef
from heldout.task.task import Task

OUTER = "outer"
FINAL = "final"  # the choice made on all rows
BLOCKS = "blocks"  # those that are left out in pairs


def pose_evaluation(
    search: Search, task: Task, outer: Splits, *, reported: tuple[Loss, ...], race: RaceRule | None = None
) -> Study:
    """The risk of a learner on the held-out rows of `outer`; for a tuned one, a choice inside each part first."""
    if not search.tuned:
        panel = Panel(key=TEST, level=TEST, splits=OUTER, parts=range(len(outer)), candidates=range(len(search)))
        return Study(search=search, splits={OUTER: outer}, panels=(panel,), reported=reported, race=race)
    check_validation(search, outer)
    splits = {OUTER: outer}
    validation, tests, choices = [], [], []
    for part in range(len(outer)):
        inner_key, choice_key = f"inner/{part}", f"fold/{part}"
        inner = draw_validation(search, task, outer.train_rows(part), outer=outer, part=part)
        check_race(race, search, len(inner))
        splits[inner_key] = inner
        validation.append(validation_panel(search, inner_key, inner, f"{VALIDATION}/{part}"))
        choices.append(Choice(key=choice_key, panel=f"{VALIDATION}/{part}", fold=part))
        panel = Panel(key=f"{TEST}/{part}", level=TEST, splits=OUTER, parts=range(part, part + 1), candidates=None)
        tests.append(waiting(panel, search, choice_key, inner_key, inner))
    panels = (*validation, *tests)
    return Study(search=search, splits=splits, panels=panels, choices=tuple(choices), reported=reported, race=race)


def pose_tuning(
    search: Search, task: Task, rows: Rows, *, outer: Splits | None = None, race: RaceRule | None = None
) -> Study:
    """The choice of a candidate on `rows` alone: what fitting a tuned learner asks."""
    if isinstance(search.validation, SharedBlocks) and outer is not None:
        refuse_unshareable(outer)
        inner = outer
    else:
        inner = draw_validation(search, task, rows)
    final_trains(search, FINAL, inner)  # refuses early what could not be made final
    check_race(race, search, len(inner))
    panel = validation_panel(search, FINAL, inner, VALIDATION)
    return Study(
        search=search,
        splits={FINAL: inner},
        panels=(panel,),
        choices=(Choice(key=FINAL, panel=VALIDATION),),
        reported=search.losses,
        race=race,
    )


def draw_validation(
    search: Search, task: Task, rows: Rows, *, outer: Splits | None = None, part: int | None = None
) -> Splits:
    """Validation splits of these rows in their order: they depend on the seed and the content, not on which fold."""
    if isinstance(search.validation, SharedBlocks) and outer is not None and part is not None:
        return shared_blocks(outer, part)
    _refuse_repeated(rows, part)
    validation = search.validation
    seeded = getattr(validation, "seeded", True)
    seed = derive(search.seed, VALIDATION, task.content_key(rows)) if seeded else 0
    try:
        return draw_in_sequence(validation, task, rows, seed=seed)
    except SplitError as error:
        if part is None:
            raise
        raise SplitError(f"Validation splits inside test fold {part}: {error}") from error


def _refuse_repeated(rows: Rows, part: int | None) -> None:
    """A foreign splitter may name a training row twice: validation could then hold out what it trains on."""
    if not (np.diff(rows) > 0).all() and (np.diff(np.sort(rows)) == 0).any():
        raise SplitError(
            f"The training rows of test fold {part} repeat, so validation would train on rows that it holds out. "
            "Use test splits that name each training row once."
        )


def check_validation(search: Search, outer: Splits) -> None:
    """Refuse validation strategies that make no sense under these outer splits."""
    if isinstance(search.validation, Given) and len(outer) > 1:
        raise SplitError(
            f"Given names rows of the whole task, so it cannot be the validation of each of {len(outer)} test folds.",
            Sentence(
                "Use {} or {}, or {} or {}.",
                Argument("validation", Splitter("Holdout", "…")),
                Splitter("KFold", "…"),
                Argument("test", Splitter("Given", "…")),
                Splitter("Holdout", "…"),
            ),
        )


def final_trains(search: Search, inner_key: str, inner: Splits) -> tuple[TrainRef, ...] | None:
    """What the predictor that gets tested is trained on: None stands for all rows of the part."""
    if search.final == "keep":
        if len(inner) != 1:
            raise SplitError(
                f'final="keep" keeps the predictor trained without the development rows, but this validation has '
                f'{len(inner)} parts. Use validation=Holdout(…) or Given(…), or final="retrain" or "ensemble".'
            )
        return (TrainRef(inner_key, 0),)
    if search.final == "ensemble":
        return tuple(TrainRef(inner_key, part) for part in range(len(inner)))
    return None


def waiting(panel: Panel, search: Search, choice: str, inner_key: str, inner: Splits) -> Panel:
    """The panel with the predictor of a candidate that is still to be chosen on the validation splits `inner`."""
    trains = final_trains(search, inner_key, inner)
    return replace(panel, waits_for=choice, trains=trains, averaged=search.final == "ensemble")


def validation_panel(search: Search, splits_key: str, inner: Splits, key: str) -> Panel:
    """Every candidate on every validation part of these splits."""
    check_parts(search, len(inner))
    return Panel(key=key, level=VALIDATION, splits=splits_key, parts=range(len(inner)), candidates=range(len(search)))


WISHED = "if sound"  # no method: it tells a wish from what a loss needs
PROBABILITIES = ("predict_proba", "predict", WISHED)  # a predictor is asked by the first of these that it has


def asked_parts(study: Study, most: int) -> tuple[int, ...]:
    """At most so many test parts of the first repeat, spread evenly."""
    outer = study.splits[OUTER]
    first = len(outer) // outer.recipe.repeats
    return tuple(np.unique(np.linspace(0, first - 1, min(first, most)).round().astype(int)).tolist())


def with_everywhere(study: Study, task: Task, everywhere: Everywhere, *, rows: int) -> Study:
    """The study with these predictors asked about so many of its rows, which the seed and the rows' content draw.

    The splits that it adds have a part for each of them and no training sides: these rows are answered, not held out.
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
    """The name under which the answers of the predictors of one candidate are kept."""
    return f"{EVERYWHERE}/{candidate}"


def losses_by_level(study: Study) -> dict[str, tuple[Loss, ...]]:
    """The losses of each level, which say what predictors are asked for there."""
    losses = {level: study.losses_at(level) for level in (TEST, VALIDATION, SPREAD)}
    methods = (PROBABILITIES,) if study.everywhere.probabilities else needed_methods(study.reported)
    nothing = Loss(name=EVERYWHERE, methods=methods, sign=1, low=0.0, high=0.0, rows=_nothing)
    if study.everywhere.tests_too:
        first, *rest = study.reported
        losses[TEST] = (replace(first, methods=(*first.methods, PROBABILITIES)), *rest)
    return {**losses, EVERYWHERE: (nothing,)}


def _nothing(y: NDArray[Any], responses: Responses) -> NDArray[np.float64]:
    """No loss: the responses are what is wanted."""
    return np.zeros(len(y))


def without(part: int) -> str:
    """The name of the splits that leave out block `part` altogether, and hold out each other block in turn."""
    return f"without/{part}"


def pose_pairs_of_blocks(
    search: Search, task: Task, blocks: Splits, *, known: int, reported: tuple[Loss, ...]
) -> Study:
    """The question behind intervals that take fits of their own: every pair of blocks left out, in every repetition.

    For K blocks and each pair of them the learner is trained on the K − 2 others and asked on both, so that leaving out
    block i altogether there is a (K−1)-fold estimate on the others. It is compared with what happened on block i
    (Bates–Hastie–Tibshirani), or with the estimates that leave out other blocks (ratio of jackknives). A tuned learner
    chooses inside each of these training sets: that is a third level of splitting.

    Parameters
    ----------
    blocks : Splits
        K blocks a repetition, that partition the rows.
    known : int
        How many of its parts the study itself answers; only the others are asked here too.
    """
    splits = {BLOCKS: blocks, **{without(part): shared_blocks(blocks, part) for part in range(len(blocks))}}
    if search.tuned:
        return _tuned(search, task, splits, known=known, reported=reported)
    every = range(len(search))
    panels = [_panel(key, key, range(len(splits[key])), every) for key in map(without, range(len(blocks)))]
    if known < len(blocks):
        panels.append(_panel(BLOCKS, BLOCKS, range(known, len(blocks)), every))
    return Study(search=search, splits=splits, panels=tuple(panels), reported=reported)


def _panel(key: str, splits: str, parts: range, candidates: range | None) -> Panel:
    """Predictors asked on parts of blocks, whose row losses the interval needs, or of blocks without one of them."""
    return Panel(key=key, level=SPREAD, splits=splits, parts=parts, candidates=candidates, keeps_rows=splits == BLOCKS)


def _tuned(search: Search, task: Task, splits: dict[str, Splits], *, known: int, reported: tuple[Loss, ...]) -> Study:
    """A choice inside each training set; the two held-out sides of a pair wait for the same one."""
    blocks = splits[BLOCKS]
    k = len(blocks) // blocks.recipe.repeats
    validation: list[Panel] = []
    tested: list[Panel] = []
    choices: list[Choice] = []

    def choose(name: str, *sides: tuple[str, str, int]) -> None:
        """A choice on the training rows of the first side (key, splits, part); its predictor answers all of them."""
        _, first, part_of_first = sides[0]
        inner_key, key = f"inner/{name}", f"{VALIDATION}/{name}"
        splits[inner_key] = inner = draw_validation(search, task, splits[first].train_rows(part_of_first))
        validation.append(validation_panel(search, inner_key, inner, key))
        choices.append(Choice(key=name, panel=key))
        for panel, splits_key, part in sides:
            asked = _panel(panel, splits_key, range(part, part + 1), None)
            tested.append(waiting(asked, search, name, inner_key, inner))

    for part in range(known, len(blocks)):
        choose(f"{BLOCKS}/{part}", (f"{BLOCKS}/{part}", BLOCKS, part))
    for start in range(0, len(blocks), k):
        for i, j in combinations(range(k), 2):
            first, other = without(start + i), without(start + j)  # a block's place is that among the other blocks
            choose(f"pair/{start + i}/{start + j}", (f"{first}/{j - 1}", first, j - 1), (f"{other}/{i}", other, i))
    panels = (*validation, *tested)
    return Study(search=search, splits=splits, panels=panels, choices=tuple(choices), reported=reported)
