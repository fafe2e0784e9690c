"""From words on the command line to what `evaluate` and `explain` take. Import it late: it imports scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heldout.api.catalogue import default_learner, tuned_learner
from heldout.api.preparation import column_kinds
from heldout.api.tuned import Tuned
from heldout.base.errors import ColumnError, InputError, OptionError, RoleError, TargetError, did_you_mean
from heldout.cli.options import Question
from heldout.engine.readers import read_table
from heldout.splits.defaults import default_strategy
from heldout.splits.parse import parse
from heldout.task.sequences import some_rows
from heldout.task.target import few_enough_for_classes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posed:
    """A question with its data read and its learner made."""

    learner: Any
    frame: pd.DataFrame
    asked: dict[str, Any]  # what evaluate and explain both take by name
    head: dict[str, str]  # what was understood, for people


def pose(question: Question) -> Posed:
    """Read the data, see what kind of target it has, and make the learner."""
    file = Path(question.data).name
    frame = read_table(question.data)
    frame, notes = _without_row_numbers(frame, question)
    frame = _without_dropped(frame, question, file)
    X = frame.drop(columns=list(_named(question).values()))
    if not X.shape[1]:
        raise ColumnError(f"No column of {file!r} is left to learn from: all are the target, roles, or dropped.")
    _refuse_infinite(X, file)
    _check_time(frame, question)
    classification, why = target_kind(frame[question.target], wanted=question.classification)
    names = tuple(name.strip() for text in question.learner for name in text.split(",") if name.strip())
    names = tuple(dict.fromkeys(names)) or (default_learner(classification=classification),)
    losses = list(question.loss) or None
    default = default_strategy(timed=question.time is not None)
    learner = tuned_learner(
        names,
        X,
        classification=classification,
        validation=parse(question.validation) if question.validation else default,
        loss=losses,
        random_state=question.seed,
    )
    if question.validation and not isinstance(learner, Tuned):
        raise OptionError(f"--validation has nothing to choose: {names[0]} is a single candidate. Leave it out.")
    asked = {
        "y": question.target,
        "test": parse(question.test) if question.test else default,
        "groups": question.groups,
        "time": question.time,
        "sample_weight": question.weights,
        "loss": losses,
        "seed": question.seed,
    }
    head = {"data": _data_words(X, file), **notes, "target": f"{question.target}: {why}", "learner": ", ".join(names)}
    return Posed(learner=learner, frame=frame, asked=asked, head=head)


def target_kind(target: pd.Series[Any], *, wanted: bool | None) -> tuple[bool, str]:
    """Whether the target is classes, as asked for or as it looks, and a few words that say why."""
    is_bool = pd.api.types.is_bool_dtype(target.dtype)
    numeric = pd.api.types.is_numeric_dtype(target.dtype) and not is_bool
    if target.dtype.kind in "mM":
        raise TargetError(f"The target {target.name!r} holds dates. Turn it into a number, such as days from a date.")
    if wanted is False and not numeric:
        raise TargetError(
            f"--regression needs numbers, but the target {target.name!r} holds {_first_text(target)}. "
            "Leave --regression out for classification."
        )
    values = target.dropna()
    count = int(values.nunique())
    if wanted is not None:
        return wanted, f"{count} classes, as asked" if wanted else "numbers, as asked"
    if not numeric:
        return True, f"{count} classes"
    whole = bool(np.equal(np.mod(values.to_numpy(dtype=float), 1), 0).all())
    if whole and few_enough_for_classes(count, len(values)):
        return True, f"{count} classes, being {count} whole numbers (--regression if they are amounts)"
    return False, "numbers"


def _named(question: Question) -> dict[str, str]:
    """The columns with a part to play other than being learned from, by option."""
    roles = {
        "--target": question.target,
        "--groups": question.groups,
        "--time": question.time,
        "--weights": question.weights,
    }
    return {option: name for option, name in roles.items() if name is not None}


def _without_row_numbers(frame: pd.DataFrame, question: Question) -> tuple[pd.DataFrame, dict[str, str]]:
    """Leave out a nameless first column that only counts: the mark of a table saved with its index."""
    first = frame.columns[0]
    if first != "Unnamed: 0" or first in _named(question).values():
        return frame, {}
    counts = frame[first].to_numpy()
    if counts.dtype.kind != "i" or not (np.diff(counts) == 1).all():
        return frame, {}
    return frame.drop(columns=[first]), {"left out": "the first column, which has no name and only counts rows"}


def _without_dropped(frame: pd.DataFrame, question: Question, file: str) -> pd.DataFrame:
    named = _named(question)
    for option, name in [*named.items(), *(("--drop", name) for name in question.drop)]:
        if name not in frame.columns:
            raise ColumnError(f"{option} {name}: no such column in {file!r}. {did_you_mean(name, frame.columns)}")
    taken: dict[str, str] = {}
    for option, name in [*named.items(), *(("--drop", name) for name in dict.fromkeys(question.drop))]:
        if name in taken:
            raise OptionError(f"Column {name!r} cannot be both {taken[name]} and {option}. Choose one.")
        taken[name] = option
    return frame.drop(columns=list(dict.fromkeys(question.drop)))


def _refuse_infinite(X: pd.DataFrame, file: str) -> None:
    for name in X.select_dtypes("number"):
        rows = np.flatnonzero(np.isinf(X[name].to_numpy(dtype=float, na_value=np.nan)))
        if len(rows):
            raise InputError(
                f"Column {name!r} of {file!r} holds infinite numbers ({some_rows(rows)}). Correct or empty these "
                "cells, or leave the column out with --drop."
            )


def _check_time(frame: pd.DataFrame, question: Question) -> None:
    if question.time is None:
        return
    times = frame[question.time]
    if not (pd.api.types.is_numeric_dtype(times.dtype) or times.dtype.kind in "mM"):
        raise RoleError(
            f"--time {question.time} holds {_first_text(times)}. Times are numbers, or dates written as 2024-01-31."
        )


def _first_text(values: pd.Series[Any]) -> str:
    present = values.dropna()
    return f"text ({str(present.iloc[0])!r})" if len(present) else "nothing but missing values"


def _data_words(X: pd.DataFrame, file: str) -> str:
    kinds = {kind: len(names) for kind, names in column_kinds(X).items() if names}
    missing = int(X.isna().to_numpy().sum())
    words = ", ".join(f"{count} {kind if count > 1 else _ONE[kind]}" for kind, count in kinds.items())
    gaps = f", {missing:,} missing values" if missing > 1 else ", 1 missing value" if missing else ""
    columns = "1 column" if X.shape[1] == 1 else f"{X.shape[1]:,} columns"
    return f"{file}: {len(X):,} rows, {columns} to learn from ({words}{gaps})"


_ONE = {"numbers": "number", "categories": "category", "dates": "date"}
