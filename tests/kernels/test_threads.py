"""Threads that stay: what was asked of them ends with who asked, and nobody waits for himself."""

from __future__ import annotations

import multiprocessing
import sys
from threading import Barrier, Event, Lock, Timer, current_thread
from weakref import ref

import pytest

from heldout.kernels.threads import helpers, spreading, threads


def name(_: object = None) -> str:
    return current_thread().name


def test_the_same_threads_serve_again() -> None:
    with threads(1, use="test") as some:
        first = some.submit(current_thread).result()
    with threads(1, use="test") as some:
        assert some.submit(current_thread).result() is first


def test_each_use_has_its_own() -> None:
    with threads(1, use="test") as one, threads(1, use="other") as other:
        assert one.submit(name).result() != other.submit(name).result()


def test_who_asks_from_one_of_them_gets_others() -> None:
    def nested() -> str:
        with threads(1, use="test") as some:
            return some.submit(name).result(timeout=10)

    with threads(1, use="test") as some:
        assert some.submit(nested).result(timeout=10) != some.submit(name).result(timeout=10)


def test_what_was_not_begun_is_left() -> None:
    begun, go_on, done = Event(), Event(), []
    with threads(1, use="test") as some:
        some.submit(lambda: (begun.set(), go_on.wait(10)))
        left = some.submit(done.append, 1)
        begun.wait(10)
        Timer(0.1, go_on.set).start()  # by then the end has been asked for
    assert left.cancelled()
    assert not done


def test_an_error_reaches_who_reads() -> None:
    with threads(2, use="test") as some, pytest.raises(ZeroDivisionError):
        list(some.map(lambda x: 1 / x, [1, 0]))


def test_who_spreads_takes_part_and_the_order_stays() -> None:
    meet = Barrier(2, timeout=10)  # two threads at once, or it breaks

    def do(item: int) -> tuple[int, str]:
        if item < 2:
            meet.wait()
        return item, name()

    with spreading(2) as spread:
        found = spread(do, range(6))
    assert [item for item, _ in found] == list(range(6))
    assert current_thread().name in {who for _, who in found}


def test_who_spreads_waits_for_nobody_that_is_busy() -> None:
    """A helper that checks a cell helps when it is done; until then who asks does everything alone."""
    go_on = Event()
    with helpers(2) as beside:
        busy = beside.submit(go_on.wait, 10)
        with spreading(2) as spread:
            assert set(spread(name, range(4))) == {current_thread().name}
        go_on.set()
        assert busy.result(timeout=10)


def test_a_busy_helper_keeps_nothing_of_what_was_spread() -> None:
    """What was asked of it is cancelled, but stays in its queue until it looks there."""

    class Large: ...

    go_on = Event()
    with helpers(2) as beside, spreading(2) as spread:
        beside.submit(go_on.wait, 10)
        jobs = [Large(), Large()]
        found = spread(lambda _: Large(), jobs)
        left = [ref(one) for one in (*jobs, *found)]
        del jobs, found
        assert [one() for one in left] == [None] * 4
        go_on.set()


def test_never_more_threads_than_asked_for() -> None:
    inside, most, lock = [0], [0], Lock()

    def do(_: int) -> None:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        Event().wait(0.005)
        with lock:
            inside[0] -= 1

    with spreading(3) as spread:
        spread(do, range(12))
    assert most[0] <= 3


@pytest.mark.parametrize("bad", range(4))
def test_an_error_of_any_thread_ends_a_spread(bad: int) -> None:
    def do(item: int) -> int:
        Event().wait(0.002)
        return 1 // (item - bad)

    with spreading(2) as spread:
        with pytest.raises(ZeroDivisionError):
            spread(do, range(4))
        assert spread(abs, [-1, -2, -3]) == [1, 2, 3]


def _ask_in_fork(pipe: multiprocessing.connection.Connection) -> None:
    with threads(1, use="test") as some:
        pipe.send(some.submit(name).result(timeout=10))


@pytest.mark.skipif(sys.platform == "win32", reason="no forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_starts_its_own() -> None:
    with threads(1, use="test") as some:
        some.submit(name).result()
    mine, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_ask_in_fork, args=(theirs,))
    child.start()
    assert mine.poll(20)
    child.join(10)
    assert child.exitcode == 0
