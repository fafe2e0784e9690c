"""The setting of a study: the data, code, libraries and machine that its numbers depend on, and what has changed."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from heldout.journal.identity import Identity
from heldout.splits.drawn import Splits
from heldout.task.task import Task

_ALWAYS = ("heldout", "scikit-learn", "numpy", "scipy")
Setting = dict[str, Any]  # JSON values


@cache
def cpu_type() -> str:
    """What kind of processor this is: numbers may differ in their last bits on another."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return f"{platform.machine()}, {line.partition(':')[2].strip()}"
    except OSError:
        pass  # not Linux
    return ", ".join(dict.fromkeys(filter(None, (platform.machine(), platform.processor()))))


@cache
def base_libraries() -> dict[str, str]:
    """The versions that every number depends on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _ALWAYS}}


def setting_of(task: Task, splits: Mapping[str, Splits], parts: Iterable[Identity]) -> Setting:
    """The setting of a study on this task, with these splits, whose learner has these parts."""
    code: dict[str, str] = {}
    libraries = dict(base_libraries())
    for part in parts:
        code.update(part.code)
        libraries.update(part.libraries)
    return {
        "data": {"fingerprint": task.fingerprint, "rows": len(task), "columns": task.n_columns},
        "splits": {name: one.fingerprint for name, one in splits.items()},
        "code": dict(sorted(code.items())),
        "libraries": dict(sorted(libraries.items())),
        "cpu": cpu_type(),
    }


def differences(before: Setting, now: Setting) -> list[str]:
    """What differs between two settings, a line each, for people."""
    lines = []
    old, new = before["data"], now["data"]
    if old != new:
        sizes = f"{_size(old)} then, {_size(new)} now"
        lines.append(f"data: {sizes}" if _size(old) != _size(new) else f"data: {_size(new)}, with other contents")
    elif before["splits"] != now["splits"]:
        names = [name for name, one in now["splits"].items() if before["splits"].get(name) != one]
        lines.append(
            f"splits: other rows were drawn for {', '.join(names[:3]) or 'some parts'}. A splitter of your own needs "
            "a random_state."
        )
    for name in sorted({*before["libraries"], *now["libraries"]}):
        was, is_ = before["libraries"].get(name, "not used"), now["libraries"].get(name, "not used")
        if was != is_:
            lines.append(f"library {name}: {was} then, {is_} now")
    lines += [
        f"code: {name} has changed"
        if name in before["code"] and name in now["code"]
        else f"code: {name} is new or gone"
        for name in sorted({*before["code"], *now["code"]})
        if before["code"].get(name) != now["code"].get(name)
    ]
    if before["cpu"] != now["cpu"]:
        lines.append(f"processor: {before['cpu']} then, {now['cpu']} now")
    return lines


def _size(data: Mapping[str, Any]) -> str:
    return f"{data['rows']:,} rows" + ("" if data["columns"] is None else f" × {data['columns']:,} columns")
