"""An estimate from one test set, as it may be told: coarse where asked, and widened for the looks that came before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from heldout.base.answers import ROUNDED, VALUE, Answer
from heldout.risk.estimate import Estimate, Interval
from heldout.risk.estimates import inside_value, shown_range
from heldout.risk.record import Record
from heldout.risk.transcript import half_width, passes, refuse_transcript, rounded, told_interval

FIRST, WIDENED, VACUOUS, UNBOUNDED = "first", "widened", "vacuous", "unbounded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
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
class Told:
    """An estimate as it is told, and how its interval stands.

    `standing` is FIRST without earlier looks, WIDENED where the interval accounts for them, VACUOUS where it does and
    then tells nothing, UNBOUNDED where nothing can account for them.
    """

    estimate: Estimate
    standing: str


def told_estimate(record: Record, plain: Estimate, answer: Answer, past: Past) -> Told:
    """The estimate of one test set, given what the same rows have told before.

    Parameters
    ----------
    record : Record
        The losses of one test set.
    plain : Estimate
        The estimate as it were if everything was shown and this was the only look.
    answer : Answer
        How much is told.
    past : Past
        What was told before.
    """
    value = inside_value(record)
    if value is None:
        return Told(estimate=plain, standing=FIRST)
    coarse = _coarse(record, plain, answer, value) if answer.withholds else plain
    refusal = refuse_transcript(record)
    if refusal is None and past.bounded:
        if not past.alphabets and _tells_no_more(plain, answer):
            return Told(estimate=coarse, standing=FIRST)
        found = told_interval(answer, record, value, level=plain.level, alphabets=past.alphabets)
        return _widened(record, coarse, found, past)
    if not past.alphabets and not answer.withholds:
        return Told(estimate=plain, standing=FIRST)
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


def _widened(record: Record, coarse: Estimate, found: Interval, past: Past) -> Told:
    rows, ends = int(np.sum(record.held_sizes)), (record.low, record.high)
    half = half_width(rows, level=found.level, alphabets=past.alphabets)
    vacuous = half >= 0.5 or (found.low <= ends[0] and found.high >= ends[1])
    standing = FIRST if not past.alphabets else VACUOUS if vacuous else WIDENED
    method = f"{found.method}, widened for the {past.look} look" if past.alphabets else found.method
    return Told(estimate=_with_interval(record, coarse, replace(found, method=method)), standing=standing)


def _not_widened(
    record: Record, coarse: Estimate, answer: Answer, past: Past, *, refusal: str | None, value: float
) -> Told:
    """Where no bound covers a learner chosen after the earlier looks: the interval of a single look, and why."""
    standing = UNBOUNDED if past.alphabets else FIRST
    if answer.withholds and refusal is not None:
        reason = f"No interval: the answer is all that is told of the losses, and {refusal}."
        none = replace(coarse, low=None, high=None, unclipped=None, method=None, guarantee=None, reason=reason)
        return Told(estimate=none, standing=standing)
    if answer.withholds and not _tells_no_more(coarse, answer):
        single = told_interval(answer, record, value, level=coarse.level, alphabets=())
        coarse = _with_interval(record, coarse, single)
    if coarse.low is None:
        return Told(estimate=coarse, standing=standing)
    reason = (
        "The interval holds only if this learner was settled before the earlier looks at these test rows: "
        f"{_why_unbounded(past, refusal)}, so no bound covers a learner chosen after them."
    )
    method = f"{coarse.method}, not widened for the {past.look} look"
    return Told(estimate=replace(coarse, method=method, guarantee="heuristic", reason=reason), standing=standing)


def _why_unbounded(past: Past, refusal: str | None) -> str:
    if past.rows_shown:
        return "they showed results of single rows"
    if not past.bounded:
        return "they told numbers that could be any"
    return refusal or ""


def _with_interval(record: Record, estimate: Estimate, found: Interval) -> Estimate:
    low, high = shown_range(found.low, found.high, record.sign)
    least, most = shown_range(record.low, record.high, record.sign)
    return replace(
        estimate,
        low=min(max(low, least), most),
        high=min(max(high, least), most),
        unclipped=(low, high),
        method=found.method,
        guarantee=found.guarantee,
        interval_seed=None,
        reason=None,
    )


def ordinal(number: int) -> str:
    """A place in a row of things.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st', '112th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
