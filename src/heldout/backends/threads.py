"""Limits each fit to one thread of BLAS, OpenMP and joblib, so that workers times threads never exceed the CPUs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock, local
from typing import Any

import joblib
import threadpoolctl
from threadpoolctl import ThreadpoolController

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


@lru_cache(maxsize=1)
def find_libraries(modules: int) -> ThreadpoolController:
    """Find the loaded BLAS and OpenMP libraries. It takes a millisecond, so it is cached by the number of modules."""
    return ThreadpoolController()


class _Blas:
    """Limits the BLAS of the process to one thread until the last thread that asked for it has left."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset the state. A forked child calls this, since it has none of the threads that set limits."""
        self._lock = Lock()
        self._holders = 0
        self._limits: list[Any] = []
        self._limited: ThreadpoolController | None = None

    @contextmanager
    def held(self, controller: ThreadpoolController) -> Iterator[None]:
        with self._lock:
            self._holders += 1
            if controller is not self._limited:  # the first to hold it, or a library was loaded since
                self._limits.append(controller.select(user_api="blas").limit(limits=1))
                self._limited = controller
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders:
                    _let_any_thread_set_it()
                    while self._limits:
                        self._limits.pop().restore_original_limits()
                    _let_any_thread_set_it()
                    self._limited = None


def _let_any_thread_set_it() -> None:
    """Let this thread change OpenBLAS: threadpoolctl 3.8 and later allows that only to the first one that did."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


_blas = _Blas()
_here = local()  # with which libraries this thread is held to one thread of OpenMP
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas.forget)


@contextmanager
def _one_openmp_thread(controller: ThreadpoolController) -> Iterator[None]:
    """Limit OpenMP to one thread, for the calling thread only. BLAS limits hold for the whole process."""
    outer = getattr(_here, "limited", None)
    if outer is controller:  # already limited: each library call would let other threads run for milliseconds
        yield
        return
    with controller.limit(limits=1, user_api="openmp"):
        _here.limited = controller
        try:
            yield
        finally:
            _here.limited = outer


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit everything inside to one thread of this process.

    BLAS and OpenMP libraries are limited to one thread, and joblib to its sequential backend, so that an estimator's
    own ``n_jobs=-1`` starts nothing. Sums that depend on a library's thread count become the same for every backend.

    >>> import joblib
    >>> with one_thread():
    ...     joblib.effective_n_jobs(-1)
    1
    """
    libraries = find_libraries(len(sys.modules))
    with _blas.held(libraries), _one_openmp_thread(libraries), joblib.parallel_config(backend="sequential"):
        yield
