"""The default preparation of columns: part of the learner, so that it is fitted inside the folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.validation import validate_data

from heldout.base.errors import ColumnError

if TYPE_CHECKING:
    import pandas as pd

NUMBERS, CATEGORIES, DATES = "numbers", "categories", "dates"
MISSING = "(missing)"
MOST_ONE_HOT = 32  # values of one column that get a column each; rarer ones share one
MOST_ORDINAL = 200  # HistGradientBoosting takes at most 255


def column_kinds(X: pd.DataFrame) -> dict[str, list[str]]:
    """The columns of each kind, by dtype: numbers, dates, and categories (text, yes-or-no and categorical).

    Examples
    --------
    >>> import pandas as pd
    >>> column_kinds(pd.DataFrame({"age": [31, 7], "city": ["Bern", "Basel"]}))
    {'numbers': ['age'], 'dates': [], 'categories': ['city']}
    """
    kinds: dict[str, list[str]] = {NUMBERS: [], DATES: [], CATEGORIES: []}
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        kinds[_kind(X[name], dtype)].append(name)
    return kinds


def _kind(values: pd.Series[Any], dtype: Any) -> str:
    import pandas as pd

    if pd.api.types.is_bool_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype | pd.StringDtype):
        return CATEGORIES
    if pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c":
        return NUMBERS
    if dtype.kind in "mM":
        return DATES
    if dtype.kind == "O" and all(isinstance(one, str | bool) for one in values.dropna()):
        return CATEGORIES
    raise ColumnError(
        f"Column {values.name!r} has type {dtype}, which no learner of the catalogue can use. "
        "Turn it into numbers, dates or text, or leave it out."
    )


def prepare_scaled(kinds: Mapping[str, list[str]]) -> ColumnTransformer:
    """For learners that measure distances or shrink coefficients: filled in, scaled, one column a category."""
    numbers = [_filled(), StandardScaler()]
    return _by_kind(kinds, numbers=numbers, categories=[_one_hot()])


def prepare_unscaled(kinds: Mapping[str, list[str]]) -> ColumnTransformer:
    """For trees: filled in, one column a category, the scale left alone."""
    return _by_kind(kinds, numbers=[_filled()], categories=[_one_hot()])


def prepare_coded(kinds: Mapping[str, list[str]]) -> tuple[ColumnTransformer, list[int]]:
    """For boosting, which takes missing numbers and coded categories as they are; and where the codes are."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=MOST_ORDINAL)
    columns = _by_kind(kinds, numbers=[FillVoid()], categories=[codes])
    before = len(kinds[NUMBERS]) + len(kinds[DATES])
    return columns, list(range(before, before + len(kinds[CATEGORIES])))


class _Reading(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that learns nothing but the names of its columns."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Remember the columns."""
        validate_data(self, X, skip_check_array=True)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class AsText(_Reading):
    """Every value as text, missing ones as a text of their own, whatever the columns were.

    Examples
    --------
    >>> import pandas as pd
    >>> AsText().fit_transform(pd.DataFrame({"smokes": [True, None]}))["smokes"].tolist()
    ['True', '(missing)']
    """

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The same table, of text."""
        return X.astype(object).where(X.notna(), MISSING).map(str)


class AsNumbers(_Reading):
    """Numbers of any type as floats, missing ones as NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> AsNumbers().fit_transform(pd.DataFrame({"rooms": pd.array([3, None], dtype="Int64")}))["rooms"].tolist()
    [3.0, nan]
    """

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The same table, of floats."""
        return X.astype(np.float64)


class AsDays(_Reading):
    """Dates as days since 1970, durations as days; missing ones as NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> AsDays().fit_transform(pd.DataFrame({"seen": pd.to_datetime(["1970-01-02 12:00"])}))["seen"].tolist()
    [1.5]
    """

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The same table, of numbers."""
        return X.apply(_days)


class FillVoid(_Reading):
    """Zero for a column without any value in the training rows, which boosting could not bin; other gaps stay."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Remember the columns, and which of them hold nothing."""
        self.void_ = list(X.columns[X.isna().all()])
        return super().fit(X)

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The same table, with those columns zero."""
        return X.assign(**dict.fromkeys(self.void_, 0.0))


def _days(values: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    if values.dtype.kind == "M":
        moments = pd.to_datetime(values, utc=True)
        values = moments - pd.Timestamp("1970-01-01", tz="UTC")
    days: pd.Series[Any] = values.dt.total_seconds() / 86_400.0
    return days


def _filled() -> SimpleImputer:
    # A column may have no value at all in some training part; it must keep its place there.
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)


def _one_hot() -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_ONE_HOT, sparse_output=False)


def _by_kind(kinds: Mapping[str, list[str]], *, numbers: list[Any], categories: list[Any]) -> ColumnTransformer:
    steps: dict[str, Pipeline] = {
        NUMBERS: make_pipeline(AsNumbers(), *numbers),
        DATES: make_pipeline(AsDays(), *numbers),
        CATEGORIES: make_pipeline(AsText(), *categories),
    }
    return ColumnTransformer([(kind, steps[kind], kinds[kind]) for kind in steps if kinds[kind]])
