"""Says which of several learners is best by one score, which cannot be told from it, and which of those is simplest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.risk.comparison.pairs import compare_records
from heldout.risk.comparison.sentences import Verdict
from heldout.risk.record import Record

_VERDICTS = {Verdict.FIRST: "worse", Verdict.SECOND: "better", Verdict.NONE: "not compared"}  # of the other learner


def against_best(
    values: Mapping[str, float | None],
    records: Mapping[str, Record],
    *,
    level: float,
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
    order = sorted(known, key=lambda name: -known[name] if greater else known[name])
    best, others = order[0], [*order[1:], *(name for name in values if name not in known)]
    found = []
    for pair in compare_records(records, level=level, pool=pool, interval=interval):
        if best not in (pair.first, pair.second):
            continue
        difference, first = pair.difference, pair.first == best
        ends = [difference.low, difference.high]
        if first:
            ends = [None if end is None else -end + 0.0 for end in reversed(ends)]
        verdict = pair.verdict if first or pair.verdict not in _SWAPPED else _SWAPPED[pair.verdict]
        value = difference.value
        found.append(
            {
                "name": pair.second if first else pair.first,
                "difference": None if value is None else (-value if first else value) + 0.0,
                "low": ends[0],
                "high": ends[1],
                "level": difference.level,
                "p": pair.p_holm,
                "verdict": _VERDICTS.get(verdict, "not shown"),
                "reason": difference.reason,
            }
        )
    return best, sorted(found, key=lambda one: others.index(one["name"]))


_SWAPPED = {Verdict.FIRST: Verdict.SECOND, Verdict.SECOND: Verdict.FIRST}


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
