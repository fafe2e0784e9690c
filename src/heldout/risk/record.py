"""Records of one loss on the held-out rows of a study; estimates are computed from nothing else."""

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
    """Holds a score computed once on all held-out rows, and the influence of each row on it.

    `influence` is the derivative of the score by the row's weight, times the number of rows. Its mean over rows is 0,
    and the variance of the score is that of the mean of the influences. It is None if only the value is known.
    """

    value: float  # lower is better, as all losses inside
    influence: tuple[Floats, ...] | None = None  # one array a part
    blocks: tuple[Integers, ...] | None = None  # as influence: rows whose influence is known only together


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """Holds the true and the predicted values of the held-out rows, one array per part.

    Classes are stored as codes from 0. With two classes, `probability` is the probability of the class `positive` and
    `scores` are the numbers that rank the rows. `class_weights` has the weight of each class in the learner's own fit.
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
    """Holds the answers of several fold predictors on one common set of rows, including rows they were trained on."""

    trained: NDArray[np.bool_]  # predictors × rows: whether the predictor was trained on the row
    losses: Floats | None  # predictors × rows; None for scores of whole sets
    predicted: Floats  # predictors × rows: numbers, or codes of classes
    truth: Floats  # a row each


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """Holds the losses of one learner on the held-out parts of one set of drawn splits; lower is better.

    Plain values describe how the parts were drawn, so that stored losses are enough to compute an estimate again,
    without a task, a model or a splitter. Before any fit, a record whose losses are all NaN shows which intervals the
    recipe allows.
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
    even: bool = False  # each row weighs the same in the mean, however many there are in its part
    share: float = 1.0  # of the held-out rows that are recorded here; below 1 they are a random sample
    sample: Record | None = None  # of a random sample of the held-out rows, where the others were not kept

    @property
    def parts(self) -> int:
        """The number of held-out parts."""
        return len(self.fold_losses)

    @property
    def unknown(self) -> bool:
        """Whether no loss is known yet (before any fit all losses are NaN)."""
        return self.pooled is None and bool(np.isnan(self.fold_losses).all())

    @property
    def leaves_one_out(self) -> bool:
        """Whether each part holds out a single row, whichever splitter drew the parts."""
        return self.kind == "loo" or (self.parts > 1 and bool(np.all(self.held_sizes == 1)))

    @property
    def predicted(self) -> int:
        """The number of predicted rows; with repeats, the number in one repeat."""
        return round(int(np.sum(self.held_sizes)) / self.repeats)


def zero_one_errors(record: Record) -> Floats | None:
    """Return the errors of all held-out rows, 0 (right) or 1 (wrong); None if the loss is not of that kind.

    Accuracy is stored as the zero-one loss minus 1, so its recorded losses are −1 and 0.
    """
    if record.row_losses is None:
        return None
    losses = np.concatenate(record.row_losses)
    return losses - record.low if of_right_and_wrong(losses, record.low, record.high) else None


def of_right_and_wrong(losses: Floats, low: float, high: float) -> bool:
    """Return whether the range has length 1 and every loss is one of its two ends.

    >>> of_right_and_wrong(np.array([-1.0, 0.0]), -1.0, 0.0), of_right_and_wrong(np.array([0.5]), 0.0, 1.0)
    (True, False)
    """
    return high - low == 1.0 and bool(np.isin(losses - low, (0.0, 1.0)).all())
