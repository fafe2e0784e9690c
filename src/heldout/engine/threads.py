"""One thread a fit: BLAS, OpenMP and joblib are held to it, so that processes times threads never exceed the CPUs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import joblib
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


class _Libraries:
    """The loaded BLAS and OpenMP libraries, looked up again only after something was imported."""

    def __init__(self) -> None:
        self._modules = -1
        self._controller: ThreadpoolController | None = None

    def controller(self) -> ThreadpoolController:
        # Finding the libraries takes a millisecond or more; they come with imports, so a count of modules says when.
        loaded = len(sys.modules)
        if self._controller is None or loaded != self._modules:
            self._controller = ThreadpoolController()
            self._modules = loaded
        return self._controller


_libraries = _Libraries()


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Hold OpenMP to one thread for the thread that calls, where the BLAS of the whole process is held already."""
    with _libraries.controller().limit(limits=1, user_api="openmp"):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold everything inside to one thread of this process.

    BLAS and OpenMP libraries are limited to one thread, and joblib to its sequential backend, so that an estimator's
    own ``n_jobs=-1`` starts nothing. No number changes by it except where a library's sums depend on its thread count,
    and those become the same for every backend.

    Examples
    --------
    >>> import joblib
    >>> with one_thread():
    ...     joblib.effective_n_jobs(-1)
    1
    """
    with _libraries.controller().limit(limits=1), joblib.parallel_config(backend="sequential"):
        yield
