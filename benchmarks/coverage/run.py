"""Run replications over two processes, with what is done so far on stderr."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from time import perf_counter
from typing import Any

import sklearn
from threadpoolctl import threadpool_limits

PROCESSES = int(os.environ.get("HELDOUT_PROCESSES", "2"))


def spread(
    work: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], *, words: str, chunk: int | None = None
) -> Iterator[Any]:
    """`work(*job)` for each job, in order; the numbers do not depend on which process does which."""
    asked, began = list(jobs), perf_counter()
    chunk = chunk or max(1, min(8, len(asked) // (2 * PROCESSES)))
    for done, found in enumerate(_pool().map(_do, [(work, job) for job in asked], chunksize=chunk), start=1):
        if done % max(1, len(asked) // 10) == 0 or done == len(asked):
            print(f"{words}: {done} of {len(asked)}, {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        yield found


@cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn"), initializer=_prepare)


def _prepare() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    threadpool_limits(1)
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)  # simulated data: the same numbers sooner
    warnings.simplefilter("ignore")  # of fits: they are findings of a result, and no part of a table


def _do(asked: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    work, job = asked
    return work(*job)
