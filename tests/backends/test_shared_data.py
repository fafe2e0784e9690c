"""Data written once and mapped: same values, read-only, no copies."""

from __future__ import annotations

import mmap
import os
import shutil
import stat
import threading
from collections import namedtuple
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from heldout.backends import shared_data as shared
from heldout.backends.shared_data import SharedRef, share, transport_folder
from heldout.base.errors import BackendError


def ultimate_base(array: np.ndarray) -> object:
    base: object = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base


def test_arrays_are_mapped_read_only_and_aligned(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(1000, 7))
    back = share({"X": X, "y": X[:, 0].copy(), "name": "a"}, tmp_path, "data").open()
    assert np.array_equal(back["X"], X)
    assert back["name"] == "a"
    for array in (back["X"], back["y"]):
        assert not array.flags.writeable
        assert isinstance(ultimate_base(array), mmap.mmap)
        assert array.ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        back["X"][0, 0] = 1.0


def test_a_file_is_written_once_and_its_size_is_the_data(tmp_path: Path) -> None:
    X = np.ones((1000, 100))
    first = share(X, tmp_path, "same")
    written = os.stat(first.path)
    assert X.nbytes < written.st_size < X.nbytes + 2000
    assert share(X, tmp_path, "same") == first
    assert os.stat(first.path).st_mtime_ns == written.st_mtime_ns
    assert os.listdir(tmp_path) == ["same"]


@pytest.mark.parametrize("order", ["C", "F"])
def test_layout_is_kept(tmp_path: Path, order: str) -> None:
    X = np.array(np.arange(12.0).reshape(3, 4), order=order)
    assert share(X, tmp_path, "x").open().strides == X.strides


def test_strided_arrays_are_mapped_too(tmp_path: Path) -> None:
    wide = np.arange(40.0).reshape(4, 10)
    for name, X in {"columns": wide[:, ::2], "turned": wide[::2].T}.items():
        back = share(X, tmp_path, name).open()
        assert np.array_equal(back, X)
        assert isinstance(ultimate_base(back), mmap.mmap)
        assert np.argsort(back.strides).tolist() == np.argsort(X.strides).tolist()


def test_frames_and_sparse_matrices(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": ["x", None], "d": pd.Categorical(["u", "v"])})
    pd.testing.assert_frame_equal(share(frame, tmp_path, "frame").open(), frame)
    column = share(frame, tmp_path, "frame").open()["a"].to_numpy()
    assert isinstance(ultimate_base(column), mmap.mmap)
    matrix = sp.random_array((50, 20), density=0.1, format="csr", random_state=np.random.default_rng(0))
    back = share(matrix, tmp_path, "sparse").open()
    assert (back != matrix).nnz == 0
    assert all(isinstance(ultimate_base(part), mmap.mmap) for part in (back.data, back.indices, back.indptr))


@pytest.mark.parametrize("dtype", [">M8[D]", "<M8[ns]"])
def test_dates_are_mapped_too(tmp_path: Path, dtype: str) -> None:
    dates = np.array([["2020-02-29", "NaT"], ["1999-12-31", "2000-01-01"]], dtype=dtype)
    for name, given_dates in {"whole": dates, "strided": dates[:, 1]}.items():
        back = share(given_dates, tmp_path, name).open()
        assert np.array_equal(back, given_dates, equal_nan=True)
        assert np.datetime_data(back.dtype) == np.datetime_data(dates.dtype)
        assert isinstance(ultimate_base(back), mmap.mmap)
        assert not back.flags.writeable


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(min_side=0, max_side=5)))
def test_any_array_comes_back(X: np.ndarray) -> None:
    ref = share(X, transport_folder(), "any")
    back = ref.open()
    os.unlink(ref.path)
    dates = X.dtype.kind in "mM"  # these come back in the machine's own byte order
    expected = X.astype(X.dtype.newbyteorder("=")) if dates else X
    assert back.dtype == expected.dtype
    assert back.shape == expected.shape
    assert back.tobytes() == expected.tobytes()


@settings(max_examples=50, deadline=None)
@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.tuples(inner)))
def test_any_plain_object_comes_back(obj: object) -> None:
    ref = share(obj, transport_folder(), "plain")
    back = ref.open()
    os.unlink(ref.path)
    assert back == obj


def test_too_little_room_is_said_before_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**6, 0, 10**6))
    with pytest.raises(BackendError, match=r"needs 8\.0 MB in .*, which has 1\.0 MB free.*TMPDIR"):
        share(np.zeros(10**6), tmp_path, "x")
    assert os.listdir(tmp_path) == []


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(BackendError, match=r"needs 0\.0 MB"):
        share([1], tmp_path, "x")
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_pickled_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"dict\['k'\]: cannot pickle '_thread.lock' object\. Use jobs=1"):
        share({"k": threading.Lock()}, tmp_path, "x")


def test_data_that_are_gone_are_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="are gone"):
        SharedRef(path=str(tmp_path / "none")).open()


def test_the_folder_is_private_and_kept() -> None:
    folder = transport_folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert transport_folder() == folder


@pytest.mark.skipif(shared.fcntl is None, reason="needs flock")
def test_folders_of_killed_programs_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared.tempfile, "tempdir", str(tmp_path))
    dead, living, foreign = (tmp_path / name for name in ("heldout-dead", "heldout-living", "heldout-foreign"))
    for folder in (dead, living, foreign):
        folder.mkdir()
    (dead / "owner.lock").touch()
    lock = shared.lock_folder(living)
    assert lock is not None
    shared.sweep_left_behind()
    assert sorted(os.listdir(tmp_path)) == ["heldout-foreign", "heldout-living"]
    lock.close()
