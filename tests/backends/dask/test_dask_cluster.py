"""Reaching a cluster, and the words for not reaching it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from distributed import Client, LocalCluster

from heldout.backends import dask_cluster
from heldout.backends.base import BackendSettings
from heldout.backends.dask_cluster import (
    left_unexpectedly,
    open_client,
    scheduler_address,
    threads_by_worker,
)
from heldout.backends.registry import names_dask, open_backend
from heldout.base.errors import BackendError, OptionError


def test_addresses_and_clients_name_dask_and_nothing_else_does(client) -> None:
    assert names_dask(client)
    assert names_dask("dask://here")
    for other in (None, "inline", "tcp://here:8786", 3, client.cluster):
        assert not names_dask(other)


@pytest.mark.parametrize("wrong", ["dask://", "dask://:8786", "dask://host:port", "dask://tcp://host:8786"])
def test_a_wrong_address_is_refused_with_the_right_form(wrong: str) -> None:
    with pytest.raises(OptionError, match=r"Write dask://host:8786\."):
        scheduler_address(wrong)


def test_a_near_name_is_offered() -> None:
    with pytest.raises(OptionError, match=r"no backend 'dask:/host:8786'\. Did you mean 'dask://host:8786'"):
        open_backend("dask:/host:8786", BackendSettings(jobs=2))


def test_nobody_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.2)
    with (
        pytest.raises(BackendError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9 within"),
        open_client("dask://127.0.0.1:9"),
    ):
        pass


def test_without_distributed_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(BackendError, match=r"needs the package distributed\. Install heldout\[dask\]"),
        open_client("dask://host"),
    ):
        pass


def test_a_client_that_is_given_stays_open_and_one_of_ours_is_closed(client, address) -> None:
    with open_client(client) as same:
        assert same is client
    assert client.status == "running"
    with open_client(address) as ours:
        assert list(threads_by_worker(ours).values()) == [2]
    assert ours.status == "closed"


def test_a_closed_client_is_refused(address) -> None:
    closed = Client(address.replace("dask", "tcp"), set_as_default=False)
    closed.close()
    with pytest.raises(BackendError, match=r"is closed\. Make a new one"), open_client(closed):
        pass
    with pytest.raises(BackendError, match=r"is gone or does not answer\..*journal"):
        threads_by_worker(closed)


def test_a_cluster_without_workers_is_given_some_time(monkeypatch) -> None:
    monkeypatch.setattr(dask_cluster, "FIRST_WORKER_SECONDS", 0.1)
    with (
        LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=":0") as cluster,
        pytest.raises(BackendError, match=r"has no workers after .* `dask worker ADDRESS`"),
        open_client(cluster.scheduler_address.replace("tcp", "dask")),
    ):
        pass


def test_a_worker_that_was_retired_did_not_die(client) -> None:
    events = {
        "retired": [(0.0, {"action": "remove-worker", "expected": True})],
        "dead": [(0.0, {"action": "add-worker"}), (1.0, {"action": "remove-worker", "expected": False})],
    }
    said = SimpleNamespace(
        sync=lambda function, *, topic, callback_timeout: events[topic], scheduler=SimpleNamespace(events=None)
    )
    assert not left_unexpectedly(said, "retired")
    assert left_unexpectedly(said, "dead")
    assert not left_unexpectedly(client, next(iter(threads_by_worker(client))))
