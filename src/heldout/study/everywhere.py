"""What the predictors of test parts are also asked, for the rules of intervals alone, at no further fits.

Some of them answer a fixed set of rows: how far they differ there, and how much better they do on the rows that they
were trained on, tells how far an estimate from them spreads. Nothing else may look at these answers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.base.seeds import derive
from heldout.losses import Loss, needed_methods
from heldout.splits.drawn import Recipe, Splits
from heldout.study.pose import OUTER
from heldout.study.study import EVERYWHERE, SPREAD, TEST, VALIDATION, Everywhere, Study
from heldout.task.task import Task

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
