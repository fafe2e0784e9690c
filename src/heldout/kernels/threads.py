"""Threads that stay: to start one takes a millisecond or more, which is what a small study takes as a whole."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Lock, local
from typing import Any, TypeVar
from weakref import WeakSet

Item = TypeVar("Item")
Value = TypeVar("Value")
Spread = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]  # a map over threads, in order

_here = local()
_pools: dict[tuple[str, int], ThreadPoolExecutor] = {}
_opening = Lock()


class Threads:
    """Some of the threads, as long as they are wanted: nothing that was asked of them outlives that."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._asked: WeakSet[Future[Any]] = WeakSet()

    def submit(self, do: Callable[..., Value], *given: Any) -> Future[Value]:
        """Do it on one of the threads."""
        future = self._pool.submit(do, *given)
        self._asked.add(future)
        return future

    def map(self, do: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """What it gives for each item, in order; all of them are asked for at once, and each is let go when read."""
        left = [self.submit(do, item) for item in items][::-1]
        return (left.pop().result() for _ in range(len(left)))

    def end(self) -> None:
        """Leave what was not begun, and wait for the rest."""
        left = [future for future in list(self._asked) if not future.cancel()]
        wait(left)


@contextmanager
def threads(count: int, *, use: str = "kernels") -> Iterator[Threads]:
    """So many threads, at least one, which no other `use` has a part in.

    Who asks from one of the threads themselves gets others: it would wait for its own end.
    """
    if getattr(_here, "is_one", False):
        with ThreadPoolExecutor(max(1, count), initializer=_mark) as own:
            yield Threads(own)
        return
    some = Threads(_pool(use, max(1, count)))
    try:
        yield some
    finally:
        some.end()


@contextmanager
def helpers(count: int) -> Iterator[Threads]:
    """The threads that work beside the one that asks, so many together with it."""
    with threads(count - 1, use="helpers") as some:
        yield some


@contextmanager
def spreading(count: int) -> Iterator[Spread]:
    """A map over so many threads, of which who asks is one: it begins at once, and others help as they come free."""
    with helpers(count) as some:

        def spread(do: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
            beside = min(count, len(jobs)) - 1
            return _shared(do, jobs, some, beside) if beside > 0 else in_turn(do, jobs)

        yield spread


def in_turn(do: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
    """A map of this thread alone."""
    return [do(job) for job in jobs]


class _Shared:
    """Jobs that several threads do together: each takes what is left, until nothing is."""

    def __init__(self, do: Callable[[Any], Any], jobs: Sequence[Any]) -> None:
        self._do: Callable[[Any], Any] | None = do
        self._jobs = jobs
        self._found: list[Any] = [None] * len(jobs)
        self._left = deque(range(len(jobs)))

    def work(self) -> None:
        """Do what is left. Nobody goes on after an error."""
        while self._left and self._do is not None:
            try:
                place = self._left.popleft()
            except IndexError:  # another was quicker
                return
            try:
                self._found[place] = self._do(self._jobs[place])
            except BaseException:
                self._left.clear()
                raise

    def end(self) -> list[Any]:
        """What was found. A helper that was busy all the time still has this object in its queue, and nothing in it."""
        found = self._found
        self._do, self._jobs, self._found = None, (), []
        return found


def _shared(do: Callable[[Any], Any], jobs: Sequence[Any], some: Threads, beside: int) -> list[Any]:
    shared = _Shared(do, jobs)
    helping = [some.submit(shared.work) for _ in range(beside)]
    try:
        shared.work()
    finally:
        begun = [future for future in helping if not future.cancel()]
        wait(begun)
        found = shared.end()
    for future in begun:
        future.result()
    return found


def _pool(use: str, count: int) -> ThreadPoolExecutor:
    with _opening:
        if (use, count) not in _pools:
            _pools[use, count] = ThreadPoolExecutor(count, thread_name_prefix=f"heldout-{use}", initializer=_mark)
        return _pools[use, count]


def _mark() -> None:
    _here.is_one = True


def _forget() -> None:
    """A fork has none of the threads."""
    global _opening
    _pools.clear()
    _opening = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
