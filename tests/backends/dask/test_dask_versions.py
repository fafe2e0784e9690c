"""A worker whose versions differ refuses the work with what differs."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.backends import dask as dask_backend
from heldout.backends.dask import ALWAYS_COMPARED
from heldout.backends.dask_worker import check_versions, versions_of
from heldout.base.errors import BackendError


def test_the_same_versions_are_welcome() -> None:
    here = versions_of(ALWAYS_COMPARED)
    assert list(here) == ["Python", "heldout", "scikit-learn", "numpy", "scipy"]
    check_versions(ALWAYS_COMPARED, frozenset(here.items()))


def test_a_module_that_was_never_installed_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stand_in", ModuleType("stand_in"))
    assert versions_of(["pytest", "stand_in"])["pytest"] == pytest.__version__
    assert "stand_in" not in versions_of(["stand_in"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"numpy": "1.0"}, r"numpy \S+ \(the client has 1\.0\)\. Install the same"),
        ({"polars-lts-cpu": "1.0"}, r"polars-lts-cpu is missing \(the client has 1\.0\)\. Install the same"),
        (
            {"Python": "2.7", "scipy": "0.1"},
            r"Python \S+ \(the client has 2\.7\), scipy \S+ \(the client has 0\.1\)",
        ),
    ],
)
def test_what_differs_is_named(change: dict[str, str], words: str) -> None:
    wanted = {**versions_of(ALWAYS_COMPARED), **change}
    with pytest.raises(BackendError, match=words):
        check_versions(ALWAYS_COMPARED, frozenset(wanted.items()))


def test_a_worker_of_other_versions_ends_the_study(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = versions_of(ALWAYS_COMPARED)
    monkeypatch.setattr(dask_backend, "versions_of", lambda modules: {**here, "numpy": "9.9"})
    X, y = [[float(i)] for i in range(20)], [float(i % 3) for i in range(20)]
    with pytest.raises(BackendError, match=r"A Dask worker differs .* \(the client has 9\.9\)"):
        ho.evaluate(Ridge(), X, y, test=ho.KFold(2), backend=client, progress=False)
