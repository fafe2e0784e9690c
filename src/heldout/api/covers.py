"""Which estimate speaks of the final predictor, and how far."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.study.panels import Study
from heldout.study.pose import OUTER
from heldout.task import Task


def covers_of(study: Study, task: Task) -> dict[str, Any]:
    """The estimate that speaks of ``result.predictor``: exactly, at a smaller training size, or as a bound."""
    outer = study.splits[OUTER]
    tested = len(outer) == 1
    size = float(np.mean(outer.train_sizes))
    if tested:
        sentence = "The risk is that of this very predictor: the one that was tested."
        if study.search.final == "keep":
            sentence += " It was trained without the development rows, so the development-set bound holds for it too."
        elif study.search.tuned and study.search.final == "retrain":
            sentence += (
                " It was retrained on training and development rows together, so no development-set bound holds for it."
            )
        return {"estimate": "risk", "exactly": True, "sentence": sentence}
    if study.search.tuned and study.search.final == "ensemble":
        sentence = (
            f"The predictor averages fold predictors chosen and trained on parts of all {len(task)} rows; the risk is "
            f"that of such an average built from {size:.0f} rows, and speaks of the learner, not of this predictor."
        )
    else:
        sentence = (
            f"The predictor is trained on all {len(task)} rows; the risk is that of the learner at {size:.0f} rows. "
            "It speaks of a typical predictor of this learner, usually a little worse than one trained on all rows."
        )
    return {"estimate": "risk", "exactly": False, "sentence": sentence}
