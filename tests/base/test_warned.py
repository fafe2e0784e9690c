"""Warnings caught in several threads at once leave filters as they were."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import warnings
from typing import Any

import pytest

from heldout.base.warnings import catch_warnings


def state() -> tuple[Any, ...]:
    return list(warnings.filters), warnings.showwarning, warnings._showwarnmsg_impl  # type: ignore[attr-defined]


def in_turns(catch: Any = catch_warnings, **how: Any) -> None:
    """One thread enters, then another; the first leaves first."""
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with catch(**how):
            inside.set()
            leave.wait(60)
            warnings.simplefilter("ignore")

    thread = threading.Thread(target=other)
    with catch(**how):
        warnings.simplefilter("always")
        thread.start()
        assert inside.wait(60)
    leave.set()
    thread.join(60)


@pytest.mark.parametrize("record", [False, True])
def test_the_last_to_leave_leaves_what_the_first_found(record: bool) -> None:
    before = state()
    in_turns(record=record)
    assert state() == before
    in_turns(record=record)
    assert state() == before


def test_one_thread_catches_as_ever() -> None:
    before = state()
    with catch_warnings(record=True) as outer:
        warnings.simplefilter("always")
        warnings.warn("seen", stacklevel=1)
        with catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("not seen", stacklevel=1)
        warnings.warn("again", stacklevel=1)
    assert [str(one.message) for one in outer] == ["seen", "again"]
    assert state() == before


def test_filters_that_are_set_later_are_kept() -> None:
    with warnings.catch_warnings():
        in_turns()
        warnings.simplefilter("error")
        with catch_warnings():
            pass
        with pytest.raises(UserWarning, match="raised"):
            warnings.warn("raised", stacklevel=1)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_has_none_of_the_threads() -> None:
    """Else the last to leave in the child would never be the last."""
    with catch_warnings():
        child = multiprocessing.get_context("fork").Process(target=_catch_in_turns)
        child.start()
        child.join(30)
    assert child.exitcode == 0


def _catch_in_turns() -> None:
    before = state()
    in_turns()
    sys.exit(state() != before)
