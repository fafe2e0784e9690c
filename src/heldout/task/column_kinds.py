"""Decides what each column of a table holds: numbers, categories, dates, texts or identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from heldout.base.errors import ColumnError, OptionError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

NUMBERS, DATES, CATEGORIES, TEXTS, IDENTIFIERS = "numbers", "dates", "categories", "texts", "identifiers"
ONE = {NUMBERS: "number", DATES: "date", CATEGORIES: "category", TEXTS: "text", IDENTIFIERS: "identifier"}

FEWEST_ROWS = 20  # with fewer rows, that all values differ means little
FEWEST_WORDS = 4  # minimum words of a typical value in a column of prose
FEWEST_TEXTS = 0.5  # minimum share of different values in a column of prose
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?")
_ID_NAME = re.compile(r"(?i:(^|[^a-z])(id|ids|uid|uuid|guid|pk|rowid|ssn)([^a-z]|$))|[a-z]I[Dd]$|^id[A-Z]")
# Such columns may also hold amounts: a number of rooms may be called room_nr.
_LOOSE_ID_NAME = re.compile(
    r"(?i)(^|.*[^a-z])(key|idx|nr|no)|(patient|subject|person|user|customer|client|member|student|household|family|"
    r"visitor|session|device|store|shop|site|machine|sensor|animal|donor|author|writer|speaker|clinic|hospital|school|"
    r"company|firm|driver)s?"
)


def column_kinds(X: pd.DataFrame, given: Mapping[str, str] | None = None) -> dict[str, list[str]]:
    """Return the columns of each kind. `given` sets the kind of some columns by a word in the singular.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [31, 7], "city": ["Bern", "Basel"], "zip": [3000, 4000]})
    >>> {kind: names for kind, names in column_kinds(X, {"zip": "category"}).items() if names}
    {'numbers': ['age'], 'categories': ['city', 'zip']}
    """
    kinds: dict[str, list[str]] = {kind: [] for kind in ONE}
    for name in X.columns:
        kinds[kind_named(given[name]) if given and name in given else kind_of(X[name])].append(name)
    return kinds


def kind_named(word: str) -> str:
    """Return the kind that a word in the singular stands for.

    >>> kind_named("category")
    'categories'
    """
    for kind, singular in ONE.items():
        if word in (singular, kind):
            return kind
    raise OptionError(f"There is no type {word!r} of columns. {did_you_mean(word, ONE.values())}")


def kind_of(values: pd.Series[Any]) -> str:
    """Return the kind of one column.

    >>> import pandas as pd
    >>> kind_of(pd.Series(range(1, 40), name="visit")), kind_of(pd.Series([2.5, 1.0], name="size"))
    ('identifiers', 'numbers')
    """
    import pandas as pd

    dtype = values.dtype
    if pd.api.types.is_bool_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype):
        return CATEGORIES
    if pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c":
        return _kind_of_numbers(values)
    if dtype.kind in "mM":
        return DATES
    if isinstance(dtype, pd.StringDtype):
        return _kind_of_words(values)
    if dtype.kind == "O":
        present = values.dropna()
        if all(isinstance(value, str) for value in present):
            return _kind_of_words(values)
        if all(isinstance(value, str | bool) for value in present):
            return CATEGORIES
    raise ColumnError(
        f"Column {values.name!r} has type {dtype}, which no learner of the catalogue can use. "
        "Turn it into numbers, dates or text, or leave it out."
    )


def look_like_dates(texts: Iterable[Any]) -> bool:
    """Return whether all of these are ISO dates, with or without a time.

    >>> look_like_dates(["2024-01-31", "2024-01-31 09:30"]), look_like_dates(["31.1.2024"])
    (True, False)
    """
    return all(isinstance(text, str) and _ISO_DATE.fullmatch(text) for text in texts)


def is_id_name(name: Any, *, loosely: bool = False) -> bool:
    """Return whether a column name suggests an identifier. `loosely` also accepts names of owners, such as "patient".

    >>> [is_id_name(name) for name in ("customer_id", "customerId", "paid", "ID", "patient")]
    [True, True, False, True, False]
    >>> [is_id_name(name, loosely=True) for name in ("patient", "room_nr", "customer_age")]
    [True, True, False]
    """
    if not isinstance(name, str):
        return False
    return bool(_ID_NAME.search(name) or (loosely and _LOOSE_ID_NAME.fullmatch(name)))


def is_prose(words: float, different: int, present: int) -> bool:
    """Return whether texts are prose rather than categories. `words` is the number of words of a typical text."""
    return words >= FEWEST_WORDS and different >= FEWEST_TEXTS * present


def _kind_of_numbers(values: pd.Series[Any]) -> str:
    """Return the kind of numbers: integers that count the rows, or are named like an id, are not amounts."""
    import pandas as pd

    if not pd.api.types.is_integer_dtype(values.dtype) or values.isna().any() or len(values) < FEWEST_ROWS:
        return NUMBERS
    if is_id_name(values.name):
        return IDENTIFIERS if values.is_unique else CATEGORIES
    first = int(values.iloc[0])
    counts = first in (0, 1) and bool((values.diff().iloc[1:] == 1).all())
    return IDENTIFIERS if counts else NUMBERS


def _kind_of_words(values: pd.Series[Any]) -> str:
    present = values.dropna()
    if len(present) < FEWEST_ROWS:
        return CATEGORIES
    different = int(present.nunique())
    words = float(present.str.count(r"\S+").median())
    if different == len(present):  # a category would never recur, but its words may
        return IDENTIFIERS if words <= 1 or is_id_name(values.name) else TEXTS
    return TEXTS if is_prose(words, different, len(present)) else CATEGORIES
