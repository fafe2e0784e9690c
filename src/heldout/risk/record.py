"""What a study recorded of one loss: all that an estimate may be made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """The losses of one learner on the held-out parts of one drawn splits, lower is better.

    How the parts came about is told in plain values, so that an estimate can be made again from stored
    losses, without a task, a model or a splitter. Before any fit, a record with NaN for each loss tells which
    intervals the recipe allows.
    """

    loss: str
    sign: int  # shown = sign × recorded: +1 for a loss, −1 for a score
    low: float  # the range of the recorded losses
    high: float
    fold_losses: Floats  # one a part; NaN where a fit failed
    row_losses: tuple[Floats, ...] | None  # one array a part; None for scores of whole sets
    weights: tuple[Floats, ...] | None = None  # as row_losses
    groups: tuple[NDArray[np.integer], ...] | None = None  # as row_losses: which group each row belongs to
    rows: tuple[NDArray[np.integer], ...] | None = None  # as row_losses: which row of the task each is
    order: tuple[NDArray[np.integer], ...] | None = None  # as row_losses: the place of each row in time
    halves: NDArray[np.integer] | None = None  # which half of the rows a part lies in; 2i and 2i + 1 share none
    train_sizes: NDArray[np.integer] | Floats  # a mean where a part stands for several
    held_sizes: NDArray[np.integer]
    kind: str  # "kfold", "loo", "holdout", "resample", "forward", "given", "shared", "foreign"
    stratified: bool = False
    grouped: bool = False
    timed: bool = False
    drawn: bool = False
    partition: bool = False
    repeats: int = 1
    seed: int = 0  # what intervals that shuffle or resample derive their own from

    @property
    def parts(self) -> int:
        """How many held-out parts there are."""
        return len(self.fold_losses)

    @property
    def leaves_one_out(self) -> bool:
        """Whether each part holds out a single row, by whatever name it was asked for."""
        return self.kind == "loo" or (self.parts > 1 and bool(np.all(self.held_sizes == 1)))

    @property
    def predicted(self) -> int:
        """How many rows were predicted, those of one repeat where there are several."""
        return round(int(np.sum(self.held_sizes)) / self.repeats)


def zero_one_errors(record: Record) -> Floats | None:
    """The rows of a single test set as 0 (right) and 1 (wrong), or None when the loss is not of that kind.

    Accuracy is the zero-one loss less one, so its rows are −1 and 0 inside.
    """
    if record.row_losses is None or record.high - record.low != 1.0:
        return None
    errors = np.concatenate(record.row_losses) - record.low
    return errors if np.isin(errors, (0.0, 1.0)).all() else None
