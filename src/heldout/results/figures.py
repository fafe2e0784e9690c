"""All figures of a result, by name: the data of each, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.plain import plain
from heldout.results.figures_of_candidates import chosen_times
from heldout.results.figures_of_parameters import parameters_figure
from heldout.results.figures_of_predictions import calibration_figure, confusion_figure, residuals_figure
from heldout.results.figures_of_stability import stability_figure
from heldout.results.record import Facts
from heldout.results.summary import is_shown
from heldout.risk.verdict import label_of
from heldout.splits.summary import Picture

Figure = dict[str, Any]


def figures_of(facts: Facts, picture: Picture | None) -> dict[str, Figure]:
    """What each figure of a result shows, as values that JSON can hold."""
    found: dict[str, Figure] = {
        "splits": _splits(picture),
        "folds": _folds(facts),
        "estimates": _estimates(facts),
        "parameters": parameters_figure(facts),
        "stability": stability_figure(facts, chosen_times(facts)),
        "calibration": calibration_figure(facts),
        "confusion": confusion_figure(facts),
        "residuals": residuals_figure(facts),
        "learning_curve": _learning_curve(facts),
        "time": _time(facts),
    }
    return {name: plain(figure) for name, figure in found.items()}


def _splits(picture: Picture | None) -> Figure:
    if picture is None:
        return {"none": "The rows of a stream are dealt into folds as they pass, and are not known one by one."}
    return picture_values(picture)


def picture_values(picture: Picture) -> Figure:
    """A picture of splits as plain values."""
    return {name: plain(getattr(picture, name)) for name in Picture.__slots__}


def _folds(facts: Facts) -> Figure:
    risk, folds = facts.estimates["risk"], facts.tables["folds"]
    values = list(folds[risk.loss])
    if risk.answer is not None:
        return {"none": f"Results of single parts are withheld, as answer={facts.about['answer']!r} asks."}
    columns = (folds["fold"], folds["repeat"], values, folds["train_rows"], folds["held_rows"])
    names = ("fold", "repeat", "value", "train_rows", "held_rows")
    return {
        **_scale(risk),
        "points": [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)],
        "value": risk.value,
        "low": risk.low,
        "high": risk.high,
        "level": risk.level,
    }


def _estimates(facts: Facts) -> Figure:
    """The risk and every estimate of the same loss that stands beside it."""
    risk = facts.estimates["risk"]
    rows = [
        {
            "name": name,
            "label": label_of(one),
            **{key: getattr(one, key) for key in ("value", "low", "high", "level", "optimistic")},
        }
        for name, one in facts.estimates.items()
        if one.loss == risk.loss
        and one.value is not None
        and name != "development_gap"  # a difference, on another scale
        and (name == "risk" or is_shown(name, one.as_dict()))
    ]
    if not rows:
        return {"none": risk.reason or "There is no value to show."}
    return {**_scale(risk), "rows": rows}


def _learning_curve(facts: Facts) -> Figure:
    columns = facts.tables.get("learning_curve")
    if columns is None:
        return {
            "none": "No learning curve was asked for: evaluate(…, options=Options(learning_curve=True)), or "
            "result.learning_curve, fits the learner on smaller parts of the same training rows."
        }
    names = {"size": "size", "value": "estimate", "low": "low", "high": "high"}
    rows = zip(*(columns[name] for name in names.values()), strict=True)
    extrapolated = facts.estimates.get("extrapolated")
    known = extrapolated is not None and extrapolated.value is not None
    return {
        **_scale(facts.estimates["risk"]),
        "points": [dict(zip(names, row, strict=True)) for row in rows],
        "extrapolated": {"size": extrapolated.train_size, "value": extrapolated.value}
        if known and extrapolated is not None
        else None,
    }


def _time(facts: Facts) -> Figure:
    passes = [
        {name: one[name] for name in ("name", "fits_before", "fits_after", "seconds")}
        for one in facts.plan["passes"]
        if one["used"]
    ]
    spent = facts.seconds.get("spent", [])
    return {"total": facts.seconds["total"], "bars": spent, "passes": passes}


def _scale(risk: Any) -> Mapping[str, Any]:
    return {"loss": risk.loss, "greater_is_better": risk.greater_is_better}
