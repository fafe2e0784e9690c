"""A cluster within this process, quick to start. Messages go by TCP, so all is pickled as on a real one."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="module")  # not longer: its threads draw random numbers, which Hypothesis minds
def client() -> Iterator[Client]:
    """A client of one worker with two threads, in this process."""
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            protocol="tcp://",
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def address(client: Client) -> str:
    """The same cluster's address, as backend= takes it."""
    return client.scheduler.address.replace("tcp://", "dask://")
