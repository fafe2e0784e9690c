"""The codec: every plain array and tree comes back as it was; nothing else is taken."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from heldout.base.errors import JournalError
from heldout.journal.records import NotPlain, decode, encode

PLAIN_TYPES = st.one_of(
    arrays.boolean_dtypes(),
    arrays.integer_dtypes(endianness="?"),
    arrays.unsigned_integer_dtypes(endianness="?"),
    arrays.floating_dtypes(endianness="?"),
    arrays.complex_number_dtypes(endianness="?"),
    arrays.datetime64_dtypes(endianness="?"),
    arrays.timedelta64_dtypes(endianness="?"),
    arrays.unicode_string_dtypes(endianness="?", min_len=1),
    arrays.byte_string_dtypes(min_len=1),
)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Bit for bit, with type, shape and order in memory."""
    return (
        one.dtype == other.dtype
        and one.shape == other.shape
        and one.tobytes() == other.tobytes()
        and (one.flags.f_contiguous or not other.flags.f_contiguous or other.flags.c_contiguous)
    )


@settings(max_examples=200, deadline=None)
@given(data=st.data(), dtype=PLAIN_TYPES, fortran=st.booleans())
def test_any_plain_array_comes_back_bit_for_bit(data: Any, dtype: np.dtype[Any], fortran: bool):
    array = data.draw(arrays.arrays(dtype, SHAPES))
    array = np.asfortranarray(array) if fortran and array.ndim else array
    assert same(decode(encode(array)), array)


@pytest.mark.parametrize(
    "array",
    [
        np.array([np.nan, -np.nan, np.inf, -0.0]),
        np.array(["NaT", "2024-02-29"], dtype="datetime64[ns]"),
        np.array([], dtype="<U3"),
        np.zeros((0, 3), dtype=np.float32),
        np.array(["", ""], dtype="<U0"),
        np.array(5),
        np.asfortranarray(np.arange(6000.0).reshape(60, 100)),
        np.arange(10_000)[::2],
    ],
)
def test_corner_cases_of_arrays(array: np.ndarray[Any, Any]):
    assert same(decode(encode(array)), np.array(array, order="K"))


@settings(max_examples=100, deadline=None)
@given(values=st.lists(VALUES, max_size=8))
def test_arrays_of_python_values_come_back_as_values(values: list[Any]):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    again = decode(encode(array))
    assert again.dtype == object
    assert [(type(a), repr(a)) for a in again] == [(type(a), repr(a)) for a in array]


@settings(max_examples=100, deadline=None)
@given(
    tree=st.recursive(
        VALUES, lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text().filter(lambda t: t != "@"), inner))
    )
)
def test_trees_come_back(tree: Any):
    assert repr(decode(encode(tree))) == repr(tree)


class Planted:
    def __reduce__(self) -> Any:
        raise AssertionError("it was pickled")


@pytest.mark.parametrize("thing", [Planted(), np.array([Planted()], dtype=object), {1: 2}, {"@": 0}, {"a": {1, 2}}])
def test_what_is_not_plain_is_refused(thing: Any):
    with pytest.raises(NotPlain):
        encode(thing)


def test_structured_arrays_are_refused():
    with pytest.raises(NotPlain, match="an array of type"):
        encode(np.zeros(2, dtype=[("a", int), ("b", float)]))


@settings(max_examples=100, deadline=None)
@given(cut=st.integers(0, 200))
def test_torn_bytes_are_no_record(cut: int):
    content = encode({"losses": np.arange(50.0), "words": "some words"})
    with pytest.raises(JournalError, match="no record of a journal"):
        decode(content[: min(cut, len(content) - 1)])


def test_a_pickle_is_no_record():
    with pytest.raises(JournalError, match="no record of a journal"):
        decode(pickle.dumps({"losses": [1.0]}))
