"""What the figures of a comparison show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.risk.estimate import Estimate


def comparison_figure(
    ranking: Mapping[str, Estimate],
    pairs: Sequence[Mapping[str, Any]],
    folds: Mapping[str, Mapping[str, Any]],
    *,
    rope: float | None,
    level: float,
) -> dict[str, Any]:
    """The ranking with intervals, the differences of pairs, and the losses of each learner part by part.

    `folds` are the tables of test parts of the learners that have a result.
    """
    first = next(iter(ranking.values()))
    names = [name for name in ranking if name in folds]
    return {
        "loss": first.loss,
        "greater_is_better": first.greater_is_better,
        "rope": rope,
        "level": level,
        "pairs": [
            {key: pair[key] for key in ("first", "second", "difference", "low", "high", "verdict")} for pair in pairs
        ],
        "ranking": [
            {"name": name, "value": one.value, "low": one.low, "high": one.high, "level": one.level}
            for name, one in ranking.items()
        ],
        "folds": {
            "names": names,
            "values": [list(folds[name][first.loss]) for name in names],
        },
    }
