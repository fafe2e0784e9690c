"""What a study recorded of one loss: all that an estimate may be made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]
POOLED = ("r2", "root", "recalls", "f1", "matthews", "means")  # functions of means over rows, pooled by default
FAMILIES = (
    *("zero_one", "squared", "absolute", "log", "brier"),  # losses of rows
    *POOLED,
    *("auc", "other"),  # scores of whole sets that are never pooled; other row losses are "other" too
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PooledScore:
    """A score of all held-out rows together, and how far each row moves it.

    `influence` is the derivative of the score by each row's weight, times the number of rows: its mean over rows is 0,
    and the variance of the score is that of a mean of such numbers. None where only the value is known.
    """

    value: float  # lower is better, as all losses inside
    influence: tuple[Floats, ...] | None = None  # one array a part
    blocks: tuple[Integers, ...] | None = None  # as influence: rows whose influence is known only together


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What was true and what was predicted on the held-out rows, one array a part.

    For classes these are codes from 0 on. Where there are two, `probability` is that of the class `positive`, and
    `scores` what rows are ranked by. `class_weights` is what a row of each class counts for in the learner's own fit.
    """

    truth: tuple[Floats, ...]
    predicted: tuple[Floats, ...]
    classes: int = 0  # 0 for numbers
    positive: int = 1
    probability: tuple[Floats, ...] | None = None
    scores: tuple[Floats, ...] | None = None
    class_weights: Floats | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Elsewhere:
    """The predictors of some parts, asked about the same rows each: rows of their training sets among them."""

    trained: NDArray[np.bool_]  # predictors × rows: whether the predictor was trained on the row
    losses: Floats | None  # predictors × rows; None for scores of whole sets
    predicted: Floats  # predictors × rows: numbers, or codes of classes
    truth: Floats  # a row each


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
    groups: tuple[Integers, ...] | None = None  # as row_losses: which group each row belongs to
    rows: tuple[Integers, ...] | None = None  # as row_losses: which row of the task it is; resamples repeat them
    order: tuple[Integers, ...] | None = None  # as row_losses: the place of each row in time, where it has one
    halves: Integers | None = None  # which half of the rows a part lies in; 2i and 2i + 1 share none
    train_sizes: Integers | Floats  # a mean where a part stands for several
    held_sizes: Integers
    kind: str  # "kfold", "loo", "holdout", "resample", "forward", "given", "shared", "foreign"
    stratified: bool = False
    grouped: bool = False
    timed: bool = False
    drawn: bool = False
    partition: bool = False
    repeats: int = 1
    seed: int = 0  # what intervals that shuffle or resample derive their own from
    family: str = "other"  # losses and scores with a rule of their own: see FAMILIES
    pooled: PooledScore | None = None  # of a score of whole sets
    answers: Answers | None = None
    elsewhere: Elsewhere | None = None
    least_squares: bool = False  # the learner minimises squared errors, linearly
    share: float = 1.0  # of the held-out rows that are recorded here; below 1 they are a random sample
    sample: Record | None = None  # of a random sample of the held-out rows, where the others were not kept

    @property
    def parts(self) -> int:
        """How many held-out parts there are."""
        return len(self.fold_losses)

    @property
    def unknown(self) -> bool:
        """Whether no loss is known yet, as before any fit: NaN stands for each."""
        return self.pooled is None and bool(np.isnan(self.fold_losses).all())

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
    if record.row_losses is None:
        return None
    losses = np.concatenate(record.row_losses)
    return losses - record.low if of_right_and_wrong(losses, record.low, record.high) else None


def of_right_and_wrong(losses: Floats, low: float, high: float) -> bool:
    """Whether every loss is one end of a range of length 1.

    >>> of_right_and_wrong(np.array([-1.0, 0.0]), -1.0, 0.0), of_right_and_wrong(np.array([0.5]), 0.0, 1.0)
    (True, False)
    """
    return high - low == 1.0 and bool(np.isin(losses - low, (0.0, 1.0)).all())
