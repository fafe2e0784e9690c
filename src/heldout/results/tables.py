"""Builds the tidy tables of a result as dicts of columns, which become pandas or polars data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.engine.run import Outcome
from heldout.engine.stream_passes import Tally
from heldout.results.test_losses import TestLosses
from heldout.search.search import Search
from heldout.study.answers import PanelTable, mean_over_parts
from heldout.study.choose import by_one_se
from heldout.study.study import OUTER, Choice, Study
from heldout.task import Task

Columns = dict[str, Any]
MOST_BY_ONE_SE = 10_000  # above so many candidates the one-standard-error choice is not computed
FOLD_COLUMNS = ("fold", "repeat", "train_rows", "held_rows")  # followed by one column for each loss


def fold_columns(study: Study, losses: TestLosses) -> Columns:
    """Return one row for each test part: its sizes, and each reported loss in the user's own sign."""
    outer = study.splits[OUTER]
    columns: Columns = {
        "fold": np.arange(outer.parts),
        "repeat": np.arange(outer.parts) * outer.recipe.repeats // max(outer.parts, 1),
        "train_rows": outer.train_sizes,
        "held_rows": outer.held_sizes,
    }
    for loss, record in zip(study.reported, losses.records, strict=True):
        columns[loss.name] = loss.sign * record.fold_losses + 0.0
    return columns


def choice_columns(outcome: Outcome) -> Columns:
    """Return one row for each choice: fold, candidate, parameters, validation loss, and counts of ties and failures."""
    study = outcome.study
    search, loss = study.search, study.search.losses[0]
    if not study.choices:
        return {}
    chosen = [study.chosen[choice.key] for choice in study.choices]
    columns: Columns = {
        "fold": np.array([choice.fold for choice in study.choices]),
        "candidate": np.array([-1 if c.candidate is None else c.candidate for c in chosen]),
        "family": [None if c.candidate is None else search.family_of(c.candidate).name for c in chosen],
        **_param_columns(search, [c.candidate for c in chosen]),
        f"validation_{loss.name}": np.array(
            [np.nan if c.inside is None else loss.sign * c.inside + 0.0 for c in chosen]
        ),
        "tied": np.array([c.tied for c in chosen]),
        "failed_candidates": np.array([c.failed for c in chosen]),
    }
    return columns


def candidate_columns(outcome: Outcome) -> Columns:
    """Return one row for each candidate in each fold: its parameters and its mean validation losses."""
    study = outcome.study
    search = study.search
    if not study.choices:
        return {}
    count, times = search.size, len(study.choices)
    tables = [outcome.tables.panels[choice.panel] for choice in study.choices]
    means = [mean_over_parts(table.losses, table.weights) for table in tables]
    by_choice = [_validation_columns(study, *of_choice) for of_choice in zip(study.choices, tables, means, strict=True)]
    params = _param_columns(search, list(range(count)))
    validation = {name: np.concatenate([columns[name] for columns in by_choice]) for name in by_choice[0]}
    return {
        "fold": np.repeat([choice.fold for choice in study.choices], count),
        "candidate": np.tile(np.arange(count), times),
        "family": [search.family_of(c).name for c in range(count)] * times,
        **{name: np.tile(c, times) if isinstance(c, np.ndarray) else c * times for name, c in params.items()},
        **validation,
    }


def _validation_columns(study: Study, choice: Choice, table: PanelTable, means: NDArray[np.float64]) -> Columns:
    """Return one row for each candidate of one choice: counts of validation parts, means and SDs of its losses."""
    parts = table.losses.shape[1]
    spreads = table.losses.std(axis=1, ddof=1) if parts > 1 else np.full_like(means, np.nan)
    unfinished = unfinished_cells(study, table, choice.panel)
    columns: Columns = {
        "parts": np.full(len(means), parts),
        "failed_parts": (np.isnan(table.losses[:, :, 0]) & ~unfinished).sum(axis=1),
        **({"unfinished_parts": unfinished.sum(axis=1)} if study.races else {}),
    }
    for number, loss in enumerate(study.search.losses):
        columns[f"validation_{loss.name}"] = loss.sign * means[:, number] + 0.0
        columns[f"validation_{loss.name}_sd"] = spreads[:, number]
    return columns


def unfinished_cells(study: Study, table: PanelTable, panel: str) -> NDArray[np.bool_]:
    """Return a mask, candidates × parts, of the cells that were not run because a race dropped their candidate."""
    race = study.races.get(panel)
    return ~table.answered if race is not None and race.over else np.zeros_like(table.answered)


def one_se_columns(outcome: Outcome) -> Columns:
    """Return the candidate of the one-standard-error rule for each choice; no columns if the rule cannot decide."""
    study = outcome.study
    if len(study.search) > MOST_BY_ONE_SE or not study.choices or study.races:
        return {}  # a candidate that a race dropped may have been within one standard error
    taken = [by_one_se(study.search, outcome.tables[choice.panel]) for choice in study.choices]
    if any(candidate is None for candidate in taken):
        return {}
    return {"fold": np.array([choice.fold for choice in study.choices]), "candidate": np.array(taken)}


def seconds_spent(outcome: Outcome) -> list[dict[str, Any]]:
    """Sum the seconds of fits and of scores: one row for each level and family."""
    families = outcome.study.search.families
    ends = np.cumsum([len(family.candidates) for family in families]).tolist()
    spent: dict[tuple[str, str], dict[str, Any]] = {}
    for panel in outcome.study.panels:
        table = outcome.tables.panels.get(panel.key)
        for family, start, end in zip(families, [0, *ends], ends, strict=False):
            first = 0 if table is None else table.candidates.start
            mine = slice(max(start - first, 0), max(end - first, 0))
            if table is None or not table.fit_seconds[mine].size:
                continue
            row = spent.setdefault((panel.level, family.name), {"fit": 0.0, "score": 0.0, "cells": 0})
            row["fit"] += float(table.fit_seconds[mine].sum())
            row["score"] += float(table.score_seconds[mine].sum())
            row["cells"] += int(table.fit_seconds[mine].size)
    return [{"level": level, "family": family, **row} for (level, family), row in spent.items()]


def prediction_columns(task: Task, outcome: Outcome, losses: TestLosses) -> Columns:
    """Return one row for each held-out row in each part: target, responses and row losses."""
    study = outcome.study
    if outcome.stream is not None:
        return {} if outcome.stream.kept is None else _predictions_of_stream(study, outcome.stream.kept)
    answered = [(tested, tested.responses) for tested in losses.parts if tested.responses is not None]
    if not answered:
        return {}
    responses = [one for _, one in answered]
    rows = [study.splits[OUTER].held_rows(tested.part) for tested, _ in answered]
    every = np.concatenate(rows)
    columns: Columns = {
        "fold": np.concatenate([np.full(len(r), tested.part) for r, (tested, _) in zip(rows, answered, strict=True)]),
        "row": every,
        **_split_columns("y", task.y[every]),
        **_split_columns("predict", np.concatenate([np.asarray(one.predict) for one in responses])),
    }
    if task.weight is not None:
        columns["sample_weight"] = task.weight[every]
    columns.update(_probability_columns(task, responses))
    decisions = [one.decision_function for one in responses]
    if all(one is not None and one.ndim == 1 for one in decisions):
        columns["decision_function"] = np.concatenate([np.asarray(one) for one in decisions])
    for number, loss in enumerate(study.reported):
        kept = [tested.row_losses[number] for tested, _ in answered]
        if all(one is not None for one in kept):
            columns[f"loss_{loss.name}"] = np.concatenate([np.asarray(one) for one in kept])
    return columns


def _predictions_of_stream(study: Study, kept: Sequence[Tally]) -> Columns:
    """Return the table of predictions from the rows that a stream kept."""
    predicted = [tally for tally in kept if tally.predicted]
    if not predicted:
        return {}
    columns = {
        "fold": np.concatenate([np.full(tally.count, fold) for fold, tally in enumerate(kept)]),
        "row": np.concatenate([rows for tally in predicted for rows in tally.rows]),
        "y": np.concatenate([y for tally in predicted for y in tally.y]),
        "predict": np.concatenate([one for tally in predicted for one in tally.predicted]),
    }
    for number, loss in enumerate(study.reported):
        if loss.rows is not None:
            columns[f"loss_{loss.name}"] = np.concatenate([one[number] for tally in predicted for one in tally.losses])
    return columns


def _probability_columns(task: Task, responses: Sequence[Responses]) -> Columns:
    if task.classes is None or any(one.predict_proba is None for one in responses):
        return {}
    wide = []
    for one in responses:
        probabilities = np.asarray(one.predict_proba)
        block = np.zeros((len(probabilities), len(task.classes)))
        block[:, np.searchsorted(task.classes, np.asarray(one.classes))] = probabilities
        wide.append(block)
    every = np.concatenate(wide)
    return {f"proba_{label}": every[:, i] for i, label in enumerate(task.classes)}


def failure_columns(outcome: Outcome) -> Columns:
    """Return one row for each failed cell: its panel, part and candidate, the stage, and the error."""
    describe = outcome.study.search.describe
    rows = [
        (panel, part, describe(candidate), failure.stage, failure.kind, failure.message, failure.traceback)
        for panel, candidate, part, failure in outcome.tables.failures()
    ]
    return _columns_of(rows, ("panel", "part", "candidate", "stage", "error", "message", "traceback"))


def warning_columns(outcome: Outcome) -> Columns:
    """Return one row for each warning of each cell: its panel, part and candidate, and the message."""
    describe = outcome.study.search.describe
    rows = [
        (panel, part, describe(candidate), category, message)
        for category, message, places in outcome.tables.warnings_in_order()
        for panel, candidate, part in places
    ]
    return _columns_of(sorted(rows), ("panel", "part", "candidate", "category", "message"))


def _columns_of(rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> Columns:
    """Convert rows to columns by name; "part" becomes an integer array."""
    columns: Columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return {**columns, "part": np.array(columns["part"], dtype=int)}


def _split_columns(name: str, values: Any) -> Columns:
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{i}": values[:, i] for i in range(values.shape[1])}


def _param_columns(search: Search, candidates: list[int | None]) -> Columns:
    params = [{} if c is None else search.params_of(c) for c in candidates]
    names = dict.fromkeys(name for family in search.families for name in family.candidates.names)
    return {f"param_{name}": _column([one.get(name) for one in params]) for name in names}


def _column(values: list[Any]) -> Any:
    kinds = {type(value) for value in values}
    if kinds <= {int, np.int64} or kinds <= {float, np.float64, int, np.int64}:
        return np.array(values)
    return values


def as_frame(columns: Mapping[str, Any], *, library: str = "pandas") -> Any:
    """Convert columns to a data frame of `library`, which is "pandas" or "polars"."""
    if library == "polars":
        import polars as pl

        return pl.DataFrame({name: _polars_column(values) for name, values in columns.items()}, strict=False)
    return pd.DataFrame(dict(columns))


def _polars_column(values: Any) -> Any:
    if isinstance(values, list):
        plain = all(value is None or isinstance(value, str | int | float | bool) for value in values)
        return values if plain else [None if value is None else str(value) for value in values]
    return values
