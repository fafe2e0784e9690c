"""Estimates the risk in subgroups of the held-out rows, with intervals that hold together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heldout.base.errors import HeldoutError, RoleError, did_you_mean
from heldout.base.options import Options
from heldout.base.responses import Responses, cut_rows
from heldout.base.warnings import catch_warnings
from heldout.base.words import clipped, digits_of, percent, rounded
from heldout.engine.run import Outcome
from heldout.losses import Loss, default_losses, for_target, mean_loss
from heldout.results.further_losses import further_record
from heldout.results.study_record import Columns, Question, Slice, StudyRecord, rows_of
from heldout.results.test_losses import TestedPart, TestLosses, pooled_score
from heldout.risk.estimands import Estimand, Subject
from heldout.risk.estimate import Estimate
from heldout.risk.estimate_risk import WITH_FITS, estimate_risk, failed_parts
from heldout.risk.record import Answers, Record
from heldout.splits.drawn import Recipe, Splits
from heldout.study.study import OUTER
from heldout.task import Task
from heldout.task.arrays import as_array, column, is_frame

FEWEST_ROWS = 10  # with fewer rows a subgroup has no interval
MOST_VALUES = 10  # a column of more different numbers is cut at its quartiles
MOST_GROUPS = 30  # of one slice; the rarest others are taken together
OTHERS, MISSING = "other values", "missing"
SUBGROUPS = "subgroups"
NOT_ASKED = "No subgroups were asked for: slices='region' names a column, or an array, whose values make them."
_OF_ROWS = ("truth", "predicted", "probability", "scores")  # fields of Answers, one array a part


def read_slices(asked: Any, X: Any) -> tuple[Slice, ...]:
    """Return the slices that a user asks for: names of columns of X, arrays, or functions of X; one or several."""
    if asked is None:
        return ()
    if isinstance(asked, tuple) and all(isinstance(one, Slice) for one in asked):
        return asked  # read before, when columns were left out of X
    if isinstance(asked, Mapping):
        given = list(asked.items())
    elif isinstance(asked, list | tuple):
        given = [(None, one) for one in asked]
    else:
        given = [(None, asked)]
    slices = tuple(_slice(name, values, X, place) for place, (name, values) in enumerate(given, start=1))
    names = [one.name for one in slices]
    if twice := [name for name in names if names.count(name) > 1]:
        raise RoleError(f"slices= has two that are called {twice[0]!r}. Name them: slices={{'name': values, …}}.")
    return slices


def _slice(name: Any, values: Any, X: Any, place: int) -> Slice:
    if isinstance(values, str):
        name, values = values if name is None else name, _column(values, X)
    elif callable(values):
        name, values = getattr(values, "__name__", None) if name is None else name, values(X)
    elif name is None:
        name = getattr(values, "name", None)
    name = f"slice {place}" if name is None else str(name)
    labels, rows = as_array(values, cells=True), X.shape[0] if hasattr(X, "shape") else len(X)
    labels = labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (rows,):
        raise RoleError(
            f"slices= takes names of columns of X, or one label for each of its {rows:,} rows, but {name!r} has shape "
            f"{labels.shape}. Labels in a list go into an array: slices=numpy.array(labels)."
        )
    codes, names = _groups(labels, name)
    return Slice(name=name, codes=codes, labels=names)


def _column(name: str, X: Any) -> Any:
    if not is_frame(X):
        raise RoleError(f"slices={name!r} names a column, but X has no column names. Pass an array of labels.")
    if name not in X.columns:
        raise RoleError(f"slices={name!r} is no column of X. {did_you_mean(name, [str(one) for one in X.columns])}")
    return column(X, list(X.columns).index(name))


def _groups(values: NDArray[Any], name: str) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the code of each row and the names of the groups: values, or quarters of many different numbers."""
    column = pd.Series(values).infer_objects()
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    try:
        if (is_number or column.dtype.kind == "M") and column.nunique() > MOST_VALUES:
            if is_number:
                finite = column[np.abs(column) < np.inf]
                column = column.clip(finite.min(), finite.max())  # infinite numbers count as the largest
            quarters = pd.qcut(column, 4, duplicates="drop")
            codes, names = quarters.cat.codes.to_numpy(), _of_ranges(quarters.cat.categories)
        else:
            codes, labels = pd.factorize(column, sort=True)
            names = [str(label) for label in labels]
    except TypeError:
        raise RoleError(f"The slice {name!r} must hold labels that can be hashed, not {values[0]!r}.") from None
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    if len(names) > MOST_GROUPS:
        kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_GROUPS - 1])
        places = np.full(len(names), len(kept))
        places[kept] = np.arange(len(kept))
        codes, names = np.where(codes < 0, -1, places[codes]), [*(names[one] for one in kept), OTHERS]
    missing = codes < 0
    return np.where(missing, len(names), codes).astype(np.intp), (*names, *[MISSING] * bool(missing.any()))


def _of_ranges(ranges: Any) -> list[str]:
    """Return names of adjoining intervals, with as many digits as tell their ends apart."""
    ends = list(ranges.right[:-1])
    digits = next(d for d in range(4, 18) if d == 17 or len({_end(one, d) for one in ends}) == len(ends))
    shown = [_end(one, digits) for one in ends]
    middle = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"≤ {shown[0]}", *middle, f"> {shown[-1]}"] if shown else [f"up to {_end(ranges.right[-1], digits)}"]


def _end(value: Any, digits: int) -> str:
    return str(value) if isinstance(value, pd.Timestamp) else f"{value:.{digits}g}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """Holds the rows of a subgroup in one held-out part."""

    tested: TestedPart
    rows: NDArray[np.intp]  # of the task
    keep: NDArray[np.bool_]  # of the held-out rows of the part

    @property
    def responses(self) -> Responses | None:
        """What the part's predictor answered on these rows."""
        every = self.tested.responses
        return None if every is None else cut_rows(every, np.flatnonzero(self.keep))


def subgroup_columns(question: Question, outcome: Outcome, losses: TestLosses) -> Columns:
    """Return one row for each loss, slice and group: its rows, its risk, and an interval.

    Where nobody asked for a loss, the familiar score that leads comes first. The intervals of one loss hold together,
    by Bonferroni over all its subgroups that are large enough for one.
    """
    task, study, options = question.task, outcome.study, question.options
    outer, records = study.splits[OUTER], list(zip(study.reported, losses.records, strict=True))
    if not question.asks_loss:
        first, *_ = for_target(default_losses(classification=task.classification), task.classes)
        records.insert(0, (first, further_record(task, outcome, losses, first, pool=options.pool)))
    complete = [one.part for one in losses.parts if one.responses is not None] == list(range(outer.parts))
    failed = None if complete else failed_parts(losses.records[0])  # a mean over the other parts would mislead
    counts = np.ones(task.size, dtype=bool) if task.weight is None else task.weight > 0
    members = [
        (one.name, label, _members(outer, losses, counts & (one.codes == code)))
        for one in question.slices
        for code, label in enumerate(one.labels)
    ]
    sizes = [len(np.unique(np.concatenate([np.empty(0), *(part.rows for part in p)]))) for _, _, p in members]
    several = max(sum(size >= FEWEST_ROWS for size in sizes), 1)
    each = 1 - (1 - question.level) / several
    found = []
    for loss, whole in records:
        for (name, label, parts), rows in zip(members, sizes, strict=True):
            reason = failed or _reason(loss, rows)
            one = _estimate(task, loss, whole, [] if failed else parts, reason=reason, level=each, options=options)
            told = (one.value, one.low, one.high, one.level, one.method, one.guarantee, one.reason)
            found.append((name, label, rows, loss.name, *told))
    names = ("slice", "group", "rows", "loss", "value", "low", "high", "level", "method", "guarantee", "reason")
    columns = {name: [row[place] for row in found] for place, name in enumerate(names)}
    numbers = {name: np.array(columns[name], dtype=np.float64) for name in ("value", "low", "high", "level")}
    return {**columns, **numbers, "rows": np.array(columns["rows"], dtype=np.intp)}


def _members(outer: Splits, losses: TestLosses, inside: NDArray[np.bool_]) -> list[_Part]:
    held = [(tested, outer.held_rows(tested.part)) for tested in losses.parts]
    return [_Part(tested=tested, rows=rows[inside[rows]], keep=inside[rows]) for tested, rows in held]


def _reason(loss: Loss, rows: int) -> str | None:
    """Return why a subgroup has no value or no interval; None if it may have both."""
    if not rows:
        return "No value: no held-out row is of this subgroup."
    if loss.asks_predictor:
        return f"No value: {loss.name!r} asks the predictor itself, which is gone."
    few = f"No interval: {rows} {'row is' if rows == 1 else 'rows are'} too few ({FEWEST_ROWS} at least)."
    return few if rows < FEWEST_ROWS else None


def _estimate(
    task: Task, loss: Loss, whole: Record, parts: Sequence[_Part], *, reason: str | None, level: float, options: Options
) -> Estimate:
    record = _record(task, loss, whole, [part for part in parts if part.keep.any()])
    return estimate_risk(
        record,
        name=SUBGROUPS,
        estimand=Estimand("", Subject.LEARNER),
        level=level,
        interval=None if options.interval in WITH_FITS else options.interval,
        strict=False,
        pool=True if record.row_losses is not None else options.pool,
        reason=reason,
    )


def _record(task: Task, loss: Loss, whole: Record, parts: Sequence[_Part]) -> Record:
    """Return the record of the rows of a subgroup, in which each row weighs the same."""
    numbers, keep = [part.tested.part for part in parts], [part.keep for part in parts]

    def cut(values: Sequence[NDArray[Any]] | None) -> Any:
        return None if values is None else tuple(values[n][mask] for n, mask in zip(numbers, keep, strict=True))

    answered = [part.responses for part in parts if part.responses is not None]
    row_losses, weights = cut(whole.row_losses), cut(whole.weights)
    folds, pooled = [np.nan] * max(len(parts), 1), None
    with catch_warnings():
        warnings.simplefilter("ignore")  # scores that are not defined on some rows warn; the value is then missing
        if row_losses is not None:
            masses = weights or [np.ones(len(one)) for one in row_losses]
            folds = [float(np.dot(one, w) / w.sum()) for one, w in zip(row_losses, masses, strict=True)] or folds
        elif parts and len(answered) == len(parts) and not loss.asks_predictor:
            folds = [_score(loss, task, part) for part in parts]
            held = np.concatenate([part.rows for part in parts])
            sizes = np.array([len(part.rows) for part in parts])
            splits = Splits.from_sizes(held, held, sizes, Recipe(words="", kind="given"))
            pooled = pooled_score(task, splits, loss, answered)
    return replace(
        whole,
        fold_losses=np.array(folds),
        row_losses=row_losses if parts else None,
        weights=weights,
        groups=cut(whole.groups),
        rows=cut(whole.rows),
        order=cut(whole.order),
        halves=None,
        train_sizes=whole.train_sizes[numbers] if numbers else whole.train_sizes[:1],
        held_sizes=np.array([len(part.rows) for part in parts] or [0], dtype=np.intp),
        pooled=pooled,
        answers=_cut_answers(whole.answers, cut),
        even=True,
    )


def _score(loss: Loss, task: Task, part: _Part) -> float:
    """Return a score of a set on the rows of a subgroup in one part; NaN where it is not defined on them."""
    responses, weight = part.responses, None if task.weight is None else task.weight[part.rows]
    try:
        return np.nan if responses is None else mean_loss(loss, task.y[part.rows], responses, weight)
    except (HeldoutError, ValueError, ZeroDivisionError):
        return np.nan


def _cut_answers(answers: Answers | None, cut: Any) -> Answers | None:
    if answers is None:
        return None
    return replace(answers, **{name: cut(getattr(answers, name)) for name in _OF_ROWS})


def subgroups_figure(record: StudyRecord) -> dict[str, Any]:
    """Return the subgroups by the leading score, with a sentence that names the worst; or why there are none."""
    columns = record.tables.get(SUBGROUPS)
    if not columns:
        return {"none": NOT_ASKED}
    lead = next((one for one in record.metrics or () if one.decides and one.estimate.loss in columns["loss"]), None)
    risk = record.estimates["risk"] if lead is None else lead.estimate
    label, unit = (risk.loss, "") if lead is None else (lead.label, lead.unit)
    rows = [row for row in rows_of(columns) if row["loss"] == risk.loss]
    return {
        "loss": label,
        "unit": unit,
        "greater_is_better": risk.greater_is_better,
        "value": risk.value,
        "level": risk.level,
        "sentence": _worst(rows, risk, label=label, unit=unit),
        "rows": rows,
    }


def _worst(rows: Sequence[Mapping[str, Any]], risk: Estimate, *, label: str, unit: str) -> str:
    """Return a sentence on the subgroup with the worst risk among those that are large enough for an interval."""
    sure, small = [row for row in rows if row["low"] is not None], [row for row in rows if row["rows"] < FEWEST_ROWS]
    has = "has" if len(small) == 1 else "have"
    few = f" {len(small)} of {len(rows)} subgroups {has} fewer than {FEWEST_ROWS} rows, and no interval."
    left = few if small else ""
    if not sure or risk.value is None:
        return f"No subgroup has an interval.{left}"
    worst = max(sure, key=lambda row: (-1 if risk.greater_is_better else 1) * row["value"])
    low, high = worst["low"], worst["high"]
    value, *ends, whole = (
        percent(one, digits_of(low, high)) if unit == "share" else rounded(one, digits_of(low, high))
        for one in (worst["value"], low, high, risk.value)
    )
    return (
        f"The worst subgroup is {clipped(worst['slice'], 60)} {clipped(worst['group'], 60)}: {label} {value} "
        f"({ends[0].removesuffix(' %')} to {ends[1].removesuffix(' %')}) on {worst['rows']:,} rows. "
        f"Over all rows it is {whole}, which this interval {'holds' if low <= risk.value <= high else 'excludes'}. "
        f"The {100 * risk.level:.4g} % intervals of {len(sure)} subgroups hold together.{left}"
    )
