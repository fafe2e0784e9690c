"""Measures what the fold predictors use: permutation importance on held-out rows, coefficients, and kept columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from heldout.base.errors import LearnerError, OptionError
from heldout.base.warnings import catch_warnings
from heldout.base.words import fit_words
from heldout.kernels.scoring import ask_responses
from heldout.losses import Loss, call_scorer, mean_loss, needed_methods
from heldout.results.study_record import Columns, StudyRecord, rows_of
from heldout.risk.intervals.method import has_no_width
from heldout.risk.intervals.t_intervals import CORRECTED_T
from heldout.risk.record import Floats, Record
from heldout.study.study import OUTER, Study
from heldout.task import Task

IMPORTANCE, IN_FOLDS, COEFFICIENTS = "importance", "importance_in_folds", "coefficients"
REPEATS = 5
MOST_ROWS = 200  # of a figure: the largest
NO_IMPORTANCE = (
    "Not asked for: result.importance(), or evaluate(…, options=Options(importance=5)), fits each fold's predictor "
    "again and permutes each column of its held-out rows."
)
NO_COEFFICIENTS = (
    "Not asked for: result.coefficients, or evaluate(…, options=Options(importance=5)), fits each fold's predictor "
    "again and reads its coefficients."
)


def check_importance(task: Task, study: Study) -> None:
    """Raise an OptionError where columns of held-out rows cannot be permuted."""
    reasons = {
        "pandas frames and numpy arrays alone are permuted; pass X.to_pandas()": task.container == "polars",
        "a sparse X is not permuted; pass a dense one": task.container == "sparse",
        "X has no columns": task.n_columns is None,
        "a fold of one held-out row has nothing to exchange; take test=KFold(…)": study.splits[OUTER].held_sizes.min()
        < 2,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if reason is not None:
        raise OptionError(f"Permutation importance cannot be had here: {reason}.")


def importance_price(task: Task, study: Study, repeats: int) -> str:
    """Return what permutation importance costs beyond the study, in words."""
    parts, columns = study.splits[OUTER].parts, task.n_columns or 0
    each = 1
    if study.search.tuned and study.search.final == "ensemble":
        each = len(study.validation_splits(study.choices[0]))
    fits = 0 if isinstance(study.search.families[0].estimator, FrozenEstimator) else parts * each
    again = f"{fit_words(fits)} again" if fits else "no fit"
    return (
        f"importance: {again}, and {parts * (1 + columns * repeats):,} predictions of a fold's held-out rows "
        f"({columns:,} columns × {repeats} repeats)"
    )


def importance_tables(
    task: Task, study: Study, predictors: Sequence[Any], record: Record, *, loss: Loss, repeats: int, level: float
) -> dict[str, Columns]:
    """Return how much worse the loss gets when a column is permuted, by fold and as a mean over folds.

    It is scikit-learn's `permutation_importance` on the held-out rows of each fold, with the seed of the study. The
    interval is the corrected t over folds.
    """
    from sklearn.inspection import permutation_importance  # slow to import, and seldom needed

    check_importance(task, study)
    outer, names = study.splits[OUTER], feature_names(task)
    found = []
    for part, predictor in enumerate(predictors):
        rows = outer.held_rows(part)
        weight = None if task.weight is None else task.weight[rows]
        with catch_warnings():
            warnings.simplefilter("ignore")
            found.append(
                permutation_importance(
                    predictor,
                    task.take(rows),
                    task.y[rows],
                    scoring=partial(_score, loss=loss),
                    n_repeats=repeats,
                    random_state=study.search.seed % 2**32,
                    sample_weight=weight,
                )
            )
    means = np.stack([one.importances_mean for one in found])  # folds × columns
    in_folds: Columns = {
        "fold": np.repeat(np.arange(len(found)), len(names)),
        "feature": list(names) * len(found),
        "importance": means.ravel(),
        "sd": np.concatenate([one.importances_std for one in found]),
    }
    return {IMPORTANCE: _over_folds(names, means, record, level), IN_FOLDS: in_folds}


def _over_folds(names: Sequence[str], means: Floats, record: Record, level: float) -> Columns:
    """Return each column's mean importance over folds with its interval, the most important first."""
    low, high = np.full((2, len(names)), np.nan)
    for place, folds in enumerate(means.T):
        of_column = replace(record, fold_losses=folds)
        if CORRECTED_T.refusal(of_column) is None:
            interval = CORRECTED_T.interval(of_column, float(folds.mean()), level)
            if not has_no_width(interval):
                low[place], high[place] = interval.low, interval.high
    spread = means.std(axis=0, ddof=1) if len(means) > 1 else np.full(len(names), np.nan)
    columns = {"importance": means.mean(axis=0), "low": low, "high": high, "sd": spread}
    order = np.argsort(-columns["importance"], kind="stable")
    return {"feature": [names[place] for place in order], **{name: one[order] for name, one in columns.items()}}


def _score(predictor: Any, X: Any, y: NDArray[Any], sample_weight: Any = None, *, loss: Loss) -> float:
    """Return minus the loss of a predictor, so that greater is better as for scikit-learn's scorers."""
    if loss.asks_predictor:
        return -call_scorer(loss, predictor, X, y, sample_weight)
    responses = ask_responses(predictor, X, needed_methods((loss,)), np.arange(len(y)))
    return -mean_loss(loss, y, responses, sample_weight)


def feature_names(task: Task) -> tuple[str, ...]:
    """Return the names of the columns of X; x0, x1, … as in scikit-learn where there are none."""
    return task.columns or tuple(f"x{place}" for place in range(task.n_columns or 0))


def coefficient_columns(predictors: Sequence[Any]) -> Columns | str:
    """Return each coefficient's mean and spread over the fold predictors, and in how many folds it is not 0.

    Coefficients are in the unit of the columns after preparation. A column that a selector left out counts as 0. Where
    the model has no coefficients, only the columns that a selector keeps are counted. Without either, return why.
    """
    parts = [_parts(predictor) for predictor in predictors]
    kinds = sorted({type(last).__name__ for _, last in parts})
    if len(kinds) > 1:
        return f"The folds chose different models ({', '.join(kinds)}), whose coefficients mean different things."
    found = [_coefficients(*part) for part in parts]
    valued = all(value is not None for one in found for value in one.values())
    selects = any(hasattr(step, "get_support") for before, _ in parts if before is not None for _, step in before.steps)
    if not valued and not selects:
        return f"{kinds[0]} has no coefficients, and no step before it selects columns."
    keys = list(dict.fromkeys(key for one in found for key in one))
    table = np.array([[one.get(key, 0.0) if valued else float(key in one) for key in keys] for one in found])
    columns: Columns = {"feature": [name for name, _ in keys]}
    if any(output for _, output in keys):
        columns["class"] = [output for _, output in keys]
    if valued:
        spread = table.std(axis=0, ddof=1) if len(table) > 1 else np.full(len(keys), np.nan)
        columns |= {"mean": table.mean(axis=0), "sd": spread, "low": table.min(axis=0), "high": table.max(axis=0)}
    return {**columns, "selected": np.count_nonzero(table, axis=0), "folds": np.full(len(keys), len(table))}


def _parts(predictor: Any, before: Any = None) -> tuple[Any, Any]:
    """Return the steps before a model, if there are any, and the model. Averages of linear models are one of them."""
    if hasattr(predictor, "collapse"):
        with suppress(LearnerError):
            return _parts(predictor.collapse(), before)
    if isinstance(predictor, Pipeline):
        return _parts(predictor[-1], predictor[:-1] if len(predictor) > 1 else before)
    if isinstance(predictor, FrozenEstimator):
        return _parts(predictor.estimator, before)
    return _parts(predictor.regressor_, before) if hasattr(predictor, "regressor_") else (before, predictor)


def _coefficients(before: Any, last: Any) -> dict[tuple[str, str], float | None]:
    """Return the coefficients of one predictor by name of column and of class; None for columns without one."""
    values: Any = getattr(last, "coef_", None)
    dense = values.toarray() if hasattr(values, "toarray") else values
    table = None if dense is None else np.atleast_2d(np.asarray(dense))
    width = int(getattr(last, "n_features_in_", 0)) if table is None else table.shape[1]
    try:
        names = list(map(str, last.feature_names_in_ if before is None else before.get_feature_names_out()))
    except (AttributeError, ValueError):  # a step that gives no names, or X without names
        names = []
    names = names if len(names) == width else [f"x{place}" for place in range(width)]
    if table is None:
        return {(name, ""): None for name in names}
    classes = getattr(last, "classes_", ())
    outputs = classes if len(classes) == len(table) else range(len(table))
    labels = [str(output) for output in outputs] if len(table) > 1 else [""]
    return {(name, label): float(table[k, n]) for n, name in enumerate(names) for k, label in enumerate(labels)}


def importance_figure(record: StudyRecord) -> dict[str, Any]:
    """Return the most important columns, or why they are not known."""
    columns = record.tables.get(IMPORTANCE)
    if not columns:
        return {"none": NO_IMPORTANCE}
    rows = rows_of(columns)
    about = record.about[IMPORTANCE]
    return {**about, "level": record.about["level"], "rows": rows[:MOST_ROWS], "left_out": len(rows[MOST_ROWS:])}


def coefficients_figure(record: StudyRecord) -> dict[str, Any]:
    """Return the largest coefficients, or the columns that most folds keep, or why they are not known."""
    columns = record.tables.get(COEFFICIENTS)
    if not columns:
        return {"none": record.about.get("no_coefficients", NO_COEFFICIENTS)}
    rows = sorted(rows_of(columns), key=lambda row: (-abs(row.get("mean") or 0.0), -row["selected"]))
    return {"rows": rows[:MOST_ROWS], "left_out": len(rows[MOST_ROWS:])}
