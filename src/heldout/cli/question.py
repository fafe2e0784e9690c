"""Turns options into the arguments of `evaluate`: table, roles, splits and learner. Import it late: it is slow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from heldout.api.named import Columns, learner_of, read_columns, remarks, split_names
from heldout.api.question import prepare as check_question
from heldout.api.tuned import Tuned
from heldout.base.errors import ColumnError, InputError, OptionError, RoleError, did_you_mean
from heldout.base.findings import Finding
from heldout.base.options import Options
from heldout.base.words import listed
from heldout.catalogue.learners import AUTO, expand_names, imported_name
from heldout.catalogue.preparation import Table
from heldout.catalogue.spaces import parse_spaces
from heldout.cli.options import SETTINGS, Question
from heldout.cli.output import as_option, loaded
from heldout.cli.splits import ROWS, split_column, splits_of, splits_text
from heldout.cli.table import file_options, read_rows, rows_with_target
from heldout.data.read_table import open_table
from heldout.data.target_kind import first_text
from heldout.results.study_record import Question as PosedQuestion
from heldout.results.study_record import Request
from heldout.task.column_kinds import NUMBERS, ONE, kind_named
from heldout.task.source import some_rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableInfo:
    """Holds the table of a question, and what was found in it."""

    columns: Columns
    question: Question  # with the kind of the target and the time columns filled in
    splits: Mapping[str, Any]  # of test and validation, as the library takes them
    slices: Mapping[str, Any] | None  # the columns that make subgroups, which need not be learned from
    head: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreparedQuestion:
    """Holds a question whose data are read and whose learner is built."""

    learner: Any  # of a comparison: the learners by name
    frame: pd.DataFrame
    question: Question  # with all defaults filled in, as in a study file
    test: Any
    slices: Mapping[str, Any] | None
    head: dict[str, str]  # what was understood, for people
    remarks: tuple[Finding, ...] = ()  # on columns and learners that are left out

    @property
    def options(self) -> Options:
        """The `Options` that belong to the question."""
        return Options(**{name: getattr(self.question, name) for name in SETTINGS})

    @property
    def noted(self) -> dict[str, str]:
        """What was understood and a first screen shows: what was left out or guessed, not what the headline says."""
        said = ("study", "data", "types", "target", "learner")
        return {
            label: text
            for label, text in self.head.items()
            if label not in said or (label in ("target", "learner") and " (" in text)
        }

    def pose(self, **changes: Any) -> PosedQuestion:
        """Return the checked question, with changes to its request; all errors that need no fit are raised here."""
        return check_question(self.learner, self.frame, self.question.target, replace(self.request, **changes))

    @property
    def request(self) -> Request:
        """The request to the library, without options."""
        asked = self.question
        roles = {"groups": asked.groups, "time": asked.time, "sample_weight": asked.weights, "strata": asked.strata}
        own = {name: getattr(asked, name) for name in ("positive", "level", "seed", "checks", "ignore", "name")}
        loss = list(asked.loss) or None
        return Request(test=self.test, roles=roles, loss=loss, slices=self.slices, remarks=self.remarks, **own)


def prepare(question: Question) -> PreparedQuestion:
    """Read the data, infer the kind of the target, and build the learner, which chooses between all names given."""
    info = read_question(question)
    given = split_names(question.learner) if question.learner else [AUTO]
    if not given:
        raise OptionError(f"{question.called('learner')} names no learner. Name one, or leave it out.")
    learner, names, left_out = _learner(given, info, parse_spaces(question.space))
    without = "; ".join(f"without {name}: {reason}" for name, reason in left_out.items())
    words = ", ".join(names) + (f" ({without})" if without else "")
    return _prepared(learner, [learner], info, names=names, words=words, left_out=left_out)


def prepare_several(question: Question) -> PreparedQuestion:
    """Prepare a comparison: each name is a learner; names joined by + form one that chooses between them."""
    info = read_question(question)
    names = tuple(dict.fromkeys(name.strip() for text in question.learner for name in text.split(",") if name.strip()))
    if len(names) < 2:
        raise OptionError(
            f"A comparison takes two learners or more, and here {'is 1' if names else 'are none'}. Name them: "
            "--learner ridge,forest."
        )
    learners: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    spaces = parse_spaces(question.space)
    unused = set(spaces)
    table, kind = info.columns.table, info.columns.classification
    for name in names:
        members, without = expand_names(split_names(name), table, classification=kind, loss=list(question.loss) or None)
        of_members = {name: spaces[name] for name in map(imported_name, members) if name in spaces}
        learners[name], *_ = _learner(members, info, of_members)
        unused -= set(of_members)
        left_out |= without
    if unused:
        raise OptionError(f"--space {min(unused)}: no learner of that name is compared.")
    return _prepared(learners, learners.values(), info, names=names, words=", ".join(names), left_out=left_out)


def _learner(
    names: Iterable[str], info: TableInfo, spaces: Mapping[str, Any]
) -> tuple[Any, tuple[str, ...], dict[str, str]]:
    asked = info.question
    return learner_of(
        names,
        info.columns,
        spaces=spaces,
        allow_import=asked.allow_import,
        validation=info.splits["validation"],
        loss=list(asked.loss) or None,
        choose=asked.choose,
        random_state=asked.seed,
    )


def _prepared(
    learner: Any,
    learners: Iterable[Any],
    info: TableInfo,
    *,
    names: tuple[str, ...],
    words: str,
    left_out: Mapping[str, str],
) -> PreparedQuestion:
    asked = info.question
    tuned = any(isinstance(learner, Tuned) for learner in learners)
    if asked.validation and not tuned:
        raise OptionError(
            f"{asked.called('validation')} has nothing to choose: no learner has more than one candidate. Leave it out."
        )
    if asked.race in (None, "exact") and asked.race_level != Options().race_level:
        raise OptionError(
            f"{asked.called('race_level')} is the probability that a race goes wrong by chance, which the races "
            "hoeffding, bernstein and paired may. Ask for one of them, or leave it out."
        )
    settled = replace(
        asked,
        learner=names,
        test=splits_text(asked, "test"),
        validation=splits_text(asked, "validation") if tuned else None,
    )
    identifiers = info.columns.identifiers
    keep = _way_to_keep(identifiers, _types(asked))
    return PreparedQuestion(
        learner=learner,
        frame=info.columns.X,
        question=settled,
        test=info.splits["test"],
        slices=info.slices,
        head={**info.head, "learner": words},
        remarks=remarks(identifiers, left_out, keep=keep and f"{keep}."),
    )


def read_question(question: Question) -> TableInfo:
    """Read the table, and determine the roles of its columns and the kind of its target."""
    loaded()
    if "\0" in question.data:
        raise InputError(f"{question.called('data')} {question.data!r} is no name that a file can have.")
    types = _types(question)
    frame, file, said = read_rows(open_table(question.data, types=types, **file_options(asdict(question))))
    names = [str(name) for name in frame.columns]
    question = _with_times(question, names)
    roles, marks = _roles_of(question, names, file=file)
    rows = len(frame)
    frame, notes = rows_with_target(
        frame, str(question.target), used=[*roles, *marks], drop=question.missing_target == "drop"
    )
    for level in ("test", "validation"):
        if len(frame) < rows and str(getattr(question, level)).startswith(ROWS):
            raise OptionError(
                f"{question.called(level)} rows:FILE counts the rows of {file!r}, and {rows - len(frame)} of them are "
                "left out. Mark them in a column: column:NAME."
            )
    slices = {name: frame[name] for name in question.slices} or None
    splits = {level: splits_of(question, level, frame) for level in ("test", "validation")}
    frame = frame.drop(columns=list(dict.fromkeys([*question.drop, *marks])))
    given: dict[str, Any] = {"types": types, "classification": question.classification}
    columns = read_columns(frame, frame.drop(columns=roles), frame[question.target], **given, command=True)
    notes = _with_identifiers(notes, columns.identifiers, types)
    if not columns.table.columns:
        why = f" ({notes['left out']})" if "left out" in notes else ""
        raise ColumnError(f"No column of {file!r} is left to learn from: all are the target, roles, or dropped{why}.")
    X = columns.X.drop(columns=roles)
    _refuse_infinite(X, file)
    _check_times(frame, question)
    head = {"study": question.study.path} if question.study is not None else {}
    head |= {"data": _data_words(X, columns.table, file), **said, **_types_words(columns.table), **notes}
    head["target"] = f"{question.target}: {columns.kind.worded(as_option)}"
    question = replace(question, classification=columns.classification)
    return TableInfo(columns=columns, question=question, splits=splits, slices=slices, head=head)


def _refuse_infinite(X: pd.DataFrame, file: str) -> None:
    for name in X.select_dtypes("number"):
        rows = np.flatnonzero(np.isinf(X[name].to_numpy(dtype=float, na_value=np.nan)))
        if len(rows):
            raise InputError(
                f"Column {name!r} of {file!r} holds infinite numbers ({some_rows(rows)}). Correct or empty these "
                "cells, or leave the column out with --drop."
            )


def _types(question: Question) -> dict[str, str]:
    """Return the types that the user gives to columns, by column name."""
    kinds: dict[str, str] = {}
    for text in question.type:
        name, sign, word = text.rpartition("=")
        if not sign or not name:
            raise OptionError(f"--type {text}: write COLUMN=TYPE, as in zip=category.")
        kind_named(word)
        if name in kinds:
            raise OptionError(f"--type {name} is given twice. Give it once.")
        kinds[name] = word
    return kinds


def _with_identifiers(notes: dict[str, str], names: Collection[str], types: Mapping[str, str]) -> dict[str, str]:
    """Add a note on identifier columns, which are left out since nothing can be learned from them."""
    if not names:
        return notes
    word = "identifiers, which tell rows apart" if len(names) > 1 else "an identifier, which tells rows apart"
    note = f"{listed(list(names))} ({'; '.join(filter(None, [word, _way_to_keep(names, types)]))})"
    return {**notes, "left out": "; ".join(filter(None, [notes.get("left out"), note]))}


def _way_to_keep(names: Iterable[str], types: Mapping[str, str]) -> str:
    inferred = [name for name in names if name not in types]
    return f"--type {inferred[0]}=category keeps it" if inferred else ""


def _data_words(X: pd.DataFrame, table: Table, file: str) -> str:
    kinds = {kind: len(names) for kind, names in table.kinds.items() if names}
    missing = int(X.isna().to_numpy().sum())
    words = ", ".join(f"{count} {kind if count > 1 else ONE[kind]}" for kind, count in kinds.items())
    gaps = f", {missing:,} missing values" if missing > 1 else ", 1 missing value" if missing else ""
    columns = "1 column" if X.shape[1] == 1 else f"{X.shape[1]:,} columns"
    return f"{file}: {len(X):,} rows, {columns} to learn from ({words}{gaps})"


def _types_words(table: Table) -> dict[str, str]:
    """Return a description of the columns' types; empty if all are numbers."""
    others = {kind: names for kind, names in table.kinds.items() if names and kind != NUMBERS}
    words = [f"{kind} {listed(names)}" for kind, names in others.items()]
    return {"types": "; ".join(words) + "; the rest numbers" * bool(table.kinds[NUMBERS])} if words else {}


def _roles_of(question: Question, names: list[str], *, file: str) -> tuple[list[str], list[str]]:
    """Return the checked columns of the target and the roles, and those that mark held-out rows."""
    if question.target is None:
        raise OptionError(
            f"Missing option '--target': which column of {file!r} is to be predicted? It has {listed(names, 12)}."
        )
    times = (question.time,) if isinstance(question.time, str) else question.time or ()
    columns = [(role, getattr(question, role)) for role in ("target", "groups", "strata", "weights")]
    roles = [(question.called(role), str(name)) for role, name in columns if name is not None]
    roles += [(question.called("time"), name) for name in times]
    marks: dict[str, str] = {}
    for level in ("test", "validation"):
        name = split_column(getattr(question, level), names)
        if name is not None:
            marks.setdefault(name, question.called(level))
    for name in question.slices:
        check_columns([(question.called("slices"), name)], names, file)
    drops = [(question.called("drop"), name) for name in dict.fromkeys(question.drop)]
    check_columns([*roles, *((option, name) for name, option in marks.items()), *drops], names, file)
    return [name for _, name in roles], list(marks)


def _check_times(frame: pd.DataFrame, question: Question) -> None:
    """Raise RoleError if a time column holds text."""
    for name in (question.time,) if isinstance(question.time, str) else question.time or ():
        times = frame[name]
        if not (pd.api.types.is_numeric_dtype(times.dtype) or times.dtype.kind in "mM"):
            raise RoleError(
                f"--time {name} holds {first_text(times)}. Times are numbers, or dates written as 2024-01-31."
            )


def _with_times(question: Question, names: Collection[str]) -> Question:
    """Split `start:end` where both sides are columns; a column name can itself contain colons."""
    given = question.time
    if not isinstance(given, str) or given in names or ":" not in given:
        return question
    pieces = given.split(":")
    cuts = [(":".join(pieces[:i]), ":".join(pieces[i:])) for i in range(1, len(pieces))]
    return replace(question, time=next((cut for cut in cuts if cut[0] in names and cut[1] in names), cuts[0]))


def check_columns(used: Iterable[tuple[str, str]], names: Collection[str], file: str) -> None:
    """Raise an error for options that name no column, or one column for two purposes."""
    taken: dict[str, str] = {}
    for option, name in used:
        if name not in names:
            raise ColumnError(f"{option} {name}: no such column in {file!r}. {did_you_mean(name, names)}")
        if name in taken:
            raise OptionError(f"Column {name!r} cannot be both {taken[name]} and {option}. Choose one.")
        taken[name] = option
