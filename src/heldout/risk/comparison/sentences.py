"""What may be said of two learners, in one plain sentence that never says more than interval and Holm do."""

from __future__ import annotations

from enum import StrEnum

from heldout.risk.estimate import Estimate


class Verdict(StrEnum):
    """What a comparison shows. Better and equal at once: the difference is real, and too small to matter."""

    FIRST = "first better"
    SECOND = "second better"
    FIRST_BUT_EQUAL = "first better, practically equal"
    SECOND_BUT_EQUAL = "second better, practically equal"
    EQUAL = "practically equal"
    NOT_SHOWN = "no difference shown"
    NONE = "not compared"


def judge(difference: Estimate, p_holm: float | None, *, level: float, rope: float | None) -> Verdict:
    """The verdict on a difference (first less second, in the user's own sign).

    A learner is better where Holm's p is at most 1 − level. Two are practically equal where the whole interval lies
    within ±rope.
    """
    value, low, high = difference.value, difference.low, difference.high
    if value is None:
        return Verdict.NONE
    if low is None or high is None:
        return Verdict.NOT_SHOWN
    # A billionth: 1 − 0.95 is a little more than 0.05, and a p of 0.05 must not depend on it.
    shown = p_holm is not None and p_holm <= (1 - level) * (1 + 1e-9) and value != 0
    equal = rope is not None and -rope <= low and high <= rope
    if not shown:
        return Verdict.EQUAL if equal else Verdict.NOT_SHOWN
    if (value > 0) == difference.greater_is_better:
        return Verdict.FIRST_BUT_EQUAL if equal else Verdict.FIRST
    return Verdict.SECOND_BUT_EQUAL if equal else Verdict.SECOND


def pair_sentence(
    names: tuple[str, str],
    difference: Estimate,
    verdict: Verdict,
    *,
    p: float | None,
    p_holm: float | None,
    rope: float | None,
) -> str:
    """The verdict in words, with the numbers it rests on."""
    first, second = names
    if verdict is Verdict.NONE:
        return f"{first} and {second} cannot be compared. {difference.reason}"
    if difference.low is None or difference.high is None:
        return f"No difference shown between {first} and {second}. {difference.reason}"
    between = f"{_number(difference.low)} to {_number(difference.high)}"
    if verdict is Verdict.NOT_SHOWN:
        return f"No difference shown between {first} and {second}: the interval of {first} minus {second} is {between}."
    equal = f"practically equal (within ±{_number(rope or 0.0)})"
    if verdict is Verdict.EQUAL:
        return f"{first} and {second} are {equal}: the interval of their difference is {between}."
    better, worse = names if verdict in (Verdict.FIRST, Verdict.FIRST_BUT_EQUAL) else (second, first)
    tail = f", {equal}" if verdict in (Verdict.FIRST_BUT_EQUAL, Verdict.SECOND_BUT_EQUAL) else ""
    if difference.low <= 0 <= difference.high:
        adjusted = "p" if p == p_holm else "Holm p"
        return (
            f"{better} is better than {worse} ({adjusted} = {_number(p_holm or 0.0)}){tail}; by how much is not shown: "
            f"the interval of {first} minus {second} is {between}."
        )
    least, most = sorted((abs(difference.low), abs(difference.high)))
    return f"{better} is better than {worse} by {_number(least)} to {_number(most)}{tail}."


def _number(value: float) -> str:
    """Three significant digits, written out where that is shorter than a power of ten.

    >>> _number(1331.7), _number(-0.01234), _number(2.5e-9)
    ('1,332', '−0.0123', '2.5e-09')
    """
    size = abs(value)
    text = f"{size:,.0f}" if 1000 <= size < 1e7 else f"{size:.3g}"
    return f"−{text}" if value < 0 else text
