"""What the predictors of test parts are also asked, for the rules of intervals alone, at no further fits.

Some of them answer a fixed set of rows: how often they differ there, and how much better they do on the rows that they
were trained on, tells how far an estimate from them spreads. Nothing else may look at these answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.losses import Loss, needed_methods
from heldout.base.responses import Responses
from heldout.base.seeds import derive
from heldout.splits.drawn import Recipe, Splits
from heldout.study.panels import EVERYWHERE, Study
from heldout.study.pose import OUTER
from heldout.task.task import Task

MOST_PARTS = 10
MOST_ROWS = 1_000
PROBABILITIES = ("predict_proba", "predict")  # asked by the first of these that a predictor has


def with_everywhere(study: Study, task: Task) -> Study:
    """The study with the predictors of at most ten test parts, of the first repeat, asked about a fixed set of rows.

    Those are all rows, or a thousand that the seed and the content of the rows draw. Where there is one part nothing is
    asked. The splits that it adds have no training side: these rows are answered, never held out.
    """
    outer = study.splits[OUTER]
    if len(outer) < 2:
        return study
    rows = outer.rows
    if len(rows) > MOST_ROWS:
        random = np.random.default_rng(derive(study.search.seed, EVERYWHERE, task.content_key(rows)))
        rows = np.sort(random.choice(rows, MOST_ROWS, replace=False))
    nothing = np.empty(0, dtype=np.intp)
    asked = Splits(
        rows=rows,
        held=rows,
        held_cuts=np.array([0, len(rows)]),
        train=nothing,
        train_cuts=np.zeros(2, dtype=np.intp),
        recipe=Recipe(kind=EVERYWHERE, words="rows that predictors are asked about, for the interval"),
    )
    first = len(outer) // outer.recipe.repeats
    parts = np.unique(np.linspace(0, first - 1, min(first, MOST_PARTS)).round().astype(int))
    return replace(study, splits={**study.splits, EVERYWHERE: asked}, everywhere=tuple(parts.tolist()))


def aside_of(part: int) -> str:
    """The name under which the answers of one test part's predictor are kept."""
    return f"{EVERYWHERE}/{part}"


def losses_everywhere(losses: Sequence[Loss]) -> tuple[Loss, ...]:
    """No loss, but one that asks a predictor as these do, so that its responses are there."""
    return (Loss(name=EVERYWHERE, methods=needed_methods(losses), sign=1, low=0.0, high=0.0, rows=_nothing),)


def _nothing(y: NDArray[Any], responses: Responses) -> NDArray[np.float64]:
    return np.zeros(len(y))


def with_probabilities(losses: tuple[Loss, ...]) -> tuple[Loss, ...]:
    """The same losses, for which predictors are asked for probabilities too, where they have them."""
    first, *rest = losses
    return (replace(first, methods=(*first.methods, PROBABILITIES)), *rest)
