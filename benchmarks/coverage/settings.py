"""A setting: a learner, a population and a number of rows; and the recipes it is asked under."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import heldout as ho
from benchmarks.coverage.populations import Population

TUPLE = tuple[str, ...]

PROBABILITIES: TUPLE = (
    "zero_one",
    "log",
    "neg_brier_score",
    "roc_auc",
    "balanced_accuracy",
    "f1",
    "matthews_corrcoef",
)
# Some learners give probabilities of 0, whose log loss is that of the clipping; others give none at all.
VOTES: TUPLE = tuple(loss for loss in PROBABILITIES if loss != "log")
LABELS: TUPLE = tuple(loss for loss in VOTES if loss != "neg_brier_score")
SEVERAL: TUPLE = ("zero_one", "log", "neg_brier_score", "balanced_accuracy", "f1_macro", "matthews_corrcoef")
NUMBERS: TUPLE = ("squared", "absolute", "r2", "neg_root_mean_squared_error")
COUNTS: TUPLE = ("neg_mean_poisson_deviance", *NUMBERS)
AMOUNTS: TUPLE = ("neg_mean_gamma_deviance", *NUMBERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How rows are held out, and which share of the rows (or groups) each predictor is trained on."""

    test: Any
    share: float | None  # None: all units but one
    one_set: bool = False  # whether the estimate speaks of the tested predictor
    forward: bool = False
    interval: str | None = None  # a method that needs fits of its own


FIVE, TEN, ONE_OUT, REPEATED = "KFold(5)", "KFold(10)", "LeaveOneOut()", "KFold(5, repeats=5)"
RESAMPLED, HELD, FORWARD = "Resample(15)", "Holdout(0.2)", "Forward(5)"
BHT = "KFold(5), bht"
RECIPES = {
    FIVE: Recipe(test=ho.KFold(5), share=0.8),
    TEN: Recipe(test=ho.KFold(10), share=0.9),
    ONE_OUT: Recipe(test=ho.LeaveOneOut(), share=None),
    REPEATED: Recipe(test=ho.KFold(5, repeats=5), share=0.8),
    RESAMPLED: Recipe(test=ho.Resample(15), share=0.8),
    HELD: Recipe(test=ho.Holdout(0.2), share=0.8, one_set=True),
    FORWARD: Recipe(test=ho.Forward(5), share=None, forward=True),
    BHT: Recipe(test=ho.KFold(5), share=0.8, interval="bht"),
    # Of the second grid alone.
    "KFold(4)": Recipe(test=ho.KFold(4), share=0.75),
    "KFold(8)": Recipe(test=ho.KFold(8), share=0.875),
    "KFold(4, repeats=3)": Recipe(test=ho.KFold(4, repeats=3), share=0.75),
    "Resample(10, 0.3)": Recipe(test=ho.Resample(10, held_out=0.3), share=0.7),
    "Holdout(0.3)": Recipe(test=ho.Holdout(0.3), share=0.7, one_set=True),
    "Forward(4)": Recipe(test=ho.Forward(4), share=None, forward=True),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """A learner, a population and a number of units, with what is reported and how rows are held out."""

    key: str
    learner: Any
    population: Population
    n: int  # rows, or groups
    losses: TUPLE
    recipes: TUPLE

    def losses_under(self, recipe: str) -> list[str]:
        """What is reported under a recipe: no AUC of single rows, and the first loss for a method with fits."""
        asked = RECIPES[recipe]
        if asked.interval is not None:
            return list(self.losses[:1])
        return [loss for loss in self.losses if loss != "roc_auc" or recipe != ONE_OUT]

    def train_units(self, recipe: str) -> int:
        """How many rows (or groups) a predictor is trained on."""
        share = RECIPES[recipe].share
        return self.n - 1 if share is None else round(share * self.n)

    def digest(self, *more: Any) -> str:
        """Identifies what is simulated: another definition has another one."""
        told = (self.key, repr(self.learner), repr(self.population), self.n, *more)
        return sha256(repr(told).encode()).hexdigest()[:10]


@cache
def grid(second: bool = False) -> dict[str, Setting]:
    """The settings of the first grid, or of the second, by key."""
    from benchmarks.coverage import first_grid, second_grid

    settings = second_grid.SETTINGS if second else first_grid.SETTINGS
    found = {setting.key: setting for setting in settings}
    assert len(found) == len(settings), "two settings have one key"
    return found
