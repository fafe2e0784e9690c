"""Reads the table of a command as the user says, with its lines for messages. Import it late: it is slow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import click
import numpy as np
import pandas as pd

from heldout.base.errors import TargetError
from heldout.cli.options import OF_A_FILE
from heldout.data.compressed import TableFile
from heldout.data.read_table import read_source
from heldout.task.source import Source, rows_from, some_rows, source_of_now


def file_options(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the user says of how a file is written, as fields of `TableFile`."""
    return {**{name: asked[name] for name in OF_A_FILE}, "missing": missing_texts(asked["missing"])}


def read_rows(file: TableFile) -> tuple[pd.DataFrame, str, dict[str, str]]:
    """Read a table, whose lines all messages of this command then name; return its name, and how it was read."""
    frame, source = read_source(file)
    _take_rows_from(source)
    return frame, str(source.name), {"read as": source.read_as} if source.read_as else {}


def rows_with_target(
    frame: pd.DataFrame, target: str, *, used: Collection[str], drop: bool
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the rows that have a target, without a column that only counts rows, and a note on what was left out.

    Without `drop`, rows without a target are an error.
    """
    frame, notes = without_row_numbers(frame, used)
    lack = frame[target].isna().to_numpy()
    if not lack.any():
        return frame, notes
    if lack.all():
        raise TargetError(f"The target {target!r} is missing in every row. Is it the right column?")
    if not drop:
        raise TargetError(
            f"The target {target!r} is missing in {some_rows(np.flatnonzero(lack))}. Leave such rows out by "
            "--missing-target drop, or fill them in."
        )
    _take_rows_from(source_of_now().kept(~lack))
    words = f"{int(lack.sum()):,} of {len(lack):,} rows, which have no target"
    return frame[~lack].reset_index(drop=True), {"left out": "; ".join([*notes.values(), words])}


def _take_rows_from(source: Source) -> None:
    """Record where the rows of this command come from, until it ends."""
    command = click.get_current_context(silent=True)
    if command is not None:
        command.with_resource(rows_from(source))


def missing_texts(text: str | None) -> tuple[str, ...] | None:
    """Split the value of `--missing` at its commas; None stays None.

    >>> missing_texts("NA, ?")
    ('NA', '?')
    """
    return None if text is None else tuple(part.strip() for part in text.split(","))


def without_row_numbers(frame: pd.DataFrame, used: Collection[str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Drop an unnamed first column that counts rows, as tables saved with an index have; return a note on it."""
    first = frame.columns[0]
    if first != "Unnamed: 0" or first in used:
        return frame, {}
    counts = frame[first].to_numpy()
    if counts.dtype.kind != "i" or not (np.diff(counts) == 1).all():
        return frame, {}
    return frame.drop(columns=[first]), {"left out": "the first column, which has no name and only counts rows"}
