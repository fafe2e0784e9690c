"""Paths: parameters for which one fit gives many values, by learner family."""

from heldout.kernels.paths.bins import LIGHTGBM_BINS, XGBOOST_BINS, Binned
from heldout.kernels.paths.boosters import CATBOOST, LIGHTGBM, XGBOOST
from heldout.kernels.paths.ensembles import ADABOOST, BAGGING, FORESTS, GRADIENT_BOOSTING, HIST_BOOSTING
from heldout.kernels.paths.path import Path
from heldout.kernels.paths.subtrees import FOREST_LEAVES, FOREST_PRUNING, TREE_LEAVES, TREE_PRUNING

# Paths that share a fit come first. Those that share only binned data are used if they make even fewer groups.
PATHS: tuple[Path | Binned, ...] = (
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
    LIGHTGBM_BINS,
    XGBOOST_BINS,
)

__all__ = ["PATHS", "Binned", "Path"]
