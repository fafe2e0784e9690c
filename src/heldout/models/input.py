"""Converts new rows to the columns and types that a saved model expects, and notes differences from training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.base.errors import ColumnError, InputError, did_you_mean
from heldout.base.words import listed
from heldout.data.column_types import as_types, date_format
from heldout.models.schema import (
    ANYTHING,
    DATE,
    DURATION,
    NUMBER,
    WORDS,
    YES_NO,
    Column,
    Schema,
    as_pandas,
    distinct_words,
    held,
)
from heldout.task.arrays import is_frame, refuse_twice
from heldout.task.column_kinds import CATEGORIES, ONE
from heldout.task.source import some_rows

if TYPE_CHECKING:
    import pandas as pd

Notes = list[str]
_EXPECTED = {NUMBER: "numbers", YES_NO: "True and False", DATE: "dates", DURATION: "durations", WORDS: "text"}
_LONG = 40  # characters of a value that a message shows


def arranged(X: Any, schema: Schema, *, name: str) -> tuple[Any, Notes]:
    """Return rows with the columns, order and types of the training rows, and notes for the user.

    Raises ColumnError for missing columns and values of a wrong type; `name` is what messages call X.
    """
    if not is_frame(X):
        return _array(X, schema, name=name), []
    frame = as_pandas(X)
    if not len(frame):
        raise InputError(f"{name} has no rows, so there is nothing to predict.")
    if not schema.columns:
        return _by_place(frame, schema, name=name)
    given = list(map(str, frame.columns))
    _check_names(given, schema, name=name)
    notes = _extra(given, schema)
    # Rows that fit are passed on unchanged: another memory layout would round differently.
    rows = frame if list(frame.columns) == schema.names else frame[schema.names]
    wrong: list[str] = []
    turned: dict[str, Any] = {}
    for column in schema.columns:
        values = rows[column.name]
        try:
            fit = _as_trained(values, column, name=name)
        except ColumnError as error:
            wrong.append(str(error))
            continue
        if fit is not values:
            turned[column.name] = fit
    if wrong:
        more = f" And {len(wrong) - 5} columns more." if len(wrong) > 5 else ""
        raise ColumnError(" ".join(wrong[:5]) + more)
    rows = rows.assign(**turned) if turned else rows
    for column in schema.columns:
        notes += _unlike_training(rows[column.name], column)
    return rows, notes


def words_to_read(frame: pd.DataFrame, schema: Schema) -> dict[str, str]:
    """Return the columns of a file to read again as text: they were text in training, but now have another type."""
    return {
        column.name: ONE[CATEGORIES]
        for column in schema.columns
        if column.holds == WORDS and column.name in frame.columns and held(frame[column.name]) != WORDS
    }


def _array(X: Any, schema: Schema, *, name: str) -> Any:
    rows = X if hasattr(X, "shape") else np.asarray(X)
    if not rows.shape or not rows.shape[0]:
        raise InputError(f"{name} has no rows, so there is nothing to predict.")
    if schema.width is not None and (len(rows.shape) != 2 or rows.shape[1] != schema.width):
        raise ColumnError(f"{name} has the shape {rows.shape}, but the model learned from {schema.width} columns.")
    if not schema.columns:
        return rows
    if any(column.holds not in (NUMBER, ANYTHING) for column in schema.columns):
        raise ColumnError(
            f"{name} has no column names, and the model needs them. Pass a data frame: {listed(schema.names)}."
        )
    import pandas as pd

    return pd.DataFrame(rows, columns=schema.names)


def _by_place(frame: pd.DataFrame, schema: Schema, *, name: str) -> tuple[Any, Notes]:
    """Return columns in their order, without the target, for a model that was fitted on an array."""
    left = frame.drop(columns=[schema.target]) if schema.target in frame.columns else frame
    if schema.width is None:
        raise ColumnError(f"{name} is a table, but the model learned from single values without a column.")
    if left.shape[1] != schema.width:
        raise ColumnError(f"{name} has {left.shape[1]} columns, but the model has {schema.width}, without names.")
    wrong = [str(column) for column in left.columns if held(left[column]) not in (NUMBER, YES_NO)]
    if wrong:
        raise ColumnError(f"Column {wrong[0]!r} of {name} holds no numbers, but the model learned from numbers alone.")
    values = np.ascontiguousarray(left.to_numpy(dtype=float, na_value=np.nan))
    return values, ["The model knows no column names: columns are taken in order."]


def _check_names(given: list[str], schema: Schema, *, name: str) -> None:
    known = set(schema.names)
    lacking = [column for column in schema.names if column not in given]
    if lacking:
        shown = listed([repr(column) for column in lacking])
        count = "a column" if len(lacking) == 1 else f"{len(lacking)} columns"
        hint = did_you_mean(lacking[0], [column for column in given if column not in known] or given)
        raise ColumnError(f"{name} lacks {count} that the model learned from: {shown}. {hint}")
    refuse_twice([column for column in given if column in known], name)


def _extra(given: list[str], schema: Schema) -> Notes:
    others = [column for column in given if column not in schema.names and column != schema.target]
    notes = [f"Not used, since the model did not learn from them: {listed(others)}."] if others else []
    if schema.target in given:
        notes.append(f"The target {schema.target} is among the columns; it is not used.")
    return notes


def _as_trained(values: pd.Series[Any], column: Column, *, name: str) -> pd.Series[Any]:
    """Return the values converted to the type that they had in training."""
    holds = held(values)
    if column.holds == ANYTHING or str(values.dtype) == column.dtype != "object":
        _refuse_infinite(values, name)
        return values
    if values.isna().all():
        return _void(values, column)
    if column.holds == WORDS and holds == NUMBER:
        return as_types(_whole(values).to_frame(), {column.name: "category"}, file=name)[column.name]
    if column.holds in (NUMBER, DATE) and holds == WORDS:
        return _from_words(values, column, name=name)
    if column.holds != holds:
        raise _wrong(values, column, name=name)
    if column.holds == NUMBER:
        _refuse_infinite(values, name)
        return _number(values, column)
    if column.holds == DATE and (getattr(values.dtype, "tz", None) is not None) != column.zone:
        had, has = ("with", "without") if column.zone else ("without", "with")
        raise ColumnError(
            f"Column {column.name!r} of {name} holds dates {has} a time zone, but the model learned from dates {had}."
        )
    return values.astype("category") if column.dtype == "category" and column.holds == WORDS else values


def _void(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    """Return a column of missing values, in a type that the model accepts."""
    import pandas as pd

    void = {NUMBER: "float64", YES_NO: "boolean", DATE: "datetime64[us]", DURATION: "timedelta64[us]", WORDS: "str"}
    dtype = "datetime64[us, UTC]" if column.zone else void.get(column.holds, "object")
    return pd.Series([None] * len(values), index=values.index, name=values.name, dtype=dtype)


def _number(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    if column.kind == ONE[CATEGORIES]:
        return _whole(values)  # 12 with a gap somewhere is read as 12.0, which is another category
    if column.dtype in ("float32", "float64"):
        return values.astype(np.dtype(column.dtype))
    return values


def _whole(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return integers that became floats because of missing values as nullable integers; other values unchanged."""
    if values.dtype.kind != "f" or not (values.dropna() % 1 == 0).all():
        return values
    return values.astype("Int64")


def _from_words(values: pd.Series[Any], column: Column, *, name: str) -> pd.Series[Any]:
    try:
        return as_types(values.to_frame(), {column.name: column.holds}, file=name)[column.name]
    except ColumnError:
        raise _wrong(values, column, name=name) from None


def _wrong(values: pd.Series[Any], column: Column, *, name: str) -> ColumnError:
    present = values.notna().to_numpy()
    row = int(np.flatnonzero(_misfits(values, column) & present)[0])
    return ColumnError(
        f"Column {column.name!r} of {name} holds {str(values.iloc[row])[:_LONG]!r} in {some_rows([row])}, but the "
        f"model learned from {_EXPECTED[column.holds]} there."
    )


def _misfits(values: pd.Series[Any], column: Column) -> np.ndarray[Any, Any]:
    """Return a mask of the rows that cannot be converted; all rows if the whole column has another type."""
    import pandas as pd

    if held(values) == WORDS and column.holds == NUMBER:
        return pd.to_numeric(values.astype(object), errors="coerce").isna().to_numpy()
    if held(values) == WORDS and column.holds == DATE:
        form = date_format(values.dropna()) or "ISO8601"
        return pd.to_datetime(values, format=form, errors="coerce", utc=True).isna().to_numpy()
    return np.ones(len(values), dtype=bool)


def _refuse_infinite(values: pd.Series[Any], name: str) -> None:
    if held(values) != NUMBER:
        return
    rows = np.flatnonzero(np.isinf(values.to_numpy(dtype=float, na_value=np.nan)))
    if len(rows):
        raise ColumnError(f"Column {values.name!r} of {name} holds infinite numbers ({some_rows(rows)}).")


def _unlike_training(values: pd.Series[Any], column: Column) -> Notes:
    notes: Notes = []
    if column.values is not None:
        known = set(column.values)
        strange = [word for word in distinct_words(values) if word not in known]
        if strange:
            rows = int(values.dropna().astype(object).map(str).isin(strange).sum())
            shown = ", ".join(word[:_LONG] for word in strange[:5])
            more = f", … {len(strange)} in all" if len(strange) > 5 else ""
            notes.append(
                f"{column.name}: {rows} of {len(values)} rows are of a category never seen in training: {shown}{more}."
            )
    missing = int(values.isna().sum())
    if missing and not column.gaps and column.holds != ANYTHING:
        notes.append(f"{column.name}: {missing} of {len(values)} values are missing; none was in training.")
    return notes
