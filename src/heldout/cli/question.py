"""From words on the command line to what `evaluate` and `explain` take. Import it late: it imports scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heldout.api.catalogue import Wish, default_learner, spelt_out, tuned_learner
from heldout.api.preparation import Table, survey_table
from heldout.api.spaces import parse_spaces
from heldout.api.tuned import Tuned
from heldout.base.errors import ColumnError, InputError, OptionError, RoleError, TargetError, did_you_mean
from heldout.cli.options import Question
from heldout.engine.readers import read_table
from heldout.splits.defaults import default_strategy
from heldout.splits.parse import parse
from heldout.task.kinds import IDENTIFIERS, NUMBERS, ONE, kind_named
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
    types = _types(question)
    missing = None if question.missing is None else tuple(one.strip() for one in question.missing.split(","))
    frame = read_table(question.data, types=types, missing=missing)
    frame, notes = _without_row_numbers(frame, question)
    frame = _without_dropped(frame, question, file)
    frame, table, notes = _without_identifiers(frame, question, types, notes)
    X = frame.drop(columns=list(_named(question).values()))
    if not X.shape[1]:
        why = f" ({notes['left out']})" if "left out" in notes else ""
        raise ColumnError(f"No column of {file!r} is left to learn from: all are the target, roles, or dropped{why}.")
    _refuse_infinite(X, file)
    _check_time(frame, question)
    classification, why = target_kind(frame[question.target], wanted=question.classification)
    table = replace(table, classes=int(frame[question.target].nunique()) if classification else 0)
    given = [name.strip() for text in question.learner for name in text.split(",") if name.strip()]
    losses = list(question.loss) or None
    names, too_much = spelt_out(
        given or [default_learner(classification=classification)], table, classification=classification, loss=losses
    )
    default = default_strategy(timed=question.time is not None)
    learner = tuned_learner(
        names,
        X,
        classification=classification,
        table=table,
        wish=Wish(spaces=parse_spaces(question.space), allow_import=question.allow_import),
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
    without = "; ".join(f"without {name}: {reason}" for name, reason in too_much.items())
    head = {
        "data": _data_words(X, table, file),
        **_types_words(table),
        **notes,
        "target": f"{question.target}: {why}",
        "learner": ", ".join(names) + (f" ({without})" if without else ""),
    }
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


def _types(question: Question) -> dict[str, str]:
    """The columns that are given a type, and the type."""
    found: dict[str, str] = {}
    for text in question.type:
        name, sign, word = text.rpartition("=")
        if not sign or not name:
            raise OptionError(f"--type {text}: write COLUMN=TYPE, as in zip=category.")
        kind_named(word)
        if name in found:
            raise OptionError(f"--type {name} is given twice. Give it once.")
        found[name] = word
    return found


def _without_identifiers(
    frame: pd.DataFrame, question: Question, types: dict[str, str], notes: dict[str, str]
) -> tuple[pd.DataFrame, Table, dict[str, str]]:
    """Leave out columns that only tell rows apart, which nothing can be learned from, and say so."""
    X = frame.drop(columns=list(_named(question).values()))
    table = survey_table(X, types=types)
    names = table.kinds[IDENTIFIERS]
    if not names:
        return frame, table, notes
    shown = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
    seen = [name for name in names if name not in types]
    way = f"; --type {seen[0]}=category keeps it" if seen else ""
    word = "identifiers, which tell rows apart" if len(names) > 1 else "an identifier, which tells rows apart"
    said = "; ".join(filter(None, [notes.get("left out"), f"{shown} ({word}{way})"]))
    kept = survey_table(X.drop(columns=names), types=types)
    return frame.drop(columns=names), kept, {**notes, "left out": said}


def _data_words(X: pd.DataFrame, table: Table, file: str) -> str:
    kinds = {kind: len(names) for kind, names in table.kinds.items() if names}
    missing = int(X.isna().to_numpy().sum())
    words = ", ".join(f"{count} {kind if count > 1 else ONE[kind]}" for kind, count in kinds.items())
    gaps = f", {missing:,} missing values" if missing > 1 else ", 1 missing value" if missing else ""
    columns = "1 column" if X.shape[1] == 1 else f"{X.shape[1]:,} columns"
    return f"{file}: {len(X):,} rows, {columns} to learn from ({words}{gaps})"


def _types_words(table: Table) -> dict[str, str]:
    """Which columns were taken for what, where they are not all numbers."""
    others = {kind: names for kind, names in table.kinds.items() if names and kind != NUMBERS}
    words = [f"{kind} {', '.join(names[:6])}{', …' if len(names) > 6 else ''}" for kind, names in others.items()]
    return {"types": "; ".join(words) + "; the rest numbers" * bool(table.kinds[NUMBERS])} if words else {}
