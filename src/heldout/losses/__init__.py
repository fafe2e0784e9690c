"""Losses: functions of predictions and true values; inside heldout lower is always better."""

from heldout.losses.check import check_losses
from heldout.losses.familiar import AREA, FAMILIAR, SHARE, default_losses, for_target, label_and_unit, positive_class
from heldout.losses.loss import ABSOLUTE, BUILT_IN, LOG, SQUARED, ZERO_ONE, Loss, needed_methods, on_target, own_losses
from heldout.losses.pooled import family_of, is_defined_on_one_row, is_pooled, parts_score, pool_score, positive_label
from heldout.losses.resolve import OWN_NAMES, resolve_losses, row_loss
from heldout.losses.scorers import score_loss
from heldout.losses.scoring import (
    Replay,
    block_losses,
    call_scorer,
    is_mean_of_rows,
    mean_loss,
    recorded_warnings,
    row_losses,
)

__all__ = [
    "ABSOLUTE",
    "AREA",
    "BUILT_IN",
    "FAMILIAR",
    "LOG",
    "OWN_NAMES",
    "SHARE",
    "SQUARED",
    "ZERO_ONE",
    "Loss",
    "Replay",
    "block_losses",
    "call_scorer",
    "check_losses",
    "default_losses",
    "family_of",
    "for_target",
    "is_defined_on_one_row",
    "is_mean_of_rows",
    "is_pooled",
    "label_and_unit",
    "mean_loss",
    "needed_methods",
    "on_target",
    "own_losses",
    "parts_score",
    "pool_score",
    "positive_class",
    "positive_label",
    "recorded_warnings",
    "resolve_losses",
    "row_loss",
    "row_losses",
    "score_loss",
]
