"""Paths: parameters whose smaller values can be read off one fit, one file a learner family."""

from heldout.kernels.paths.adaboost import ADABOOST
from heldout.kernels.paths.bagging import BAGGING
from heldout.kernels.paths.forests import FORESTS
from heldout.kernels.paths.gradient_boosting import GRADIENT_BOOSTING
from heldout.kernels.paths.hist_boosting import HIST_BOOSTING
from heldout.kernels.paths.path import Path

# LEAD'S NOTE: everybody imports this file. Import only modules that exist and work; add a line when its file is there.
PATHS: tuple[Path, ...] = (
    FORESTS,
    BAGGING,
    GRADIENT_BOOSTING,
    HIST_BOOSTING,
    ADABOOST,
)

__all__ = ["PATHS", "Path"]
