"""The data of the figures of a result and of a comparison, by name, or why a figure has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.plain import plain
from heldout.results.figures_of_choices import parameters_figure, stability_figure
from heldout.results.figures_of_predictions import calibration_figure, confusion_figure, residuals_figure
from heldout.results.study_record import StudyRecord
from heldout.results.summary import is_shown, rows_of
from heldout.results.tables import FOLD_COLUMNS
from heldout.risk.estimate import Estimate
from heldout.risk.verdict import label_of
from heldout.splits.summary import Picture

Figure = dict[str, Any]


def figures_of(record: StudyRecord, picture: Picture | None) -> dict[str, Figure]:
    """What each figure of a result shows, as values that JSON can hold."""
    found: dict[str, Figure] = {
        "splits": _splits(picture),
        "folds": _folds(record),
        "estimates": _estimates(record),
        "parameters": parameters_figure(record),
        "stability": stability_figure(record),
        "calibration": calibration_figure(record),
        "confusion": confusion_figure(record),
        "residuals": residuals_figure(record),
        "learning_curve": _learning_curve(record),
        "time": _time(record),
    }
    return {name: plain(figure) for name, figure in found.items()}


def _splits(picture: Picture | None) -> Figure:
    if picture is None:
        return {"none": "The rows of a stream are dealt into folds as they pass, and are not known one by one."}
    return {name: getattr(picture, name) for name in Picture.__slots__}


def _folds(record: StudyRecord) -> Figure:
    risk, folds = record.estimates["risk"], record.tables["folds"]
    if risk.answer is not None:
        return {"none": f"Results of single parts are withheld, as answer={record.about['answer']!r} asks."}
    return {
        **_scale(risk),
        "points": rows_of({**{name: folds[name] for name in FOLD_COLUMNS}, "value": folds[risk.loss]}),
        "value": risk.value,
        "low": risk.low,
        "high": risk.high,
        "level": risk.level,
    }


def _estimates(record: StudyRecord) -> Figure:
    """The risk and every estimate of the same loss that stands beside it."""
    risk = record.estimates["risk"]
    rows = [
        {
            "name": name,
            "label": label_of(one),
            **_only(one.as_dict(), "value", "low", "high", "level", "optimistic"),
        }
        for name, one in record.estimates.items()
        if one.loss == risk.loss
        and one.value is not None
        and name != "development_gap"  # a difference, on another scale
        and (name == "risk" or is_shown(name, one.as_dict()))
    ]
    if not rows:
        return {"none": risk.reason or "There is no value to show."}
    return {**_scale(risk), "rows": rows}


def _learning_curve(record: StudyRecord) -> Figure:
    columns = record.tables.get("learning_curve")
    if columns is None:
        return {
            "none": "No learning curve was asked for: evaluate(…, options=Options(learning_curve=True)), or "
            "result.learning_curve, fits the learner on smaller parts of the same training rows."
        }
    names = {"size": "size", "value": "estimate", "low": "low", "high": "high"}
    points = rows_of({name: columns[column] for name, column in names.items()})
    last = record.estimates.get("extrapolated")
    known = last is not None and last.value is not None
    extrapolated = {"size": last.train_size, "value": last.value} if last is not None and known else None
    return {**_scale(record.estimates["risk"]), "points": points, "extrapolated": extrapolated}


def _time(record: StudyRecord) -> Figure:
    used = [one for one in record.plan["passes"] if one["used"]]
    passes = [_only(one, "name", "fits_before", "fits_after", "seconds") for one in used]
    return {"total": record.seconds["total"], "bars": record.seconds.get("spent", []), "passes": passes}


def _only(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _scale(risk: Any) -> Mapping[str, Any]:
    return {"loss": risk.loss, "greater_is_better": risk.greater_is_better}


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
        "pairs": [_only(pair, "first", "second", "difference", "low", "high", "verdict") for pair in pairs],
        "ranking": [{"name": n, **_only(e.as_dict(), "value", "low", "high", "level")} for n, e in ranking.items()],
        "folds": {"names": names, "values": [list(folds[name][first.loss]) for name in names]},
    }
