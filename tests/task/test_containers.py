"""Rows taken out of every container are private, of the same kind, and keep their labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from heldout.task.arrays import column_names, container_kind, take_rows

ROWS = np.array([4, 0, 0, 2])
DENSE = np.arange(15, dtype=np.float32).reshape(5, 3)


@pytest.mark.parametrize(
    "X",
    [
        DENSE,
        np.asfortranarray(DENSE),
        DENSE[:, ::2],
        DENSE[::-1],
        DENSE.astype(object),
        np.array(list("abcde"), object),
    ],
    ids=["C", "F", "columns", "turned", "objects", "texts"],
)
def test_arrays_come_back_as_scikit_learn_gives_them(X):
    X = X.view()
    X.setflags(write=False)
    taken, plain = take_rows(X, ROWS), _safe_indexing(X, ROWS)
    np.testing.assert_array_equal(taken, plain)
    assert taken.dtype == X.dtype
    assert taken.strides == plain.strides
    assert taken.flags.owndata
    assert taken.flags.writeable


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
def test_sparse_rows_are_private(make):
    X = make(DENSE)
    taken = take_rows(X, ROWS)
    assert type(taken) is type(X)
    taken.data[:] = -1
    np.testing.assert_array_equal(X.toarray(), DENSE)


def test_pandas_rows_keep_their_labels_and_types():
    X = pd.DataFrame({"a": range(5), "b": pd.Categorical(list("uvuvu"))}, index=list("pqrst"))
    taken = take_rows(X, ROWS)
    pd.testing.assert_frame_equal(taken, X.iloc[ROWS])
    taken.iloc[0, 0] = 99
    assert X["a"].tolist() == [0, 1, 2, 3, 4]


def test_polars_rows():
    X = pl.DataFrame({"a": range(5), "b": list("uvuvu")})
    assert take_rows(X, ROWS).rows() == [(4, "u"), (0, "u"), (0, "u"), (2, "u")]


def test_kinds_and_names():
    frame = pd.DataFrame(DENSE, columns=["a", "b", "c"])
    made = [DENSE, np.array(list("ab"), object), sp.csr_array(DENSE), frame, pl.from_pandas(frame)]
    assert [container_kind(X) for X in made] == ["array", "objects", "sparse", "pandas", "polars"]
    assert [column_names(X) for X in made] == [None, None, None, ("a", "b", "c"), ("a", "b", "c")]
    with pytest.raises(TypeError, match="declare"):
        container_kind([1])
