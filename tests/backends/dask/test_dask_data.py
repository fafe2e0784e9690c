"""Data on their way to workers: mapped or sent, from worker to worker, gone when nobody needs them."""

from __future__ import annotations

import gc
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from heldout.backends import dask as dask_backend
from heldout.backends import dask_worker
from heldout.backends.base import BackendSettings
from heldout.backends.dask import DaskBackend
from heldout.backends.dask_worker import RemoteFile, Unseen
from heldout.backends.shared_data import SharedRef, share
from heldout.base.errors import BackendError

X = np.random.default_rng(0).normal(size=(200, 3))


@pytest.fixture
def ref(tmp_path: Path) -> SharedRef:
    return share(X, tmp_path, "x")


def handed_on(one: RemoteFile) -> RemoteFile:
    """As Dask hands it to another worker: buffers beside the pickle."""
    buffers: list[pickle.PickleBuffer] = []
    stream = pickle.dumps(one, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(stream, buffers=[bytes(buffer) for buffer in buffers])


def test_a_mapped_file_travels_as_a_name(ref: SharedRef) -> None:
    there = handed_on(RemoteFile(ref.path))
    assert there.ref() == ref
    assert len(pickle.dumps(there)) < 500


def test_a_file_that_is_not_seen_is_named(ref: SharedRef) -> None:
    os.unlink(ref.path)
    with pytest.raises(Unseen, match=r"does not see the shared data .*x"):
        RemoteFile(ref.path).ref()


def test_a_sent_file_is_written_where_it_arrives_and_travels_on_from_there(ref: SharedRef) -> None:
    content = Path(ref.path).read_bytes()
    first = RemoteFile(None, content)
    second = handed_on(first)
    third = handed_on(second) if second.ref() else None
    places = {one.ref().path for one in (first, second, third)}
    assert len(places) == 3
    assert all(np.array_equal(one.ref().open(), X) for one in (first, second, third))


def test_it_counts_as_large_where_its_content_is_held(ref: SharedRef) -> None:
    assert RemoteFile(None, Path(ref.path).read_bytes()).__sizeof__() > X.nbytes
    assert RemoteFile(ref.path).__sizeof__() < 1000


def test_the_file_of_a_sent_file_goes_with_it_and_a_mapped_one_stays(ref: SharedRef) -> None:
    sent, mapped = RemoteFile(None, Path(ref.path).read_bytes()), RemoteFile(ref.path)
    place = sent.ref().path
    assert os.path.exists(place)
    del sent, mapped
    gc.collect()
    assert not os.path.exists(place)
    assert os.path.exists(ref.path)


def test_no_room_on_a_worker_is_said_with_the_size(ref: SharedRef, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, mode: str) -> None:
        os.close(handle)
        raise OSError(28, "No space left on device")

    one = RemoteFile(None, bytes(3_000_000))
    monkeypatch.setattr(dask_worker.os, "fdopen", full)
    with pytest.raises(BackendError, match=r"needs 3\.0 MB in .*No space left.*TMPDIR"):
        one.ref()


@pytest.mark.parametrize("mapped", [True, False])
def test_a_load_task_can_run_again_and_leaves_nothing(client, ref, mapped) -> None:
    backend = DaskBackend(client, BackendSettings())
    backend.send_anew(mapped=mapped)
    future = backend.send(ref)
    before = future.result()
    client.retry([future])
    assert np.array_equal(before.ref().open(), X)
    assert (before.ref() == ref) is mapped
    del before
    future.release()
    place = client.submit(lambda: None, pure=False)
    place.result()
    assert not [key for key in client.has_what() if "heldout" in str(key)]


def test_data_that_would_fill_the_scheduler_are_refused(ref, monkeypatch) -> None:
    monkeypatch.setattr(dask_backend, "MOST_SENT", 100)
    backend = DaskBackend(None, BackendSettings())
    backend.send_anew(mapped=False)
    with pytest.raises(BackendError, match=r"would fill the scheduler's memory.*TMPDIR"):
        backend.send(ref)


def test_data_of_any_size_are_sent_without_a_warning(client, tmp_path: Path) -> None:
    large = share(np.zeros(2_000_000), tmp_path, "large")  # Dask warns of graphs from 10 MB
    backend = DaskBackend(client, BackendSettings())
    backend.send_anew(mapped=False)
    assert len(backend.send(large).result().ref().open()) == 2_000_000
