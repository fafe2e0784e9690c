"""What predictors answered on the test rows: which classes they mixed up, how sure they were, how far they were off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.results.study_record import StudyRecord
from heldout.risk.intervals.binomial import clopper_pearson

MOST_CLASSES = 12  # of a confusion table, by how many rows they have; the rest are one
MOST_CURVES = 6  # classes with a calibration curve of their own
MOST_POINTS = 2_000
MOST_OUTPUTS = 4
BINS = 10
FEWEST_IN_A_BIN = 5
REST = "other classes"
SEVERAL = "Each row has several labels, and which were mixed up is no one table."

Figure = dict[str, Any]
Column = NDArray[Any]


def _refusal(record: StudyRecord, *, of_classes: bool, what: str) -> str | None:
    """Why a figure has nothing to show: the target is of the other kind, or there are no results of single rows."""
    classes = record.about["classes"]
    if bool(record.about.get("classification", classes is not None)) != of_classes:
        return f"The target is a {'number' if of_classes else 'class'}, so there are no {what}."
    if of_classes and classes is None:
        return SEVERAL
    answer = record.about.get("answer", "full")
    if answer != "full":
        return f"Results of single rows are withheld, as answer={answer!r} asks."
    if record.tables["predictions"]:
        return None
    return str(record.about.get("no_predictions", "No test row was predicted."))


def confusion_figure(record: StudyRecord) -> Figure:
    """How many test rows of each class were taken for which."""
    if (why := _refusal(record, of_classes=True, what="classes to mix up")) is not None:
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
    """The classes with the most rows; all others taken together."""
    order = np.argsort(-counts.sum(axis=1), kind="stable")
    kept = np.sort(order[: MOST_CLASSES - 1])
    place = np.full(len(labels), MOST_CLASSES - 1)
    place[kept] = np.arange(len(kept))
    few = np.zeros((MOST_CLASSES, MOST_CLASSES), dtype=np.intp)
    np.add.at(few, (place[:, None], place[None, :]), counts)
    return [*(labels[i] for i in kept), REST], few


def calibration_figure(record: StudyRecord) -> Figure:
    """How often a class was the true one where its probability was said to be so large."""
    if (why := _refusal(record, of_classes=True, what="probabilities")) is not None:
        return {"none": why}
    columns = record.tables["predictions"]
    labels = [(label, f"proba_{label}") for label in record.about["classes"] if f"proba_{label}" in columns]
    if not labels:
        return {
            "none": "Probabilities were not recorded, since no loss of this study asks for them: add loss=[…, 'log']."
        }
    true = np.asarray(columns["y"])
    if len(labels) == 2:
        labels = labels[1:]  # the other class is its mirror image
    labels.sort(key=lambda pair: -int(np.count_nonzero(true == pair[0])))
    curves = [
        {"label": str(label), "bins": _bins(np.asarray(columns[name], dtype=float), true == label, record)}
        for label, name in labels[:MOST_CURVES]
    ]
    return {"curves": curves, "rows": len(true)}


def _bins(predicted: Column, happened: Column, record: StudyRecord) -> list[Mapping[str, Any]]:
    """Bins of about equally many rows; rows of equal probability stay together."""
    order = np.argsort(predicted, kind="stable")
    predicted, happened = predicted[order], happened[order]
    parts = max(1, min(BINS, len(predicted) // FEWEST_IN_A_BIN))
    wanted = np.arange(1, parts) * len(predicted) // parts
    cuts = np.unique(np.searchsorted(predicted, predicted[wanted], side="left"))
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
    """Target less prediction against the prediction, for each output."""
    if (why := _refusal(record, of_classes=False, what="residuals")) is not None:
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
