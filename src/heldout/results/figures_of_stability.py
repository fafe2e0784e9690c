"""How far the folds agree in what they chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from heldout.results.choices import choice_words, params_in
from heldout.results.record import Facts

Figure = dict[str, Any]


def stability_figure(facts: Facts, times: Counter[int]) -> Figure:
    """Each candidate that was chosen, in how many folds, and the same for each parameter's values."""
    choices = facts.tables["choices"]
    if facts.about["candidates"] < 2 or not choices:
        return {"none": "Nothing was chosen: there is one candidate."}
    if not times:
        return {"none": "Nothing was chosen: every candidate failed."}
    folds: dict[int, list[int]] = {}
    for fold, candidate in zip(choices["fold"], choices["candidate"], strict=True):
        folds.setdefault(int(candidate), []).append(int(fold))
    first = {int(c): place for place, c in reversed(list(enumerate(choices["candidate"])))}
    rows = []
    for candidate, count in times.most_common():
        family, params = _chosen(choices, first[candidate], facts.about.get("parameters", {}))
        words = choice_words(family, params)
        rows.append({"words": words, "family": family, "params": params, "count": count, "folds": folds[candidate]})
    return {"folds": len(choices["fold"]), "choices": rows, "params": _by_param(rows)}


def _by_param(rows: list[Figure]) -> list[Figure]:
    counts: dict[tuple[str, str], Counter[Any]] = {}
    for row in rows:
        for name, given in row["params"].items():
            value = given.item() if isinstance(given, np.generic) else given
            key = value if isinstance(value, int | float | str) else repr(value)
            counts.setdefault((row["family"], name), Counter())[key] += row["count"]
    return [
        {"family": family, "param": param, "values": [{"value": v, "count": n} for v, n in found.most_common()]}
        for (family, param), found in counts.items()
    ]


def _chosen(choices: Any, place: int, always: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    family = str(choices["family"][place])
    row = {name: choices[name][place] for name in choices if name.startswith("param_")}
    return family, params_in(row, always.get(family, ()))
