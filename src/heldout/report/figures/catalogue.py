"""Lists every figure by name."""

from __future__ import annotations

from heldout.report.figures.calibration import CALIBRATION
from heldout.report.figures.confusion import CONFUSION
from heldout.report.figures.curves import GAINS, PR, ROC, THRESHOLDS
from heldout.report.figures.describe import Kind
from heldout.report.figures.estimates import COMPARISON, ESTIMATES, RANKING
from heldout.report.figures.folds import FOLDS, PAIRED_FOLDS
from heldout.report.figures.learning_curve import LEARNING_CURVE
from heldout.report.figures.parameters import PARAMETERS
from heldout.report.figures.residuals import RESIDUALS
from heldout.report.figures.rows import CLASSES, COEFFICIENTS, IMPORTANCE, SUBGROUPS
from heldout.report.figures.splits import SPLITS
from heldout.report.figures.stability import STABILITY
from heldout.report.figures.time import TIME

KINDS: dict[str, Kind] = {
    "splits": SPLITS,
    "folds": FOLDS,
    "estimates": ESTIMATES,
    "parameters": PARAMETERS,
    "stability": STABILITY,
    "calibration": CALIBRATION,
    "confusion": CONFUSION,
    "residuals": RESIDUALS,
    "roc": ROC,
    "pr": PR,
    "gains": GAINS,
    "thresholds": THRESHOLDS,
    "classes": CLASSES,
    "subgroups": SUBGROUPS,
    "importance": IMPORTANCE,
    "coefficients": COEFFICIENTS,
    "learning_curve": LEARNING_CURVE,
    "time": TIME,
    "ranking": RANKING,
    "comparison": COMPARISON,
    "paired_folds": PAIRED_FOLDS,
}

# The drawings of one entry of a summary's figures; each other entry has one of its own name.
TOGETHER = {"comparison": ("ranking", "comparison", "paired_folds")}
