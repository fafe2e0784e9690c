"""The tables and targets that a task takes, and those it refuses with which words."""

from __future__ import annotations

import pickle
from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from six_rows import X6, Y6, classify, regress
from sklearn.exceptions import DataConversionWarning

from heldout.base.errors import ColumnError, InputError, MixedColumnError, TargetError


def test_an_array_is_kept_without_a_copy_and_read_only():
    X, y = X6.copy(), Y6.copy()
    task = classify(X, y)
    assert np.shares_memory(task.X, X)
    assert np.shares_memory(task.y, y)
    assert not task.X.flags.writeable
    assert not task.y.flags.writeable
    assert X.flags.writeable
    assert y.flags.writeable
    assert (len(task), task.n_columns, task.columns, task.frame) == (6, 2, None, "pandas")


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_sparse_becomes_csr_and_read_only(make):
    X = make(X6)
    task = classify(X)
    assert task.X.format == "csr"
    assert isinstance(task.X, sp.sparray) == isinstance(X, sp.sparray)
    assert not task.X.data.flags.writeable
    assert X.data.flags.writeable
    np.testing.assert_array_equal(task.X.toarray(), X6)


def test_a_pandas_frame_stays_and_later_changes_do_not_reach_it():
    frame = pd.DataFrame(X6, columns=["a", "b"])
    task = classify(frame)
    frame.loc[0, "a"] = 99.0
    assert task.X["a"].iloc[0] == 0.0
    assert task.columns == ("a", "b")


def test_polars_stays_polars():
    task = classify(pl.DataFrame({"a": X6[:, 0], "b": X6[:, 1]}), pl.Series(Y6))
    assert isinstance(task.X, pl.DataFrame)
    assert (task.frame, task.columns) == ("polars", ("a", "b"))


def test_pyarrow_becomes_pandas():
    task = classify(pa.table({"a": X6[:, 0], "b": ["u", "v"] * 3}), pa.chunked_array([Y6]))
    assert isinstance(task.X, pd.DataFrame)
    assert task.columns == ("a", "b")
    np.testing.assert_array_equal(task.y, Y6)
    assert isinstance(classify(pa.record_batch({"a": X6[:, 0]})).X, pd.DataFrame)


def test_lists_of_rows():
    task = classify(X6.tolist(), Y6.tolist())
    assert task.X.dtype == np.float64
    mixed = classify([[1, "u"]] * 6)
    assert mixed.X.dtype == object
    assert mixed.X[0, 0] == 1


@pytest.mark.parametrize("texts", [["a b", "c", "d", "e", "f", "g"], tuple("abcdef"), np.array(list("abcdef"))])
def test_texts_are_one_object_a_row(texts):
    for X in (texts, pd.Series(texts), pl.Series(texts)):
        task = classify(X)
        assert task.X.dtype == object
        assert task.X.shape == (6,)
        assert isinstance(task.X[0], str)
        assert task.n_columns is None


def test_lists_of_words_and_dicts_are_objects():
    assert classify([["a"], ["b", "c"], ["d"], ["e"], ["f"], ["g"]]).X.shape == (6,)
    assert classify([{"a": 1}] * 6).X.shape == (6,)


def test_what_has_an_array_face_is_taken():
    class Face:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return self.values

    task = classify(Face(X6), Face(Y6), sample_weight=Face(np.ones(6)))
    assert task.X.shape == (6, 2)
    assert task.weight is not None


def test_a_memory_map_is_taken(tmp_path):
    X = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(6, 2))
    X[:] = X6
    task = classify(X)
    np.testing.assert_array_equal(task.take(np.array([1])), X6[[1]])
    assert X.flags.writeable


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match=r"X is of type set, which is no table"):
        classify({1, 2})


def test_missing_values_in_X_are_allowed():
    X = X6.copy()
    X[0, 0], X[1, 1] = np.nan, np.inf
    assert np.isnan(classify(X).X[0, 0])
    assert classify(np.array([["a", None], ["b", np.nan]] * 3, dtype=object)).n_columns == 2


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (pd.Series([0, 1] * 3, dtype="Int64"), "i"),
        (pd.Series([0, 1] * 3, dtype="int32[pyarrow]"), "i"),
        (pd.Series([True, False] * 3, dtype="boolean"), "b"),
        (pd.Series(["u", "v"] * 3, dtype="category"), "O"),
        (pd.Series([3, 4] * 3, dtype="category"), "i"),
        (pd.Series(["u", "v"] * 3, dtype="string"), "O"),
        (pd.Categorical(["u", "v"] * 3), "O"),
        (pd.DataFrame({"y": [0, 1] * 3}), "i"),
        (pl.DataFrame({"y": [0, 1] * 3}), "i"),
        (pl.Series(["u", "v"] * 3, dtype=pl.Categorical), "O"),
        (pl.Series([True, False] * 3), "b"),
        (np.array([0, 1] * 3, dtype=object), "i"),
        (np.array([True, False] * 3, dtype=object), "b"),
        (["u", "v"] * 3, "U"),
        (np.array(["u", "v"] * 3, dtype=np.dtypes.StringDType()), "O"),
    ],
)
def test_targets_become_plain_arrays(y, kind):
    task = classify(y=y)
    assert task.y.dtype.kind == kind
    assert task.y.shape == (6,)


def test_several_outputs():
    assert regress(y=X6).y.shape == (6, 2)
    assert regress(y=pd.DataFrame({"u": Y6, "v": Y6 / 2})).y.dtype == np.float64
    assert classify(y=sp.csr_array(np.eye(6, dtype=int))).y.shape == (6, 6)
    assert regress(y=X6.tolist()).y.shape == (6, 2)


def test_objects_of_numbers_become_numbers():
    assert regress(y=np.array([1, 2.5] * 3, dtype=object)).y.dtype == np.float64
    assert regress(y=[Fraction(1, 2)] * 6).y.tolist() == [0.5] * 6


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([1.0, np.nan, 3, np.nan, 5, 6], r"Input y contains NaN\..*rows 1, 3"),
        (
            [1.0, np.inf, 3, -np.inf, 5, 6],
            r"Input y contains infinity or a value too large for dtype\('float64'\).*rows 1, 3",
        ),
        (np.array([[1, 2.0], [1, np.nan]] * 3), "rows 1, 3, 5"),
        (pd.Series([1, None] * 3, dtype="Int64"), "Input y contains NaN.*rows 1, 3, 5"),
        (["a", None] * 3, "Input y contains NaN.*rows 1, 3, 5"),
        (pl.Series(["a", None] * 3), "Input y contains NaN.*rows 1, 3, 5"),
        ([1, "a"] * 3, r"y mixes numbers with other things \(int, str\)"),
        (np.ones(6) * 1j, "Complex data not supported"),
        (np.ones((6, 2, 2)), "got an array of shape"),
        (Y6[:-1], "inconsistent numbers of samples: X has 6 rows, but y has 5"),
    ],
)
def test_targets_that_are_refused(y, words):
    with pytest.raises(TargetError, match=f"(?s){words}"):
        regress(y=y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.ones(6), r"only one class \(1\.0\)"),
        (["same"] * 6, "only one class"),
        (np.ones((6, 2)), "only one class"),
        ([0.5, 1, 2, 3, 4, 5], "Unknown label type: continuous.*row 0"),
        ([Fraction(1, 2), object()] * 3, "y mixes"),
        ([date(2024, 1, 1), date(2024, 1, 2)] * 3, "Unknown label type: date"),
    ],
)
def test_classes_that_are_refused(y, words):
    with pytest.raises(TargetError, match=words):
        classify(y=y)


def test_one_row_is_one_class_for_a_classifier_and_fine_for_a_regressor():
    with pytest.raises(TargetError, match="one class"):
        classify(X6[:1], Y6[:1])
    assert len(regress(X6[:1], Y6[:1])) == 1


def test_a_column_vector_is_raveled_with_a_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
        assert classify(y=Y6[:, None]).y.shape == (6,)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (None, "X is None"),
        (X6[:, 0], "Reshape your data"),
        (pd.Series(X6[:, 0]), "Reshape your data"),
        ([1, 2, 3, 4, 5, 6], "Reshape your data"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((6, 0)), r"0 feature\(s\) \(shape=\(6, 0\)\) while a minimum of 1 is required\."),
        (np.ones((6, 2, 2)), "Found array with dim 3"),
        ([[1, 2], [3], [4, 5], [6, 7], [8, 9], [1, 2]], "rows of X have different lengths"),
        (X6 * 1j, "Complex data not supported"),
        (sp.csr_array(X6 * 1j), "Complex data not supported"),
        (pd.DataFrame(X6 * 1j, columns=["u", "v"]), "Complex data not supported: 'u', 'v'"),
        (pl.LazyFrame({"a": [1]}), r"X\.collect\(\)"),
        (np.ma.masked_array(X6), r"X\.filled"),
        (np.zeros(6, dtype=[("a", float)]), "structured"),
        ("data.csv", "which is no table"),
        (pd.DataFrame(X6, columns=["a", "a"]), "more than one column named 'a'"),
        (pd.DataFrame(X6, columns=["a", 1]), r"mixes column names that are text with others: 1\."),
        (pd.DataFrame(X6, columns=["a", "b"]).drop(columns=["a", "b"]), r"0 feature\(s\)"),
    ],
)
def test_tables_that_are_refused(X, words):
    with pytest.raises(InputError, match=words):
        regress(X)


def test_a_column_that_mixes_numbers_and_texts_is_named():
    frame = pd.DataFrame({"good": ["u", None, "v"] * 2, "age": [12, "unknown", 13] * 2})
    with pytest.raises(
        MixedColumnError, match=r"Column 'age' of X mixes numbers \(12 in row 0\) and strings \('unknown' in"
    ):
        regress(frame)
    array = X6.astype(object)
    array[0, 0] = {"foo": "bar"}
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        regress(array)
    with pytest.raises(ColumnError, match="Column 0 of X"):
        regress(array)


def test_objects_that_do_not_mix_are_taken():
    frame = pd.DataFrame({"u": ["a", np.nan] * 3, "v": [1, 2.5, None] * 2}, dtype=object)
    assert regress(frame).columns == ("u", "v")
    assert regress(X6.astype(object)).X.dtype == object


def test_different_indexes_are_refused_with_the_way_out():
    X, y = pd.DataFrame(X6), pd.Series(Y6, index=range(1, 7))
    with pytest.raises(InputError, match=r"X and y have different indexes.*y\.loc\[X\.index\].*y\.to_numpy\(\)"):
        regress(X, y)
    with pytest.raises(InputError, match="X and groups have different indexes"):
        regress(X, groups=pd.Series(Y6, index=range(5, -1, -1)))
    with pytest.raises(InputError, match="y and sample_weight have different indexes"):
        regress(X6, y, sample_weight=pd.Series(np.ones(6)))
    with pytest.raises(InputError, match="X and y have different indexes"):
        classify(pd.Series(list("abcdef")), y)
    with pytest.raises(InputError, match="X has 6 rows, but y has 5"):
        regress(X, y.iloc[1:])


def test_integer_column_names_are_no_names():
    assert regress(pd.DataFrame(X6)).columns is None


@pytest.mark.parametrize("X", [X6, sp.csr_array(X6), pd.DataFrame(X6, columns=["a", "b"]), pl.DataFrame(X6)])
def test_a_task_survives_pickling(X):
    task = classify(X, groups=list("aabbcc"), time=range(6))
    again = pickle.loads(pickle.dumps(task, protocol=5))
    assert again.fingerprint == task.fingerprint
    assert again.content_key(again.all_rows) == task.content_key(task.all_rows)
