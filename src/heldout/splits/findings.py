"""What is worth a remark about drawn splits, though it is no error."""

from __future__ import annotations

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.splits.roles import strata_of
from heldout.task import Task


def rare_class_note(task: Task, rows: Rows, k: int) -> str | None:
    """A remark when a class (or stratum) has fewer rows than there are folds, with the K that would do; else None."""
    if task.strata is None and task.classes is None:
        return None
    strata = strata_of(task, rows)
    rarest, least = strata.rarest()
    if least >= k:
        return None
    others = int(np.sum(strata.counts < k)) - 1
    also = f" (so have {others} more)" if others > 1 else " (so has one more)" if others else ""
    advice = f"KFold({least}) gives each fold at least one." if least > 1 else "No number of folds gives each fold one."
    rows_word = "rows" if least > 1 else "row"
    return (
        f"{rarest[0].upper()}{rarest[1:]} has {least} {rows_word}, fewer than the "
        f"{k} folds{also}, so some folds hold out none of it. {advice}"
    )
