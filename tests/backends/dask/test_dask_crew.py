"""Processes beside a Dask worker: one a task at a time, used again, ended when idle."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from heldout.backends.dask import crew
from heldout.backends.dask.crew import Crew


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
    monkeypatch.setattr(crew, "Pool", Recorded)
    Recorded.made = []


def test_tasks_at_once_have_a_process_each_and_later_ones_use_them_again() -> None:
    staff = Crew(linger=60)
    with staff.process() as one, staff.process() as two:
        assert one is not two
    with staff.process() as again:
        assert again in (one, two)
    assert len(Recorded.made) == 2
    assert not any(pool.ended.is_set() for pool in Recorded.made)


def test_idle_processes_end_and_busy_ones_do_not() -> None:
    staff = Crew(linger=0.1)
    with staff.process() as busy:
        with staff.process() as idle:
            pass
        assert idle.ended.wait(30)
        assert not busy.ended.is_set()
    assert busy.ended.wait(30)


def test_one_that_is_used_again_in_time_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(crew, "monotonic", lambda: now[0])
    looks: list[Any] = []  # the clock and the looks are ours
    monkeypatch.setattr(
        crew.threading, "Timer", lambda seconds, look: SimpleNamespace(start=lambda: looks.append(look))
    )
    staff = Crew(linger=10.0)
    for _ in range(5):
        with staff.process() as pool:
            now[0] += 3.0
        now[0] += 9.0
        looks[-1]()
        assert not pool.ended.is_set()
    assert len(Recorded.made) == 1
    now[0] += 1.0
    looks[-1]()
    assert pool.ended.is_set()


def test_one_that_failed_is_not_used_again() -> None:
    staff = Crew(linger=60)
    with pytest.raises(ZeroDivisionError), staff.process() as failed:
        raise ZeroDivisionError
    assert failed.ended.is_set()
    with staff.process() as fresh:
        assert fresh is not failed
