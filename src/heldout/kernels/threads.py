"""Threads that stay: to start one takes a millisecond or more, which is what a small study takes as a whole."""

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
    """A map over so many threads, of which who asks is one: it begins at once, and others help as they come free.

    Nobody waits for threads that are busy, so one that is asked to help may itself ask others.
    """

    def spread(do: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
        helping = min(count, len(jobs)) - 1
        return _together(do, jobs, _pool(count - 1), helping) if helping > 0 else [do(job) for job in jobs]

    return spread


def _together(do: Callable[[Any], Any], jobs: Sequence[Any], pool: ThreadPoolExecutor, helping: int) -> list[Any]:
    """Each thread takes a job that is left, until none is. Nobody goes on after an error."""
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
    """A fork has none of the threads."""
    global _opening
    _pools.clear()
    _opening = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
