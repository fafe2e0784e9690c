"""From words on the command line to what `evaluate` and `explain` take. Import it late: it imports scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heldout.api.learners import tuned_learner
from heldout.api.tuned import Tuned
from heldout.base.errors import ColumnError, InputError, OptionError, TargetError
from heldout.base.options import Options
from heldout.catalogue.learners import Wish, default_learner, spelt_out
from heldout.catalogue.preparation import Table, survey_table
from heldout.catalogue.spaces import parse_spaces
from heldout.cli.options import SETTINGS, Question
from heldout.cli.roles import Roles, check_times, first_text, roles_of
from heldout.cli.splits import parts_of, words_of
from heldout.data.read_table import read_table
from heldout.task.arrays import some_rows
from heldout.task.column_kinds import IDENTIFIERS, NUMBERS, ONE, kind_named
from heldout.task.target import few_enough_for_classes, looks_like_classes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posed:
    """A question with its data read and its learner made."""

    learner: Any  # of a comparison: the learners by name
    frame: pd.DataFrame
    asked: dict[str, Any]  # what evaluate and explain both take by name
    head: dict[str, str]  # what was understood, for people
    settled: dict[str, Any]  # the question with all that was left open filled in, for a study file
    options: Options  # the switches that belong to the question


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Read:
    """The table of a question, and what was seen in it."""

    frame: pd.DataFrame  # without what is left out, and without the columns that mark held-out rows
    X: pd.DataFrame
    table: Table
    roles: Roles
    classification: bool
    parts: Mapping[str, Any]  # test and validation, as the library takes them
    head: dict[str, str]


def pose(question: Question) -> Posed:
    """Read the data, see what kind of target it has, and make the learner."""
    read = read_question(question)
    given = [name.strip() for text in question.learner for name in text.split(",") if name.strip()]
    if question.learner and not given:
        raise OptionError(f"{question.called('learner')} names no learner. Name one, or leave it out.")
    given = given or [default_learner(classification=read.classification)]
    names, too_much = spelt_out(given, read.table, classification=read.classification, loss=list(question.loss) or None)
    learner = _learner(names, read, question)
    if question.validation and not isinstance(learner, Tuned):
        raise OptionError(
            f"{question.called('validation')} has nothing to choose: {names[0]} is a single candidate. Leave it out."
        )
    without = "; ".join(f"without {name}: {reason}" for name, reason in too_much.items())
    words = ", ".join(names) + (f" ({without})" if without else "")
    return _posed(learner, read, question, names=tuple(names), words=words)


def pose_several(question: Question) -> Posed:
    """The same for learners that are compared: each name is one, names joined by + choose among themselves."""
    read = read_question(question)
    names = list(dict.fromkeys(name.strip() for text in question.learner for name in text.split(",") if name.strip()))
    if len(names) < 2:
        raise OptionError(
            f"A comparison takes two learners or more, and here {'is 1' if names else 'are none'}. Name them: "
            "--learner ridge,forest."
        )
    learners: dict[str, Any] = {}
    used: set[str] = set()
    spaces = parse_spaces(question.space)
    for name in names:
        chosen_from = [one.strip() for one in name.split("+") if one.strip()]
        spelt, _ = spelt_out(
            chosen_from, read.table, classification=read.classification, loss=list(question.loss) or None
        )
        own = {one: space for one, space in spaces.items() if one in spelt}
        used |= set(own)
        learners[name] = _learner(spelt, read, question, own)
    if set(spaces) - used:
        raise OptionError(f"--space {min(set(spaces) - used)}: no learner of that name is compared.")
    if question.validation and not any(isinstance(one, Tuned) for one in learners.values()):
        raise OptionError(f"{question.called('validation')} has nothing to choose. Leave it out.")
    return _posed(learners, read, question, names=tuple(names), words=", ".join(names))


def read_question(question: Question) -> Read:
    """Read the table, and settle the roles of its columns and the kind of its target."""
    file = Path(question.data).name
    if "\0" in question.data:
        raise InputError(f"{question.called('data')} {question.data!r} is no name that a file can have.")
    types = _types(question)
    missing = None if question.missing is None else tuple(one.strip() for one in question.missing.split(","))
    frame = read_table(question.data, types=types, missing=missing)
    roles = roles_of(question, frame, file=file)
    frame, notes = _without_row_numbers(frame, roles)
    parts = {level: parts_of(question, level, frame) for level in ("test", "validation")}
    frame = frame.drop(columns=list(dict.fromkeys([*question.drop, *roles.marks])))
    frame, table, notes = _without_identifiers(frame, roles, types, notes)
    X = frame.drop(columns=list(roles.by_option.values()))
    if not X.shape[1]:
        why = f" ({notes['left out']})" if "left out" in notes else ""
        raise ColumnError(f"No column of {file!r} is left to learn from: all are the target, roles, or dropped{why}.")
    _refuse_infinite(X, file)
    check_times(frame, roles)
    classification, why = target_kind(frame[question.target], wanted=question.classification)
    table = replace(table, classes=int(frame[question.target].nunique()) if classification else 0)
    head = {"study": question.study.path} if question.study is not None else {}
    head |= {"data": _data_words(X, table, file), **_types_words(table), **notes, "target": f"{question.target}: {why}"}
    return Read(frame=frame, X=X, table=table, roles=roles, classification=classification, parts=parts, head=head)


def _learner(names: tuple[str, ...], read: Read, question: Question, spaces: Any = None) -> Any:
    """One learner from names: several compete."""
    return tuned_learner(
        names,
        read.X,
        classification=read.classification,
        table=read.table,
        wish=Wish(
            spaces=parse_spaces(question.space) if spaces is None else spaces, allow_import=question.allow_import
        ),
        validation=read.parts["validation"],
        loss=list(question.loss) or None,
        choose=question.choose,
        random_state=question.seed,
    )


def _posed(learner: Any, read: Read, question: Question, *, names: tuple[str, ...], words: str) -> Posed:
    asked = {
        "y": question.target,
        "test": read.parts["test"],
        "groups": question.groups,
        "time": read.roles.time,
        "sample_weight": question.weights,
        "strata": question.strata,
        "loss": list(question.loss) or None,
        "seed": question.seed,
    }
    tuned = any(isinstance(one, Tuned) for one in (learner.values() if isinstance(learner, dict) else [learner]))
    settled = {name: getattr(question, name) for name in Question.__dataclass_fields__ if name != "study"}
    settled |= {
        "learner": names,
        "classification": read.classification,
        "test": words_of(question, "test"),
        "validation": words_of(question, "validation") if tuned else None,
        "time": read.roles.time,
    }
    if question.race in (None, "exact") and question.race_level != Options().race_level:
        raise OptionError(
            f"{question.called('race_level')} is the probability that a race goes wrong by chance, which the races "
            "hoeffding, bernstein and paired may. Ask for one of them, or leave it out."
        )
    options = Options(**{name: getattr(question, name) for name in SETTINGS})
    head = {**read.head, "learner": words}
    return Posed(learner=learner, frame=read.frame, asked=asked, head=head, settled=settled, options=options)


def target_kind(target: pd.Series[Any], *, wanted: bool | None) -> tuple[bool, str]:
    """Whether the target is classes, as asked for or as it looks, and a few words that say why."""
    is_bool = pd.api.types.is_bool_dtype(target.dtype)
    numeric = pd.api.types.is_numeric_dtype(target.dtype) and not is_bool
    if target.dtype.kind in "mM":
        raise TargetError(f"The target {target.name!r} holds dates. Turn it into a number, such as days from a date.")
    if wanted is False and not numeric:
        raise TargetError(
            f"--regression needs numbers, but the target {target.name!r} holds {first_text(target)}. "
            "Leave --regression out for classification."
        )
    values = target.dropna()
    count = int(values.nunique())
    if not numeric:
        _refuse_mixed(values, count, wanted=wanted)
    if wanted is not None:
        return wanted, f"{count} classes, as asked" if wanted else "numbers, as asked"
    if not numeric:
        return True, f"{count} classes"
    if looks_like_classes(values.to_numpy(dtype=float)):
        return True, f"{count} classes, being {count} whole numbers (--regression if they are amounts)"
    return False, "numbers"


def _refuse_mixed(values: pd.Series[Any], count: int, *, wanted: bool | None) -> None:
    """Refuse amounts with a text among them, which would all be classes of their own, and texts that never repeat."""
    if few_enough_for_classes(count, len(values)):
        return
    amounts = pd.to_numeric(values.astype(str), errors="coerce").notna()
    if wanted is None and len(values) / 2 < amounts.sum() < len(values):
        row, text = values.index[~amounts][0], str(values[~amounts].iloc[0])
        raise TargetError(
            f"The target {values.name!r} holds numbers and, in row {row}, the text {text[:40]!r}. Correct or leave out "
            "such rows, or add --classification if the numbers are classes."
        )
    if count == len(values):
        raise TargetError(
            f"The target {values.name!r} is {first_text(values)}, and no two rows have the same, so that there "
            "are no classes to learn. If these are amounts, write them as plain numbers (1234.5), without units or "
            "separators."
        )


def _without_row_numbers(frame: pd.DataFrame, roles: Roles) -> tuple[pd.DataFrame, dict[str, str]]:
    """Leave out a nameless first column that only counts: the mark of a table saved with its index."""
    first = frame.columns[0]
    if first != "Unnamed: 0" or first in roles.columns:
        return frame, {}
    counts = frame[first].to_numpy()
    if counts.dtype.kind != "i" or not (np.diff(counts) == 1).all():
        return frame, {}
    return frame.drop(columns=[first]), {"left out": "the first column, which has no name and only counts rows"}


def _refuse_infinite(X: pd.DataFrame, file: str) -> None:
    for name in X.select_dtypes("number"):
        rows = np.flatnonzero(np.isinf(X[name].to_numpy(dtype=float, na_value=np.nan)))
        if len(rows):
            raise InputError(
                f"Column {name!r} of {file!r} holds infinite numbers ({some_rows(rows)}). Correct or empty these "
                "cells, or leave the column out with --drop."
            )


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
    frame: pd.DataFrame, roles: Roles, types: dict[str, str], notes: dict[str, str]
) -> tuple[pd.DataFrame, Table, dict[str, str]]:
    """Leave out columns that only tell rows apart, which nothing can be learned from, and say so."""
    X = frame.drop(columns=list(roles.by_option.values()))
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
