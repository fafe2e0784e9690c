"""Finds the backend that `backend=` names. A new kind is one more file with an entry here, or is registered."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from heldout.backends.base import Backend, BackendSettings, Inline
from heldout.backends.limits import allowed_jobs
from heldout.backends.processes import Processes
from heldout.base.errors import Argument, OptionError, Sentence, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendKind:
    """A kind of backend: how users name it in `backend=`, and how it is opened for a study."""

    example: str  # what a user may pass, for messages
    accepts: Callable[[Any], bool]
    open: Callable[[Any, BackendSettings], AbstractContextManager[Backend]]
    usable: Callable[[Any], bool] = lambda backend: True  # whether what was passed once can be opened again


def _open_inline(_: Any, settings: BackendSettings) -> AbstractContextManager[Backend]:
    if settings.limits.of_fits:
        raise OptionError(
            Sentence(
                "{} and {} end the process that a fit runs in, so they cannot be had with {}.",
                *(Argument("fit_timeout"), Argument("fit_memory"), Argument("backend", "inline")),
            ),
            "Leave one or the other out.",
        )
    return nullcontext(Inline(settings.limits))


def _open_processes(backend: Any, settings: BackendSettings) -> AbstractContextManager[Backend]:
    """Open worker processes. Unless asked for, one job without limits of fits runs inline, as do short studies."""
    jobs, as_needed = allowed_jobs(settings.jobs), backend is None
    if as_needed and jobs == 1 and not settings.limits.of_fits:
        return nullcontext(Inline(settings.limits))
    return nullcontext(Processes(jobs, settings, begin_inline=as_needed))


def names_dask(backend: Any) -> bool:
    """Return whether `backend` is an address of a Dask scheduler, or a client of one.

    >>> names_dask("dask://localhost:8786"), names_dask("processes")
    (True, False)
    """
    if isinstance(backend, str):
        return backend.startswith("dask://")
    distributed = sys.modules.get("distributed")  # who has a client has imported it
    return distributed is not None and isinstance(backend, distributed.Client)


def _open_dask(backend: Any, settings: BackendSettings) -> AbstractContextManager[Backend]:
    from heldout.backends.dask import open_dask

    return open_dask(backend, settings)


def _still_open(backend: Any) -> bool:
    """Return whether a client is still running. An address can always be opened."""
    return isinstance(backend, str) or backend.status == "running"


KINDS = [
    BackendKind(example="None", accepts=lambda backend: backend is None, open=_open_processes),
    BackendKind(example="inline", accepts=lambda backend: bool(backend == "inline"), open=_open_inline),
    BackendKind(example="processes", accepts=lambda backend: bool(backend == "processes"), open=_open_processes),
    BackendKind(example="dask://host:8786", accepts=names_dask, open=_open_dask, usable=_still_open),
]


def register_backend(kind: BackendKind) -> None:
    """Add a kind of backend, so that `backend=` may name it."""
    KINDS.append(kind)


def open_backend(backend: Any, settings: BackendSettings) -> AbstractContextManager[Backend]:
    """Open the backend that the user asked for. None chooses by the amount of work."""
    kind = _kind_of(backend)
    if kind is None:
        near = did_you_mean(str(backend), [kind.example for kind in KINDS[1:]])
        raise OptionError(f"There is no backend {backend!r}. {near}")
    return kind.open(backend, settings)


def is_usable(backend: Any) -> bool:
    """Return whether a backend that was used before can be used again; False for a closed client."""
    kind = _kind_of(backend)
    return kind is not None and kind.usable(backend)


def _kind_of(backend: Any) -> BackendKind | None:
    return next((kind for kind in KINDS if kind.accepts(backend)), None)
