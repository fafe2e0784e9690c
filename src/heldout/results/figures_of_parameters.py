"""The risk against each parameter: for each of its values, the best that the other parameters make of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from heldout.results.figures_of_candidates import Inside, has_candidates
from heldout.results.record import Facts

MOST_VALUES = 60  # points along an axis; of more the best of each stretch
MOST_PANELS = 12  # parameters that are drawn
LOG_FROM = 50.0  # how many times the smallest value the largest is, from which on an axis is logarithmic
LARGEST = 2**63  # whole number on an axis

Figure = dict[str, Any]


def parameters_figure(facts: Facts) -> Figure:
    """A panel a family and parameter that takes several values."""
    if not has_candidates(facts):
        return {"none": "Nothing was chosen: there is one candidate."}
    inside = Inside(facts)
    chosen = [int(c) for c in facts.tables["choices"]["candidate"] if c >= 0]
    simplest = [int(c) for c in facts.tables.get("one_se", {}).get("candidate", ())]
    panels = []
    for family in dict.fromkeys(inside.families):
        own = [place for place in range(inside.count) if inside.families[place] == family]
        for param in dict.fromkeys(name for place in own for name in inside.params[place]):
            panel = _panel(inside, own, param, chosen=chosen, simplest=simplest)
            if panel is not None:
                panels.append({"family": family, "param": param, **panel})
    if not panels:
        return {"none": "No parameter takes several values."}
    return {
        "loss": inside.loss,
        "greater_is_better": inside.sign < 0,
        "one_se": _one_se(inside),
        "panels": panels[:MOST_PANELS],
        "left_out": [panel["param"] for panel in panels[MOST_PANELS:]],
    }


def _panel(inside: Inside, own: list[int], param: str, *, chosen: list[int], simplest: list[int]) -> Figure | None:
    values = {place: _value(inside.params[place][param]) for place in own if param in inside.params[place]}
    distinct = list(dict.fromkeys(values.values()))
    if len(distinct) < 2:
        return None
    scale = _scale(distinct)
    if scale != "category":
        distinct.sort()
    points = [_point(inside, value, [p for p, v in values.items() if v == value]) for value in distinct]
    counts = Counter(values[place] for place in chosen if place in values)
    taken = Counter(values[place] for place in simplest if place in values)
    return {
        "scale": scale,
        "values": len(distinct),
        "points": _thinned(points, counts, inside.sign),
        "chosen": [[value, counts[value]] for value in distinct if counts[value]],
        "simplest": taken.most_common(1)[0][0] if taken else None,
    }


def _point(inside: Inside, value: Any, places: list[int]) -> Figure:
    """The mean over folds of the best candidate with this value, and its standard error within a fold."""
    means = np.where(np.isnan(inside.means[:, places]), np.inf, inside.means[:, places])
    best = means.argmin(axis=1)
    found = means[np.arange(len(best)), best]
    whole = bool(np.isfinite(found).all())
    errors = inside.errors[:, places][np.arange(len(best)), best]
    known = whole and not np.isnan(errors).any()
    return {
        "value": value,
        "mean": inside.shown(float(found.mean())) if whole else None,
        "se": float(errors.mean()) if known else None,
        "candidates": len(places),
    }


def _thinned(points: list[Figure], chosen: Counter[Any], sign: int) -> list[Figure]:
    """At most as many points as can be seen: of each stretch the best, and every value that was chosen."""
    if len(points) <= MOST_VALUES:
        return points
    kept = []
    for stretch in np.array_split(np.arange(len(points)), MOST_VALUES):
        some = [points[place] for place in stretch]
        told = [point for point in some if point["mean"] is not None]
        best = min(told, key=lambda point: sign * point["mean"]) if told else some[0]
        kept += [point for point in some if point is best or chosen[point["value"]]]
    return kept


def _one_se(inside: Inside) -> Figure | None:
    """The mean over folds of the best candidate, and that plus one standard error of it."""
    means = np.where(np.isnan(inside.means), np.inf, inside.means)
    best = means.argmin(axis=1)
    rows = np.arange(len(best))
    found, errors = means[rows, best], inside.errors[rows, best]
    if not np.isfinite(found).all() or np.isnan(errors).any():
        return None
    return {"best": inside.shown(float(found.mean())), "limit": inside.shown(float((found + errors).mean()))}


def _value(value: Any) -> Any:
    """A number as it is; anything else as its text, and so are NaN, which equals nothing, and what no axis can hold."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return repr(value) if np.isnan(value) else value
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    return value if whole or isinstance(value, str) else repr(value)


def _scale(values: list[Any]) -> str:
    if any(isinstance(value, str) or not np.isfinite(value) for value in values):
        return "category"
    least, most = min(values), max(values)
    return "log" if least > 0 and most / least >= LOG_FROM else "linear"
