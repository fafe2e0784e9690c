"""Row hashes tell contents apart and know no place; fingerprints know everything."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from heldout.base.errors import InputError
from heldout.task import declare
from heldout.task.arrays import take_rows
from heldout.task.hashing import cell_digests, row_hashes

N = 40


def hashes_of(X):
    return row_hashes(X, np.zeros(X.shape[0]))


def distinct(hashes):
    return [len(np.unique(hashes[:, lane])) for lane in (0, 1)]


def containers():
    """Every container and column type, each with missing cells in some rows only."""
    rng = np.random.default_rng(0)
    dense = rng.integers(-3, 3, (N, 5)).astype(float)
    some = rng.random(N) < 0.3
    words = rng.choice(["a", "bb", "ccc", ""], N)
    yield "float64", dense
    yield "F order", np.asfortranarray(dense)
    yield "strided", np.repeat(dense, 2, axis=1)[:, ::2]
    yield "NaN", np.where(rng.random(dense.shape) < 0.2, np.nan, dense)
    yield "wide", rng.random((N, 700))
    for dtype in ("float32", "float16", "longdouble", "int8", "uint64", "bool", ">f8", ">i4", "M8[s]", "U7"):
        yield dtype, dense.astype("i8").astype(dtype) if dtype == "M8[s]" else dense.astype(dtype)
    yield "objects", np.column_stack([words.astype(object), dense[:, 0].astype(object)])
    yield "texts", words.astype(object)
    yield "lists", np.fromiter(([int(v), {"k": w}] for v, w in zip(dense[:, 0], words, strict=True)), object, N)
    yield "sparse", sp.csr_array(dense)
    yield "sparse with empty rows", sp.random_array((N, 300), density=0.004, rng=0, format="csr")
    frame = pd.DataFrame(
        {
            "float": dense[:, 0],
            "int": dense[:, 1].astype(int),
            "Int64": pd.array(np.where(some, None, 7), dtype="Int64"),
            "boolean": pd.array(np.where(some, None, True), dtype="boolean"),
            "Float32": pd.array(np.where(some, None, 0.5), dtype="Float32"),
            "str": pd.Series(np.where(some, None, words), dtype="str"),
            "string": pd.array(np.where(some, None, words), dtype="string"),
            "category": pd.Categorical(np.where(some, None, words)),
            "object": np.where(some, None, words),
            "when": pd.Series(pd.date_range("2024", periods=N)).where(~some),
            "zoned": pd.date_range("2024", periods=N, tz="Europe/Paris"),
            "period": pd.period_range("2024", periods=N, freq="D"),
            "sparse": pd.arrays.SparseArray(dense[:, 2]),
            "arrow": pd.array(np.where(some, None, 3), dtype="int32[pyarrow]"),
            "arrow text": pd.array(np.where(some, None, words), dtype="string[pyarrow]"),
        }
    )
    yield "pandas", frame
    yield (
        "polars",
        pl.DataFrame(
            {
                "float": dense[:, 0],
                "int": pl.Series([None if s else 3 for s in some], dtype=pl.Int16),
                "bool": [None if s else True for s in some],
                "text": [None if s else str(w) for s, w in zip(some, words, strict=True)],
                "category": pl.Series(words.tolist(), dtype=pl.Categorical),
                "date": [None if s else date(2024, 1, 1 + i % 28) for i, s in enumerate(some)],
                "time": [datetime(2024, 1, 1, i % 24) for i in range(N)],
                "decimal": pl.Series([Decimal(i) / 4 for i in range(N)]),
                "list": [[i, i + 1] for i in range(N)],
                "wide": pl.Series(range(N), dtype=pl.Int128),
            }
        ),
    )


CONTAINERS = dict(containers())


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_row_has_one_hash_wherever_it_lies(name):
    X = CONTAINERS[name]
    y = np.arange(N) % 3
    whole = row_hashes(X, y)
    rng = np.random.default_rng(1)
    for size in (1, 7, N, 2 * N):
        rows = rng.integers(0, N, size)
        np.testing.assert_array_equal(row_hashes(take_rows(X, rows), y[rows]), whole[rows])


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_every_column_of_a_frame_counts(name):
    X = CONTAINERS[name]
    for column in X.columns:
        assert min(distinct(hashes_of(X[[column]]))) > 1, column


@settings(max_examples=60, deadline=None)
@given(
    X=hnp.arrays(
        dtype=st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_]),
        shape=hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
    ),
    data=st.data(),
)
def test_selection_and_layout_leave_hashes_alone(X, data):
    y = np.arange(len(X))
    rows = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=15)))
    whole = row_hashes(X, y)
    np.testing.assert_array_equal(row_hashes(X[rows], y[rows]), whole[rows])
    np.testing.assert_array_equal(row_hashes(np.asfortranarray(X), y), whole)
    np.testing.assert_array_equal(row_hashes(sp.csr_array(X), y), whole)


@settings(max_examples=60, deadline=None)
@given(rows=hnp.arrays(np.float64, (2, 3), elements=st.floats(allow_nan=True, width=64)))
def test_rows_are_equal_exactly_when_their_hashes_are(rows):
    same = bool(np.all((rows[0] == rows[1]) | (np.isnan(rows[0]) & np.isnan(rows[1]))))
    hashes = hashes_of(rows)
    assert bool((hashes[0] == hashes[1]).all()) == same


def test_sign_flips_of_any_two_columns_show():
    rng = np.random.default_rng(0)
    for p in (2, 6):
        signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * p)).reshape(p, -1).T
        for values in (np.ones(p), rng.random(p), 2.0 ** np.arange(p)):
            assert distinct(hashes_of(signs * values)) == [2**p, 2**p]


def test_swapped_columns_show():
    rng = np.random.default_rng(0)
    row = rng.random(30)
    swaps = [row]
    for i in range(30):
        for j in range(i):
            swapped = row.copy()
            swapped[[i, j]] = swapped[[j, i]]
            swaps.append(swapped)
    assert distinct(hashes_of(np.array(swaps))) == [436, 436]


def test_permuted_and_duplicate_rows():
    rng = np.random.default_rng(0)
    X = rng.random((50, 3))
    order = rng.permutation(50)
    np.testing.assert_array_equal(hashes_of(X[order]), hashes_of(X)[order])
    twice = hashes_of(np.vstack([X, X]))
    np.testing.assert_array_equal(twice[:50], twice[50:])


def test_the_target_counts_and_is_no_column():
    X = np.ones((2, 1))
    assert distinct(row_hashes(X, np.array([0, 1]))) == [2, 2]
    one = row_hashes(np.array([[1.0]]), np.array([2.0]))
    other = row_hashes(np.array([[2.0]]), np.array([1.0]))
    assert (one != other).all()
    assert (row_hashes(X, np.array([[0, 1], [1, 0]]))[0] != row_hashes(X, np.array([[1, 0], [0, 1]]))[0]).all()


@pytest.mark.parametrize(
    "X",
    [
        np.array(np.meshgrid(*[range(10)] * 5)).reshape(5, -1).T.astype(float),
        np.array(np.meshgrid(*[range(10)] * 5)).reshape(5, -1).T,
        1.0 + np.arange(100_000)[:, None] * np.array([[np.finfo(float).eps, 0.0]]),
        (np.arange(100_000)[:, None] >> np.arange(17) & 1).astype(float),
        (np.arange(100_000)[:, None] >> np.arange(17) & 1).astype(np.float32) * 2 - 1,
    ],
    ids=["digits", "integers", "last bits", "zeros and ones", "signs"],
)
def test_no_collision_among_100_000_near_twins(X):
    hashes = hashes_of(X)
    assert distinct(hashes) == [100_000, 100_000]
    # Each half of each lane is as random as it should be: 32 bits give about 1.2 twins among 100,000.
    for half in (hashes & np.uint64(0xFFFFFFFF), hashes >> np.uint64(32)):
        assert min(distinct(half)) > 99_970


def test_one_nan_and_one_zero():
    odd_nan = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(float)
    X = np.array([[np.nan], [odd_nan[0]], [odd_nan[1]], [0.0], [-0.0]])
    hashes = hashes_of(X)
    assert (hashes[:3] == hashes[0]).all()
    assert (hashes[3] == hashes[4]).all()
    assert (hashes[0] != hashes[3]).all()


def test_explicit_zeros_and_duplicates_of_sparse_entries_do_not_count():
    plain = sp.csr_array(np.array([[0.0, 3.0], [0.0, 0.0]]))
    untidy = sp.csr_array((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(hashes_of(plain), hashes_of(untidy))
    assert untidy.nnz == 3


def test_values_of_cells_are_told_apart_by_type_and_content():
    cells = [1, 1.0, True, "1", b"1", None, "", (1,), [1], {1}, {1: 2}, {2: 1}, Decimal(1), date(2024, 1, 1)]
    cells += [np.arange(2000), np.arange(2000) + (np.arange(2000) == 1000), datetime(2024, 1, 1), [1, [2]], [[1], 2]]
    digests = cell_digests(cells)
    assert distinct(digests) == [len(cells), len(cells)]
    alone = np.vstack([cell_digests([cell]) for cell in cells])
    np.testing.assert_array_equal(digests, alone)
    np.testing.assert_array_equal(cell_digests([np.nan, None, pd.NA, pd.NaT]), np.tile(cell_digests([None]), (4, 1)))


def test_mappings_and_sets_have_no_order():
    np.testing.assert_array_equal(cell_digests([{"a": 1, "b": 2}]), cell_digests([{"b": 2, "a": 1}]))
    np.testing.assert_array_equal(cell_digests([{"x", "y", "z"}]), cell_digests([{"z", "y", "x"}]))


def test_a_value_without_content_is_refused():
    with pytest.raises(InputError, match="type function in the data has no content"):
        cell_digests([lambda: 0])


X4, Y4 = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])


def fingerprint(X=X4, y=Y4, classification=True, **roles):
    return declare(X, y, classification=classification, **roles).fingerprint


def test_a_fingerprint_depends_on_content_alone():
    assert fingerprint() == fingerprint(np.asfortranarray(X4), Y4.tolist())
    assert len(fingerprint()) == 32
    assert set(fingerprint()) <= set("0123456789abcdef")


def test_whatever_changes_changes_the_fingerprint():
    frame = pd.DataFrame(X4, columns=["a", "b"])
    kinds = pd.DataFrame({"a": pd.Categorical(list("uvuv"))})
    prints = [
        fingerprint(),
        fingerprint(X4[::-1], Y4[::-1]),
        fingerprint(X4 + np.eye(4, 2)),
        fingerprint(y=1 - Y4),
        fingerprint(X4.astype(np.float32)),
        fingerprint(classification=False),
        fingerprint(groups=[0, 0, 1, 1]),
        fingerprint(groups=[0, 0, 2, 2]),
        fingerprint(strata=[0, 0, 1, 1]),
        fingerprint(time=[0, 0, 1, 1]),
        fingerprint(time=[0.0, 0, 1, 1]),
        fingerprint(sample_weight=[1, 1, 2, 2]),
        fingerprint(frame),
        fingerprint(frame.rename(columns={"b": "c"})),
        fingerprint(frame[["b", "a"]]),
        fingerprint(pl.from_pandas(frame)),
        fingerprint(sp.csr_array(X4)),
        fingerprint(kinds),
        fingerprint(kinds.apply(lambda column: column.cat.reorder_categories(["v", "u"]))),
        fingerprint(kinds.apply(lambda column: column.cat.as_ordered())),
        fingerprint(kinds.astype(object)),
    ]
    assert len(set(prints)) == len(prints)
