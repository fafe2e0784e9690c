"""The Dask backend: what a study has on a cluster, from the first look at its workers to the release of its data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from heldout.backends.base import Answered
from heldout.backends.dask.connect import open_client
from heldout.backends.dask.crew import Terms, do_batch
from heldout.backends.dask.modules import lacking_anywhere
from heldout.backends.dask.parcel import all_workers_see, send
from heldout.backends.dask.versions import check_workers, versions_here
from heldout.backends.dask.window import Window
from heldout.backends.limits import NO_LIMITS, Limits
from heldout.backends.pickling import dumps, explain_unpicklable, packages_in
from heldout.backends.shared_data import SharedRef, share, transport_folder
from heldout.base.errors import BackendError, HeldoutError
from heldout.kernels.step import Step, Work
from heldout.task.task import Task

if TYPE_CHECKING:
    from distributed import Client, Future

OnLost = Callable[[str, bool], None]


@contextmanager
def open_dask(backend: Any, *, limits: Limits = NO_LIMITS, on_lost: OnLost | None = None) -> Iterator[DaskBackend]:
    """The backend of a cluster, given by address or by client, after its workers were found fit for the study."""
    with open_client(backend) as client:
        check_workers(client)
        opened = DaskBackend(client, limits=limits, on_lost=on_lost)
        try:
            yield opened
        finally:
            opened.release()


class DaskBackend:
    """Does steps on the workers of a Dask cluster; see `heldout.backends.dask.crew` for what runs there.

    `client` is the cluster's client, for whatever else the study has to compute there.
    """

    def __init__(self, client: Client, *, limits: Limits = NO_LIMITS, on_lost: OnLost | None = None) -> None:
        self.client = client
        self.limits = limits
        self.sendings = 0  # how often the data were sent
        self._on_lost = on_lost
        self._versions = frozenset(versions_here().items())
        self._mapped: bool | None = None  # whether workers see our files; None until there is one to look at
        self._data: tuple[str, Future] | None = None  # by fingerprint

    def run(self, work: Work, steps: Sequence[Step]) -> Iterator[Answered]:
        """Do steps, and yield each with its answers as they finish."""
        if not steps:
            return
        context = self._write_context(work)
        window = Window(self, work, steps, context)
        try:
            yield from window.answers()
        finally:
            window.close()
            with suppress(OSError):
                os.unlink(context.path)

    def tell_lost(self, cause: str, again: bool) -> None:
        """A worker, or a process of one, died."""
        if self._on_lost is not None:
            self._on_lost(cause, again)

    def send_data(self, task: Task) -> Future:
        """The load task of the study's data, submitted once."""
        if self._data is None or self._data[0] != task.fingerprint:
            _ = task.row_hashes  # hashed once here, not once a worker
            ref = share(task, transport_folder(), task.fingerprint)
            if self._mapped is None:
                self._mapped = all_workers_see(self.client, ref)
            self.sendings += 1
            self._data = task.fingerprint, self.send(ref)
        return self._data[1]

    def send(self, ref: SharedRef) -> Future:
        """The load task of a file that this process wrote."""
        return send(self.client, ref, mapped=bool(self._mapped))

    def give_up_data(self, *, mapped: bool) -> None:
        """Forget what was sent, to be sent anew when next asked for; without `mapped` as messages from now on."""
        self._mapped = self._mapped and mapped
        self.release()

    def release(self) -> None:
        """Let the cluster drop the data."""
        if self._data is not None:
            self._data[1].release()
            self._data = None

    def submit(self, data: Future, context: Future, steps: Sequence[Step], *, threads: int) -> Future:
        """The task of a batch."""
        left = self.limits.time_left()
        terms = Terms(
            versions=self._versions,
            threads=threads,
            fit_seconds=self.limits.fit_seconds,
            fit_bytes=self.limits.fit_bytes,
            seconds_left=None if left == float("inf") else left,
        )
        packed = [dumps(step) for step in steps]
        return self.client.submit(do_batch, data, context, packed, terms, key=f"heldout-steps-{uuid4().hex}")

    def _write_context(self, work: Work) -> SharedRef:
        """Everything of the work but its data, in a file of its own; code that workers lack goes with it."""
        bare = replace(work, task=None, products={})  # type: ignore[arg-type]
        try:
            packages = packages_in(bare)
            payload = dumps(bare, by_value=lacking_anywhere(self.client, packages))
        except HeldoutError:
            raise
        except Exception as error:
            raise BackendError(
                f"The learner cannot travel to Dask workers: {explain_unpicklable(bare)}. Run it in this process with "
                'backend="inline", or make that attribute picklable.'
            ) from error
        return share(payload, transport_folder(), f"work-{uuid4().hex}")
