"""What columns hold, as their types and values show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from heldout.base.errors import ColumnError, OptionError
from heldout.task.column_kinds import CATEGORIES, DATES, IDENTIFIERS, NUMBERS, TEXTS, column_kinds, kind_of

N = 40
PROSE = [f"the visitor number {i} was rather content with it" for i in range(N)]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("size", np.linspace(0, 1, N), NUMBERS),
        ("price", np.arange(N) * 37 + 11, NUMBERS),  # all differ, but are no counter
        ("year", np.arange(1980, 1980 + N), NUMBERS),  # counts, but not from 0 or 1
        ("row", np.arange(N), IDENTIFIERS),
        ("row", np.arange(1, N + 1), IDENTIFIERS),
        ("customer_id", np.arange(N)[::-1] * 7, IDENTIFIERS),
        ("customerId", np.arange(N)[::-1] * 7, IDENTIFIERS),
        ("customer_id", [None, *range(N - 1)], IDENTIFIERS),  # floats, since one is missing
        ("customer", np.arange(N)[::-1], NUMBERS),  # check asks about it: it may be a rank
        ("store_id", np.arange(N) % 5, CATEGORIES),
        ("paid", np.arange(N)[::-1] * 7, NUMBERS),
        ("id", np.linspace(0, 1, N), NUMBERS),  # fractions are no names of things
        ("code", [f"x{i}" for i in range(N)], IDENTIFIERS),
        ("code", [f"x{i % 39}" for i in range(N)], CATEGORIES),
        ("city", ["Bern", "Basel"] * (N // 2), CATEGORIES),
        ("city", ["New York", "Los Angeles"] * (N // 2), CATEGORIES),
        ("name", [f"Smith, Mr. {chr(65 + i % 26)} {i}" for i in range(N)], TEXTS),
        ("review", PROSE, TEXTS),
        ("answer", ["I do not agree at all", "I fully agree with this"] * (N // 2), CATEGORIES),
        ("review_id", [f"review no {i}" for i in range(N)], IDENTIFIERS),
        ("seen", pd.date_range("2024-01-01", periods=N), DATES),
        ("stay", pd.to_timedelta(np.arange(N), unit="D"), DATES),
        ("flag", np.arange(N) % 2 == 0, CATEGORIES),
        ("kind", pd.Categorical(["a", "b"] * (N // 2)), CATEGORIES),
    ],
)
def test_kinds(name: str, values: Any, kind: str) -> None:
    assert kind_of(pd.Series(values, name=name)) == kind


def test_few_rows_make_no_identifier_and_gaps_no_counter() -> None:
    assert kind_of(pd.Series(range(19), name="id")) == NUMBERS
    assert kind_of(pd.Series([f"x{i}" for i in range(19)])) == CATEGORIES
    assert kind_of(pd.Series([None, *range(1, N)], dtype="Int64")) == NUMBERS


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes, load_digits])
def test_bundled_data_are_numbers(load: Any) -> None:
    X = load(as_frame=True).data
    assert column_kinds(X)[NUMBERS] == list(X.columns)


def test_the_users_word_comes_first() -> None:
    X = pd.DataFrame({"row": np.arange(N), "review": PROSE})
    assert column_kinds(X, {"row": "number", "review": "category"}) == {
        NUMBERS: ["row"],
        DATES: [],
        CATEGORIES: ["review"],
        TEXTS: [],
        IDENTIFIERS: [],
    }
    with pytest.raises(OptionError, match=r"no type 'textt'.*Did you mean 'text'\?"):
        column_kinds(X, {"review": "textt"})


def test_columns_that_nothing_can_use_are_named() -> None:
    with pytest.raises(ColumnError, match=r"Column 'parts' has type object.*leave it out"):
        column_kinds(pd.DataFrame({"parts": [[1], [2]]}))
