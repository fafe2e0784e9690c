"""Columns as a data frame of the library that the user's own data came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def as_frame(columns: Mapping[str, Any], *, library: str = "pandas") -> Any:
    """A pandas frame, or a polars one where the task came as polars."""
    if library == "polars":
        import polars as pl

        return pl.DataFrame({name: _polars_column(values) for name, values in columns.items()}, strict=False)
    return pd.DataFrame(dict(columns))


def _polars_column(values: Any) -> Any:
    if isinstance(values, list):
        plain = all(value is None or isinstance(value, str | int | float | bool) for value in values)
        return values if plain else [None if value is None else str(value) for value in values]
    return values
