"""What a test set may still tell after earlier looks: coarse answers where asked, and widened intervals.

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

    `lowest` and `highest` are what the answer tells of the mean: the same number twice for a full answer, its ends for
    a rounded one, 0 and the mark for one that passed. `alphabets` are how many answers each earlier look could have
    given.

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
    bounded = isfinite(record.low) and isfinite(record.high)
    no_bounds = f"the loss {record.loss!r} has no bounds, and the bound of later looks needs them"
    return refuse_dependent_test_rows(record) or (refuse_out_of_range(record) if bounded else no_bounds)


def disclosed_between(answer: Answer, record: Record, value: float) -> tuple[float, float]:
    """Between which numbers the answer says that the mean loss lies, inside sign; `value` is the mean itself."""
    if answer.kind == ROUNDED:
        assert answer.size is not None
        middle = rounded(value, answer.size)
        return max(middle - answer.size / 2, record.low), min(middle + answer.size / 2, record.high)
    if answer.kind == PASS_FAIL:
        mark = min(max(internal_mark(answer, record), record.low), record.high)
        return (record.low, mark) if passes(answer, record, value) else (mark, record.high)
    return value, value


def internal_mark(answer: Answer, record: Record) -> float:
    """The mark to pass, lower is better."""
    assert answer.size is not None
    return record.sign * answer.size


def passes(answer: Answer, record: Record, value: float) -> bool:
    """Whether this mean loss passes the mark: at most a loss's mark, at least a score's."""
    return value <= internal_mark(answer, record)


def rounded(value: float, step: float) -> float:
    """The nearest multiple of a step, written without the noise of the last bits.

    >>> rounded(0.14999, 0.05), rounded(0.123, 0.01)
    (0.15, 0.12)
    """
    return round(round(value / step) * step, 12)


def disclosed_interval(
    answer: Answer, record: Record, value: float, *, level: float, alphabets: Sequence[float]
) -> Interval:
    """The interval of a risk from what the answer tells of one test set, after earlier looks; in the inside sign.

    The record must not be one that :func:`refuse_transcript` refuses.
    """
    spread, between = record.high - record.low, disclosed_between(answer, record, value)
    ends = [min(max((end - record.low) / spread, 0.0), 1.0) for end in between]
    rows = int(np.sum(record.held_sizes))
    bound = transcript_interval(*ends, rows=rows, level=level, alphabets=alphabets)
    low, high = record.low + spread * bound.low, record.low + spread * bound.high
    return replace(bound, low=low, high=high, guarantee=promised(bound.guarantee, record))


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
    """What a test set has told before: the alphabet of each answer, infinite where none bounds it."""

    alphabets: tuple[float, ...] = ()
    rows_shown: bool = False  # results of single rows among them

    @property
    def bounded(self) -> bool:
        return all(map(isfinite, self.alphabets))

    @property
    def look(self) -> str:
        """Which look comes next: "1st", "2nd"."""
        return ordinal(len(self.alphabets) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosed:
    """An estimate as it is told, and how its interval stands.

    `status` is FIRST without earlier looks, WIDENED where the interval accounts for them, VACUOUS where it does and
    then tells nothing, UNBOUNDED where nothing can account for them.
    """

    estimate: Estimate
    status: str


def disclosed_estimate(record: Record, plain: Estimate, answer: Answer, past: EarlierLooks) -> Disclosed:
    """The estimate of one test set, given what the same rows have told before.

    `plain` is the estimate as it were if everything was shown and this was the only look, `answer` how much is told,
    and `past` what was told before.
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
    """Whether the plain interval is a function of what is told: always of a full answer, of a count with its rows."""
    return not answer.withholds or (answer.kind == VALUE and plain.method == "Clopper–Pearson")


def _coarse(record: Record, plain: Estimate, answer: Answer, value: float) -> Estimate:
    plain = replace(plain, interval_seed=None)  # it is made from the losses of single rows
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
    """Where no bound covers a learner chosen after the earlier looks: the interval of a single look, and why."""
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
    """A place in a row of things.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st', '112th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
