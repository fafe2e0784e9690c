"""Computes what a classifier does on held-out rows: ROC, precision and recall, gains, thresholds, and each class.

The curves are those of all held-out rows together, as scikit-learn computes them from the same predictions. The area
under the ROC curve is the mean over folds, as everywhere, since scores of different predictors have no common scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.results.study_record import Columns, StudyRecord, rows_of
from heldout.risk.intervals.method import wilson_ends, z_quantile
from heldout.risk.widening import effective_count

CURVES = ("roc", "pr", "gains", "thresholds")
MOST_CURVES = 6  # classes with a curve of their own in a figure
MOST_POINTS, FEWEST_POINTS = 120, 40  # of all curves of a figure, and of one of several
MOST_CLASSES = 100  # rows of the figure of classes
SEVERAL = "Each row has several labels, and which were mixed up is no one table."
ONE_CLASS = "All held-out rows are of one class, so there is nothing to tell apart."
NO_SCORES = "Neither probabilities nor decision values were recorded: the learner has none, or loss=[…, 'log'] asks."
OF_TWO = "With several classes no one threshold decides. The ROC and precision-recall curves are of each class."

Figure = dict[str, Any]
Floats = NDArray[np.float64]


def refusal(record: StudyRecord, *, of_classes: bool, what: str) -> str | None:
    """Return why a figure is empty: the target is of the other kind, or row results are missing. Else return None."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """Holds one class against the rest: the weight of the rows at or above each score, from the highest down."""

    label: Any
    scores: Floats
    hits: Floats  # rows of the class
    alarms: Floats  # rows of the others
    draws: tuple[float, float] | None  # independent rows that both kinds are worth; None: they are no draws
    level: float = 0.95
    probability: bool = True
    by_fold: tuple[float, ...] = ()  # the area under the ROC curve in each fold, if each has both kinds of rows

    @property
    def area(self) -> float:
        """The area under the ROC curve, in the mean over folds where each has one."""
        return float(np.mean(self.by_fold)) if self.by_fold else _area(self.hits, self.alarms)


def ranked_of(record: StudyRecord, label: Any, score: Floats) -> Ranked:
    """Rank the held-out rows by the score of one class; rows of zero weight do not count."""
    columns = record.tables["predictions"]
    weight, distinct = _weights(record)
    kept = weight > 0
    own, score, weight = (np.asarray(columns["y"]) == label)[kept], score[kept], weight[kept]
    scores, hits, alarms = cumulated(own, score, weight)
    names, folds = np.unique(np.asarray(columns["fold"])[kept], return_inverse=True)
    both = all(np.bincount(folds, weights=kind, minlength=len(names)).all() for kind in (own, ~own))
    parts = [folds == fold for fold in range(len(names))] if both else []
    areas = [_area(*cumulated(own[part], score[part], weight[part])[1:]) for part in parts]
    if areas and "sample_weight" in columns:  # then a fold weighs as much as its rows
        masses = np.array([weight[part].sum() for part in parts])
        areas = (areas * masses / masses.mean()).tolist()
    draws = None
    if distinct is not None and hits[-1] and alarms[-1]:
        draws = distinct * effective_count(weight[own]), distinct * effective_count(weight[~own])
    return Ranked(
        label=label,
        scores=scores,
        hits=hits,
        alarms=alarms,
        draws=draws,
        level=record.about["level"],
        probability=f"proba_{label}" in columns,
        by_fold=tuple(areas),
    )


def _weights(record: StudyRecord) -> tuple[Floats, float | None]:
    """Return the weight of each held-out row, and the share of these rows that are distinct, since repeats hold rows
    out several times. The share is None where rows come in groups or follow each other in time, so are no draws."""
    rows = np.asarray(record.tables["predictions"]["row"])
    weight = np.asarray(record.tables["predictions"].get("sample_weight", np.ones(len(rows))), dtype=np.float64)
    dependent = {"groups", "time"} & set(record.about["roles"])
    return weight, None if dependent else len(np.unique(rows)) / len(rows)


def cumulated(own: NDArray[np.bool_], score: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each distinct score from the highest down, and the weight of both kinds of rows at or above it."""
    order = np.argsort(-score, kind="stable")
    own, score, weight = own[order], score[order], weight[order]
    last = np.append(np.flatnonzero(np.diff(score)), len(score) - 1)
    return score[last], np.cumsum(own * weight)[last], np.cumsum(~own * weight)[last]


def _area(hits: Floats, alarms: Floats) -> float:
    return float(np.trapezoid(np.append(0.0, hits), np.append(0.0, alarms)) / (hits[-1] * alarms[-1]))


def positive_class(record: StudyRecord) -> Any:
    """Return the class that a curve of two classes is of: the one that was named, else the second; else None."""
    classes, named = list(record.about["classes"] or []), record.about.get("positive")
    return None if len(classes) != 2 else classes[1] if named is None else named


def ranked_classes(record: StudyRecord) -> list[Ranked] | str:
    """Rank the held-out rows for each class, or for the positive one of two; or return why there is no curve."""
    if (why := refusal(record, of_classes=True, what="classes to tell apart")) is not None:
        return why
    columns, classes, positive = record.tables["predictions"], list(record.about["classes"]), positive_class(record)
    scores = {label: columns[f"proba_{label}"] for label in classes if f"proba_{label}" in columns}
    if positive is not None:
        if not scores and "decision_function" in columns:
            decided = np.asarray(columns["decision_function"])
            scores = {positive: decided if positive == classes[1] else -decided}
        scores = {label: score for label, score in scores.items() if label == positive}
    found = [ranked_of(record, label, np.asarray(score, dtype=np.float64)) for label, score in scores.items()]
    known = [one for one in found if one.hits[-1] and one.alarms[-1]]
    return sorted(known, key=lambda one: -one.hits[-1]) or (ONE_CLASS if found else NO_SCORES)


def curve_points(ranked: Ranked, name: str, most: int | None = None) -> Columns:
    """Return a curve: every point of it, or at most so many, evenly along it with both ends among them.

    The curves are scikit-learn's; a table of thresholds has hundredths of a probability, or of the distinct decision
    values. The ends of intervals are Wilson's. Both rates of a ROC curve are estimated, so the interval of the true
    positive rate is joined with what the curve rises by within that of the false positive rate, as MOVER (the method of
    variance estimates recovery) does.
    """
    threshold, hits, alarms = np.append(np.inf, ranked.scores), np.append(0, ranked.hits), np.append(0, ranked.alarms)
    totals = float(hits[-1]), float(alarms[-1])
    if name == "thresholds":
        grid = np.arange(1, 100) / 100
        grid = grid if ranked.probability else np.unique(np.quantile(ranked.scores, grid))
        places = np.searchsorted(-threshold, -grid, side="right") - 1
        threshold, hits, alarms = grid, hits[places], alarms[places]
    tpr, fpr, called = hits / totals[0], alarms / totals[1], hits + alarms
    share, precision, f1 = called / sum(totals), _ratio(hits, called), 2 * hits / (called + totals[0])
    columns: Columns = {
        "roc": {"threshold": threshold, "fpr": fpr, "tpr": tpr},
        "pr": {"threshold": threshold, "recall": tpr, "precision": np.where(called > 0, precision, 1.0)},
        "gains": {"threshold": threshold, "share": share, "gain": tpr, "lift": _ratio(tpr, share)},
        "thresholds": {"threshold": threshold, "precision": precision, "recall": tpr, "f1": f1, "share": share},
    }[name]
    kept = np.arange(len(threshold))[:: -1 if name == "pr" else 1]
    if name == "roc":  # points in the middle of a straight stretch are dropped
        turns = (np.diff(alarms[1:], 2) != 0) | (np.diff(hits[1:], 2) != 0)
        kept = kept[np.r_[True, True, turns, True][: len(kept)]]
    if most is not None and len(kept) > most:
        kept = kept[np.unique(np.linspace(0, len(kept) - 1, most).astype(np.intp))]
    columns = {key: values[kept] for key, values in columns.items()}
    if ranked.draws is None or name == "thresholds":
        return columns
    own, others = ranked.draws
    of = {"roc": "tpr", "pr": "precision", "gains": "gain"}[name]
    draws = share[kept] * (own + others) if name == "pr" else np.full(len(kept), own)
    low, high = _wilson(columns[of], draws, ranked.level)
    if name == "roc":
        ends = _wilson(columns["fpr"], np.full(len(kept), others), ranked.level)
        near, far = (np.interp(end, fpr, tpr) - columns[of] for end in ends)
        low, high = (columns[of] - np.hypot(columns[of] - low, near), columns[of] + np.hypot(high - columns[of], far))
    return {**columns, f"{of}_low": low.clip(0, 1), f"{of}_high": high.clip(0, 1)}


def _wilson(shares: Floats, draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's interval of each share; NaN for a share that is NaN."""
    z, each = z_quantile(level), zip(shares.tolist(), draws.tolist(), strict=True)
    found = [(np.nan, np.nan) if np.isnan(share) else wilson_ends(share, n, z) for share, n in each]
    low, high = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return low, high


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide; NaN where the divisor is 0."""
    ratio = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


def curve_columns(record: StudyRecord, name: str) -> Columns | str:
    """Return one of CURVES with every point, one class after the other; or the reason why there is none."""
    every = _suited(record, name, ranked_classes(record))
    if isinstance(every, str):
        return every
    tables = [(one.label, curve_points(one, name)) for one in every]
    joined = {key: np.concatenate([table[key] for _, table in tables]) for key in tables[0][1]}
    return {"class": [label for label, table in tables for _ in table["threshold"]], **joined}


def _suited(record: StudyRecord, name: str, ranked: list[Ranked] | str) -> list[Ranked] | str:
    lacking = name == "thresholds" and not isinstance(ranked, str) and positive_class(record) is None
    return OF_TWO if lacking else ranked


def class_columns(record: StudyRecord) -> Columns | str:
    """Return support, precision, recall and F1 of each class, by the recorded predictions; or the reason why not."""
    if (why := refusal(record, of_classes=True, what="classes")) is not None:
        return why
    true, predicted = (np.asarray(record.tables["predictions"][name]) for name in ("y", "predict"))
    labels, codes = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    own, guess = np.split(codes, 2)
    (weight, distinct), count = _weights(record), len(labels)
    right = np.bincount(own[own == guess], weights=weight[own == guess], minlength=count)
    of_both = [np.bincount(one, weights=weight, minlength=count) for one in (guess, own)]
    found: Columns = {"class": labels.tolist()}
    found |= {"support": np.bincount(own, minlength=count), "predicted": np.bincount(guess, minlength=count)}
    for name, total, one in zip(("precision", "recall"), of_both, (guess, own), strict=True):
        found[name] = _ratio(right, total)
        if distinct is not None:
            draws = distinct * _ratio(total**2, np.bincount(one, weights=weight**2, minlength=count))
            found[f"{name}_low"], found[f"{name}_high"] = _wilson(found[name], draws, record.about["level"])
    return {**found, "f1": _ratio(2 * right, of_both[0] + of_both[1])}


def figures_of_predictions(record: StudyRecord) -> dict[str, Figure]:
    """Return the figures of a classifier: each curve of the commonest classes, thinned, and the table of classes."""
    figures, ranked = dict[str, Figure](), ranked_classes(record)
    for name in CURVES:
        every = _suited(record, name, ranked)
        figures[name] = {"none": every} if isinstance(every, str) else _curves(name, every)
    table = class_columns(record)
    if isinstance(table, str):
        return {**figures, "classes": {"none": table}}
    rows = sorted(rows_of(table), key=lambda row: -row["support"])
    shown = [{**row, "class": str(row["class"])} for row in rows[:MOST_CLASSES]]
    about = {"level": record.about["level"], "rows": shown, "left_out": len(rows) - len(shown)}
    return {**figures, "classes": about}


def _curves(name: str, every: list[Ranked]) -> Figure:
    curves, most = [], max(MOST_POINTS // min(len(every), MOST_CURVES), FEWEST_POINTS)
    for one in every[:MOST_CURVES]:
        hits, called = one.hits, one.hits + one.alarms
        about = {"label": str(one.label), "share": hits[-1] / called[-1], "probability": one.probability}
        if name == "roc":
            about |= {"area": one.area, "by_fold": bool(one.by_fold)}
        if name == "pr":
            about["average_precision"] = np.sum(np.diff(hits, prepend=0.0) / hits[-1] * hits / called)
        curves.append({**about, "points": rows_of(curve_points(one, name, most))})
    return {"level": every[0].level, "curves": curves, "left_out": max(len(every) - MOST_CURVES, 0)}
