"""Sets the types of a table's columns: inferred from their values, or as the user specifies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.base.errors import ColumnError
from heldout.task.column_kinds import DATES, NUMBERS, kind_named, look_like_dates
from heldout.task.source import some_rows

if TYPE_CHECKING:
    import pandas as pd


_DOTTED = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}")


def infer_types(frame: pd.DataFrame, *, leave: frozenset[str] = frozenset()) -> pd.DataFrame:
    """Convert text columns of dates, boolean columns with missing values, and columns of integers beyond 64 bits.

    Such integers become text, since floats cannot distinguish them. Columns in `leave` are not converted.
    """
    import pandas as pd

    texts = [name for name, dtype in frame.dtypes.items() if pd.api.types.is_string_dtype(dtype) and name not in leave]
    inferred = [(name, values := frame[name], _inferred(values)) for name in texts]
    changed = {str(name): seen for name, values, seen in inferred if seen is not values}
    return frame.assign(**changed) if changed else frame


def blank_missing_texts(frame: pd.DataFrame, missing: tuple[str, ...]) -> pd.DataFrame:
    """Return the frame with the texts that stand for a missing value replaced by missing values.

    >>> import pandas as pd
    >>> blank_missing_texts(pd.DataFrame({"n": [1, "?"]}), ("?",))["n"].tolist()
    [1.0, nan]
    """
    return frame.assign(**{str(name): _blanked(values, missing) for name, values in frame.items()})


def as_types(frame: pd.DataFrame, types: Mapping[str, str], *, file: str) -> pd.DataFrame:
    """Convert the columns whose type the user specifies; categories and texts become strings.

    Names that are not in the frame are ignored. A value that cannot be converted raises ColumnError with its row; the
    message calls the table `file`.

    >>> import pandas as pd
    >>> as_types(pd.DataFrame({"zip": [3000, 4000]}), {"zip": "category"}, file="a.csv")["zip"].tolist()
    ['3000', '4000']
    """
    changed: dict[str, Any] = {}
    for name, word in types.items():
        kind = kind_named(word)
        if name not in frame.columns:
            continue
        if kind == NUMBERS:
            changed[name] = _as_numbers(frame[name], file)
        elif kind == DATES:
            changed[name] = _as_dates(frame[name], file)
        else:
            changed[name] = _as_words(frame[name])
    return frame.assign(**changed) if changed else frame


def _inferred(values: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    if values.dtype == object:
        kinds = set(map(type, values.dropna()))
        if kinds == {bool}:
            return values.astype("boolean")
        if kinds == {int} and max(map(abs, values.dropna())) >= 2**63:  # floats cannot distinguish them: they are names
            return _as_words(values)
    if pd.api.types.is_string_dtype(values.dtype):
        return _dates_if_all(values)
    return values


def _blanked(values: pd.Series[Any], missing: tuple[str, ...]) -> pd.Series[Any]:
    """Replace these texts in one column by missing values; the remaining values may then become numbers."""
    import pandas as pd

    if values.dtype != object and not isinstance(values.dtype, pd.StringDtype):
        return values
    void = values.isin(list(missing)).to_numpy()
    if not void.any():
        return values
    left = values.where(~void)
    return left.infer_objects() if left.dtype == object else left


def date_format(texts: pd.Series[Any]) -> str | None:
    """Return how these texts write dates, seen from the first: as ISO does, or as 31.1.2024; None if they do not."""
    first = texts.head(20)
    if look_like_dates(first):
        return "ISO8601"
    return "%d.%m.%Y" if all(isinstance(text, str) and _DOTTED.fullmatch(text) for text in first) else None


def _dates_if_all(values: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    present = values.dropna()
    form = date_format(present)
    if present.empty or form is None:
        return values
    try:
        dates: pd.Series[Any] = pd.to_datetime(values, format=form)
    except (ValueError, TypeError):
        return values  # some of it is no date, or the zones differ: it stays text
    return dates


def _as_numbers(values: pd.Series[Any], file: str) -> pd.Series[Any]:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
        return values
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.astype("float64")
    numbers: pd.Series[Any] = pd.to_numeric(values.astype(object), errors="coerce")
    _refuse_lost(values, numbers, "number", file)
    return numbers.astype("float64")


def _as_dates(values: pd.Series[Any], file: str) -> pd.Series[Any]:
    import pandas as pd

    if values.dtype.kind in "mM":
        return values
    words = _as_words(values)
    form = date_format(words.dropna()) or "ISO8601"
    dates: pd.Series[Any] = pd.to_datetime(words, format=form, errors="coerce")
    _refuse_lost(values, dates, "date such as 2024-01-31", file)
    return dates


def _as_words(values: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    if isinstance(values.dtype, pd.StringDtype):
        return values
    words = values.astype(object).where(values.notna(), None).map(str, na_action="ignore")
    return words.astype("str")


def _refuse_lost(values: pd.Series[Any], turned: pd.Series[Any], word: str, file: str) -> None:
    lost = np.flatnonzero(values.notna().to_numpy() & turned.isna().to_numpy())
    if len(lost):
        raise ColumnError(
            f"Column {values.name!r} of {file!r} cannot be of the type asked for: {str(values.iloc[lost[0]])[:40]!r} "
            f"in {some_rows(lost[:1])} is no {word}. Correct it, or name it as missing."
        )
