"""The supervised pool with real processes: one pool of two workers for the whole file."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import types
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from heldout.backends import launch, worker, worker_process
from heldout.backends import pool as pool_module
from heldout.backends.pool import Pool, shared_pool
from heldout.backends.threads import one_thread
from heldout.base.errors import BackendError


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(2)
    pool.start()
    yield pool
    pool.shutdown()


def numbered(count: int) -> Iterator[tuple[int, int]]:
    return ((i, i) for i in range(count))


def values(pool: Pool, context, calls) -> dict:
    done = list(pool.run(context, calls))
    assert [d.failure for d in done if d.failure] == []
    return {d.task_id: d.value for d in done}


def linear_algebra(seed: int) -> bytes:
    X = np.random.default_rng(seed).normal(size=(120, 40))
    return np.linalg.svd(X)[1].tobytes() + np.linalg.solve(X.T @ X, X.T).tobytes()


def pause(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


class Weird:
    """A class of a test module, which workers may be unable to import."""

    def __init__(self, number: int) -> None:
        self.number = number


def test_results_equal_inline_ones_bit_for_bit(pool: Pool) -> None:
    with one_thread():
        expected = {i: linear_algebra(i) for i in range(40)}
    assert values(pool, linear_algebra, numbered(40)) == expected


def test_batching_changes_no_value(pool: Pool) -> None:
    alone = {d.task_id: d.value for d in pool.run(linear_algebra, numbered(60), max_batch_seconds=0.0)}
    together = {d.task_id: d.value for d in pool.run(linear_algebra, numbered(60), max_batch_seconds=1.0)}
    assert alone == together


def test_things_of_a_main_module_travel_both_ways(pool: Pool) -> None:
    main = types.ModuleType("__main__")
    source = "class Box:\n    def __init__(self, n): self.n = n\ndef boxed(n): return Box(n + offset)\noffset = 10\n"
    exec(source, main.__dict__)
    real, sys.modules["__main__"] = sys.modules["__main__"], main
    try:
        found = values(pool, main.boxed, numbered(3))
    finally:
        sys.modules["__main__"] = real
    assert {i: box.n for i, box in found.items()} == {0: 10, 1: 11, 2: 12}
    assert all(type(box) is main.Box for box in found.values())


def test_classes_of_a_module_that_workers_cannot_import_travel(pool: Pool) -> None:
    found = values(pool, Weird, numbered(3))
    assert all(isinstance(v, Weird) for v in found.values())
    assert {i: v.number for i, v in found.items()} == {0: 0, 1: 1, 2: 2}


def test_closures_and_task_ids_of_any_kind(pool: Pool) -> None:
    lock = threading.Lock()  # an id stays in this process, so it need not be picklable
    offset = 5
    assert values(pool, lambda x: x + offset, [(lock, 1), (("b", 2), 2)]) == {lock: 6, ("b", 2): 7}


def test_no_calls_no_results(pool: Pool) -> None:
    assert list(pool.run(linear_algebra, [])) == []


def test_an_error_is_told_and_others_go_on(pool: Pool) -> None:
    done = {d.task_id: d for d in pool.run(lambda x: 1 / (x - 3), numbered(8))}
    assert sorted(done) == list(range(8))
    failure = done[3].failure
    assert failure is not None
    assert (failure.kind, failure.message) == ("ZeroDivisionError", "division by zero")
    assert "1 / (x - 3)" in failure.traceback or "<lambda>" in failure.traceback
    assert all(d.failure is None and d.value == 1 / (i - 3) for i, d in done.items() if i != 3)


def test_sys_exit_in_a_call_is_an_error_not_a_dead_worker(pool: Pool) -> None:
    before = {worker.pid for worker in pool.workers}
    done = list(pool.run(lambda x: sys.exit(x), [("a", 3)]))
    assert [(d.failure.kind, d.failure.message) for d in done if d.failure] == [("SystemExit", "3")]
    assert {worker.pid for worker in pool.workers} == before


def test_a_result_that_cannot_travel_is_an_error_of_its_call(pool: Pool) -> None:
    def locked(x: int) -> object:
        return {"lock": threading.Lock()} if x == 1 else x

    done = {d.task_id: d for d in pool.run(locked, numbered(3))}
    assert done[1].failure is not None
    assert done[1].failure.kind == "UnpicklableResult"
    assert "dict['lock']" in done[1].failure.message
    assert (done[0].value, done[2].value) == (0, 2)


def test_a_context_that_cannot_travel_is_named(pool: Pool) -> None:
    lock = threading.Lock()
    with pytest.raises(BackendError, match=r"its variable 'lock'.*jobs=1 \(inline\)"):
        next(pool.run(lambda x: lock, numbered(1)))


def test_an_argument_that_cannot_travel_is_named_and_the_pool_goes_on(pool: Pool) -> None:
    with pytest.raises(BackendError, match=r"dict\['k'\]: cannot pickle '_thread.lock'"):
        list(pool.run(str, [(0, {"k": threading.Lock()})]))
    assert values(pool, str, numbered(2)) == {0: "0", 1: "1"}


class Unloadable:
    def __reduce__(self) -> tuple:
        return (exec, ("raise ImportError('no such library')",))

    def __call__(self, argument: object) -> None:
        raise AssertionError


def test_a_context_that_workers_cannot_load_stops_the_run(pool: Pool) -> None:
    with pytest.raises(BackendError, match="ImportError: no such library"):
        list(pool.run(Unloadable(), numbered(4)))
    assert values(pool, str, numbered(2)) == {0: "0", 1: "1"}


def die_once(folder: Path, x: int) -> int:
    mark = folder / "died"
    if x == 5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_a_worker_killed_once_costs_nothing(pool: Pool, tmp_path: Path) -> None:
    found = values(pool, partial(die_once, tmp_path), numbered(200))
    assert found == {i: i for i in range(200)}
    assert (tmp_path / "died").exists()


def test_a_call_that_always_kills_fails_alone(pool: Pool, tmp_path: Path) -> None:
    def poison(x: int) -> int:
        if x == 5:
            with open(tmp_path / "tries", "a") as file:
                file.write("x")
            os._exit(3)
        return x

    done = {d.task_id: d for d in pool.run(poison, numbered(50))}
    failure = done.pop(5).failure
    assert failure is not None
    assert failure.kind == "WorkerDied"
    assert "worker died (exit code 3)" in failure.message
    assert "tried 2 times, the last time with nothing beside it" in failure.message
    assert {i: d.value for i, d in done.items()} == {i: i for i in range(50) if i != 5}
    assert (tmp_path / "tries").read_text() == "xx"


def test_a_worker_killed_between_runs_is_replaced(pool: Pool) -> None:
    os.kill(pool.workers[0].pid, signal.SIGKILL)
    assert pool.workers[0].process.wait(60.0)
    assert values(pool, str, numbered(4)) == {i: str(i) for i in range(4)}
    assert len(pool.workers) == 2


def test_a_closed_run_leaves_the_pool_usable(pool: Pool) -> None:
    running = pool.run(pause, ((i, 0.01) for i in range(1000)))
    next(running)
    running.close()
    assert not pool.running
    assert values(pool, str, numbered(4)) == {i: str(i) for i in range(4)}


def test_a_closed_run_does_not_wait_for_long_calls(pool: Pool) -> None:
    running = pool.run(pause, [(0, 0.0), (1, 60.0), (2, 60.0)])
    assert next(running).task_id == 0
    start = time.perf_counter()
    running.close()
    assert time.perf_counter() - start < 55
    assert values(pool, str, numbered(4)) == {i: str(i) for i in range(4)}


def test_one_run_at_a_time(pool: Pool) -> None:
    running = pool.run(pause, ((i, 0.01) for i in range(100)))
    next(running)
    with pytest.raises(BackendError, match="in the middle of a run"):
        next(pool.run(str, numbered(1)))
    running.close()


def test_an_unpunctual_batch_is_cut_and_given_back(pool: Pool) -> None:
    # Fast calls teach large batches; then slow ones come. Every call is still answered once.
    seconds = [0.0] * 300 + [0.05] * 8 + [0.0] * 50
    done = list(pool.run(pause, enumerate(seconds)))
    assert sorted(d.task_id for d in done) == list(range(len(seconds)))


def test_workers_are_marked_and_have_one_thread(pool: Pool) -> None:
    def look(_: int) -> tuple:
        from threadpoolctl import threadpool_info

        from heldout.backends.limits import allowed_jobs

        return os.environ["OMP_NUM_THREADS"], allowed_jobs(8), {lib["num_threads"] for lib in threadpool_info()}

    assert values(pool, look, numbered(1)) == {0: ("1", 1, {1})}


def test_workers_follow_the_path(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "heldout_test_side.py").write_text("def twice(x): return 2 * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import heldout_test_side

    assert values(pool, heldout_test_side.twice, numbered(3)) == {0: 0, 1: 2, 2: 4}
    sys.modules.pop("heldout_test_side")


def test_the_context_of_an_earlier_run_is_sent_again(pool: Pool) -> None:
    for offset in (0, 1, 2, 0, 0):
        assert values(pool, partial(int.__add__, offset), numbered(6)) == {i: i + offset for i in range(6)}


def test_large_messages_both_ways_at_once_do_not_lock_up(pool: Pool) -> None:
    block = np.arange(400_000.0)
    found = values(pool, lambda x: x * 2.0, ((i, block + i) for i in range(12)))
    assert all(np.array_equal(v, (block + i) * 2.0) for i, v in found.items())


def test_a_worker_that_cannot_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch.fork_server, "works", False)
    monkeypatch.setattr(worker, "PROGRAM", "raise SystemExit(7)")
    pool = Pool(1)
    with pytest.raises(BackendError, match=r"could not start: worker died \(exit code 7\).*stderr"):
        list(pool.run(str, numbered(1)))
    pool.shutdown()


def test_a_worker_that_is_never_ready_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch.fork_server, "works", False)
    monkeypatch.setattr(worker, "PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr(worker_process, "START_SECONDS", 0.0)
    monkeypatch.setattr(pool_module, "LOOK_EVERY", 0.01)
    pool = Pool(1)
    with pytest.raises(BackendError, match="did not start within"):
        list(pool.run(str, numbered(1)))
    pool.shutdown()


def test_a_pool_that_was_shut_down_says_so() -> None:
    pool = Pool(1)
    pool.shutdown()
    with pytest.raises(BackendError, match="shut down"):
        pool.start()


def test_the_shared_pool_is_kept_until_jobs_differ() -> None:
    first = shared_pool(1)
    assert shared_pool(1) is first
    second = shared_pool(2)
    assert second is not first
    assert not first.usable
    first_of_thread = []
    thread = threading.Thread(target=lambda: first_of_thread.append(shared_pool(2)))
    thread.start()
    thread.join()
    assert first_of_thread[0] is not second
    second.shutdown()
    assert shared_pool(2) is not second


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_parents_workers_alone(pool: Pool) -> None:
    values(pool, str, numbered(4))
    before = {worker.pid for worker in pool.workers}
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = int(pool.usable or shared_pool(1) is pool or any(not w.connection.closed for w in pool.workers))
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert values(pool, str, numbered(4)) == {i: str(i) for i in range(4)}
    assert {worker.pid for worker in pool.workers} == before
