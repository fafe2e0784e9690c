"""Threads that stay: what was asked of them ends with who asked, and nobody waits for himself."""

from __future__ import annotations

import multiprocessing
import sys
from threading import Event, Timer, current_thread

import pytest

from heldout.kernels.threads import threads


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
