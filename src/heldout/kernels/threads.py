"""Thread pools that are kept: starting a thread takes a millisecond or more, as long as a whole small study."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock
from typing import Any

Spread = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]  # a map over threads, in order

_pools: dict[int, ThreadPoolExecutor] = {}
_opening = Lock()


def spreading(count: int) -> Spread:
    """Return a map over `count` threads, the caller's included: it starts at once, and free threads join in.

    It does not wait for busy threads, so a job may itself use such a map.
    """

    def spread(do: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
        helping = min(count, len(jobs)) - 1
        return _together(do, jobs, _pool(count - 1), helping) if helping > 0 else [do(job) for job in jobs]

    return spread


def _together(do: Callable[[Any], Any], jobs: Sequence[Any], pool: ThreadPoolExecutor, helping: int) -> list[Any]:
    """Run the jobs on the caller's thread and its helpers until none is left. After an error no other job starts."""
    found: list[Any] = [None] * len(jobs)
    left = deque(enumerate(jobs))

    def work() -> None:
        while left:
            try:
                place, job = left.popleft()
            except IndexError:  # another was quicker
                return
            try:
                found[place] = do(job)
            except BaseException:
                left.clear()
                raise

    asked = [pool.submit(work) for _ in range(helping)]
    try:
        work()
    finally:
        begun = [future for future in asked if not future.cancel()]
        wait(begun)
    for future in begun:
        future.result()
    whole, found = found, []  # a helper that was busy all the time still has `work` in its queue
    return whole


def _pool(count: int) -> ThreadPoolExecutor:
    with _opening:
        if count not in _pools:
            _pools[count] = ThreadPoolExecutor(count, thread_name_prefix="heldout-kernels")
        return _pools[count]


def _forget() -> None:
    """Drop the pools in a forked child process, which has none of their threads."""
    global _opening
    _pools.clear()
    _opening = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
