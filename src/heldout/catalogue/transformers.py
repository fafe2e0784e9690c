"""Transformers that turn columns of any type into numbers, fitted on training rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import KFold
from sklearn.preprocessing import TargetEncoder
from sklearn.utils.validation import check_is_fitted, validate_data

from heldout.base.registered import registered
from heldout.task.arrays import as_pandas

if TYPE_CHECKING:
    import pandas as pd

MISSING = "(missing)"
_DAY = 86_400.0


class _Reading(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of transformers that accept missing values and remember the column names; they look at pandas frames.

    They take polars frames and arrays too, so that a Pipeline of the catalogue takes what scikit-learn takes.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Remember the column names."""
        validate_data(self, X, skip_check_array=True)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@registered
class AsText(OneToOneFeatureMixin, _Reading):  # type: ignore[misc]
    """Converts every value to text, and missing values to a text of their own.

    >>> import pandas as pd
    >>> AsText().fit_transform(pd.DataFrame({"smokes": [True, None]}))["smokes"].tolist()
    ['True', '(missing)']
    """

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the frame as text."""
        X = as_pandas(X)
        return X.astype(object).where(X.notna(), MISSING).map(str)


@registered
class AsNumbers(OneToOneFeatureMixin, _Reading):  # type: ignore[misc]
    """Converts numbers of any type to floats, and missing values to NaN.

    >>> import pandas as pd
    >>> AsNumbers().fit_transform(pd.DataFrame({"rooms": pd.array([3, None], dtype="Int64")}))["rooms"].tolist()
    [3.0, nan]
    """

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the frame as floats."""
        return as_pandas(X).astype(np.float64)


@registered
class FillVoid(OneToOneFeatureMixin, _Reading):  # type: ignore[misc]
    """Fills columns without any value in the training rows with 0, since boosting cannot bin them; others stay."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Remember the columns, and which of them have no value."""
        self.void_ = np.flatnonzero(as_pandas(X).isna().all()).tolist()
        return super().fit(X)

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with those columns set to 0."""
        X = as_pandas(X).copy()
        X[X.columns[self.void_]] = 0.0
        return X


@registered
class ByTarget(_Reading):
    """Encodes categories of many values by the shrunk mean target of their training rows, new ones by the overall mean.

    Training rows are encoded by cross-fitting, so that no row's own target is in its number. This is scikit-learn's
    TargetEncoder with KFold instead of stratified folds, which need enough rows of each class; `random_state` shuffles
    them. `kind` is the kind of target: "continuous", "binary" or "multiclass".

    >>> import pandas as pd
    >>> shops = pd.DataFrame({"shop": ["a", "b"] * 50})
    >>> ByTarget(random_state=0).fit(shops, [1.0, 3.0] * 50).transform(shops[:2]).round(1).tolist()
    [[1.0], [3.0]]
    """

    def __init__(self, *, kind: str = "continuous", random_state: Any = None) -> None:
        self.kind = kind
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn the mean target of each value."""
        super().fit(X)
        self.encoder_ = self._encoder().fit(X, y)
        return self

    def fit_transform(self, X: pd.DataFrame, y: Any = None) -> NDArray[np.float64]:
        """Learn the mean targets, and encode these rows by cross-fitting."""
        super().fit(X)
        self.encoder_ = self._encoder()
        return np.asarray(self.encoder_.fit_transform(X, y))

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the mean target of each value, for rows that it was not learned from."""
        check_is_fitted(self)
        return np.asarray(self.encoder_.transform(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the encoded columns, with the class if there are several."""
        check_is_fitted(self)
        return np.asarray(self.encoder_.get_feature_names_out(), dtype=object)

    def _encoder(self) -> TargetEncoder:
        folds = KFold(5, shuffle=True, random_state=self.random_state)
        return TargetEncoder(target_type=self.kind, cv=folds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@registered
class DateParts(_Reading):
    """Encodes dates as numbers: days since 1970 and the position in the year, the week and, with times, the day.

    Durations become days. A missing date is missing in every part. With `circles`, for linear learners, a position is a
    point on a circle (sine and cosine), so that December is next to January. Without, for trees, the positions are the
    month, the day of the month, the weekday and the hour.

    >>> import pandas as pd
    >>> days = pd.DataFrame({"seen": pd.to_datetime(["1970-01-02", "2024-02-29"])})
    >>> DateParts(circles=False).fit_transform(days)
       seen_days  seen_month  seen_monthday  seen_weekday
    0        1.0         1.0            2.0           4.0
    1    19782.0         2.0           29.0           3.0
    """

    def __init__(self, *, circles: bool = True) -> None:
        self.circles = circles

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Find the columns that have times of day."""
        super().fit(X)
        X = as_pandas(X)
        self.timed_ = [name for name in X.columns if X[name].dtype.kind == "M" and _has_times(X[name])]
        self.names_ = list(self._table(X.iloc[:1]).columns)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the parts of each date."""
        check_is_fitted(self)
        return self._table(as_pandas(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the name of each part: its column's name and what it is."""
        check_is_fitted(self)
        return np.array(self.names_, dtype=object)

    def _table(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        parts = {f"{name}_{part}": values for name in X.columns for part, values in self._parts(X[name])}
        return pd.DataFrame(parts, index=X.index, dtype=np.float64)

    def _parts(self, values: pd.Series[Any]) -> list[tuple[str, Any]]:
        import pandas as pd

        if values.dtype.kind == "m":
            return [("days", values.dt.total_seconds() / _DAY)]
        moments = pd.to_datetime(values, utc=True)
        days = (moments - pd.Timestamp("1970-01-01", tz="UTC")).dt.total_seconds() / _DAY
        local = values.dt
        hours = local.hour + local.minute / 60.0
        timed = values.name in self.timed_
        if not self.circles:
            parts = [("days", days), ("month", local.month), ("monthday", local.day), ("weekday", local.day_of_week)]
            return [*parts, ("hour", hours)] if timed else parts
        circles = [("year", local.day_of_year, 365.25), ("week", local.day_of_week, 7.0)]
        circles += [("day", hours, 24.0)] if timed else []
        points = [("days", days)]
        for part, place, length in circles:
            angle = 2 * np.pi * place / length
            points += [(f"{part}_sin", np.sin(angle)), (f"{part}_cos", np.cos(angle))]
        return points


def _has_times(values: pd.Series[Any]) -> bool:
    present = values.dropna()
    return bool((present != present.dt.normalize()).any())


@registered
class TextParts(_Reading):
    """Encodes texts as the TF-IDF weights of their words, or as a few SVD components of these.

    Keeps the most frequent `words` of each column that occur in at least two training rows. `directions` is the number
    of SVD components, for learners that suffer from many sparse columns; None gives one column per word.

    >>> import pandas as pd
    >>> reviews = pd.DataFrame({"review": ["good and cheap", "cheap and bad", None]})
    >>> TextParts().fit(reviews).get_feature_names_out().tolist()
    ['review_and', 'review_cheap']
    """

    def __init__(self, *, words: int = 1000, directions: int | None = None, random_state: Any = None) -> None:
        self.words = words
        self.directions = directions
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn the words of each column, and the SVD of their weights."""
        super().fit(X)
        X = as_pandas(X)
        self.names_ = list(X.columns)
        self.vectorizers_ = [self._words_of(_prose(X[name])) for name in X.columns]
        self.directions_ = [self._directions_of(*pair) for pair in zip(X.items(), self.vectorizers_, strict=True)]
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the weights or components of each text."""
        check_is_fitted(self)
        X = as_pandas(X)
        columns = [np.zeros((len(X), 0))]
        for (_, values), words, directions in zip(X.items(), self.vectorizers_, self.directions_, strict=True):
            if words is not None:
                weights = words.transform(_prose(values))
                columns.append(weights.toarray() if directions is None else directions.transform(weights))
        return np.hstack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the name of each number: its column, and the word or the component's number."""
        check_is_fitted(self)
        names: list[str] = []
        for name, words, directions in zip(self.names_, self.vectorizers_, self.directions_, strict=True):
            if words is not None:
                parts = words.get_feature_names_out() if directions is None else range(directions.n_components)
                names += [f"{name}_{part}" for part in parts]
        return np.array(names, dtype=object)

    def _words_of(self, prose: list[str]) -> TfidfVectorizer | None:
        """Return the fitted vectorizer of a column, or None if no word is in two training rows."""
        words = TfidfVectorizer(max_features=self.words, min_df=2, sublinear_tf=True)
        try:
            return words.fit(prose)
        except ValueError:  # "empty vocabulary", or "no terms remain": there is nothing to learn from
            return None

    def _directions_of(self, column: tuple[Any, pd.Series[Any]], words: TfidfVectorizer | None) -> TruncatedSVD | None:
        if self.directions is None or words is None:
            return None
        weights = words.transform(_prose(column[1]))
        most = min(self.directions, weights.shape[0] - 1, weights.shape[1] - 1)
        if most < 1:
            return None
        return TruncatedSVD(most, random_state=self.random_state).fit(weights)


def _prose(values: pd.Series[Any]) -> list[str]:
    """Return the texts as strings, missing ones as empty strings."""
    return ["" if missing else str(value) for value, missing in zip(values, values.isna(), strict=True)]
