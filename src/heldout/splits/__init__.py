"""Splitting strategies, the splits drawn from them, and the checks that both must pass."""

from heldout.splits.drawn import Recipe, Splits
from heldout.splits.forward import Forward
from heldout.splits.given import Given
from heldout.splits.holdout import Holdout
from heldout.splits.kfold import KFold
from heldout.splits.leave_one_out import LeaveOneOut
from heldout.splits.resample import Resample
from heldout.splits.shared_blocks import SharedBlocks
from heldout.splits.strategy import as_strategy

__all__ = [
    "Forward",
    "Given",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "Recipe",
    "Resample",
    "SharedBlocks",
    "Splits",
    "as_strategy",
]
