from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.base.shown import plain

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=5),
    st.complex_numbers(),
    st.dates(),
    st.floats().map(np.float64),
    st.floats(width=32).map(np.float32),
    st.floats().map(np.longdouble),
    st.integers(-5, 5).map(np.int16),
    st.booleans().map(np.bool_),
    st.frozensets(st.integers(), max_size=3),
    st.lists(st.floats(), max_size=3).map(np.array),
    st.just(np.datetime64("2020-01-01T00:00:00.000000001")),
    st.just(len),
)
VALUES = st.recursive(
    LEAVES,
    lambda inside: st.one_of(
        st.lists(inside, max_size=3), st.tuples(inside), st.dictionaries(st.one_of(st.text(), st.integers()), inside)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=200)
@given(VALUES)
def test_json_takes_whatever_comes_out_and_gives_it_back(value):
    out = plain(value)
    assert json.loads(json.dumps(out, allow_nan=False)) == out


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(1.5), 1.5),
        (np.longdouble(1.5), 1.5),
        (np.int32(3), 3),
        (np.bool_(True), True),
        (float("nan"), None),
        (np.float32("inf"), "inf"),
        (float("-inf"), "-inf"),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        ((1, [2]), [1, [2]]),
        ({1: np.int8(2)}, {"1": 2}),
        (2**80, 2**80),
        ({1}, "{1}"),
    ],
)
def test_values(value, expected):
    out = plain(value)
    assert out == expected
    assert type(out) is type(expected)
