"""The corrected t of Nadeau and Bengio, over folds or resamples."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import stdtrit

from heldout.risk.estimate import Interval
from heldout.risk.intervals.ends import interval_around
from heldout.risk.intervals.method import Method
from heldout.risk.intervals.spread import standard_deviation
from heldout.risk.record import Floats, Record


def corrected_t(losses: Floats, *, test_ratio: float, level: float, centre: float | None = None) -> Interval:
    """The interval of an expected risk from the losses of J splits that share training rows.

    The variance is s²(1/J + n_test/n_train) with J − 1 degrees of freedom (Nadeau & Bengio 2003). The second
    term stands for the correlation of splits that share rows; it does not shrink with J, since more repeats on
    the same rows bring no independent information. It is a rule of thumb: no unbiased estimator of the
    variance of K-fold cross-validation exists (Bengio & Grandvalet 2004), so the guarantee is "heuristic".

    Parameters
    ----------
    losses : array
        The mean loss of each split.
    test_ratio : float
        Held-out rows for each training row of a split.
    level : float
        The probability to cover, as 0.95.
    centre : float, optional
        The middle of the interval; the mean of the losses when left out.

    Examples
    --------
    >>> interval = corrected_t(np.array([0.1, 0.2, 0.3]), test_ratio=0.5, level=0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.1928, 0.5928)
    """
    splits = len(losses)
    error = standard_deviation(losses) * sqrt(1 / splits + test_ratio)
    half = float(stdtrit(splits - 1, 0.5 + level / 2)) * error
    middle = float(np.mean(losses)) if centre is None else centre
    return interval_around(
        middle, middle - half, middle + half, level=level, method="corrected t", guarantee="heuristic"
    )


def _refusal(record: Record) -> str | None:
    # Groups are no hindrance: they are whole inside a part, and the part is what is counted here.
    if record.parts < 2:
        return "it needs the spread of several held-out parts, and there is one"
    if record.leaves_one_out:
        return (
            "leave-one-out gives a point estimate: its training sets share all rows but two, "
            "so its losses do not tell how far it is off; KFold gives an interval"
        )
    if not np.sum(record.train_sizes):
        return "nothing was trained, so the parts share no training rows to correct for"
    if record.timed:
        return "the parts follow each other in time, so they are neither independent nor of one training size"
    return None


def _interval(record: Record, value: float, level: float) -> Interval:
    ratio = float(np.sum(record.held_sizes) / np.sum(record.train_sizes))
    return corrected_t(record.fold_losses, test_ratio=ratio, level=level, centre=value)


CORRECTED_T = Method(key="corrected-t", name="corrected t", refusal=_refusal, interval=_interval)
