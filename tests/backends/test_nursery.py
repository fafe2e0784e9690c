"""The nursery: workers are forked quickly, their ends are known, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from heldout.backends import process
from heldout.backends.memory import memory_kills, private_memory, total_memory
from heldout.backends.nursery import FORKS, Forked
from heldout.backends.pool import Pool

pytestmark = pytest.mark.skipif(not FORKS, reason="needs fork and pidfd")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(2)
    list(pool.run(str, [(0, 0), (1, 1)]))
    yield pool
    pool.shutdown()


def test_workers_are_siblings_of_one_nursery(pool: Pool) -> None:
    deadline = time.monotonic() + 20
    while pool.ready() < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(isinstance(worker.process, Forked) for worker in pool.workers)
    parents = {done.value for done in pool.run(lambda _: os.getppid(), [(i, i) for i in range(4)])}
    assert len(parents) == 1
    assert os.getpid() not in parents


def test_the_number_peak_and_end_of_a_worker_are_known() -> None:
    pool = Pool(1)
    list(pool.run(str, [(0, 0)]))
    (worker,) = pool.workers
    assert worker.process.pid == worker.pid
    os.kill(worker.pid, signal.SIGTERM)
    ending = worker.process.wait(5.0)
    assert ending is not None
    assert (ending.code, str(ending)) == (-15, "worker died (signal 15, SIGTERM)")
    assert ending.peak > 10_000_000
    pool.shutdown()


def test_workers_draw_different_numbers(pool: Pool) -> None:
    def draw(_: int) -> tuple[int, float]:
        import numpy as np

        time.sleep(0.05)
        return os.getpid(), float(np.random.rand())  # noqa: NPY002 (the global state is what is looked at)

    found = [done.value for done in pool.run(draw, [(i, i) for i in range(6)], max_batch_seconds=0.0)]
    assert len({number for _, number in found}) == 6


def test_a_killed_nursery_is_replaced(pool: Pool) -> None:
    nursery = process.current_nursery
    assert nursery is not None
    nursery.process.kill()
    assert nursery.process.wait(5.0) is not None
    assert not nursery.usable
    fresh = Pool(1)
    assert [done.value for done in fresh.run(str, [(0, 7)])] == ["7"]
    assert process.current_nursery is not nursery
    fresh.shutdown()
    pool.shutdown()


def test_a_worker_that_does_not_listen_ends_with_its_parent(tmp_path: object) -> None:
    program = (
        "import os, sys\nfrom heldout.backends.pool import Pool\n"
        "def deaf(path):\n"
        "    import ctypes, os, pathlib\n"
        "    pathlib.Path(path).write_text(str(os.getpid()))\n"
        "    ctypes.PyDLL(None).sleep(60)\n"
        "list(Pool(1).run(deaf, [(0, sys.argv[1])]))\n"
    )
    mark = os.path.join(str(tmp_path), "pid")
    parent = subprocess.Popen([sys.executable, "-c", program, mark])
    deadline = time.monotonic() + 30
    while not (os.path.exists(mark) and os.path.getsize(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    with open(mark) as file:
        worker = int(file.read())
    parent.kill()
    parent.wait()
    while _alive(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _alive(worker), "it keeps the interpreter lock, so only the nursery can end it"


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_memory_is_read() -> None:
    assert 1 << 28 < total_memory() < 1 << 48
    read = private_memory()
    before = read(os.getpid())
    held = bytearray(os.urandom(1)) * 100_000_000
    assert read(os.getpid()) - before > 90_000_000
    assert len(held) == 100_000_000
    assert (memory_kills() or 0) >= 0
