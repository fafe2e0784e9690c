"""One thread a fit, whatever the estimator asks for."""

from __future__ import annotations

import threading

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import ThreadpoolController, threadpool_info

from heldout.backends import threads
from heldout.backends.threads import one_thread


def test_every_library_has_one_thread_and_its_own_number_after() -> None:
    HistGradientBoostingClassifier()  # OpenMP is loaded
    before = [lib["num_threads"] for lib in threadpool_info()]
    with one_thread():
        assert {lib["num_threads"] for lib in threadpool_info()} == {1}
        with one_thread():
            assert {lib["num_threads"] for lib in threadpool_info()} == {1}
        assert {lib["num_threads"] for lib in threadpool_info()} == {1}
    assert [lib["num_threads"] for lib in threadpool_info()] == before


def test_who_leaves_first_frees_nothing_and_who_leaves_last_frees_all() -> None:
    def blas() -> list[int]:
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    def hold() -> None:
        with one_thread():
            entered.set()
            leave.wait(60)
            seen.append(blas())

    before, seen = blas(), []
    entered, leave = threading.Event(), threading.Event()
    other = threading.Thread(target=hold)
    with one_thread():
        other.start()
        assert entered.wait(60)
    assert set(blas()) == {1}
    leave.set()
    other.join(60)
    assert seen == [[1] * len(before)]
    assert blas() == before


def test_an_estimator_with_all_jobs_stays_in_its_thread_and_keeps_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(200, random_state=0)
    model = RandomForestClassifier(20, n_jobs=-1, random_state=0)
    expected = RandomForestClassifier(20, n_jobs=1, random_state=0).fit(X, y).predict_proba(X)
    places = set()
    fit_tree = DecisionTreeClassifier._fit

    def spied_fit(self, *args, **kwargs):
        places.add(threading.get_ident())
        return fit_tree(self, *args, **kwargs)

    monkeypatch.setattr(DecisionTreeClassifier, "_fit", spied_fit)
    monkeypatch.setattr(joblib.parallel, "cpu_count", lambda: 4)
    with one_thread():
        found = model.fit(X, y).predict_proba(X)
    assert places == {threading.get_ident()}
    assert np.array_equal(found, expected)


def test_libraries_are_looked_up_again_only_after_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    class Counted(ThreadpoolController):
        def __init__(self) -> None:
            looks.append(1)
            super().__init__()

    monkeypatch.setattr(threads, "ThreadpoolController", Counted)
    threads.find_libraries.cache_clear()
    for _ in range(2):
        with one_thread():
            pass
    assert len(looks) == 1
    monkeypatch.setitem(threads.sys.modules, "heldout_no_such_module", threads)
    with one_thread():
        pass
    assert len(looks) == 2
    threads.find_libraries.cache_clear()


def test_inside_one_thread_libraries_are_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call of a library lets go of the interpreter, and other threads keep it for milliseconds."""
    told: list[object] = []
    limit = ThreadpoolController.limit
    monkeypatch.setattr(ThreadpoolController, "limit", lambda self, **how: told.append(how) or limit(self, **how))
    with one_thread():
        first = len(told)
        with one_thread():
            assert len(told) == first
        assert {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "openmp"} <= {1}
    with one_thread():
        assert len(told) == 2 * first
