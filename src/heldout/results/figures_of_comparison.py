"""What the figures of a comparison show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heldout.risk.estimate import Estimate

if TYPE_CHECKING:
    from heldout.api.result import Result


def comparison_figure(
    ranking: Mapping[str, Estimate],
    pairs: Sequence[Mapping[str, Any]],
    results: Mapping[str, Result],
    *,
    rope: float | None,
    level: float,
) -> dict[str, Any]:
    """The ranking with intervals, the differences of pairs, and the losses of each learner part by part."""
    first = next(iter(ranking.values()))
    names = [name for name in ranking if name in results]
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
            "values": [list(results[name].facts.tables["folds"][first.loss]) for name in names],
        },
    }
