"""Parses which rows are held out: drawn splits, a benchmark's own splits, and the buffer around held-out rows.

Import it late: it imports scikit-learn.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heldout.base.errors import OptionError, Sentence, SplitError, did_you_mean
from heldout.cli.options import Question
from heldout.splits import Given
from heldout.splits.foreign import default_strategy
from heldout.splits.parse import parse

COLUMN, ROWS, SPLITS = "column:", "rows:", "splits:"
TESTED = ("test", "testing", "holdout", "held-out", "heldout")
TRAINED = ("train", "training", "learn")
UNITS = "units"
_LONGEST_LINE = 100
_MOST_DRAWS = 100_000
_DEFAULTS = {False: "kfold:5", True: "forward:5"}


def splits_text(question: Question, level: str) -> str:
    """Return the splits of a level, "test" or "validation", as text; the default if none are given."""
    return getattr(question, level) or _DEFAULTS[question.time is not None]


def split_column(text: str | None, names: Collection[str]) -> str | None:
    """Return the column that `column:NAME` or `column:NAME=VALUE` names; None for other splits.

    >>> split_column("column:part=test", ["part"]), split_column("column:a=b", ["a=b"]), split_column("loo", [])
    ('part', 'a=b', None)
    """
    if text is None or not text.startswith(COLUMN):
        return None
    name = text.removeprefix(COLUMN)
    return name if name in names or "=" not in name else name.rpartition("=")[0]


def splits_of(question: Question, level: str, frame: pd.DataFrame) -> Any:
    """Return what `test=` or `validation=` takes. Validation gets the buffer too, if its splitter can have one."""
    return _buffered(_held_out(question, level, frame), question, level)


def _held_out(question: Question, level: str, frame: pd.DataFrame) -> Any:
    text: str | None = getattr(question, level)
    if text is None:
        return default_strategy(timed=question.time is not None)
    try:
        if text.startswith(COLUMN):
            return _marked(text.removeprefix(COLUMN), frame)
        if text.startswith(ROWS):
            return Given(_row_numbers(text.removeprefix(ROWS)))
        if text.startswith(SPLITS):
            return _saved(text.removeprefix(SPLITS), level)
        return drawn_splits(text)
    except SplitError as error:
        raise SplitError(_prefixed(f"{question.called(level)} {text}", error), *error.args[1:]) from error


def _prefixed(option: str, error: SplitError) -> Sentence:
    return Sentence("{}: {}", option, error.args[0])


def drawn_splits(text: str) -> Any:
    """Parse splits from text; raise SplitError for too many draws.

    >>> drawn_splits("kfold:5x2")
    KFold(5, repeats=2)
    """
    strategy = parse(text)
    draws = max(getattr(strategy, "repeats", 1), getattr(strategy, "times", 1))  # k is at most the rows
    if draws > _MOST_DRAWS:
        raise SplitError(f"these are {draws:,} draws. Ask for at most {_MOST_DRAWS:,}.")
    return strategy


def _saved(name: str, level: str) -> Any:
    from heldout.api.draw import load_splits

    if level != "test":
        raise SplitError("saved splits are test splits. Name others for validation.")
    return load_splits(name)


def _marked(name: str, frame: pd.DataFrame) -> Given:
    """Return splits by a column's marks: rows of one value held out, rows marked test, or one fold per value."""
    if name not in frame.columns:
        name, _, value = name.rpartition("=")
        return _of_value(frame[name], value)
    labels = frame[name]
    if pd.api.types.is_bool_dtype(labels.dtype):
        return Given(labels.to_numpy(dtype=bool))
    words = np.array([str(label).strip().lower() for label in labels], dtype=object)
    tested = np.isin(words, TESTED)
    if tested.any() or np.isin(words, TRAINED).any():
        if not tested.any():
            raise SplitError(f"no row is marked test. {_way(labels)}")
        return Given(tested)
    distinct = labels.dropna().unique()
    if set(distinct.tolist()) == {0, 1}:
        raise SplitError(
            f"0 and 1 could be two folds, or the rows that train and test. Write {COLUMN}{name}=1 for one test set, "
            "or call the folds something else."
        )
    if len(distinct) < 2:
        raise SplitError(f"all rows have the same mark. {_way(labels)}")
    return Given(folds=labels.to_numpy(dtype=object))


def _of_value(labels: pd.Series[Any], value: str) -> Given:
    held = np.array([_says(label, value) for label in labels], dtype=bool)
    if not held.any():
        known = [str(label) for label in labels.dropna().unique()[:1000]]
        raise SplitError(f"no row of {labels.name!r} is {value!r}. {did_you_mean(value, known[:20])}")
    if held.all():
        raise SplitError(f"all rows of {labels.name!r} are {value!r}, so none is left to train on.")
    return Given(held)


def _says(label: Any, value: str) -> bool:
    if isinstance(label, float) and label.is_integer():
        return value in (str(label), str(int(label)))  # whole numbers are read as floats where some are missing
    return str(label).strip() == value


def _way(labels: pd.Series[Any]) -> str:
    values = ", ".join(repr(str(label)) for label in labels.dropna().unique()[:5])
    return f"Its values are {values}: write {COLUMN}{labels.name}=VALUE for the rows to hold out."


def _row_numbers(name: str) -> list[int]:
    """Read row numbers from a text file, one per line; blank lines and comments are skipped."""
    rows: list[int] = []
    try:
        with Path(name).open(encoding="utf-8") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), ""), 1):
                text = line.partition("#")[0].strip()
                if text and not (text.isascii() and text.isdigit() and len(text) < 19):
                    raise SplitError(f"line {number} of {Path(name).name!r} is {text[:40]!r}, not a row number.")
                rows += [int(text)] if text else []
    except FileNotFoundError:
        raise SplitError(f"there is no file {name!r}.") from None
    except UnicodeDecodeError:
        raise SplitError(f"{Path(name).name!r} is no text file. Write row numbers, one a line.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, SplitError):
            raise
        raise SplitError(f"{name!r} cannot be read: {getattr(error, 'strerror', error)}.") from None
    if not rows:
        raise SplitError(f"{Path(name).name!r} names no rows. Write row numbers, one a line, counted from 0.")
    return rows


def _buffered(strategy: Any, question: Question, level: str) -> Any:
    """Add the requested buffer and embargo to a splitter; for validation, only those that it can have."""
    asked = {"buffer": question.buffer, "embargo": question.embargo}
    known = {field.name for field in fields(strategy)} if is_dataclass(strategy) else set()
    for name, text in asked.items():
        if text is None:
            continue
        if question.time is None:
            raise OptionError(
                f"{question.called(name)} {text} is a distance in time, but no time is declared. Add --time."
            )
        if name in known:
            try:
                strategy = replace(strategy, **{name: _distance(text)})
            except SplitError as error:
                raise SplitError(_prefixed(f"{question.called(name)} {text}", error), *error.args[1:]) from error
        elif level == "test":
            way = "use --test kfold:5 or resample:20:0.2" if name == "embargo" else "leave it out"
            raise OptionError(f"{question.called(name)} has no place in {strategy}: {way}.")
    return strategy


def _distance(text: str) -> int | str:
    """Parse a distance: an integer counts rows; `3units` is a length in the units of a numeric time."""
    text = text.strip()
    if text.removeprefix("-").isdecimal():
        return int(text[:20])
    return text.removesuffix(UNITS).strip() if text.endswith(UNITS) else text
