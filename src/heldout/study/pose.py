"""Posing the question: from a learner and drawn outer splits to a study of panels and choices."""

from __future__ import annotations

import numpy as np

from heldout.base.errors import Argument, Sentence, SplitError, Splitter
from heldout.base.rowkeys import Rows
from heldout.base.seeds import derive
from heldout.losses import Loss
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.splits.given import Given
from heldout.splits.shared_blocks import SharedBlocks, outer_blocks, shared_blocks
from heldout.splits.strategy import draw_in_sequence, takes_seed
from heldout.study.choose import check_parts
from heldout.study.race_rule import RaceRule, check_race
from heldout.study.study import TEST, VALIDATION, Choice, Panel, Study, TrainRef
from heldout.task.task import Task

OUTER = "outer"
FINAL = "final"  # the choice made on all rows


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
        validation.append(_validation_panel(search, inner_key, inner, f"{VALIDATION}/{part}"))
        choices.append(Choice(key=choice_key, panel=f"{VALIDATION}/{part}", fold=part))
        tests.append(
            Panel(
                key=f"{TEST}/{part}",
                level=TEST,
                splits=OUTER,
                parts=range(part, part + 1),
                candidates=None,
                waits_for=choice_key,
                trains=final_trains(search, inner_key, inner),
                averaged=search.final == "ensemble",
            )
        )
    panels = (*validation, *tests)
    return Study(search=search, splits=splits, panels=panels, choices=tuple(choices), reported=reported, race=race)


def pose_tuning(
    search: Search, task: Task, rows: Rows, *, outer: Splits | None = None, race: RaceRule | None = None
) -> Study:
    """The choice of a candidate on `rows` alone: what fitting a tuned learner asks."""
    if isinstance(search.validation, SharedBlocks) and outer is not None:
        inner = outer_blocks(outer)
    else:
        inner = draw_validation(search, task, rows)
    final_trains(search, FINAL, inner)  # refuses early what could not be made final
    check_race(race, search, len(inner))
    panel = _validation_panel(search, FINAL, inner, VALIDATION)
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
    seed = derive(search.seed, VALIDATION, task.content_key(rows)) if takes_seed(validation) else 0
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


def _validation_panel(search: Search, splits_key: str, inner: Splits, key: str) -> Panel:
    check_parts(search, len(inner))
    return Panel(key=key, level=VALIDATION, splits=splits_key, parts=range(len(inner)), candidates=range(len(search)))
