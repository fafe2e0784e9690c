"""Reads and writes studies as TOML: keys and values as on the command line, checked by type. No code is run."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import msgspec
from msgspec import Meta

from heldout import __version__
from heldout.base.errors import OptionError, did_you_mean

FORMAT = 1  # what `heldout = 1` in a file says
SUFFIX = ".toml"
MOST_BYTES = 1_000_000
MOST_DOTS = 100  # per line: the memory that `tomllib` takes grows with the square of a dotted key's parts
SEEDS = 2**32  # seeds are smaller
_NAMES_OF_FILES = ("rows", "splits")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ONLY_ON_THE_COMMAND_LINE = {
    "allow_import": "a file must not decide that code is run. If you trust it, add --allow-import to the command",
    "dask": "a file must not decide where your data go. Write --dask on the command line",
    "journal": "a file must not decide where another is written. Write --journal on the command line",
    "save": "a file must not decide where another is written. Write --save on the command line",
}


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlKey:
    """Describes how a study file writes an option: its type, and its conversion from and to the command line."""

    type: Any  # for `msgspec.convert`
    words: str  # the type in words, for errors: "the name of a column, in quotes"
    read: Callable[[Any], Any] = _tuples
    write: Callable[[Any], Any] = lambda value: value
    joined: bool = False  # the command line joins a list by commas, so that its texts have none
    table: bool = False  # it has a table of its own, [space] or [type], which the command line repeats an option for
    key: str = ""  # the key if it is not the name of the field
    field: str = ""  # the field of `Question` or `RunOptions`


def one_of(*values: str) -> TomlKey:
    """Return a key whose value is one of these texts."""
    return TomlKey(type=Literal.__getitem__(values), words=f"one of {', '.join(values)}")


# No patterns: in a union with a list, a pattern makes msgspec 0.22 crash.
Text = Annotated[str, Meta(min_length=1)]
Texts = Text | Annotated[list[Text], Meta(min_length=1)]
_Scalar = str | int | float | bool
TEXT = TomlKey(type=Text, words="a text in quotes")
FILE = TomlKey(type=Text, words="the name of a file, in quotes")
COLUMN = TomlKey(type=Text, words="the name of a column, in quotes")
SPLITS = TomlKey(type=Text, words='splits in quotes, such as "kfold:5"')
LIST = TomlKey(type=Texts, words='a list of texts, such as ["one", "other"]', read=_texts)
DISTANCE = TomlKey(type=int | Text, words='a number of rows, or a length of time such as "7d"', read=str)
TIME = TomlKey(
    type=Text | Annotated[list[Text], Meta(min_length=2, max_length=2)],
    words='the name of a column, or of two: ["start", "end"]',
)
MISSING = TomlKey(
    type=Texts,
    words='a list of texts without commas, such as ["NA", "?"]',
    joined=True,
    read=lambda value: ",".join(_texts(value)),
    write=lambda value: [text.strip() for text in value.split(",")],
)
TASK = TomlKey(
    type=Literal["classification", "regression"],
    words='"classification" or "regression"',
    read=lambda value: value == "classification",
    write=lambda value: "classification" if value else "regression",
    key="task",
)
SHARE = TomlKey(type=Annotated[float, Meta(gt=0, lt=1)], words="a number between 0 and 1, such as 0.95")
SWITCH = TomlKey(type=bool, words="true or false")
COUNT = TomlKey(type=Annotated[int, Meta(ge=1, le=1_000_000)], words="a whole number, at least 1")
SEED = TomlKey(type=Annotated[int, Meta(ge=0, lt=SEEDS)], words=f"a whole number from 0 to {SEEDS - 1}")
JOBS = TomlKey(type=Annotated[int, Meta(ge=-1, le=10_000)], words="a whole number")
SECONDS = TomlKey(type=Annotated[float, Meta(ge=0, le=1e12)], words="a number of seconds")
SIZE = TomlKey(
    type=int | Text,
    words='a size, such as "2GB"',
    read=lambda value: value if isinstance(value, str) else f"{value}B",
)
TYPES = TomlKey(type=Text, words='zip = "category"', table=True)
SPACE = TomlKey(
    type=_Scalar | Annotated[list[_Scalar], Meta(min_length=1)],
    words='ridge.alpha = "log:1e-6:1e2:17"',
    joined=True,
    table=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFile:
    """Holds the content of a study file, as the values of command-line options."""

    path: str
    asked: Mapping[str, Any]  # fields of a Question
    run: Mapping[str, Any] = field(default_factory=dict)  # fields of RunOptions


def is_study_file(path: str) -> bool:
    """Check by a file's name whether it is a study file rather than data.

    >>> is_study_file("study.toml"), is_study_file("data.csv")
    (True, False)
    """
    return path.lower().endswith(SUFFIX)


def read_study(path: str, *, question: Mapping[str, TomlKey], run: Mapping[str, TomlKey]) -> StudyFile:
    """Read a study file; an error for a wrong key or value names it, and the nearest known keys."""
    text = _text(path)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS:
            raise OptionError(f"{path}: line {number} has more than {MOST_DOTS} dots. Break it into several lines.")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise OptionError(f"{path}: brackets are nested too deep for a study.") from None
    except ValueError as error:  # a mistake in the TOML, or a number or date that Python refuses
        raise OptionError(f"{path} is no TOML: {str(error)[:300]}.") from None
    version = content.pop("heldout", FORMAT)
    if version != FORMAT or isinstance(version, bool):
        _refuse(path, f"heldout = {_short(version)} is a format that this heldout does not read: it reads {FORMAT}")
    of_run = content.pop("run", {})
    if not isinstance(of_run, dict):
        _refuse(path, "run is a table: write [run], and below it jobs = 2")
    asked = _values(path, content, question, others=("run", "heldout"))
    folder = Path(path).parent
    if "data" in asked:
        asked["data"] = str(folder / asked["data"])
    for level in {"test", "validation"} & set(asked):
        kind, colon, name = asked[level].partition(":")
        if colon and kind in _NAMES_OF_FILES and name:
            asked[level] = f"{kind}:{folder / name}"
    return StudyFile(path=path, asked=asked, run=_values(path, of_run, run, within="run."))


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


def _values(
    path: str,
    content: Mapping[str, Any],
    known: Mapping[str, TomlKey],
    *,
    within: str = "",
    others: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the fields that a table of the file sets."""
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key in _ONLY_ON_THE_COMMAND_LINE:
            _refuse(path, f"{within}{key}: {_ONLY_ON_THE_COMMAND_LINE[key]}")
        if key not in known:
            near = did_you_mean(key, (*known, *others))
            _refuse(path, f"there is no key {(within + key)[:60]!r} here. {near}")
        form = known[key]
        if not form.table:
            values[form.field] = form.read(_converted(path, form, value, f"{within}{key}"))
        elif isinstance(value, dict):
            values[form.field] = tuple(_table(path, form, value, key))
        else:
            _refuse(path, f"{key} is a table: write [{key}], and below it {form.words}")
    return values


def _table(path: str, form: TomlKey, content: Mapping[str, Any], key: str) -> list[str]:
    """Return the entries of a table as the command line writes them: `ridge.alpha=1,2`."""
    texts: list[str] = []
    for name, value in content.items():
        if key == "space" and isinstance(value, dict):
            texts += [f"{name}.{entry}" for entry in _table(path, form, value, f"{key}.{name}")]
            continue
        values = _converted(path, form, value, f"{key}.{name}")
        listed = values if isinstance(values, list) else [values]
        words = [str(entry).lower() if isinstance(entry, bool) else str(entry) for entry in listed]
        texts.append(f"{name}={','.join(words)}")
    return texts


def _converted(path: str, form: TomlKey, value: Any, key: str) -> Any:
    words = f"written as in {form.words}" if form.table else form.words
    try:
        converted = msgspec.convert(value, form.type)
    except msgspec.ValidationError as error:
        _refuse(path, f"{key} is {words}, not {_short(value)} ({error})")
    listed = isinstance(converted, list)
    texts = [text for text in (converted if listed else [converted]) if isinstance(text, str)]
    if any(not text.strip() or (form.joined and listed and "," in text) for text in texts):
        _refuse(path, f"{key} is {words}, not {_short(value)}")
    return converted


def _refuse(path: str, why: str) -> NoReturn:
    raise OptionError(f"{path}: {why}{'' if why.endswith(('?', '.')) else '.'}")


def _short(value: Any) -> str:
    """Return the repr of a value, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def study_text(
    question: Any, run: Any, *, keys: tuple[Mapping[str, TomlKey], Mapping[str, TomlKey]], command: str, folder: Path
) -> str:
    """Return a Question and RunOptions as TOML; files that it reads are named relative to `folder`."""
    lines = [f"# Written by heldout {__version__}. The same numbers: {command}", f"heldout = {FORMAT}", ""]
    tables: list[str] = []
    for key, form in keys[0].items():
        value = getattr(question, form.field)
        if value is None or value == ():
            continue
        if form.table:
            tables += ["", f"[{key}]", *(_entry(text, dotted=key == "space") for text in value)]
        else:
            lines.append(f"{key} = {_toml(form.write(_named_from(folder, key, value)))}")
    of_run = {key: value for key, form in keys[1].items() if (value := getattr(run, form.field)) is not None}
    if of_run:
        tables += ["", "[run]", *(f"{key} = {_toml(value)}" for key, value in of_run.items())]
    return "\n".join([*lines, *tables]) + "\n"


def _named_from(folder: Path, key: str, value: Any) -> Any:
    """Return the value with its file named relative to `folder`, or by its absolute path if it lies elsewhere."""
    kind, colon, name = ("", "", value) if key == "data" else str(value).partition(":")
    if key != "data" and not (key in ("test", "validation") and kind in _NAMES_OF_FILES):
        return value
    place = Path(name).absolute()
    return kind + colon + (place.relative_to(folder).as_posix() if place.is_relative_to(folder) else str(place))


def _entry(text: str, *, dotted: bool) -> str:
    """Return `ridge.alpha=log:1:2:3` as a line of a TOML table."""
    name, _, value = text.partition("=") if dotted else text.rpartition("=")
    learner, dot, parameter = name.strip().rpartition(".") if dotted else ("", "", name)
    key = f"{_key(learner)}.{_key(parameter)}" if dot else _key(parameter)
    return f"{key} = {_toml(value.strip())}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
