"""The input that a saved model expects: the columns in order, the type of each, and what was seen in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import numpy as np

from heldout.base.errors import ColumnError
from heldout.task.arrays import is_frame, is_pandas
from heldout.task.column_kinds import CATEGORIES, ONE, kind_of

if TYPE_CHECKING:
    import pandas as pd

NUMBER: Final = "number"
YES_NO: Final = "yes-or-no"
DATE: Final = "date"
DURATION: Final = "duration"
WORDS: Final = "words"
ANYTHING: Final = "anything"
Holds = Literal["number", "yes-or-no", "date", "duration", "words", "anything"]
MOST_VALUES = 10_000  # values stored of a category; with more, none are


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Describes one column that a model learned from."""

    name: str
    holds: Holds  # what its values are
    kind: str  # "number", "category", "text", "date", "identifier": what it was taken for
    dtype: str
    gaps: bool = False  # whether some of its values were missing in training
    zone: bool = False  # whether its dates have a time zone
    values: tuple[str, ...] | None = None  # the categories seen in training


class Schema(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Describes the input and the target of a model."""

    columns: tuple[Column, ...] = ()  # empty if the model was fitted on an array without names
    width: int | None = None  # number of columns; None for a sequence of objects, such as texts
    target: str | None = None
    classes: tuple[Any, ...] | None = None
    missing: tuple[str, ...] | None = None  # texts that stood for a missing value in the file; None for the usual ones

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise ValueError("the input schema names a column twice")
        if self.width is not None and (self.width < 1 or (self.columns and self.width != len(self.columns))):
            raise ValueError(f"the input schema has a width of {self.width!r} for {len(self.columns)} columns")


def schema_of(X: Any, predictor: Any, *, target: str | None, missing: tuple[str, ...] | None) -> Schema:
    """Return the schema of a model that was fitted on X; if X is None, only what the predictor itself knows."""
    given: dict[str, Any] = {"target": target, "classes": classes_of(predictor), "missing": missing}
    if X is not None and is_frame(X) and all(isinstance(name, str) for name in X.columns):
        frame = as_pandas(X)
        columns = tuple(_column_of(frame[name]) for name in frame.columns)
        return Schema(columns=columns, width=len(columns), **given)
    names = getattr(predictor, "feature_names_in_", None)
    if names is not None:
        columns = tuple(Column(name=str(name), holds=ANYTHING, kind=ANYTHING, dtype="") for name in names)
        return Schema(columns=columns, width=len(columns), **given)
    if X is not None:
        return Schema(width=int(X.shape[1]) if len(np.shape(X)) > 1 else None, **given)
    return Schema(width=getattr(predictor, "n_features_in_", None), **given)


def classes_of(predictor: Any) -> tuple[Any, ...] | None:
    """Return the classes of a classifier with one output as plain values; None for other predictors."""
    classes = getattr(predictor, "classes_", None)
    if not isinstance(classes, np.ndarray):
        return None
    return tuple(classes.tolist())


def as_pandas(X: Any) -> pd.DataFrame:
    """Convert a data frame of any library to pandas."""
    import pandas as pd

    if is_pandas(X, "DataFrame"):
        frame: pd.DataFrame = X
        return frame
    return pd.DataFrame({name: X[name].to_list() for name in X.columns})


def held(values: pd.Series[Any]) -> Holds:
    """Return what the values of a column are, judged by their type."""
    import pandas as pd

    dtype = values.dtype
    if pd.api.types.is_bool_dtype(dtype):
        return YES_NO
    if pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c":
        return NUMBER
    if dtype.kind in "mM":
        return DATE if dtype.kind == "M" else DURATION
    present = values.dropna()
    if isinstance(dtype, pd.StringDtype) or all(isinstance(value, str) for value in present):
        return WORDS
    return YES_NO if all(isinstance(value, bool | np.bool_) for value in present) else ANYTHING


def distinct_words(values: pd.Series[Any]) -> list[str]:
    """Return the distinct values without missing ones, as text, written as the preparation writes categories."""
    return sorted({str(value) for value in values.dropna().astype(object).unique()})


def _column_of(values: pd.Series[Any]) -> Column:
    try:
        kind = kind_of(values)
    except ColumnError:
        return Column(name=str(values.name), holds=ANYTHING, kind=ANYTHING, dtype=str(values.dtype))
    words = distinct_words(values) if kind == CATEGORIES else None
    return Column(
        name=str(values.name),
        holds=held(values),
        kind=ONE[kind],
        dtype=str(values.dtype),
        gaps=bool(values.isna().any()),
        zone=values.dtype.kind == "M" and getattr(values.dtype, "tz", None) is not None,
        values=None if words is None or len(words) > MOST_VALUES else tuple(words),
    )
