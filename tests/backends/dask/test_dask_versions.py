"""Workers that differ are refused with what differs, before anything is sent to them."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from heldout.backends import dask_cluster
from heldout.backends.dask_cluster import check_versions_of_client, check_workers, versions_here
from heldout.base.errors import BackendError


def answering(**by_worker: Any) -> SimpleNamespace:
    """A client whose workers answer so, whatever they are asked."""
    return SimpleNamespace(run=lambda function, *arguments, on_error: dict(by_worker))


def test_the_same_versions_are_welcome(client) -> None:
    here = versions_here()
    assert list(here)[:5] == ["Python", "heldout", "scikit-learn", "numpy", "scipy"]
    assert all(here.values())
    check_workers(client)
    check_versions_of_client(frozenset(here.items()))


def test_what_is_loaded_is_asked_for_and_what_was_never_installed_is_not(client, monkeypatch) -> None:
    monkeypatch.setattr(dask_cluster, "IF_LOADED", ("pytest", "stand_in", "not_loaded_at_all"))
    monkeypatch.setitem(sys.modules, "stand_in", ModuleType("stand_in"))
    here = versions_here()
    assert here["pytest"] == pytest.__version__
    assert not {"stand_in", "not_loaded_at_all"} & here.keys()
    check_workers(client)


def test_a_module_may_come_from_a_distribution_of_another_name(monkeypatch) -> None:
    monkeypatch.setattr(dask_cluster, "IF_LOADED", ("_pytest",))
    assert "_pytest" not in versions_here()
    monkeypatch.setattr(dask_cluster, "OTHER_NAMES", {"_pytest": ("no-such-distribution", "pytest")})
    assert versions_here()["_pytest"] == pytest.__version__


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"numpy": "1.0"}, r"two has numpy 1\.0\. Install the same"),
        ({"heldout": ""}, r"two lacks heldout\. Install the same"),
        ({"scipy": "", "Python": "2.7"}, r"two lacks scipy and has Python 2\.7\. Install"),
    ],
)
def test_what_differs_is_named_with_the_worker(change: dict[str, str], words: str) -> None:
    here = versions_here()
    with pytest.raises(BackendError, match=words) as raised:
        check_workers(answering(one=here, two={**here, **change}))
    assert "one " not in str(raised.value)
    assert f"numpy {here['numpy']}" in str(raised.value)


def test_a_worker_that_cannot_answer_is_named() -> None:
    with pytest.raises(BackendError, match=r"one cannot say its versions \(OSError: gone\)"):
        check_workers(answering(one=OSError("gone")))


def test_a_worker_that_joins_late_refuses_the_work(client) -> None:
    asked = frozenset({**versions_here(), "numpy": "9.9"}.items())
    with pytest.raises(BackendError, match=r"has numpy .*, but the client runs .*numpy 9\.9"):
        check_versions_of_client(asked)
