"""Threads that stay: who asks takes part, and nobody waits for those that are busy."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Lock, current_thread
from weakref import ref

import pytest

from heldout.kernels.threads import spreading


def name(_: object = None) -> str:
    return current_thread().name


def names_of_two() -> set[str]:
    """The threads that do two jobs at once, or it breaks."""
    meet = Barrier(2, timeout=10)
    return set(spreading(2)(lambda _: (meet.wait(), name())[1], range(2)))


@contextmanager
def busy_helper() -> Iterator[None]:
    """The one thread that helps with `spreading(2)` is busy with what another asked."""
    meet, go_on = Barrier(3, timeout=10), Event()

    def do(_: int) -> None:
        meet.wait()
        go_on.wait(10)

    with ThreadPoolExecutor(1) as other:
        other.submit(spreading(2), do, range(2))
        meet.wait()
        try:
            yield
        finally:
            go_on.set()


def test_the_same_threads_serve_again() -> None:
    assert names_of_two() == names_of_two()


def test_who_spreads_takes_part_and_the_order_stays() -> None:
    assert current_thread().name in names_of_two()
    found = spreading(2)(lambda item: (Event().wait(0.002), item)[1], range(6))
    assert found == list(range(6))


def test_one_that_helps_may_ask_for_help() -> None:
    inner = [spreading(2)(lambda _: spreading(2)(abs, [-1, -2, -3]), range(4)) for _ in range(20)]
    assert inner == [[[1, 2, 3]] * 4] * 20


def test_who_spreads_waits_for_nobody_that_is_busy() -> None:
    with busy_helper():
        assert set(spreading(2)(name, range(4))) == {current_thread().name}


def test_a_busy_helper_keeps_nothing_of_what_was_spread() -> None:
    """What was asked of it is cancelled, but stays in its queue until it looks there."""

    class Large: ...

    with busy_helper():
        jobs = [Large(), Large()]
        found = spreading(2)(lambda _: Large(), jobs)
        left = [ref(one) for one in (*jobs, *found)]
        del jobs, found
        assert [one() for one in left] == [None] * 4


def test_never_more_threads_than_asked_for() -> None:
    inside, most, lock = [0], [0], Lock()

    def do(_: int) -> None:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        Event().wait(0.005)
        with lock:
            inside[0] -= 1

    spreading(3)(do, range(12))
    assert most[0] <= 3


@pytest.mark.parametrize("bad", range(4))
def test_an_error_of_any_thread_ends_a_spread(bad: int) -> None:
    def do(item: int) -> int:
        Event().wait(0.002)
        return 1 // (item - bad)

    spread = spreading(2)
    with pytest.raises(ZeroDivisionError):
        spread(do, range(4))
    assert spread(abs, [-1, -2, -3]) == [1, 2, 3]


def _ask_in_fork(pipe: multiprocessing.connection.Connection) -> None:
    pipe.send(names_of_two())


@pytest.mark.skipif(sys.platform == "win32", reason="no forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_starts_its_own() -> None:
    names_of_two()
    mine, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_ask_in_fork, args=(theirs,))
    child.start()
    assert mine.poll(20)
    child.join(10)
    assert child.exitcode == 0
