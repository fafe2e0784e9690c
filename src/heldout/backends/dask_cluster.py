"""Connects to a Dask cluster by address or client, asks for its workers, and builds the errors if that fails."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from heldout.base.errors import Argument, BackendError, OptionError, Sentence

if TYPE_CHECKING:
    from distributed import Client

_BACKEND = Argument("backend")
DEFAULT_PORT = 8786
CONNECT_SECONDS = 30.0
FIRST_WORKER_SECONDS = 60.0  # a cluster that was just asked for may take that long to have its first worker
ANSWER_SECONDS = 30.0  # a scheduler that says nothing for so long is as good as dead
GO_ON = Sentence("With {} what finished is kept, and the same call goes on from there.", Argument("journal"))


def scheduler_address(backend: str) -> str:
    """Return the scheduler's address as Dask writes it.

    >>> scheduler_address("dask://node-7:9000"), scheduler_address("dask://node-7")
    ('tcp://node-7:9000', 'tcp://node-7:8786')
    """
    place = backend.removeprefix("dask://").rstrip("/")
    host, colon, port = place.rpartition(":")
    if not colon:
        host, port = place, str(DEFAULT_PORT)
    if not host or not port.isdigit() or "/" in host:
        raise OptionError(f"{backend!r} is no address of a Dask scheduler. Write dask://host:{DEFAULT_PORT}.")
    return f"tcp://{host}:{port}"


@contextmanager
def open_client(backend: Any) -> Iterator[Client]:
    """Yield a client of the cluster that `backend` names, once it has at least one worker.

    A client made from an address is closed at the end. A client that was passed stays open.
    """
    if isinstance(backend, str):
        client = _connect(backend)
        try:
            _wait_for_workers(client)
            yield client
        finally:
            _close(client)
        return
    if backend.asynchronous:
        raise OptionError(
            Sentence("{} takes a distributed.Client that waits, not one made with asynchronous=True.", _BACKEND)
        )
    if backend.status != "running":
        raise BackendError(Sentence("The Dask client given as {} is {}.", _BACKEND, backend.status), "Make a new one.")
    _wait_for_workers(backend)
    yield backend


def threads_by_worker(client: Client) -> dict[str, int]:
    """Ask the scheduler how many threads each worker of the cluster has."""
    if client.status != "running":
        raise scheduler_lost(client)
    try:
        found = client.sync(client.scheduler.ncores, callback_timeout=ANSWER_SECONDS)
    except (OSError, TimeoutError, AttributeError) as error:  # AttributeError: the client was closed meanwhile
        raise scheduler_lost(client) from error
    return dict(found)


def left_unexpectedly(client: Client, worker: str) -> bool:
    """Return whether a worker that left the cluster died; False if it was retired on purpose."""
    try:
        events = client.sync(client.scheduler.events, topic=worker, callback_timeout=ANSWER_SECONDS)
    except (OSError, TimeoutError, AttributeError) as error:
        raise scheduler_lost(client) from error
    return any(event.get("action") == "remove-worker" and not event.get("expected") for _, event in events)


def scheduler_lost(client: Client) -> BackendError:
    """Make the error for a study whose scheduler is gone."""
    address = client.scheduler.address if client.scheduler is not None else "its address"
    return BackendError(f"The Dask scheduler at {address} is gone or does not answer.", GO_ON)


def _connect(backend: str) -> Client:
    address = scheduler_address(backend)
    try:
        from distributed import Client
    except ImportError as error:
        raise BackendError(f"{backend} needs the package distributed. Install heldout[dask].") from error
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="heldout")
    except (OSError, TimeoutError) as error:
        raise BackendError(
            f"No Dask scheduler answers at {address} within {CONNECT_SECONDS:.0f} seconds. Start one there with "
            "`dask scheduler`, or check the address."
        ) from error


def _wait_for_workers(client: Client) -> None:
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
    except TimeoutError as error:
        raise BackendError(
            f"The Dask cluster at {client.scheduler.address} has no workers after {FIRST_WORKER_SECONDS:.0f} seconds. "
            "Start some with `dask worker ADDRESS`."
        ) from error


def _close(client: Client) -> None:
    log = logging.getLogger("distributed.client")
    level = log.level
    if client.status != "running":
        log.setLevel(logging.CRITICAL)  # it would print how it failed to reach a scheduler that is known to be gone
    try:
        with suppress(TimeoutError, OSError):
            client.close(timeout=5)
    finally:
        log.setLevel(level)
