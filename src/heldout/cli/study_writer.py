"""Writing the study file that reproduces a run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heldout import __version__
from heldout.base.errors import OptionError
from heldout.cli.output import shell_line
from heldout.cli.study_file import FORMAT, KEYS, SUFFIX, TASKS

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NAMES_OF_FILES = ("rows", "splits")


def check_study_place(path: str | None) -> None:
    """Refuse a place for a study file before anything is computed for it."""
    if path is None:
        return
    place = Path(path)
    if not path.lower().endswith(SUFFIX):
        raise OptionError(f"--write-study {path}: the name of a study file ends in {SUFFIX}.")
    folder = place.absolute().parent
    if not folder.is_dir():
        raise OptionError(f"--write-study {path}: there is no folder {str(folder)!r}. Make it first.")
    if place.is_dir() or not os.access(folder, os.W_OK) or (place.exists() and not os.access(place, os.W_OK)):
        raise OptionError(f"--write-study {path}: it cannot be written there. Name a file in a folder of your own.")


def write_study(path: str, asked: Mapping[str, Any], run: Mapping[str, Any], *, command: str) -> None:
    """Write the question and how it is run; what it reads is named from the folder of the file."""
    line = shell_line(["heldout", command, Path(path).name])
    text = study_text(asked, run, command=line, folder=Path(path).absolute().parent)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OptionError(f"--write-study {path}: it was not written: {error.strerror or error}.") from error
    except UnicodeEncodeError:
        raise OptionError(f"--write-study {path}: a name in the study is no text that UTF-8 can hold.") from None


def study_text(asked: Mapping[str, Any], run: Mapping[str, Any], *, command: str, folder: Path) -> str:
    """The study as TOML.

    >>> asked = {"data": "a.csv", "target": "y", "space": ("knn.n_neighbors=1,3",), "seed": 0}
    >>> text = study_text(asked, {}, command="heldout evaluate study.toml", folder=Path.cwd())
    >>> print(text.partition("heldout = ")[2])
    1
    <BLANKLINE>
    data = "a.csv"
    target = "y"
    seed = 0
    <BLANKLINE>
    [space]
    knn.n_neighbors = "1,3"
    <BLANKLINE>
    """
    lines = [f"# Written by heldout {__version__}. The same numbers: {command}", f"heldout = {FORMAT}", ""]
    tables: list[str] = []
    for key in KEYS:
        value = asked.get("classification" if key == "task" else key)
        if value is None or value == () or (value is False and key not in ("task", "pool")):
            continue
        if key in ("type", "space"):
            tables += ["", f"[{key}]", *(_entry(text, dotted=key == "space") for text in value)]
        else:
            lines.append(f"{key} = {_toml(_told(key, value, folder))}")
    said = {key: value for key, value in run.items() if value is not None}
    if said:
        tables += ["", "[run]", *(f"{key} = {_toml(value)}" for key, value in said.items())]
    return "\n".join([*lines, *tables]) + "\n"


def _told(key: str, value: Any, folder: Path) -> Any:
    if key == "task":
        return next(word for word, classes in TASKS.items() if classes is value)
    if key == "data":
        return _from(folder, value)
    if key in ("test", "validation"):
        kind, colon, name = value.partition(":")
        return f"{kind}:{_from(folder, name)}" if colon and kind in _NAMES_OF_FILES else value
    if key == "missing":
        return [one.strip() for one in value.split(",")]
    return list(value) if isinstance(value, tuple) else value


def _from(folder: Path, name: str) -> str:
    """A file's name as seen from a folder; whole where it lies elsewhere."""
    place = Path(name).absolute()
    return place.relative_to(folder).as_posix() if place.is_relative_to(folder) else str(place)


def _entry(text: str, *, dotted: bool) -> str:
    """`ridge.alpha=log:1:2:3` as a line of a table."""
    name, _, value = text.partition("=") if dotted else text.rpartition("=")
    learner, dot, parameter = name.strip().rpartition(".") if dotted else ("", "", name)
    key = f"{_key(learner)}.{_key(parameter)}" if dot else _key(parameter)
    return f"{key} = {_toml(value.strip())}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
