"""A study in a TOML file: the words of the command line, checked key by key, each error with its line. No code runs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from heldout.base.errors import OptionError, did_you_mean
from heldout.base.options import PRECISIONS, RACES
from heldout.cli.study_lines import line_of, lines_of_keys

FORMAT = 1  # what `heldout = 1` in a file says
SUFFIX = ".toml"
MOST_BYTES = 1_000_000
SEEDS = 2**32  # seeds are below
TASKS = {"classification": True, "regression": False}
_ONLY_ON_THE_COMMAND_LINE = {
    "allow_import": "a file must not decide that code is run. If you trust it, add --allow-import to the command",
    "dask": "a file must not decide where your data go. Write --dask on the command line",
    "journal": "a file must not decide where another is written. Write --journal on the command line",
    "save": "a file must not decide where another is written. Write --save on the command line",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFile:
    """What a study file says, as the options of the command line would."""

    path: str
    asked: Mapping[str, Any]  # fields of a Question
    run: Mapping[str, Any] = field(default_factory=dict)  # fields of How
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def place(self, *keys: str) -> str:
        """Where a key stands, for errors: "study.toml, line 3"."""
        return _place(self.path, line_of(keys, dict(self.lines)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What the value of a key may be: how it is taken in (None refuses it), and how it is called."""

    take: Callable[[Any], Any]
    words: str


def is_study_file(path: str) -> bool:
    """Whether a file's name says that it holds a study, not data.

    >>> is_study_file("study.toml"), is_study_file("data.csv")
    (True, False)
    """
    return path.lower().endswith(SUFFIX)


def read_study(path: str) -> StudyFile:
    """The study in a file, every key and value checked.

    Raises
    ------
    OptionError
        With the line, what is wrong there, and the nearest names.
    """
    text = _text(path)
    try:
        found = tomllib.loads(text)
        lines = lines_of_keys(text)
    except RecursionError:
        raise OptionError(f"{path}: brackets are nested too deep for a study.") from None
    except ValueError as error:  # a mistake in the TOML, or a number or date that Python refuses
        raise OptionError(f"{path} is no TOML: {str(error)[:300]}.") from None
    reader = _Reader(path=path, lines=lines)
    reader.check_format(found.pop("heldout", FORMAT))
    return StudyFile(path=path, asked=reader.asked(found), run=reader.run(found.get("run", {})), lines=lines)


def _text(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise OptionError(f"There is no study file {path!r}.") from None
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        raise OptionError(f"The study file {path!r} cannot be read: {getattr(error, 'strerror', error)}.") from None
    if len(content) > MOST_BYTES:
        raise OptionError(f"{path} is larger than {MOST_BYTES:,} bytes: no study file is. Name data by data = ….")
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise OptionError(f"{path} is not UTF-8 text (byte {error.start:,}), so it is no study file.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    path: str
    lines: dict[tuple[str, ...], int]

    def check_format(self, version: Any) -> None:
        if version != FORMAT or isinstance(version, bool):
            self._refuse(
                f"heldout = {version!r} is a format that this heldout does not read: it reads {FORMAT}", "heldout"
            )

    def asked(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a question."""
        values: dict[str, Any] = {}
        for key, value in found.items():
            if key == "run":
                continue
            self._check_name(key, (*_ASKED, *_TABLES, "run", "heldout"), key)
            if key in _TABLES:
                values[key] = self._table(key, value)
            else:
                values["classification" if key == "task" else key] = self._value(_ASKED[key], value, key)
        folder = Path(self.path).parent
        if "data" in values:
            values["data"] = str(folder / values["data"])
        for level in ("test", "validation"):
            if level in values:
                values[level] = _beside(folder, values[level])
        return values

    def run(self, found: Any) -> dict[str, Any]:
        """The fields of how it is run, those that a file may say."""
        if not isinstance(found, dict):
            self._refuse("run is a table: write [run], and below it jobs = 2", "run")
        for key in found:
            self._check_name(key, tuple(_RUN), "run", key)
        return {key: self._value(_RUN[key], value, "run", key) for key, value in found.items()}

    def _table(self, key: str, value: Any) -> tuple[str, ...]:
        """A table of options that the command line repeats: `--type zip=category`, `--space ridge.alpha=1,2`."""
        if not isinstance(value, dict):
            self._refuse(f"{key} is a table: write [{key}], and below it {_TABLES[key]}", key)
        texts: list[str] = []
        for name, one in value.items():
            if key == "space" and isinstance(one, dict):
                texts += [f"{name}.{inner}={self._words(v, key, name, inner)}" for inner, v in one.items()]
            else:
                texts.append(f"{name}={self._words(one, key, name)}")
        return tuple(texts)

    def _words(self, value: Any, *keys: str) -> str:
        """A value as the command line writes it: a list by its commas."""
        values = value if isinstance(value, list) else [value]
        if keys[0] == "type" and not isinstance(value, str):
            self._refuse(f'{keys[-1]} is a type of columns, such as "category", not {_shown(value)}', *keys)
        if any(not isinstance(one, str | int | float) for one in values) or not values:
            self._refuse(f"{'.'.join(keys)} is a text, a number or a list of these, not {_shown(value)}", *keys)
        for one in values:
            if isinstance(one, str) and isinstance(value, list) and ("," in one or not one.strip()):
                self._refuse(f"{'.'.join(keys)}: a value of a list is neither empty nor has a comma in it", *keys)
        return ",".join(str(one).lower() if isinstance(one, bool) else str(one) for one in values)

    def _value(self, kind: _Kind, value: Any, *keys: str) -> Any:
        taken = kind.take(value)
        if taken is None:
            self._refuse(f"{keys[-1]} is {kind.words}, not {_shown(value)}", *keys)
        return taken

    def _check_name(self, name: str, known: tuple[str, ...], *keys: str) -> None:
        if name in _ONLY_ON_THE_COMMAND_LINE:
            self._refuse(f"{name}: {_ONLY_ON_THE_COMMAND_LINE[name]}", *keys)
        if name not in known:
            near = did_you_mean(name, known).rstrip(".")
            self._refuse(f"there is no key {name[:60]!r} here. {near}", *keys)

    def _refuse(self, why: str, *keys: str) -> NoReturn:
        raise OptionError(f"{_place(self.path, line_of(keys, self.lines))}: {why}{'' if why.endswith('?') else '.'}")


def _place(path: str, line: int | None) -> str:
    return path if line is None else f"{path}, line {line}"


def _beside(folder: Path, splits: str) -> str:
    """A file that splits name, from the folder of the study file."""
    kind, colon, name = splits.partition(":")
    return f"{kind}:{folder / name}" if colon and kind in ("rows", "splits") and name else splits


def _shown(value: Any) -> str:
    """A value on one short line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _texts(value: Any) -> tuple[str, ...] | None:
    values = value if isinstance(value, list) else [value]
    return tuple(values) if values and all(isinstance(one, str) and one.strip() for one in values) else None


def _time(value: Any) -> Any:
    if isinstance(value, list):
        names = _texts(value)
        return names if names is not None and len(names) == 2 else None
    return _text_or_none(value)


def _distance(value: Any) -> str | None:
    """A distance as the command line writes it; what the text means is seen with the splits."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text_or_none(value)


def _missing(value: Any) -> str | None:
    texts = _texts(value)
    return None if texts is None or (len(texts) > 1 and any("," in one for one in texts)) else ",".join(texts)


def _number(low: float, high: float, *, whole: bool = False) -> Callable[[Any], Any]:
    kinds: tuple[type, ...] = (int,) if whole else (int, float)

    def take(value: Any) -> Any:
        number = isinstance(value, kinds) and not isinstance(value, bool)
        return value if number and low <= value <= high else None

    return take


def _open_share(value: Any) -> float | None:
    return value if isinstance(value, float) and 0 < value < 1 else None


def _size(value: Any) -> str | None:
    return f"{value}B" if isinstance(value, int) and not isinstance(value, bool) else _text_or_none(value)


_TEXT = _Kind(take=_text_or_none, words="a text in quotes")
_COLUMN = _Kind(take=_text_or_none, words="the name of a column, in quotes")
_SPLITS = _Kind(take=_text_or_none, words='splits in quotes, such as "kfold:5"')
_DISTANCE = _Kind(take=_distance, words='a number of rows, or a length of time such as "7d"')
_LIST = _Kind(take=_texts, words='a list of texts, such as ["one", "other"]')
_SECONDS = _Kind(take=_number(0, 1e12), words="a number of seconds")

_ASKED: Mapping[str, _Kind] = {
    "data": _Kind(take=_text_or_none, words="the name of a file, in quotes"),
    "target": _COLUMN,
    "learner": _LIST,
    "test": _SPLITS,
    "validation": _SPLITS,
    "choose": _Kind(take=lambda v: v if v in ("best", "one_se") else None, words='"best" or "one_se"'),
    "buffer": _DISTANCE,
    "embargo": _DISTANCE,
    "loss": _LIST,
    "groups": _COLUMN,
    "time": _Kind(take=_time, words='the name of a column, or of two: ["start", "end"]'),
    "strata": _COLUMN,
    "weights": _COLUMN,
    "drop": _LIST,
    "missing": _Kind(take=_missing, words='a list of texts without commas, such as ["NA", "?"]'),
    "task": _Kind(
        take=lambda v: TASKS.get(v) if isinstance(v, str) else None, words='"classification" or "regression"'
    ),
    "level": _Kind(take=_open_share, words="a number between 0 and 1, such as 0.95"),
    "interval": _TEXT,
    "answer": _TEXT,
    "pool": _Kind(take=lambda v: v if isinstance(v, bool) else None, words="true or false"),
    "precision": _Kind(take=lambda v: v if v in PRECISIONS else None, words=f"one of {', '.join(PRECISIONS)}"),
    "race": _Kind(take=lambda v: v if v in RACES else None, words=f"one of {', '.join(RACES)}"),
    "race_level": _Kind(take=_open_share, words="a number between 0 and 1, such as 0.05"),
    "seed": _Kind(take=_number(0, SEEDS - 1, whole=True), words=f"a whole number from 0 to {SEEDS - 1}"),
}
_TABLES = {"type": 'zip = "category"', "space": 'ridge.alpha = "log:1e-6:1e2:17"'}
_RUN: Mapping[str, _Kind] = {
    "jobs": _Kind(take=_number(-1, 10_000, whole=True), words="a whole number"),
    "timeout": _SECONDS,
    "fit_timeout": _SECONDS,
    "fit_memory": _Kind(take=_size, words='a size, such as "2GB"'),
}
KEYS = (*_ASKED, *_TABLES)
