"""Decides what each column of a table holds: numbers, categories, dates, texts or identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from heldout.base.errors import ColumnError, OptionError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

NUMBERS, DATES, CATEGORIES, TEXTS, IDENTIFIERS = "numbers", "dates", "categories", "texts", "identifiers"
ONE = {NUMBERS: "number", DATES: "date", CATEGORIES: "category", TEXTS: "text", IDENTIFIERS: "identifier"}

FEWEST_ROWS = 20  # with fewer rows, that all values differ means little
FEWEST_WORDS = 4  # minimum words of a typical value in a column of prose
FEWEST_TEXTS = 0.5  # minimum share of different values in a column of prose
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?")
_ID_NAME = re.compile(r"(?i:(^|[^a-z])(id|ids|uid|uuid|guid|pk|rowid|ssn)([^a-z]|$))|[a-z]I[Dd]$|^id[A-Z]")
# Such columns may also hold amounts: a number of rooms may be called room_nr.
_LOOSE_ID_NAME = re.compile(
    r"(?i)(^|.*[^a-z])(key|idx|nr|no)|.*code|patient|subject|person|user|customer|client|member|student|household|family|"
    r"visitor|session|device|store|shop|site|machine|sensor|animal|donor|author|writer|speaker|clinic|hospital|school|"
    r"company|firm|driver|team|farm|plot|batch|panel|city|town|village|county|district|state|country"
)
CERTAIN, LIKELY = "certain", "likely"  # that a column identifies rows: it is left out, or said to be one
MEETINGS = 14.0  # expected coincidences: to see none has a chance of one in a million
YEARS = (1600, 2200)
BEYOND_FLOATS = 2**53  # from here on, floats do not hold each whole number


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


def rows_identified_by(values: NDArray[Any], name: Any) -> tuple[str, str] | None:
    """Return whether whole numbers identify rows, CERTAIN or LIKELY, and a word on why; None if they need not.

    The values are those of a column in the order of the file, and all different. Amounts may be so too.

    >>> import numpy as np
    >>> rows_identified_by(np.arange(1, 40), "visit"), rows_identified_by(np.arange(1950, 1990), "year")
    (('certain', ': the whole numbers from 1 to 39'), None)
    """
    import numpy as np

    low, high = int(values.min()), int(values.max())
    if is_id_name(name):
        return CERTAIN, ", and the name of an identifier"
    if are_years(low, high):
        return None
    if high - low + 1 == len(values):
        counts = low in (0, 1) and bool((np.diff(values) == 1).all())
        return CERTAIN if counts else LIKELY, f": the whole numbers from {low} to {high}"
    if max(-low, high) >= BEYOND_FLOATS:
        return LIKELY, ", whole numbers too long to be amounts"
    expected = _expected_meetings(np.sort(values.astype(np.float64)))
    if expected >= MEETINGS:
        return LIKELY, f", where about {expected:.0f} pairs of measured whole numbers would meet by chance"
    return (LIKELY, ", and the name of an identifier") if is_id_name(name, loosely=True) else None


def are_years(low: float, high: float) -> bool:
    """Return whether whole numbers from `low` to `high` may be years, which are times."""
    return YEARS[0] <= low and high <= YEARS[1]


def words_identify_rows(words: float, name: Any) -> str | None:
    """Return whether texts that are all different identify rows, by how many words a typical one has; None if not."""
    if words <= 1 or is_id_name(name):
        return CERTAIN
    return LIKELY if words <= 2 or is_id_name(name, loosely=True) else None


def _expected_meetings(values: NDArray[Any]) -> float:
    """Return how many pairs of equal integers to expect by chance, if numbers have the distribution of these.

    Within blocks of the sorted values the distribution is taken as uniform: m numbers over w places give m²/2w pairs.
    """
    import numpy as np

    blocks = np.array_split(values, max(1, int(len(values) ** 0.5 / 2)))
    return float(sum(len(block) ** 2 / (2 * (block[-1] - block[0] + 1)) for block in blocks if len(block) > 1))


def _kind_of_numbers(values: pd.Series[Any]) -> str:
    """Return the kind of numbers: integers that count the rows, or are named like an id, are not amounts."""
    import pandas as pd

    known, named = values.dropna(), is_id_name(values.name)
    counts = pd.api.types.is_integer_dtype(values.dtype) and len(known) == len(values)
    if len(known) < max(FEWEST_ROWS, 0.5 * len(values)) or not (counts or named):
        return NUMBERS
    whole = known.to_numpy()
    if not (whole == whole // 1).all():
        return NUMBERS
    if known.is_unique:
        found = rows_identified_by(whole, values.name)
        return IDENTIFIERS if found is not None and found[0] == CERTAIN else NUMBERS
    return CATEGORIES if named and counts else NUMBERS


def _kind_of_words(values: pd.Series[Any]) -> str:
    present = values.dropna()
    if len(present) < FEWEST_ROWS:
        return CATEGORIES
    different = int(present.nunique())
    words = float(present.str.count(r"\S+").median())
    if different == len(present):  # a category would never recur, but its words may
        return IDENTIFIERS if words_identify_rows(words, values.name) == CERTAIN else TEXTS
    return TEXTS if is_prose(words, different, len(present)) else CATEGORIES
