"""Says which of several learners is best by one score, which cannot be told from it, and which of those is simplest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.risk.comparison.pairs import compare_records
from heldout.risk.comparison.sentences import Pair, Verdict
from heldout.risk.record import Record

_EQUAL = "practically equal"
_VERDICTS = {  # on the other learner; "not shown" for all others
    Verdict.FIRST: "worse",
    Verdict.SECOND: "better",
    Verdict.NONE: "not compared",
    Verdict.EQUAL: _EQUAL,
    Verdict.FIRST_BUT_EQUAL: _EQUAL,
    Verdict.SECOND_BUT_EQUAL: _EQUAL,
}
TIED = ("not shown", _EQUAL)


def against_best(
    values: Mapping[str, float | None],
    records: Mapping[str, Record],
    *,
    level: float,
    rope: float | None = None,
    pool: bool | None = None,
    interval: str | None = None,
) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the best learner, and for each other one its paired difference to the best in the user's own sign.

    `values` are in the user's own sign too. All pairs are compared, as :func:`compare_records` does it, so that the
    intervals hold together although the data say which learner is best.
    """
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return None, []
    greater = next(iter(records.values())).sign < 0
    order = sorted(values, key=lambda name: (name not in known, (-1 if greater else 1) * known.get(name, 0.0)))
    ordered = {name: records[name] for name in order}
    pairs = compare_records(ordered, level=level, rope=rope, pool=pool, interval=interval)
    return order[0], [_turned(pair) for pair in pairs if pair.first == order[0]]


def _turned(pair: Pair) -> dict[str, Any]:
    """Return the comparison of the best learner, which is the first, as the difference of the other one to it."""
    less = pair.difference
    value, low, high = (None if end is None else 0.0 - end for end in (less.value, less.high, less.low))
    return {
        "name": pair.second,
        "difference": value,
        "low": low,
        "high": high,
        "level": less.level,
        "p": pair.p_holm,
        "verdict": _VERDICTS.get(pair.verdict, "not shown"),
        "reason": less.reason,
    }


def simplest_of(names: list[str], ranks: Mapping[str, int | None]) -> str | None:
    """Return the simplest of some learners by rank (smaller is simpler); None if a rank is unknown or shared.

    >>> simplest_of(["boosting", "forest"], {"boosting": 4, "forest": 3})
    'forest'
    """
    known = [(rank, name) for name in names if (rank := ranks.get(name)) is not None]
    if len(known) < len(names) or len(names) < 2:
        return None
    least = min(rank for rank, _ in known)
    first = [name for rank, name in known if rank == least]
    return first[0] if len(first) == 1 else None
