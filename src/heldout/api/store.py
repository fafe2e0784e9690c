"""Saving results and loading them: one zip file of JSON and arrays, no pickles, with a version."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from heldout.api.facts import VERSION, Facts
from heldout.api.result import Result
from heldout.base.errors import StoredError
from heldout.base.finding import Finding
from heldout.report.plain import plain
from heldout.risk.estimate import Estimate

FORMAT = "heldout result"
_MANIFEST = "result.json"
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    AttributeError,
    EOFError,
    KeyError,
    NotImplementedError,  # an unknown compression
    RuntimeError,  # an encrypted member
    TypeError,
    ValueError,
)
_SAME_TIME = (1980, 1, 1, 0, 0, 0)  # the same result gives the same bytes


def save(result: Result, path: str | Path) -> None:
    """Write a result; an existing file is replaced only once the new one is whole."""
    facts = result.facts
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    tables = {
        table: {name: _pack(f"{table}/{i}", values, arrays) for i, (name, values) in enumerate(columns.items())}
        for table, columns in facts.tables.items()
    }
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "estimates": {name: plain(estimate.as_dict()) for name, estimate in facts.estimates.items()},
        "findings": [asdict(finding) for finding in result.findings],
        "covers": plain(facts.covers),
        "plan": plain(facts.plan),
        "about": plain(facts.about),
        "seconds": plain(facts.seconds),
        "frame": facts.frame,
        "tables": tables,
    }
    target = Path(path)
    unfinished = target.with_name(target.name + ".part")
    with zipfile.ZipFile(unfinished, "w", compression=zipfile.ZIP_DEFLATED) as file:
        _add(file, _MANIFEST, json.dumps(manifest, ensure_ascii=False, allow_nan=False).encode())
        for name, values in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, values, allow_pickle=False)
            _add(file, f"{name}.npy", buffer.getvalue())
    os.replace(unfinished, target)


def load(path: str | Path) -> Result:
    """Read a result that :meth:`heldout.Result.save` wrote. No code in the file can run.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Result
        With every number and table; without the learner, so it cannot make the predictor.
    """
    try:
        with zipfile.ZipFile(path) as file:
            manifest = json.loads(file.read(_MANIFEST))
            _check(manifest, path)
            tables = {
                table: {name: _unpack(packed, file) for name, packed in columns.items()}
                for table, columns in manifest["tables"].items()
            }
    except FileNotFoundError:
        raise StoredError(f"There is no file {str(path)!r}.") from None
    except _UNREADABLE as error:
        if isinstance(error, StoredError):
            raise
        raise StoredError(f"{str(path)!r} is not a whole saved result: {error}") from error
    try:
        return Result(_facts(manifest, tables))
    except _UNREADABLE as error:
        raise StoredError(f"{str(path)!r} is not a whole saved result: {error}") from error


def _facts(manifest: dict[str, Any], tables: dict[str, Any]) -> Facts:
    estimates = {}
    for name, values in manifest["estimates"].items():
        unclipped = values.get("unclipped")
        numbers = None if unclipped is None else tuple(float(v) for v in unclipped)
        estimates[name] = Estimate(**{**values, "unclipped": numbers})
    return Facts(
        estimates=estimates,
        tables=tables,
        findings=tuple(Finding(**finding) for finding in manifest["findings"]),
        covers=manifest["covers"],
        plan=manifest["plan"],
        about=manifest["about"],
        seconds=manifest["seconds"],
        frame=manifest["frame"] if manifest["frame"] in ("pandas", "polars") else "pandas",
    )


def _check(manifest: Any, path: str | Path) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoredError(f"{str(path)!r} is not a saved result.")
    if manifest.get("version") != VERSION:
        raise StoredError(
            f"{str(path)!r} has format version {manifest.get('version')!r}, this heldout reads version {VERSION}. "
            "Read it with the heldout that wrote it, or run the study again."
        )


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, date_time=_SAME_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    file.writestr(info, content)


def _pack(name: str, values: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    """Arrays of plain dtype become members of their own; anything else goes into the JSON, value by value."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufM":
        arrays[name] = values
        return {"array": name}
    return {"values": plain(list(values))}


def _unpack(packed: dict[str, Any], file: zipfile.ZipFile) -> Any:
    if "array" in packed:
        return np.load(io.BytesIO(file.read(packed["array"] + ".npy")), allow_pickle=False)
    return packed["values"]
