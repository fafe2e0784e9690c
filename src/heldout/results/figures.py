"""Computes the data of each figure of a result or a comparison, or the reason why a figure has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.shown import plain
from heldout.results.figures_of_choices import parameters_figure, stability_figure
from heldout.results.figures_of_predictions import MOST_CURVES, figures_of_predictions, positive_class, refusal
from heldout.results.importance import coefficients_figure, importance_figure
from heldout.results.metrics import Metric
from heldout.results.study_record import StudyRecord, is_shown, rows_of
from heldout.results.subgroups import subgroups_figure
from heldout.results.tables import FOLD_COLUMNS
from heldout.risk.estimate import Estimate
from heldout.risk.intervals.binomial import clopper_pearson
from heldout.risk.verdict import label_of
from heldout.splits.summary import Picture
from heldout.study.study import TEST

MOST_CLASSES = 12  # in a confusion matrix: the most frequent ones; the others are merged
MOST_POINTS = 2_000
MOST_OUTPUTS = 4
BINS = 10
FEWEST_IN_A_BIN = 5
REST = "other classes"

Figure = dict[str, Any]
Column = NDArray[Any]


def figures_of(record: StudyRecord, picture: Picture | None) -> dict[str, Figure]:
    """Return the data of each figure of a result by name, as values that JSON can hold."""
    found: dict[str, Figure] = {
        "splits": _splits(picture),
        "folds": _folds(record),
        "estimates": _estimates(record),
        "parameters": parameters_figure(record),
        "stability": stability_figure(record),
        "calibration": calibration_figure(record),
        "confusion": confusion_figure(record),
        "residuals": residuals_figure(record),
        **figures_of_predictions(record),
        "importance": importance_figure(record),
        "coefficients": coefficients_figure(record),
        "subgroups": subgroups_figure(record),
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
    lead = next((one for one in record.metrics or () if one.decides and len(one.folds) == len(folds["fold"])), None)
    told = risk if lead is None else lead.estimate
    return {
        **_scale(told),
        **({} if lead is None else {"loss": lead.label}),
        "points": rows_of(
            {**{name: folds[name] for name in FOLD_COLUMNS}, "value": folds[risk.loss] if lead is None else lead.folds}
        ),
        **{name: getattr(told, name) for name in ("value", "low", "high", "level")},
    }


def _estimates(record: StudyRecord) -> Figure:
    """Return the risk and the other shown estimates of the same loss."""
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
    bars = record.seconds.get("spent", [])
    tests, rows = [bar for bar in bars if bar["level"] == TEST], int(np.sum(record.tables["folds"]["held_rows"]))
    cells = sum(bar["cells"] for bar in tests)
    each = {
        "fit": sum(bar["fit"] for bar in tests) / max(cells, 1),
        "predict": 1000 * sum(bar["score"] for bar in tests) / max(rows, 1),
    }
    return {"total": record.seconds["total"], "bars": bars, "passes": passes, "each": each if cells else None}


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
    leads: Mapping[str, Metric],
) -> dict[str, Any]:
    """Return the ranking with intervals, the differences of pairs, and the losses of each learner by test part.

    `folds` has the table of test parts of each learner that has a result, `leads` the score of each that leads.
    """
    first = next(iter(ranking.values()))
    names = [name for name in ranking if name in folds]
    values = {name: list(folds[name][first.loss]) for name in names}
    score: dict[str, Any] = {}
    if leads.keys() == ranking.keys():
        lead = next(iter(leads.values()))
        score = {"score": {"loss": lead.label, "greater_is_better": lead.estimate.greater_is_better}}
        ranking = {name: leads[name].estimate for name in ranking}
        values = {name: list(leads[name].folds) for name in names}
    return {
        **score,
        "loss": first.loss,
        "greater_is_better": first.greater_is_better,
        "rope": rope,
        "level": level,
        "pairs": [_only(pair, "first", "second", "difference", "low", "high", "verdict") for pair in pairs],
        "ranking": [{"name": n, **_only(e.as_dict(), "value", "low", "high", "level")} for n, e in ranking.items()],
        "folds": {"names": names, "values": list(values.values())},
    }


def confusion_figure(record: StudyRecord) -> Figure:
    """Return the confusion matrix over all test rows: true classes × predicted classes."""
    if (why := refusal(record, of_classes=True, what="classes to mix up")) is not None:
        return {"none": why}
    columns = record.tables["predictions"]
    if "y" not in columns or "predict" not in columns:
        return {"none": "Predicted classes were not recorded, or there are several targets a row."}
    true, predicted = np.asarray(columns["y"]), np.asarray(columns["predict"])
    classes = np.unique(np.concatenate([true, predicted]))
    counts = np.zeros((len(classes), len(classes)), dtype=np.intp)
    np.add.at(counts, (np.searchsorted(classes, true), np.searchsorted(classes, predicted)), 1)
    labels = [str(label) for label in classes]
    if len(labels) > MOST_CLASSES:
        labels, counts = _few(labels, counts)
    return {"labels": labels, "counts": counts, "rows": len(true)}


def _few(labels: list[str], counts: NDArray[np.intp]) -> tuple[list[str], NDArray[np.intp]]:
    """Keep the classes with the most rows, and merge all others into one."""
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    kept = np.sort(order[: MOST_CLASSES - 1])
    place = np.full(len(labels), MOST_CLASSES - 1)
    place[kept] = np.arange(len(kept))
    few = np.zeros((MOST_CLASSES, MOST_CLASSES), dtype=np.intp)
    np.add.at(few, (place[:, None], place[None, :]), counts)
    return [*(labels[i] for i in kept), REST], few


def calibration_figure(record: StudyRecord) -> Figure:
    """Return the calibration curves: observed frequency against predicted probability, for each class shown."""
    if (why := refusal(record, of_classes=True, what="probabilities")) is not None:
        return {"none": why}
    columns = record.tables["predictions"]
    labels = [(label, f"proba_{label}") for label in record.about["classes"] if f"proba_{label}" in columns]
    if not labels:
        return {"none": _no_probabilities(record)}
    true = np.asarray(columns["y"])
    if len(labels) == 2:  # the other class is the mirror image of the positive one
        labels = [pair for pair in labels if pair[0] == positive_class(record)]
    labels.sort(key=lambda pair: -int(np.count_nonzero(true == pair[0])))
    curves = [
        {"label": str(label), "bins": _bins(np.asarray(columns[name], dtype=float), true == label, record)}
        for label, name in labels[:MOST_CURVES]
    ]
    return {"curves": curves, "rows": len(true)}


def _no_probabilities(record: StudyRecord) -> str:
    reasons = (one.estimate.reason for one in record.metrics or () if one.estimate.loss == "logloss")
    return next((reason for reason in reasons if reason), "The learner gives no probabilities.")


def _bins(predicted: Column, happened: Column, record: StudyRecord) -> list[Mapping[str, Any]]:
    """Bin predicted probabilities into bins of about equally many rows; equal probabilities share a bin."""
    order = np.argsort(predicted, kind="stable")
    predicted, happened = predicted[order], happened[order]
    parts = max(1, min(BINS, len(predicted) // FEWEST_IN_A_BIN))
    edges = np.percentile(predicted, np.linspace(0, 1, parts + 1)[1:-1] * 100)  # as scikit-learn's calibration_curve
    cuts = np.unique(np.searchsorted(predicted, edges, side="right"))
    found: list[Mapping[str, Any]] = []
    for low, high in zip([0, *cuts], [*cuts, len(predicted)], strict=True):
        if low == high:
            continue
        count = int(happened[low:high].sum())
        sure = clopper_pearson(count, int(high - low), level=float(record.about["level"]))
        found.append(
            {
                "low": float(predicted[low]),
                "high": float(predicted[high - 1]),
                "predicted": float(predicted[low:high].mean()),
                "observed": count / int(high - low),
                "observed_low": sure.low,
                "observed_high": sure.high,
                "rows": int(high - low),
            }
        )
    return found


def residuals_figure(record: StudyRecord) -> Figure:
    """Return residuals, target minus prediction, against predictions, for each output."""
    if (why := refusal(record, of_classes=False, what="residuals")) is not None:
        return {"none": why}
    columns = record.tables["predictions"]
    names = [name.removeprefix("y") for name in columns if name == "y" or name.startswith("y_")]
    outputs = [
        {
            "label": suffix.removeprefix("_"),
            **_residuals(np.asarray(columns[f"y{suffix}"]), np.asarray(columns[f"predict{suffix}"])),
        }
        for suffix in names[:MOST_OUTPUTS]
        if f"predict{suffix}" in columns and np.asarray(columns[f"y{suffix}"]).dtype.kind in "iufb"
    ]
    if not outputs:
        return {"none": "Predictions were not recorded as numbers."}
    rows = len(columns["row"])
    return {"outputs": outputs, "rows": rows, "sampled": rows > MOST_POINTS}


def _residuals(true: Column, predicted: Column) -> Figure:
    predicted = predicted.astype(float)
    residual = true.astype(float) - predicted
    shown = np.unique(np.linspace(0, len(true) - 1, min(len(true), MOST_POINTS)).astype(np.intp))
    order = np.argsort(predicted, kind="stable")
    parts = max(1, min(BINS, len(true) // (2 * FEWEST_IN_A_BIN)))
    bands = []
    for part in np.array_split(order, parts):
        low, middle, high = np.quantile(residual[part], [0.05, 0.5, 0.95])
        bands.append({"predicted": float(predicted[part].mean()), "low": low, "middle": middle, "high": high})
    points = [{"predicted": p, "residual": r} for p, r in zip(predicted[shown], residual[shown], strict=True)]
    return {"points": points, "bands": bands if len(true) >= 2 * FEWEST_IN_A_BIN else []}
