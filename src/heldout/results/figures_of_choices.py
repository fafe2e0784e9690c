"""Computes the figures of choices: the list of candidates, the loss against each parameter, and agreement of folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.words import choice_words
from heldout.results.study_record import StudyRecord, choices_of, params_in

MOST_ROWS = 1_000  # candidates that a report lists
MOST_VALUES = 60  # points along an axis; of more, the best of each segment is drawn
MOST_PANELS = 12  # parameters that are drawn
LOG_FROM = 50.0  # an axis is logarithmic if largest / smallest value is at least this
LARGEST = 2**63  # integer on an axis

Figure = dict[str, Any]
Floats = NDArray[np.float64]


class ValidationTable:
    """Holds the validation losses of all candidates in all folds, as arrays of folds × candidates; lower is better."""

    def __init__(self, record: StudyRecord) -> None:
        columns = record.tables["candidates"]
        loss = record.about["chosen_by"]
        folds = len(np.unique(columns["fold"]))
        beside = record.estimates.get("best_validation", record.estimates["risk"])
        self.loss = str(loss)
        self.sign = -1 if beside.greater_is_better else 1
        self.count = len(columns["candidate"]) // folds
        self.means: Floats = self.sign * np.asarray(columns[f"validation_{loss}"], dtype=float).reshape(folds, -1)
        parts = np.asarray(columns["parts"], dtype=float).reshape(folds, -1)
        sds = np.asarray(columns[f"validation_{loss}_sd"], dtype=float).reshape(folds, -1)
        self.errors: Floats = sds / np.sqrt(parts)  # NaN where there is one validation part
        self.failed: NDArray[np.intp] = np.asarray(columns["failed_parts"]).reshape(folds, -1).sum(axis=0)
        unfinished = np.asarray(columns.get("unfinished_parts", np.zeros(folds * self.count, dtype=int)))
        self.dropped: NDArray[np.intp] = (unfinished.reshape(folds, -1) > 0).sum(
            axis=0
        )  # number of folds where a race dropped it
        self.families = list(columns["family"][: self.count])
        always = record.about.get("parameters", {})
        names = [name for name in columns if name.startswith("param_")]
        self.params = [
            params_in({name: columns[name][candidate] for name in names}, always.get(str(self.families[candidate]), ()))
            for candidate in range(self.count)
        ]

    def shown(self, value: float) -> float | None:
        """Return a mean in the user's own sign; None for NaN."""
        return None if np.isnan(value) else self.sign * float(value) + 0.0

    def best_of(self, candidates: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the best mean of these candidates in each fold, infinite if all failed, and its standard error."""
        means = np.where(np.isnan(self.means[:, candidates]), np.inf, self.means[:, candidates])
        folds, best = np.arange(len(means)), means.argmin(axis=1)
        return means[folds, best], self.errors[:, candidates][folds, best]


def has_candidates(record: StudyRecord) -> bool:
    """Return whether there were several candidates to choose from."""
    return bool(record.tables["candidates"]) and record.about["candidates"] > 1


def _chosen(record: StudyRecord) -> list[int]:
    """Return the chosen candidate of each fold, without folds where none was chosen."""
    return [int(candidate) for candidate in record.tables["choices"].get("candidate", ()) if candidate >= 0]


def candidate_rows(record: StudyRecord) -> list[dict[str, Any]]:
    """Return one row for each candidate, sorted by mean loss; candidates that failed in some fold come last."""
    if not has_candidates(record):
        return []
    validation, chosen = ValidationTable(record), Counter(_chosen(record))
    means, errors = validation.means.mean(axis=0), validation.errors.mean(axis=0)
    order = np.argsort(means, kind="stable")[:MOST_ROWS]  # NaN comes last
    return [
        {
            "candidate": candidate,
            "family": validation.families[candidate],
            "params": validation.params[candidate],
            "mean": validation.shown(means[candidate]),
            "se": None if np.isnan(errors[candidate]) else float(errors[candidate]),
            "chosen": chosen[candidate],
            "failed": int(validation.failed[candidate]),
            "note": _note(int(validation.failed[candidate]), int(validation.dropped[candidate]), len(validation.means)),
        }
        for candidate in order.tolist()
    ]


def _note(failed: int, dropped: int, folds: int) -> str | None:
    """Return why a candidate has no mean; None if nothing is to be said."""
    words = [f"{failed} fits failed"] if failed else []
    words += [f"dropped by the race in {dropped} of {folds} folds"] if dropped else []
    return ", ".join(words) or None


def parameters_figure(record: StudyRecord) -> Figure:
    """Return one panel for each parameter of each family that takes several values: loss against the value."""
    if not has_candidates(record):
        return {"none": "Nothing was chosen: there is one candidate."}
    validation = ValidationTable(record)
    chosen = _chosen(record)
    simplest = [int(c) for c in record.tables.get("one_se", {}).get("candidate", ())]
    panels = []
    for family in dict.fromkeys(validation.families):
        of_family = [candidate for candidate in range(validation.count) if validation.families[candidate] == family]
        for param in dict.fromkeys(name for candidate in of_family for name in validation.params[candidate]):
            panel = _panel(validation, of_family, param, chosen=chosen, simplest=simplest)
            if panel is not None:
                panels.append({"family": family, "param": param, **panel})
    if not panels:
        return {"none": "No parameter takes several values."}
    return {
        "loss": validation.loss,
        "greater_is_better": validation.sign < 0,
        "one_se": _one_se(validation),
        "panels": panels[:MOST_PANELS],
        "left_out": [panel["param"] for panel in panels[MOST_PANELS:]],
    }


def _panel(
    validation: ValidationTable, of_family: list[int], param: str, *, chosen: list[int], simplest: list[int]
) -> Figure | None:
    set_here = [candidate for candidate in of_family if param in validation.params[candidate]]
    values = {candidate: _value(validation.params[candidate][param]) for candidate in set_here}
    distinct = list(dict.fromkeys(values.values()))
    if len(distinct) < 2:
        return None
    scale = _scale(distinct)
    if scale != "category":
        distinct.sort()
    points = [_point(validation, value, [p for p, v in values.items() if v == value]) for value in distinct]
    counts = Counter(values[candidate] for candidate in chosen if candidate in values)
    taken = Counter(values[candidate] for candidate in simplest if candidate in values)
    return {
        "scale": scale,
        "values": len(distinct),
        "points": _thinned(points, counts, validation.sign),
        "chosen": [[value, counts[value]] for value in distinct if counts[value]],
        "simplest": taken.most_common(1)[0][0] if taken else None,
    }


def _point(validation: ValidationTable, value: Any, candidates: list[int]) -> Figure:
    """Return the mean over folds of the best loss with this value, and the mean standard error within a fold."""
    found, errors = validation.best_of(candidates)
    whole = bool(np.isfinite(found).all())
    known = whole and not np.isnan(errors).any()
    return {
        "value": value,
        "mean": validation.shown(float(found.mean())) if whole else None,
        "se": float(errors.mean()) if known else None,
        "candidates": len(candidates),
    }


def _thinned(points: list[Figure], chosen: Counter[Any], sign: int) -> list[Figure]:
    """Reduce the points to those that can be told apart: the best of each segment, and every chosen value."""
    if len(points) <= MOST_VALUES:
        return points
    kept = []
    for stretch in np.array_split(np.arange(len(points)), MOST_VALUES):
        near = [points[number] for number in stretch]
        with_mean = [point for point in near if point["mean"] is not None]
        best = min(with_mean, key=lambda point: sign * point["mean"]) if with_mean else near[0]
        kept += [point for point in near if point is best or chosen[point["value"]]]
    return kept


def _one_se(validation: ValidationTable) -> Figure | None:
    """Return the mean over folds of the best loss, and the same plus one standard error; None if some are unknown."""
    found, errors = validation.best_of(range(validation.count))
    if not np.isfinite(found).all() or np.isnan(errors).any():
        return None
    return {"best": validation.shown(float(found.mean())), "limit": validation.shown(float((found + errors).mean()))}


def _value(value: Any) -> Any:
    """Return numbers unchanged, and anything else as text; so are NaN, which equals nothing, and too large integers."""
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


def stability_figure(record: StudyRecord) -> Figure:
    """Count in how many folds each candidate was chosen, and each value of its parameters."""
    choices = choices_of(record)
    if record.about["candidates"] < 2 or not choices:
        return {"none": "Nothing was chosen: there is one candidate."}
    rows: dict[int, Figure] = {}
    for choice in choices:
        family, params = choice["family"], choice["params"]
        if choice["candidate"] >= 0:
            row = {"words": choice_words(family, params), "family": family, "params": params, "count": 0, "folds": []}
            row = rows.setdefault(choice["candidate"], row)
            row["count"] += 1
            row["folds"].append(choice["fold"])
    if not rows:
        return {"none": "Nothing was chosen: every candidate failed."}
    ordered = sorted(rows.values(), key=lambda row: -row["count"])
    return {"folds": len(choices), "choices": ordered, "params": _by_param(ordered)}


def _by_param(rows: list[Figure]) -> list[Figure]:
    counts: dict[tuple[str, str], Counter[Any]] = {}
    for row in rows:
        for name, value in row["params"].items():
            key = value if isinstance(value, int | float | str) else repr(value)
            counts.setdefault((row["family"], name), Counter())[key] += row["count"]
    return [
        {"family": family, "param": param, "values": [{"value": v, "count": n} for v, n in found.most_common()]}
        for (family, param), found in counts.items()
    ]
