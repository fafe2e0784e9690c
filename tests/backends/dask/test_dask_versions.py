"""Workers that differ are refused with what differs, before anything is sent to them."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from heldout.backends.dask import modules, versions
from heldout.backends.dask.modules import lacking_anywhere
from heldout.backends.dask.versions import check_versions_of_client, check_workers, versions_here
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
    monkeypatch.setattr(versions, "IF_LOADED", ("pytest", "stand_in", "not_loaded_at_all"))
    monkeypatch.setitem(sys.modules, "stand_in", ModuleType("stand_in"))
    here = versions_here()
    assert here["pytest"] == pytest.__version__
    assert not {"stand_in", "not_loaded_at_all"} & here.keys()
    check_workers(client)


def test_a_module_may_come_from_a_distribution_of_another_name(monkeypatch) -> None:
    monkeypatch.setattr(versions, "IF_LOADED", ("_pytest",))
    assert "_pytest" not in versions_here()
    monkeypatch.setattr(versions, "OTHER_NAMES", {"_pytest": ("no-such-distribution", "pytest")})
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


def test_another_processor_is_told_and_not_refused(monkeypatch) -> None:
    here = versions.arithmetic_here()
    assert here, "numpy has a BLAS"
    told = answering(one=here, two=("openblas 0 for Toaster",))
    with pytest.warns(UserWarning, match=r"1 of 2 Dask workers .*: two has openblas 0 for Toaster; here it is"):
        versions.compare_arithmetic(told)
    versions.compare_arithmetic(answering(one=here))


def test_packages_of_the_user_are_sent_and_installed_ones_are_to_be_installed(monkeypatch) -> None:
    own = {"helper": SimpleNamespace(__file__="/home/me/helper.py")}
    monkeypatch.setattr(modules.sys, "modules", {**modules.sys.modules, **own})
    assert lacking_anywhere(answering(one=["helper"], two=[]), frozenset()) == {"helper"}
    with pytest.raises(BackendError, match=r"worker two lacks sklearn\. Install"):
        lacking_anywhere(answering(one=["helper"], two=["sklearn", "helper"]), frozenset())
    with pytest.raises(BackendError, match=r"worker one cannot run heldout: ImportError: no"):
        lacking_anywhere(answering(one=ImportError("no")), frozenset())


def test_what_is_lacking_is_asked_of_the_import_system() -> None:
    assert modules.lacking_here(["json", "sklearn", "not_there_at_all"]) == ["not_there_at_all"]
