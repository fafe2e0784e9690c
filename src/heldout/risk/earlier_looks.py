"""Estimates from a test set that was used before: coarse answers if asked for, and widened intervals.

A look is one use of the test set, and its alphabet size A_i is the number of different answers that it could give.
A predictor chosen after t − 1 looks is one of at most A_1·…·A_{t−1} predictors, one for each possible sequence of
answers (transcript). A bound that holds for all of them at once holds for the chosen one, however it was chosen. So an
earlier look adds the logarithm of its alphabet size to the bound. Row results that a look withheld add nothing. A look
that showed results of single rows could give at least 2ⁿ answers, and then no useful bound is left.

The bound is Chernoff's and Hoeffding's, for losses of independent rows with a known range. :func:`half_width` is its
simple form. :func:`transcript_interval` inverts the relative entropy, of which the simple form is a relaxation, so it
lies inside and is much narrower if the loss is small. Both depend only on the mean and the number of rows, so that an
interval reveals no more than the answer it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, log, log1p, sqrt

import numpy as np

from heldout.base.errors import OptionError
from heldout.base.options import FULL, PASS_FAIL, ROUNDED, VALUE, Answer
from heldout.risk.estimate import Estimate, Interval, shown_interval
from heldout.risk.estimate_risk import record_value, scale_of
from heldout.risk.intervals.method import promised, refuse_dependent_test_rows, refuse_out_of_range
from heldout.risk.record import Record


def log_misses(alphabets: Sequence[float], *, level: float) -> float:
    """Return ln(2·A_1·…·A_{t−1}·t(t+1)/δ) at look t, and ln(2/δ) at the first look.

    Thanks to the factor t(t+1) the later looks of one test set hold together: they fail with probability δ/2 at most.
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
    """Return half the width of the bound on the mean of `rows` losses in [0, 1], after looks with these alphabet sizes.

    It is √((Σ ln A_i + ln(2t(t+1)/δ))/2n) at look t, and infinite if the alphabet of an earlier look is infinite.

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
    """Return the interval of a risk when the mean of `rows` losses in [0, 1] is known to lie between two numbers.

    `lowest` and `highest` are the range of means that the answer allows: the mean itself twice for a full answer, the
    rounding interval for a rounded one, 0 and the threshold for one that passed. `alphabets` has the number of possible
    answers of each earlier look.

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
    """Return how many different answers this look can give; infinite if there is no limit or row results are shown.

    Pass or fail gives 2, a rounded answer the number of steps within the range of the loss. In full precision a loss
    that counts n rows as right or wrong gives n + 1 answers; for any other loss the number is infinite.
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
    """Return why the transcript bound does not apply to this record; None if it does."""
    bounded = isfinite(record.low) and isfinite(record.high)
    no_bounds = f"the loss {record.loss!r} has no bounds, and the bound of later looks needs them"
    return refuse_dependent_test_rows(record) or (refuse_out_of_range(record) if bounded else no_bounds)


def disclosed_between(answer: Answer, record: Record, value: float) -> tuple[float, float]:
    """Return the range of mean losses that the answer allows, in internal sign; `value` is the mean itself."""
    if answer.kind == ROUNDED:
        assert answer.size is not None
        middle = rounded(value, answer.size)
        return max(middle - answer.size / 2, record.low), min(middle + answer.size / 2, record.high)
    if answer.kind == PASS_FAIL:
        mark = min(max(internal_mark(answer, record), record.low), record.high)
        return (record.low, mark) if passes(answer, record, value) else (mark, record.high)
    return value, value


def internal_mark(answer: Answer, record: Record) -> float:
    """Return the threshold of a pass-or-fail answer in internal sign (lower is better)."""
    assert answer.size is not None
    return record.sign * answer.size


def passes(answer: Answer, record: Record, value: float) -> bool:
    """Return whether this mean loss, in internal sign, is at most the threshold."""
    return value <= internal_mark(answer, record)


def rounded(value: float, step: float) -> float:
    """Return the nearest multiple of `step`, rounded to 12 decimals to remove floating-point noise.

    >>> rounded(0.14999, 0.05), rounded(0.123, 0.01)
    (0.15, 0.12)
    """
    return round(round(value / step) * step, 12)


def disclosed_interval(
    answer: Answer, record: Record, value: float, *, level: float, alphabets: Sequence[float]
) -> Interval:
    """Return the interval of a risk from the disclosed answer alone, after earlier looks; in internal sign.

    :func:`refuse_transcript` must accept the record.
    """
    spread, between = record.high - record.low, disclosed_between(answer, record, value)
    ends = [min(max((end - record.low) / spread, 0.0), 1.0) for end in between]
    rows = int(np.sum(record.held_sizes))
    bound = transcript_interval(*ends, rows=rows, level=level, alphabets=alphabets)
    low, high = record.low + spread * bound.low, record.low + spread * bound.high
    return replace(bound, low=low, high=high, guarantee=promised(bound.guarantee, record))


def _farthest(mean: float, end: float, owed: float) -> float:
    """Find by bisection the risk farthest from `mean` towards `end` with relative entropy at most `owed`, outward."""
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
    """Return the Kullback–Leibler divergence of a Bernoulli(`mean`) variable from a Bernoulli(`risk`) variable.

    >>> relative_entropy(0.5, 0.5), relative_entropy(1.0, 0.0)
    (0.0, inf)
    """
    if (risk == 0 and mean > 0) or (risk == 1 and mean < 1):
        return inf
    ones = 0.0 if mean == 0 else mean * log(mean / risk)
    zeros = 0.0 if mean == 1 else (1 - mean) * (log1p(-mean) - log1p(-risk))
    return ones + zeros


FIRST, WIDENED, VACUOUS, UNBOUNDED = "first", "widened", "vacuous", "unbounded"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierLooks:
    """Holds the alphabet size of each earlier look at a test set; infinite if it has no limit."""

    alphabets: tuple[float, ...] = ()
    rows_shown: bool = False  # results of single rows among them

    @property
    def bounded(self) -> bool:
        return all(map(isfinite, self.alphabets))

    @property
    def look(self) -> str:
        """The ordinal of the next look, such as "1st" or "2nd"."""
        return ordinal(len(self.alphabets) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosed:
    """Holds an estimate as it is disclosed, and the status of its interval.

    `status` is FIRST without earlier looks, WIDENED if the interval accounts for them, VACUOUS if it does so and is
    then too wide to be useful, UNBOUNDED if no bound can account for them.
    """

    estimate: Estimate
    status: str


def disclosed_estimate(record: Record, plain: Estimate, answer: Answer, past: EarlierLooks) -> Disclosed:
    """Return the estimate to disclose for a test set, with an interval that accounts for earlier looks at its rows.

    `plain` is the estimate for a full answer at a first look, `answer` says how much is disclosed now, and `past`
    holds the earlier looks.
    """
    value = record_value(record)
    if value is None:
        return Disclosed(estimate=plain, status=FIRST)
    coarse = _coarse(record, plain, answer, value) if answer.withholds else plain
    refusal = refuse_transcript(record)
    if refusal is None and past.bounded:
        if not past.alphabets and _tells_no_more(plain, answer):
            return Disclosed(estimate=coarse, status=FIRST)
        interval = disclosed_interval(answer, record, value, level=plain.level, alphabets=past.alphabets)
        return _widened(record, coarse, interval, past)
    if not past.alphabets and not answer.withholds:
        return Disclosed(estimate=plain, status=FIRST)
    return _not_widened(record, coarse, answer, past, refusal=refusal, value=value)


def _tells_no_more(plain: Estimate, answer: Answer) -> bool:
    """Return whether the plain interval is a function of the disclosed answer, so that it reveals nothing more."""
    return not answer.withholds or (answer.kind == VALUE and plain.method == "Clopper–Pearson")


def _coarse(record: Record, plain: Estimate, answer: Answer, value: float) -> Estimate:
    plain = replace(plain, interval_seed=None)  # the seed depends on the losses of single rows
    if answer.kind == VALUE:
        return plain
    assert answer.size is not None
    if answer.kind == ROUNDED:
        shown = record.sign * rounded(value, answer.size) + 0.0
        return replace(plain, value=shown, answer=f"rounded to {answer.size:g}")
    good, bad = ("at most", "above") if record.sign > 0 else ("at least", "below")
    words = f"pass: {good} {answer.size:g}" if passes(answer, record, value) else f"fail: {bad} {answer.size:g}"
    return replace(plain, value=None, answer=words)


def _widened(record: Record, coarse: Estimate, interval: Interval, past: EarlierLooks) -> Disclosed:
    half = half_width(int(np.sum(record.held_sizes)), level=interval.level, alphabets=past.alphabets)
    vacuous = half >= 0.5 or (interval.low <= record.low and interval.high >= record.high)
    status = FIRST if not past.alphabets else VACUOUS if vacuous else WIDENED
    method = f"{interval.method}, widened for the {past.look} look" if past.alphabets else interval.method
    return Disclosed(estimate=_with_interval(record, coarse, replace(interval, method=method)), status=status)


def _not_widened(
    record: Record, coarse: Estimate, answer: Answer, past: EarlierLooks, *, refusal: str | None, value: float
) -> Disclosed:
    """Return the estimate with the interval of a single look, and the reason why it is not widened."""
    status = UNBOUNDED if past.alphabets else FIRST
    if answer.withholds and refusal is not None:
        reason = f"No interval: the answer is all that is told of the losses, and {refusal}."
        none = replace(coarse, low=None, high=None, unclipped=None, method=None, guarantee=None, reason=reason)
        return Disclosed(estimate=none, status=status)
    if answer.withholds and not _tells_no_more(coarse, answer):
        single = disclosed_interval(answer, record, value, level=coarse.level, alphabets=())
        coarse = _with_interval(record, coarse, single)
    if coarse.low is None:
        return Disclosed(estimate=coarse, status=status)
    why = refusal or "" if past.bounded else "they told numbers that could be any"
    why = "they showed results of single rows" if past.rows_shown else why
    reason = (
        "The interval holds only if this learner was settled before the earlier looks at these test rows: "
        f"{why}, so no bound covers a learner chosen after them."
    )
    method = f"{coarse.method}, not widened for the {past.look} look"
    return Disclosed(estimate=replace(coarse, method=method, guarantee="heuristic", reason=reason), status=status)


def _with_interval(record: Record, estimate: Estimate, interval: Interval) -> Estimate:
    return replace(estimate, **shown_interval(scale_of(record), interval), reason=None)


def ordinal(number: int) -> str:
    """Return a number as an English ordinal.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st', '112th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
