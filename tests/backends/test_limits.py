"""How many workers may be used, and where only one may."""

from __future__ import annotations

import multiprocessing

import joblib
import numpy as np
import pytest

from heldout.backends.limits import WORKER_MARK, allowed_jobs
from heldout.backends.threads import one_thread
from heldout.base.errors import OptionError


@pytest.fixture(autouse=True)
def eight_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)


@pytest.mark.parametrize(
    ("requested", "allowed"), [(None, 8), (1, 1), (3, 3), (20, 20), (-1, 8), (-2, 7), (-99, 1), (np.int64(2), 2)]
)
def test_counts_as_joblib_counts(requested: int | None, allowed: int) -> None:
    assert allowed_jobs(requested) == allowed


@pytest.mark.parametrize("requested", [0, 1.5, "two", True, False])
def test_what_is_no_count_is_refused(requested: object) -> None:
    with pytest.raises(OptionError, match="is no number of workers"):
        allowed_jobs(requested)  # type: ignore[arg-type]


def test_one_inside_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKER_MARK, "1")
    assert allowed_jobs(None) == allowed_jobs(4) == 1
    with pytest.raises(OptionError):
        allowed_jobs(0)


def test_one_inside_one_thread() -> None:
    with one_thread():
        assert allowed_jobs(None) == allowed_jobs(4) == 1
    assert allowed_jobs(4) == 4


def test_one_inside_joblib_threads() -> None:
    assert joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(allowed_jobs)(4) for _ in range(2)) == [1, 1]


def test_one_inside_a_loky_worker() -> None:
    assert joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(allowed_jobs)(4) for _ in range(1)) == [1]
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def test_one_inside_a_multiprocessing_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    assert allowed_jobs(None) == 1
