"""Readers of data files: CSV, TSV and Parquet, each as a pandas data frame with every column typed."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.base.errors import ColumnError, InputError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?")


def read_table(path: str | Path) -> pd.DataFrame:
    """The table in a file, by the file's suffix: ``.csv``, ``.tsv``, ``.parquet``.

    Texts that are all ISO dates (2024-01-31, with or without a time) become dates.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    pandas.DataFrame
        With at least one row, and column names that are text and differ from one another.

    Raises
    ------
    InputError
        What is wrong with the file, and the way out.
    """
    place = Path(path)
    read = _READERS.get(place.suffix.lower())
    if read is None:
        known = ", ".join(_READERS)
        raise InputError(f"{place.name!r} ends in {place.suffix!r}, which heldout cannot read. It reads {known}.")
    try:
        if place.is_dir():
            raise InputError(f"{str(path)!r} is a folder. Name a file in it.")
        if place.stat().st_size == 0:
            raise InputError(f"{place.name!r} is empty: it has no header and no rows.")
        frame = read(place)
    except FileNotFoundError:
        raise InputError(_no_such_file(place)) from None
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if not len(frame):
        columns = f"{frame.shape[1]} column" + ("" if frame.shape[1] == 1 else "s")
        raise InputError(f"{place.name!r} has a header ({columns}) but no rows.")
    return frame


def _no_such_file(place: Path) -> str:
    folder = place.parent
    names = [one.name for one in folder.iterdir() if one.suffix.lower() in _READERS] if folder.is_dir() else []
    hint = did_you_mean(place.name, names) if names else ""
    return f"There is no file {str(place)!r}. {hint}".strip()


def _read_csv(place: Path) -> pd.DataFrame:
    return _read_text(place, ",")


def _read_tsv(place: Path) -> pd.DataFrame:
    return _read_text(place, "\t")


def _read_text(place: Path, separator: str) -> pd.DataFrame:
    import pandas as pd

    try:
        _check_header(place, separator)
        frame = pd.read_csv(place, sep=separator, encoding="utf-8-sig", low_memory=False)
    except UnicodeDecodeError:
        raise InputError(f"{place.name!r} is not UTF-8 text. Save it again with UTF-8 encoding.") from None
    except pd.errors.EmptyDataError:
        raise InputError(f"{place.name!r} is empty: it has no header and no rows.") from None
    except pd.errors.ParserError as error:
        reason = str(error).strip().removeprefix("Error tokenizing data. C error: ")
        raise InputError(f"{place.name!r} is not a regular table: {reason}.") from None
    return _typed(frame)


def _check_header(place: Path, separator: str) -> None:
    """Refuse a header that pandas would quietly mend or misread."""
    with place.open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = (row for row in csv.reader(file, delimiter=separator) if row)
            names, first = next(rows, []), next(rows, [])
        except csv.Error as error:
            raise InputError(f"The header of {place.name!r} cannot be read: {error}.") from None
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        shown = ", ".join(map(repr, twice[:5]))
        raise ColumnError(f"{place.name!r} has more than one column named {shown}. Give every column its own name.")
    if len(names) == 1:
        for other, word in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
            if other != separator and other in names[0]:
                raise InputError(
                    f"The columns of {place.name!r} seem to be separated by {word}. Save it with commas and decimal "
                    "points as .csv, or with tabs as .tsv."
                )
    if len(first) > len(names):  # pandas would make an index of the first field
        raise InputError(
            f"The rows of {place.name!r} have more fields than its header has names ({len(names)}). "
            "Name every column in the first line."
        )


def _read_parquet(place: Path) -> pd.DataFrame:
    if find_spec("pyarrow") is None:
        raise InputError(
            f"Reading {place.name!r} needs pyarrow, which is not installed. "
            "Install it (pip install pyarrow), or save the table as .csv."
        )
    import pandas as pd

    try:
        frame = pd.read_parquet(place, engine="pyarrow")
    except (ValueError, NotImplementedError) as error:  # what pyarrow's own errors derive from
        raise InputError(f"{place.name!r} is not a whole Parquet file: {str(error).splitlines()[0]}") from None
    named = any(name is not None for name in frame.index.names)
    frame = frame.reset_index(drop=not named)  # an index with a name is a column that was put there
    frame.columns = frame.columns.map(str)
    return _typed(frame)


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Dates where a text column holds nothing else, and yes-or-no columns with gaps as such."""
    import pandas as pd

    changed: dict[str, Any] = {}
    for name in frame.columns:
        values = frame[name]
        if values.dtype == object and values.map(lambda one: isinstance(one, bool)).sum() == values.notna().sum() > 0:
            changed[name] = values.astype("boolean")
        elif pd.api.types.is_string_dtype(values.dtype):
            dates = _as_dates(values)
            if dates is not None:
                changed[name] = dates
    return frame.assign(**changed) if changed else frame


def _as_dates(values: pd.Series[Any]) -> pd.Series[Any] | None:
    import pandas as pd

    present = values.dropna()
    if present.empty or not all(isinstance(one, str) and _ISO_DATE.fullmatch(one) for one in present.head(20)):
        return None
    try:
        dates: pd.Series[Any] = pd.to_datetime(values, format="ISO8601")
    except (ValueError, TypeError):
        return None  # some of it is no date, or the zones differ: it stays text
    return dates


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {".csv": _read_csv, ".tsv": _read_tsv, ".parquet": _read_parquet}
