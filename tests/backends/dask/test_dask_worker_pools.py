"""Processes beside a Dask worker: one a task at a time, used again, ended when idle."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import pytest

from heldout.backends import dask_worker
from heldout.backends.dask_worker import WorkerPools


class Recorded:
    """A pool that only remembers what was done to it."""

    made: ClassVar[list[Recorded]] = []

    def __init__(self, jobs: int) -> None:
        assert jobs == 1
        self.ended = threading.Event()
        self.made.append(self)

    def start(self) -> None:
        assert not self.ended.is_set()

    def shutdown(self) -> None:
        self.ended.set()


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_worker, "Pool", Recorded)
    Recorded.made = []


def test_tasks_at_once_have_a_process_each_and_later_ones_use_them_again() -> None:
    pools = WorkerPools(linger=60)
    with pools.process() as one, pools.process() as two:
        assert one is not two
    with pools.process() as again:
        assert again in (one, two)
    assert len(Recorded.made) == 2
    assert not any(pool.ended.is_set() for pool in Recorded.made)


def test_idle_processes_end_and_busy_ones_do_not() -> None:
    pools = WorkerPools(linger=0.1)
    with pools.process() as busy:
        with pools.process() as idle:
            pass
        assert idle.ended.wait(30)
        assert not busy.ended.is_set()
    assert busy.ended.wait(30)


class FakeTimer:
    """A timer that fires when the test says so."""

    made: ClassVar[list[FakeTimer]] = []

    def __init__(self, seconds: float, function: Any, arguments: list[Any]) -> None:
        self.fire = lambda: function(*arguments)
        self.cancelled = False
        self.made.append(self)

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled = True


def test_one_that_is_used_again_in_time_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_worker.threading, "Timer", FakeTimer)
    FakeTimer.made = []
    pools = WorkerPools(linger=10.0)
    for _ in range(3):
        with pools.process() as pool:
            for timer in FakeTimer.made:
                timer.fire()  # too late, when it is busy already
            assert not pool.ended.is_set()
    assert len(Recorded.made) == 1
    assert [timer.cancelled for timer in FakeTimer.made] == [True, True, False]
    FakeTimer.made[-1].fire()
    assert pool.ended.is_set()


def test_one_that_failed_is_not_used_again() -> None:
    pools = WorkerPools(linger=60)
    with pytest.raises(ZeroDivisionError), pools.process() as failed:
        raise ZeroDivisionError
    assert failed.ended.is_set()
    with pools.process() as fresh:
        assert fresh is not failed
