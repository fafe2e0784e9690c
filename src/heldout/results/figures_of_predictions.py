"""Computes what a classifier does on held-out rows: ROC, precision and recall, gains, thresholds, and each class.

The curves are those of all held-out rows together, as scikit-learn computes them from the same predictions. The area
under the ROC curve is the mean over folds, as everywhere, since scores of different predictors have no common scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.results.study_record import Columns, StudyRecord, rows_of
from heldout.risk.intervals.method import wilson_ends, z_quantile
from heldout.risk.widening import effective_count

MOST_CURVES = 6  # classes with a curve of their own in a figure
MOST_POINTS = 120  # of all curves of a figure
FEWEST_POINTS = 40  # of one of several curves
MOST_CLASSES = 100  # rows of the figure of classes
SEVERAL = "Each row has several labels, and which were mixed up is no one table."
ONE_CLASS = "All held-out rows are of one class, so there is nothing to tell apart."
NO_SCORES = "Neither probabilities nor decision values were recorded: the learner has none, or loss=[…, 'log'] asks."

Figure = dict[str, Any]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def refusal(record: StudyRecord, *, of_classes: bool, what: str) -> str | None:
    """Return why a figure is empty: the target is of the other kind, or row results are missing. Else return None."""
    classes = record.about["classes"]
    if bool(record.about.get("classification", classes is not None)) != of_classes:
        return f"The target is a {'number' if of_classes else 'class'}, so there are no {what}."
    if of_classes and classes is None:
        return SEVERAL
    return withheld(record)


def withheld(record: StudyRecord) -> str | None:
    """Return why the results of single rows cannot be shown; None if they can."""
    answer = record.about.get("answer", "full")
    if answer != "full":
        return f"Results of single rows are withheld, as answer={answer!r} asks."
    if record.tables["predictions"]:
        return None
    return str(record.about.get("no_predictions", "No test row was predicted."))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """Says how intervals of shares are made: at which level, and from how many draws for each row of the table."""

    level: float
    distinct: float  # distinct rows as a share of the rows of the table, which repeats hold out several times

    @classmethod
    def of(cls, record: StudyRecord) -> Band | None:
        """Return None where rows follow each other in time or come in groups, so that they are no draws."""
        if {"groups", "time"} & set(record.about["roles"]):
            return None
        rows = np.asarray(record.tables["predictions"]["row"])
        return cls(level=float(record.about["level"]), distinct=len(np.unique(rows)) / len(rows))

    def ends(self, shares: Floats, draws: Floats) -> tuple[Floats, Floats]:
        """Return the ends of Wilson's interval of each share."""
        z, each = z_quantile(self.level), zip(shares.tolist(), draws.tolist(), strict=True)
        found = [(np.nan, np.nan) if np.isnan(share) else wilson_ends(share, n, z) for share, n in each]
        low, high = np.array(found, dtype=np.float64).reshape(-1, 2).T
        return low, high


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """Holds one class against the rest: weighted counts of the rows at or above each score, from the highest down."""

    label: Any
    scores: Floats
    hits: Floats  # rows of the class
    alarms: Floats  # rows of the others
    draws: tuple[float, float]  # distinct rows of equal weight that the rows of the class, and the others, are worth
    area: float  # under the ROC curve
    by_fold: bool  # whether the area is the mean over folds; else it is that of all rows, since a fold lacks a class
    probability: bool

    @classmethod
    def of(cls, label: Any, positive: Flags, score: Floats, columns: Columns, *, distinct: float) -> Ranked:
        """Rank the rows of the table of predictions by `score`; `positive` says which are of the class."""
        weight, folds = np.asarray(columns.get("sample_weight", np.ones(len(score)))), np.asarray(columns["fold"])
        kept = weight > 0
        positive, score, weight, folds = positive[kept], score[kept], weight[kept], folds[kept]
        scores, hits, alarms = _cumulated(positive, score, weight)
        area, by_fold = _mean_area(positive, score, weight, folds)
        draws = tuple(distinct * effective_count(weight[rows]) if rows.any() else 0.0 for rows in (positive, ~positive))
        return cls(
            label=label,
            scores=scores,
            hits=hits,
            alarms=alarms,
            draws=(draws[0], draws[1]),
            area=area,
            by_fold=by_fold,
            probability=f"proba_{label}" in columns,
        )

    @property
    def share(self) -> float:
        """The share of the rows that are of the class."""
        return float(self.hits[-1] / (self.hits[-1] + self.alarms[-1]))

    @property
    def precision(self) -> float:
        """The average precision, over all rows together."""
        return float(np.sum(np.diff(self.hits, prepend=0.0) / self.hits[-1] * self.hits / (self.hits + self.alarms)))


def _cumulated(positive: Flags, score: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each distinct score from the highest down, and the weight of both kinds of rows at or above it."""
    order = np.argsort(-score, kind="stable")
    positive, score, weight = positive[order], score[order], weight[order]
    last = np.append(np.flatnonzero(np.diff(score)), len(score) - 1)
    return score[last], np.cumsum(positive * weight)[last], np.cumsum(~positive * weight)[last]


def _mean_area(positive: Flags, score: Floats, weight: Floats, folds: NDArray[Any]) -> tuple[float, bool]:
    """Return the area under the ROC curve, as a mean over folds if each has both kinds of rows; a fold weighs as much
    as its rows."""
    names, codes = np.unique(folds, return_inverse=True)
    both = [np.bincount(codes, weights=kind, minlength=len(names)) > 0 for kind in (positive, ~positive)]
    if not (both[0] & both[1]).all():
        return (_area(positive, score, weight) if positive.any() and not positive.all() else np.nan), False
    areas = [_area(positive[own], score[own], weight[own]) for own in (codes == code for code in range(len(names)))]
    masses = np.bincount(codes, weights=weight) if (weight != 1).any() else None
    return float(np.average(areas, weights=masses)), True


def _area(positive: Flags, score: Floats, weight: Floats) -> float:
    _, hits, alarms = _cumulated(positive, score, weight)
    return float(np.trapezoid(np.append(0.0, hits), np.append(0.0, alarms)) / (hits[-1] * alarms[-1]))


def positive_class(record: StudyRecord) -> Any:
    """Return the class that a curve of two classes is of: the one that was named, else the second; else None."""
    classes, named = list(record.about["classes"] or []), record.about.get("positive")
    return None if len(classes) != 2 else classes[1] if named is None else named


def ranked_classes(record: StudyRecord) -> list[Ranked] | str:
    """Rank the held-out rows for each class, or for the positive one of two; or return the reason why not."""
    if (why := refusal(record, of_classes=True, what="classes to tell apart")) is not None:
        return why
    columns, classes = record.tables["predictions"], list(record.about["classes"])
    if "y" not in columns:
        return SEVERAL
    scores = {label: columns[f"proba_{label}"] for label in classes if f"proba_{label}" in columns}
    positive = positive_class(record)
    if positive is not None:
        if not scores and "decision_function" in columns:
            decided = np.asarray(columns["decision_function"])
            scores = {positive: decided if positive == classes[1] else -decided}
        scores = {label: score for label, score in scores.items() if label == positive}
    if not scores:
        return NO_SCORES
    true, rows = np.asarray(columns["y"]), np.asarray(columns["row"])
    distinct = len(np.unique(rows)) / len(rows)
    found = [
        Ranked.of(label, true == label, np.asarray(score, dtype=np.float64), columns, distinct=distinct)
        for label, score in scores.items()
    ]
    found = [one for one in found if one.hits[-1] and one.alarms[-1]]
    return sorted(found, key=lambda one: -one.hits[-1]) or ONE_CLASS


def roc_points(ranked: Ranked, band: Band | None, most: int | None = None) -> Columns:
    """Return scikit-learn's ROC curve, with an interval of the true positive rate at each false positive rate.

    Both rates are estimated, so Wilson's interval of the first is joined with what the curve rises by within Wilson's
    interval of the second, as MOVER (the method of variance estimates recovery) does.
    """
    hits, alarms = ranked.hits, ranked.alarms
    turns = np.ones(len(hits), dtype=bool)  # points in the middle of a straight stretch are dropped
    turns[1:-1] = (np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0)
    columns = {
        "threshold": np.append(np.inf, ranked.scores[turns]),
        "fpr": np.append(0.0, alarms[turns]) / alarms[-1],
        "tpr": np.append(0.0, hits[turns]) / hits[-1],
    }
    whole, columns = columns, _thinned(columns, most)
    fpr, tpr, (draws, others) = columns["fpr"], columns["tpr"], ranked.draws
    if band is None:
        return columns
    of_tpr, of_fpr = band.ends(tpr, np.full(len(tpr), draws)), band.ends(fpr, np.full(len(fpr), others))
    along = [np.interp(end, whole["fpr"], whole["tpr"]) for end in of_fpr]
    low, high = (tpr + way * np.hypot(own - tpr, of - tpr) for way, own, of in zip((-1, 1), of_tpr, along, strict=True))
    low, high = low.clip(0, 1), high.clip(0, 1)
    return {**columns, "tpr_low": low, "tpr_high": high}


def pr_points(ranked: Ranked, band: Band | None, most: int | None = None) -> Columns:
    """Return scikit-learn's precision-recall curve, with Wilson's interval of each precision."""
    called = ranked.hits + ranked.alarms
    columns = {
        "threshold": np.append(ranked.scores[::-1], np.inf),
        "recall": np.append(ranked.hits[::-1] / ranked.hits[-1], 0.0),
        "precision": np.append((ranked.hits / called)[::-1], 1.0),
        "called": np.append((called / called[-1])[::-1], 0.0),
    }
    columns = _thinned(columns, most)
    called = columns.pop("called")
    if band is None:
        return columns
    low, high = band.ends(columns["precision"], called * sum(ranked.draws))
    return {**columns, "precision_low": low, "precision_high": high}


def gains_points(ranked: Ranked, band: Band | None, most: int | None = None) -> Columns:
    """Return the share of the class that is found in the share of rows with the highest scores, and the lift."""
    called = ranked.hits + ranked.alarms
    share, gain = called / called[-1], ranked.hits / ranked.hits[-1]
    columns = {
        "threshold": np.append(np.inf, ranked.scores),
        "share": np.append(0.0, share),
        "gain": np.append(0.0, gain),
        "lift": np.append(np.nan, gain / share),
    }
    columns = _thinned(columns, most)
    if band is None:
        return columns
    low, high = band.ends(columns["gain"], np.full(len(columns["gain"]), ranked.draws[0]))
    return {**columns, "gain_low": low, "gain_high": high}


def thresholds_points(ranked: Ranked, band: Band | None, most: int | None = None) -> Columns:
    """Return precision, recall, F1 and the share called positive at thresholds: hundredths of a probability, or
    hundredths of the rows by decision value."""
    grid = np.arange(1, 100) / 100
    if not ranked.probability:
        grid = np.unique(np.quantile(ranked.scores, grid))
    places = np.searchsorted(-ranked.scores, -grid, side="right")  # how many distinct scores reach the threshold
    hits, alarms = (np.append(0.0, counts)[places] for counts in (ranked.hits, ranked.alarms))
    called, every = hits + alarms, float(ranked.hits[-1] + ranked.alarms[-1])
    return {
        "threshold": grid,
        "precision": _ratio(hits, called),
        "recall": hits / ranked.hits[-1],
        "f1": 2 * hits / (called + ranked.hits[-1]),
        "share": called / every,
    }


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide; NaN where the divisor is 0."""
    ratio = np.full(len(whole), np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio


def _thinned(columns: Columns, most: int | None) -> Columns:
    """Keep at most so many points, evenly along the curve, with the first and the last among them."""
    size = len(columns["threshold"])
    if most is None or size <= most:
        return columns
    kept = np.unique(np.linspace(0, size - 1, most).astype(np.intp))
    return {name: values[kept] for name, values in columns.items()}


Points = Callable[[Ranked, Band | None, int | None], Columns]
CURVES: Mapping[str, Points] = {
    "roc": roc_points,
    "pr": pr_points,
    "gains": gains_points,
    "thresholds": thresholds_points,
}
OF_TWO = "With several classes no one threshold decides. The ROC and precision-recall curves are of each class."


def curve_columns(record: StudyRecord, name: str) -> Columns | str:
    """Return a curve of CURVES with every point, one class after the other; or the reason why there is none."""
    every = _ranked_for(record, name, ranked_classes(record))
    if isinstance(every, str):
        return every
    band = Band.of(record)
    tables = [(one.label, CURVES[name](one, band, None)) for one in every]
    joined = {key: np.concatenate([table[key] for _, table in tables]) for key in tables[0][1]}
    return {"class": [label for label, table in tables for _ in table["threshold"]], **joined}


def _ranked_for(record: StudyRecord, name: str, ranked: list[Ranked] | str) -> list[Ranked] | str:
    several = name == "thresholds" and not isinstance(ranked, str) and len(record.about["classes"]) > 2
    return OF_TWO if several else ranked


def class_columns(record: StudyRecord) -> Columns | str:
    """Return support, precision, recall and F1 of each class, by the recorded predictions; or the reason why not."""
    if (why := refusal(record, of_classes=True, what="classes")) is not None:
        return why
    columns = record.tables["predictions"]
    if "y" not in columns or "predict" not in columns:
        return SEVERAL
    true, predicted = np.asarray(columns["y"]), np.asarray(columns["predict"])
    labels, codes = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    own, guess = np.split(codes, 2)
    weight = np.asarray(columns.get("sample_weight", np.ones(len(true))), dtype=np.float64)
    totals = [np.bincount(one, weights=weight, minlength=len(labels)) for one in (own, guess)]
    right = np.bincount(own[own == guess], weights=weight[own == guess], minlength=len(labels))
    found: Columns = {"class": labels.tolist()}
    rows = [np.bincount(one, minlength=len(labels)) for one in (own, guess)]
    found |= {"support": rows[0], "predicted": rows[1]}
    band = Band.of(record)
    for name, total, codes in (("precision", totals[1], guess), ("recall", totals[0], own)):
        found[name] = _ratio(right, total)
        if band is not None:
            squares = np.bincount(codes, weights=weight**2, minlength=len(labels))
            ends = band.ends(found[name], band.distinct * np.nan_to_num(_ratio(total**2, squares)))
            found[f"{name}_low"], found[f"{name}_high"] = ends
    return {**found, "f1": _ratio(2 * right, totals[0] + totals[1])}


def figures_of_predictions(record: StudyRecord) -> dict[str, Figure]:
    """Return the figures of a classifier: each curve of the commonest classes, thinned, and the table of classes."""
    ranked, level = ranked_classes(record), record.about["level"]
    figures: dict[str, Figure] = {}
    for name in CURVES:
        every = _ranked_for(record, name, ranked)
        figures[name] = {"none": every} if isinstance(every, str) else {"level": level, **_curves(record, name, every)}
    table = class_columns(record)
    if isinstance(table, str):
        return {**figures, "classes": {"none": table}}
    rows = sorted(rows_of(table), key=lambda row: -row["support"])
    shown = [{**row, "class": str(row["class"])} for row in rows[:MOST_CLASSES]]
    return {**figures, "classes": {"level": level, "rows": shown, "left_out": len(rows) - len(shown)}}


def _curves(record: StudyRecord, name: str, every: Sequence[Ranked]) -> Figure:
    shown, band = every[:MOST_CURVES], Band.of(record)
    most = max(MOST_POINTS // len(shown), FEWEST_POINTS)
    return {
        "curves": [
            {
                "label": str(one.label),
                "share": one.share,
                "probability": one.probability,
                **({"area": one.area, "by_fold": one.by_fold} if name == "roc" else {}),
                **({"average_precision": one.precision} if name == "pr" else {}),
                "points": rows_of(CURVES[name](one, band, most)),
            }
            for one in shown
        ],
        "rows": len(record.tables["predictions"]["y"]),
        "left_out": len(every) - len(shown),
    }
