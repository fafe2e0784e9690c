"""Builds the default preparation of columns; it is part of the learner, so it is fitted on training rows alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from heldout.base.errors import ColumnError
from heldout.catalogue.transformers import AsNumbers, AsText, ByTarget, DateParts, FillVoid, TextParts
from heldout.task.column_kinds import CATEGORIES, DATES, IDENTIFIERS, NUMBERS, TEXTS, column_kinds

if TYPE_CHECKING:
    import pandas as pd

MANY = "many"  # categories with too many values to be one-hot encoded
MOST_ONE_HOT = 32  # one-hot columns per category column; rarer values share one
MOST_ORDINAL = 200  # HistGradientBoosting takes at most 255
DIRECTIONS = 16  # SVD components of a text's words, for learners that suffer from many columns
SCALED, MEASURED, UNSCALED, CODED, NOTHING = "scaled", "measured", "unscaled", "coded", "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Holds what is known of a table before any fit: its size, the kinds of its columns, the number of classes."""

    rows: int
    kinds: Mapping[str, list[str]]
    many: frozenset[str] = frozenset()  # categories with more values than are one-hot encoded
    plain: bool = False  # nothing but numbers, and none missing
    classes: int = 0  # classes of the target; 0 for regression

    @property
    def columns(self) -> int:
        """The number of columns to learn from."""
        return sum(len(names) for kind, names in self.kinds.items() if kind != IDENTIFIERS)


def survey_table(X: pd.DataFrame, *, types: Mapping[str, str] | None = None, classes: int = 0) -> Table:
    """Return the size of X and the kinds of its columns; `types` sets the kinds of some.

    >>> import pandas as pd
    >>> survey_table(pd.DataFrame({"age": [31, 7], "size": [1.5, 2.0]})).plain
    True
    """
    kinds = column_kinds(X, types)
    many = frozenset(name for name in kinds[CATEGORIES] if X[name].nunique(dropna=False) > MOST_ONE_HOT)
    numbers = X[kinds[NUMBERS]]
    plain = len(kinds[NUMBERS]) == X.shape[1] and all(
        isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in numbers.dtypes
    )
    return Table(
        rows=len(X), kinds=kinds, many=many, plain=plain and not numbers.isna().to_numpy().any(), classes=classes
    )


def preparation_steps(table: Table, how: str) -> list[tuple[str, Any]]:
    """Return the Pipeline steps before a model: none, a scaler, or a ColumnTransformer by kind of column.

    A table of numbers without missing values gets a scaler alone, since fast kernels support it.
    """
    if how == NOTHING or (table.plain and how in (UNSCALED, CODED)):
        return []
    if not table.columns:
        names = ", ".join(table.kinds[IDENTIFIERS][:6])
        raise ColumnError(f"Every column is an identifier ({names}), which nothing can be learned from.")
    if table.plain:
        return [("scale", StandardScaler())]
    return [("prepare", prepare_columns(table, how))]


def prepare_columns(table: Table, how: str) -> ColumnTransformer:
    """Return a ColumnTransformer that prepares columns by their kind, in one of four ways.

    - SCALED, for linear and kernel learners: imputed, scaled, one column per category and per word.
    - MEASURED, for learners that measure distances or variances: the same, but few columns per text.
    - UNSCALED, for trees: imputed, one column per category, not scaled.
    - CODED, for boosting, which takes missing numbers and coded categories as they are: the codes come first.
    """
    dates = DateParts(circles=how in (SCALED, MEASURED))
    texts = TextParts(directions=None if how == SCALED else DIRECTIONS)
    if how == CODED:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=MOST_ORDINAL)
        steps = {
            CATEGORIES: make_pipeline(AsText(), codes),
            NUMBERS: make_pipeline(AsNumbers(), FillVoid()),
            DATES: make_pipeline(dates, FillVoid()),
            TEXTS: texts,
        }
        return _transformer(steps, table.kinds)
    one_hot = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_ONE_HOT, sparse_output=False)
    by_target = ByTarget(kind="continuous" if not table.classes else "binary" if table.classes == 2 else "multiclass")
    scale = [] if how == UNSCALED else [StandardScaler()]
    # A column may have no value at all in some training part; it must keep its place there.
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    steps = {
        NUMBERS: make_pipeline(AsNumbers(), fill, *scale),
        DATES: make_pipeline(dates, fill, *scale),
        CATEGORIES: make_pipeline(AsText(), one_hot),
        MANY: make_pipeline(AsText(), by_target, *scale),
        TEXTS: make_pipeline(texts, *scale) if how == MEASURED else texts,
    }
    few = [name for name in table.kinds[CATEGORIES] if name not in table.many]
    return _transformer(steps, {**table.kinds, CATEGORIES: few, MANY: sorted(table.many)})


def coded_columns(table: Table) -> list[int]:
    """Return the positions of the coded categories among the prepared columns."""
    return list(range(len(table.kinds[CATEGORIES])))


def _transformer(steps: Mapping[str, Pipeline], kinds: Mapping[str, list[str]]) -> ColumnTransformer:
    wanted = [(kind, step, kinds[kind]) for kind, step in steps.items() if kinds[kind]]
    return ColumnTransformer(wanted, sparse_threshold=0.0)
