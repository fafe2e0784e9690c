"""Tables as JSON lines: an object a row."""

from __future__ import annotations

import json
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from heldout.base.errors import ColumnError, InputError
from heldout.data.compressed import TableFile

if TYPE_CHECKING:
    import pandas as pd


def read_json_lines(file: TableFile) -> pd.DataFrame:
    """One row a line; a name that some line lacks is missing there."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    try:
        with file.open() as source, TextIOWrapper(source, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    rows.append(_row(line, number, file))
    except UnicodeDecodeError:
        raise InputError(f"{file.name!r} is not UTF-8 text. Save it again with UTF-8 encoding.") from None
    if not rows:
        raise InputError(f"{file.name!r} is empty: it has no rows.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pd.DataFrame({name: _column([row.get(name) for row in rows]) for name in names})


def _row(line: str, number: int, file: TableFile) -> dict[str, Any]:
    try:
        row = json.loads(line, object_pairs_hook=lambda pairs: _once(pairs, number, file))
    except (ValueError, RecursionError) as error:
        if isinstance(error, ColumnError):
            raise
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value is too deep, or too long"
        raise InputError(f"Line {number} of {file.name!r} is not JSON: {reason}.") from None
    if not isinstance(row, dict):
        raise InputError(
            f'Line {number} of {file.name!r} is no object. Write each row as {{"name": value, …}} on a line of its own.'
        )
    for name, value in row.items():
        if isinstance(value, dict | list):
            raise ColumnError(
                f"Line {number} of {file.name!r}: {name!r} holds a list or an object. Columns hold single values."
            )
    return row


def _once(pairs: list[tuple[str, Any]], number: int, file: TableFile) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ColumnError(
            f"Line {number} of {file.name!r} has {twice!r} more than once. Give every column its own name."
        )
    return row


def _column(values: list[Any]) -> Any:
    """A column with the type that its values share; yes-or-no columns with gaps stay so."""
    import pandas as pd

    if any(isinstance(one, bool) for one in values):
        present = [one for one in values if one is not None]
        return pd.array(values, dtype="boolean") if all(isinstance(one, bool) for one in present) else values
    return values
