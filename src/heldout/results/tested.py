"""What is known of a tested predictor on one part beside its mean losses: the losses of the rows."""

from __future__ import annotations

import numpy as np

from heldout.losses import row_losses
from heldout.study.answers import PanelTable, Rows
from heldout.study.pose import OUTER
from heldout.study.study import Study
from heldout.task import Task


def tested_rows(task: Task, study: Study, table: PanelTable, part: int) -> Rows:
    """The losses of the held-out rows, for each reported loss; None for one that has none.

    Where one of several losses could not be taken none was kept, and the others are made from the responses.
    """
    candidate = table.candidates[0]
    kept = table.row_losses(candidate, part)
    if kept is not None:
        return kept
    responses = table.responses(candidate, part)
    if responses is None:
        return (None,) * len(study.reported)
    y = task.y[study.splits[OUTER].held_rows(part)]
    taken = np.isfinite(table.losses[0, part - table.parts.start])
    return tuple(
        row_losses(loss, y, responses) if had else None for loss, had in zip(study.reported, taken, strict=True)
    )
