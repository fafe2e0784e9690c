"""The question behind intervals that take fits of their own: predictors trained without two blocks at a time.

For K blocks and each pair of them the learner is trained on the K − 2 others and asked on both, so that leaving out
block i altogether there is a (K−1)-fold estimate on the others. It is compared with what happened on block i
(Bates–Hastie–Tibshirani), or with the estimates that leave out other blocks (ratio of jackknives). A tuned learner
chooses inside each of these training sets: that is a third level of splitting.
"""

from __future__ import annotations

from itertools import combinations

from heldout.losses import Loss
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.splits.shared_blocks import shared_blocks
from heldout.study.pose import draw_validation, validation_panel, waiting
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
