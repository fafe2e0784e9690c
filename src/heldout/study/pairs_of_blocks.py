"""The question behind intervals that take fits of their own: predictors trained without two blocks at a time.

For K blocks and each pair of them the learner is trained on the K − 2 others and asked on both, so that leaving out
block i altogether there is a (K−1)-fold estimate on the others. It is compared with what happened on block i
(Bates–Hastie–Tibshirani), or with the estimates that leave out other blocks (ratio of jackknives). A tuned learner
chooses inside each of these training sets: that is a third level of splitting.
"""

from __future__ import annotations

from heldout.losses import Loss
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.splits.shared_blocks import shared_blocks
from heldout.study.pose import draw_validation, final_trains
from heldout.study.study import SPREAD, VALIDATION, Choice, Panel, Study
from heldout.task.task import Task

BLOCKS = "blocks"


def without(part: int) -> str:
    """The name of the splits that leave out block `part` altogether, and hold out each other block in turn."""
    return f"without/{part}"


def pose_pairs_of_blocks(
    search: Search, task: Task, blocks: Splits, *, known: int, reported: tuple[Loss, ...]
) -> Study:
    """Every pair of blocks left out, in every repetition of `blocks`.

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
    panels = [
        _panel(without(part), without(part), range(len(splits[without(part)])), search) for part in range(len(blocks))
    ]
    if known < len(blocks):
        panels.append(_panel(BLOCKS, BLOCKS, range(known, len(blocks)), search, keeps_rows=True))
    return Study(search=search, splits=splits, panels=tuple(panels), reported=reported)


def _panel(key: str, splits: str, parts: range, search: Search, *, keeps_rows: bool = False) -> Panel:
    return Panel(
        key=key, level=SPREAD, splits=splits, parts=parts, candidates=range(len(search)), keeps_rows=keeps_rows
    )


def _tuned(search: Search, task: Task, splits: dict[str, Splits], *, known: int, reported: tuple[Loss, ...]) -> Study:
    """A choice inside each training set; the two held-out sides of a pair wait for the same one."""
    blocks = splits[BLOCKS]
    k = len(blocks) // blocks.recipe.repeats
    validation: list[Panel] = []
    waiting: list[Panel] = []
    choices: list[Choice] = []

    def choose(name: str, splits_key: str, place: int, asked: list[tuple[str, str, int]]) -> None:
        """A choice on the training rows of one part, and the sides (key, splits, part) that its predictor answers."""
        inner_key = f"inner/{name}"
        inner = draw_validation(search, task, splits[splits_key].train_rows(place))
        splits[inner_key] = inner
        key = f"{VALIDATION}/{name}"
        validation.append(
            Panel(key=key, level=VALIDATION, splits=inner_key, parts=range(len(inner)), candidates=range(len(search)))
        )
        choices.append(Choice(key=name, panel=key))
        for panel, splits_of_side, part in asked:
            waiting.append(
                Panel(
                    key=panel,
                    level=SPREAD,
                    splits=splits_of_side,
                    parts=range(part, part + 1),
                    candidates=None,
                    waits_for=name,
                    trains=final_trains(search, inner_key, inner),
                    averaged=search.final == "ensemble",
                    keeps_rows=splits_of_side == BLOCKS,
                )
            )

    for part in range(known, len(blocks)):
        choose(f"{BLOCKS}/{part}", BLOCKS, part, [(f"{BLOCKS}/{part}", BLOCKS, part)])
    for start in range(0, len(blocks), k):
        for i in range(k):
            for j in range(i + 1, k):
                first, other = without(start + i), without(start + j)
                sides = [
                    (f"{first}/{j - 1}", first, j - 1),
                    (f"{other}/{i}", other, i),
                ]  # places among the other blocks
                choose(f"pair/{start + i}/{start + j}", first, j - 1, sides)
    return Study(
        search=search,
        splits=splits,
        panels=(*validation, *waiting),
        choices=tuple(choices),
        reported=reported,
    )
