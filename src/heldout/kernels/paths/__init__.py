"""Paths: parameters whose smaller values can be read off one fit, one file a learner family."""

from heldout.kernels.paths.adaboost import ADABOOST
from heldout.kernels.paths.bagging import BAGGING
from heldout.kernels.paths.best_first import FOREST_LEAVES, TREE_LEAVES
from heldout.kernels.paths.catboost import CATBOOST
from heldout.kernels.paths.cost_complexity import FOREST_PRUNING, TREE_PRUNING
from heldout.kernels.paths.forests import FORESTS
from heldout.kernels.paths.gradient_boosting import GRADIENT_BOOSTING
from heldout.kernels.paths.hist_boosting import HIST_BOOSTING
from heldout.kernels.paths.lightgbm import LIGHTGBM
from heldout.kernels.paths.path import Path
from heldout.kernels.paths.xgboost import XGBOOST

PATHS: tuple[Path, ...] = (
    FORESTS,
    BAGGING,
    GRADIENT_BOOSTING,
    HIST_BOOSTING,
    ADABOOST,
    LIGHTGBM,
    XGBOOST,
    *CATBOOST,
    TREE_PRUNING,
    FOREST_PRUNING,
    TREE_LEAVES,
    FOREST_LEAVES,
)

__all__ = ["PATHS", "Path"]
