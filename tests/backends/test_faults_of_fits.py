"""A fit that is killed, crashes, hangs or takes all memory costs itself alone. Real processes and real signals."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import heldout as ho
from heldout.backends.limits import Limits, OutOfTime
from heldout.backends.pool import Pool
from heldout.backends.worker_process import TOO_LARGE, TOO_LONG
from heldout.base.errors import OptionError


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(2)
    pool.start()
    yield pool
    pool.shutdown()


def numbered(count: int) -> Iterator[tuple[int, int]]:
    return ((i, i) for i in range(count))


def settled(pool: Pool, context: Any, count: int, **how: Any) -> tuple[dict[int, Any], dict[int, Any]]:
    done = {d.task_id: d for d in pool.run(context, numbered(count), **how)}
    assert sorted(done) == list(range(count)), "every call is settled once"
    good = {i: d.value for i, d in done.items() if d.failure is None}
    return good, {i: d for i, d in done.items() if d.failure is not None}


def test_of_a_batch_only_the_culprit_is_lost_and_it_alone_is_tried_again(pool: Pool, tmp_path: Path) -> None:
    def crash_at_77(x: int) -> int:
        with open(tmp_path / f"{x}", "a") as file:
            file.write("x")
        if x == 77:
            ctypes.string_at(0)
        return x

    lost = []
    good, bad = settled(pool, crash_at_77, 200, on_lost=lambda cause, again: lost.append((cause, again)))
    assert good == {i: i for i in range(200) if i != 77}
    failure = bad[77].failure
    assert failure.kind == "WorkerDied"
    assert "signal 11, SIGSEGV" in failure.message
    assert "crash_at_77" in failure.traceback, "the crash says where it was"
    assert (tmp_path / "77").read_text() == "xx"
    assert lost == [("worker died (signal 11, SIGSEGV)", True), ("worker died (signal 11, SIGSEGV)", False)]
    assert bad[77].lost == ("worker died (signal 11, SIGSEGV)",) * 2


def test_what_kills_every_worker_is_set_aside_after_three_tries(pool: Pool, tmp_path: Path) -> None:
    def poison(x: int) -> int:
        if x == 3:
            with open(tmp_path / "tries", "a") as file:
                file.write("x")
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    good, bad = settled(pool, poison, 20)
    assert sorted(good) == [i for i in range(20) if i != 3]
    assert (tmp_path / "tries").read_text() == "xxx"
    assert "SIGKILL" in bad[3].failure.message
    assert "use fewer jobs" in bad[3].failure.message
    assert "was seen to hold" in bad[3].failure.message


def test_a_hang_is_ended_at_its_limit_and_says_where_it_was(pool: Pool) -> None:
    def hang_at_2(x: int) -> int:
        while x == 2:
            time.sleep(0.01)
        return x

    good, bad = settled(pool, hang_at_2, 8, limits=Limits(fit_seconds=2))
    assert sorted(good) == [0, 1, 3, 4, 5, 6, 7]
    assert (bad[2].failure.kind, len(bad[2].lost)) == (TOO_LONG, 1), "a limit is a limit: it is not tried again"
    assert "limit of 2 s" in bad[2].failure.message
    assert "hang_at_2" in bad[2].failure.traceback


def test_a_hang_that_keeps_the_interpreter_lock_is_ended_too(pool: Pool) -> None:
    def hold_the_lock(x: int) -> int:
        while x == 1:
            ctypes.PyDLL(None).sleep(60)  # a PyDLL call keeps the lock; the signal before the end wakes it
        return x

    good, bad = settled(pool, hold_the_lock, 4, limits=Limits(fit_seconds=2))
    assert sorted(good) == [0, 2, 3]
    assert bad[1].failure.kind == TOO_LONG


def test_a_batch_that_crashed_is_done_again_one_by_one_and_nothing_else_is(pool: Pool, tmp_path: Path) -> None:
    def crash_at_450(x: int) -> int:
        with open(tmp_path / f"{x}", "a") as file:
            file.write("x")
        if x == 450:
            os._exit(3)
        return x

    good, bad = settled(pool, crash_at_450, 900)
    assert good == {i: i for i in range(900) if i != 450}
    assert list(bad) == [450]
    times = [len(path.read_text()) for path in tmp_path.iterdir()]
    assert len(times) == 900
    assert max(times) <= 2


def test_a_task_of_several_fits_has_the_time_of_all_of_them(pool: Pool) -> None:
    def pause(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    limits = Limits(fit_seconds=1.0)
    done = {d.task_id: d for d in pool.run(pause, [(0, 1.5, 20), (1, 60.0, 2)], limits=limits)}
    assert done[0].value == 1.5
    assert "limit of 1 s for each of 2 fits" in done[1].failure.message


def test_a_fit_that_takes_too_much_memory_is_ended_with_its_size(pool: Pool) -> None:
    def greedy(x: int) -> int:
        held = []
        while x == 1:
            if len(held) < 100:  # 0.8 GB, and then until somebody steps in
                held.append(np.ones(1_000_000))
            time.sleep(0.01)
        return x

    good, bad = settled(pool, greedy, 4, limits=Limits(fit_bytes=200_000_000))
    assert sorted(good) == [0, 2, 3]
    assert bad[1].failure.kind == TOO_LARGE
    assert "more than its limit of 200 MB" in bad[1].failure.message
    assert "fewer jobs" in bad[1].failure.message


def test_the_deadline_ends_a_run_and_the_pool_stays_usable(pool: Pool) -> None:
    settled(pool, str, 3)  # workers are up
    done: list[int] = []
    start = time.perf_counter()

    def pause(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    running = pool.run(pause, ((i, 0.0 if i < 3 else 60.0) for i in range(9)), limits=_until(3.0))
    with pytest.raises(OutOfTime):
        done.extend(one.task_id for one in running)
    assert time.perf_counter() - start < 55
    assert {0, 1, 2} >= set(done) != set()
    assert settled(pool, str, 3) == ({0: "0", 1: "1", 2: "2"}, {})


def _until(seconds: float) -> Limits:
    return Limits(deadline=time.monotonic() + seconds)


def test_limits_need_a_process() -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    options = ho.Options(fit_timeout=1)
    with pytest.raises(OptionError, match='cannot be had with backend="inline"'):
        ho.evaluate(Tricky(), X, y, test=ho.KFold(2), backend="inline", options=options)


class Tricky(RegressorMixin, BaseEstimator):
    """Predicts the mean; misbehaves on a training set that lacks the row it was told."""

    def __init__(self, trick: str = "", scale: float = 1.0) -> None:
        self.trick = trick
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Tricky:
        if self.scale == 2.0 and 0.0 not in X:
            if self.trick == "crash":
                os.abort()
            while self.trick == "hang":
                time.sleep(0.01)
        self.mean_ = y.mean() * self.scale
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize(("trick", "error"), [("crash", "WorkerDied"), ("hang", "FitTimeout")])
def test_a_study_names_fold_and_parameters_of_a_fit_that_is_lost(trick: str, error: str) -> None:
    X, y = np.arange(40.0)[:, None], np.arange(40.0)
    learner = ho.Tuned(Tricky(trick), {"scale": [1.0, 2.0]}, validation=ho.KFold(2, shuffle=False))
    test = ho.KFold(2, shuffle=False)
    options = ho.Options(fit_timeout=2.0)
    result = ho.evaluate(learner, X, y, test=test, jobs=2, progress=False, options=options)
    failures = result.failures
    assert set(failures["error"]) == {error}
    assert all("scale=2" in words for words in failures["candidate"])
    lost = set(zip(failures["panel"], failures["part"], strict=True))
    expected = ho.evaluate(
        ho.Tuned(Tricky(), {"scale": [1.0]}, validation=ho.KFold(2, shuffle=False)), X, y, test=test, progress=False
    )
    assert lost == {("validation/0", 0), ("validation/0", 1), ("validation/1", 0)}, "those that lack row 0"
    assert result.risk.value == expected.risk.value, "the other candidate was chosen, and nothing else changed"
    assert any(finding.code == "H203" for finding in result.findings)
    if trick == "crash":
        assert any(finding.code == "H206" for finding in result.findings)


def test_limits_change_no_number() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    free = ho.evaluate(Tricky(), X, y, jobs=1, progress=False)
    options = ho.Options(fit_timeout=30, fit_memory="1GB", timeout=600)
    held = ho.evaluate(Tricky(), X, y, jobs=1, progress=False, options=options)
    assert held.risk == free.risk
