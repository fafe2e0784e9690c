"""The transcript bound: how far a test set may be off after it has answered earlier questions.

A predictor that was chosen after t − 1 answers is one of at most A_1·…·A_{t−1} predictors, where A_i counts the
answers that look i could have given: one predictor for each possible transcript. A bound that holds for all of them at
once holds for the one that was chosen, however it was chosen, so the price of an earlier look is the logarithm of its
alphabet. Nothing is owed for rows a look held back; a look that showed results of single rows could have given at least
2ⁿ answers, and then no bound is left.

The bound is Chernoff's and Hoeffding's, for losses of independent rows with a known range. :func:`half_width` is its
simple form. :func:`transcript_interval` inverts the relative entropy, of which the simple form is a relaxation, so it
lies inside and is much narrower where the loss is small. Both are functions of the mean and the number of rows, so that
an interval tells no more than the answer it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, log1p, sqrt

import numpy as np

from heldout.base.answers import FULL, PASS_FAIL, ROUNDED, Answer
from heldout.base.errors import OptionError
from heldout.risk.estimate import Interval
from heldout.risk.intervals.draws import promised, refuse_dependent_test_rows, refuse_out_of_range
from heldout.risk.record import Record


def log_misses(alphabets: Sequence[float], *, level: float) -> float:
    """ln(2·A_1·…·A_{t−1}·t(t+1)/δ) at look t; ln(2/δ) at the first look, which owes nothing.

    The factor t(t+1) makes the later looks of one test set hold together: their misses sum to at most δ/2.
    """
    if not 0 < level < 1:
        raise OptionError(f"level is the probability that the interval covers, between 0 and 1, but it is {level!r}.")
    if any(not size >= 1 for size in alphabets):
        raise OptionError(f"An answer comes from an alphabet of at least one, but they are {list(alphabets)}.")
    single = log(2 / (1 - level))
    if not alphabets:
        return single
    look = len(alphabets) + 1
    return sum(map(log, alphabets)) + log(look * (look + 1)) + single


def half_width(rows: int, *, level: float = 0.95, alphabets: Sequence[float] = ()) -> float:
    """Half the width of the bound on the mean of `rows` losses in [0, 1], after answers from these alphabets.

    √((Σ ln A_i + ln(2t(t+1)/δ))/2n) at look t; infinite when an earlier answer came from no finite alphabet.

    Examples
    --------
    >>> round(half_width(10_000), 3)
    0.014
    >>> round(half_width(10_000, alphabets=[2] * 19), 3)
    0.034
    """
    if rows < 1:
        raise OptionError(f"A bound needs at least one row, but there are {rows}.")
    return sqrt(log_misses(alphabets, level=level) / (2 * rows))


def transcript_interval(
    lowest: float, highest: float, *, rows: int, level: float = 0.95, alphabets: Sequence[float] = ()
) -> Interval:
    """The interval of a risk when the mean of `rows` losses in [0, 1] is known to lie between two numbers.

    Parameters
    ----------
    lowest, highest : float
        What the answer tells of the mean: the same number twice for a full answer, its ends for a rounded one, 0 and
        the mark for one that passed.
    rows : int
        Test rows.
    level : float
        The probability to cover.
    alphabets : sequence of float
        How many answers each earlier look could have given.

    Examples
    --------
    >>> interval = transcript_interval(0.05, 0.05, rows=1000, alphabets=[1001])
    >>> round(interval.low, 3), round(interval.high, 3), round(half_width(1000, alphabets=[1001]), 3)
    (0.023, 0.092, 0.079)
    """
    if not 0 <= lowest <= highest <= 1:
        raise OptionError(f"A mean of losses in [0, 1] cannot lie between {lowest!r} and {highest!r}.")
    owed = log_misses(alphabets, level=level) / rows
    low = 0.0 if owed == inf else _farthest(lowest, 0.0, owed)
    high = 1.0 if owed == inf else _farthest(highest, 1.0, owed)
    name = "Chernoff–Hoeffding" if not alphabets else "transcript bound"
    return Interval(low=low, high=high, level=level, method=name, guarantee="finite-sample")


def alphabet_of(answer: Answer, record: Record, *, right_or_wrong: bool) -> float:
    """How many different answers this look could give; infinite where that is not bounded, or rows are shown.

    Pass or fail: 2. Rounded: the steps within the range of the loss. In full precision a loss that counts rows as right
    or wrong gives n + 1 answers, and any other loss as many as there are numbers.
    """
    if answer.kind == FULL:
        return inf
    if answer.kind == PASS_FAIL:
        return 2.0
    if answer.kind == ROUNDED:
        assert answer.size is not None
        if not np.isfinite([record.low, record.high]).all():
            return inf
        return float(round(record.high / answer.size) - round(record.low / answer.size) + 1)
    return float(np.sum(record.held_sizes)) + 1 if right_or_wrong and record.weights is None else inf


def refuse_transcript(record: Record) -> str | None:
    """Why the transcript bound cannot speak of this record, or None where it can."""
    if (reason := refuse_dependent_test_rows(record)) is not None:
        return reason
    if not np.isfinite([record.low, record.high]).all():
        return f"the loss {record.loss!r} has no bounds, and the bound of later looks needs them"
    return refuse_out_of_range(record)


def told_between(answer: Answer, record: Record, value: float) -> tuple[float, float]:
    """Between which numbers the answer says that the mean loss lies, inside sign; `value` is the mean itself."""
    if answer.kind == ROUNDED:
        assert answer.size is not None
        middle = rounded(value, answer.size)
        return max(middle - answer.size / 2, record.low), min(middle + answer.size / 2, record.high)
    if answer.kind == PASS_FAIL:
        mark = min(max(inside_mark(answer, record), record.low), record.high)
        return (record.low, mark) if passes(answer, record, value) else (mark, record.high)
    return value, value


def inside_mark(answer: Answer, record: Record) -> float:
    """The mark to pass, lower is better."""
    assert answer.size is not None
    return record.sign * answer.size


def passes(answer: Answer, record: Record, value: float) -> bool:
    """Whether this mean loss passes the mark: at most a loss's mark, at least a score's."""
    return value <= inside_mark(answer, record)


def rounded(value: float, step: float) -> float:
    """The nearest multiple of a step, written without the noise of the last bits.

    >>> rounded(0.14999, 0.05), rounded(0.123, 0.01)
    (0.15, 0.12)
    """
    return round(round(value / step) * step, 12)


def told_interval(
    answer: Answer, record: Record, value: float, *, level: float, alphabets: Sequence[float]
) -> Interval:
    """The interval of a risk from what the answer tells of one test set, after earlier looks; in the inside sign.

    The record must not be one that :func:`refuse_transcript` refuses.
    """
    spread = record.high - record.low
    ends = [min(max((end - record.low) / spread, 0.0), 1.0) for end in told_between(answer, record, value)]
    rows = int(np.sum(record.held_sizes))
    found = transcript_interval(*ends, rows=rows, level=level, alphabets=alphabets)
    return Interval(
        low=record.low + spread * found.low,
        high=record.low + spread * found.high,
        level=level,
        method=found.method,
        guarantee=promised(found.guarantee, record),
    )


def _farthest(mean: float, end: float, owed: float) -> float:
    """The risk farthest from `mean` towards `end` that the mean is at most `owed` away from, rounded outwards."""
    if relative_entropy(mean, end) <= owed:
        return end
    near, far = mean, end
    while (middle := (near + far) / 2) not in (near, far):
        if relative_entropy(mean, middle) <= owed:
            near = middle
        else:
            far = middle
    return far


def relative_entropy(mean: float, risk: float) -> float:
    """Of a coin that shows 1 with probability `mean` from one that does with probability `risk`.

    >>> relative_entropy(0.5, 0.5), relative_entropy(1.0, 0.0)
    (0.0, inf)
    """
    if (risk == 0 and mean > 0) or (risk == 1 and mean < 1):
        return inf
    ones = 0.0 if mean == 0 else mean * log(mean / risk)
    zeros = 0.0 if mean == 1 else (1 - mean) * (log1p(-mean) - log1p(-risk))
    return ones + zeros
