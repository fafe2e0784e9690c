"""Fits that do what no fit should: fork, leave processes behind, close the pipe, exit. They cost themselves alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import heldout as ho
from heldout.backends.limits import Limits
from heldout.backends.pool import Pool
from heldout.backends.shared_data import transport_folder

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="process groups and /proc of Linux")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(2)
    yield pool
    pool.shutdown()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int, seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def test_a_call_after_which_nothing_can_be_sent_is_blamed_and_the_rest_is_done(pool: Pool) -> None:
    def close_all(x: int) -> int:
        if x == 3:
            os.closerange(0, 256)
        return x

    done = {d.task_id: d for d in pool.run(close_all, [(i, i) for i in range(8)])}
    assert {i: d.value for i, d in done.items() if d.failure is None} == {i: i for i in range(8) if i != 3}
    assert done[3].failure.kind == "WorkerDied"
    assert len(done[3].lost) == 2


def test_a_child_that_comes_back_from_a_call_as_well_does_nothing_more(pool: Pool, tmp_path: Path) -> None:
    def fork_at_1(x: int) -> int:
        Path(tmp_path, f"{x}-{os.getpid()}").touch()
        if x == 1 and (child := os.fork()):
            Path(tmp_path, "child").write_text(str(child))
        if x == 2:  # of the same batch, which the child would go on with
            os.waitpid(int(Path(tmp_path, "child").read_text()), 0)
        return x

    one = Pool(1)
    done = list(one.run(fork_at_1, [(i, i) for i in range(20)], max_batch_seconds=5.0))
    one.shutdown()
    assert sorted(d.value for d in done) == list(range(20))
    assert len(list(tmp_path.glob("*-*"))) == 20, "each call was begun once"


def test_a_forked_child_that_goes_on_does_not_keep_a_fit_from_its_limit(pool: Pool) -> None:
    def fork_and_hang(x: int) -> int:
        os.fork()
        time.sleep(60)
        return x

    (done,) = pool.run(fork_and_hang, [(0, 0)], limits=Limits(fit_seconds=0.5))
    assert done.failure.kind == "FitTimeout"


def test_what_a_fit_started_ends_with_the_program(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom heldout.backends.pool import Pool\n"
        "def start_and_wait(path):\n"
        "    import pathlib, subprocess\n"
        "    child = subprocess.Popen(['sleep', '600'])\n"
        "    pathlib.Path(path).write_text(f'{child.pid}.')\n"
        "    child.wait()\n"
        "list(Pool(1).run(start_and_wait, [(0, sys.argv[1])]))\n"
    )
    mark = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", program, str(mark)])
    deadline = time.monotonic() + 120
    while not (mark.exists() and mark.read_text().endswith(".")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    assert gone(int(mark.read_text().strip(".")))


def test_what_a_fit_started_ends_with_it(pool: Pool, tmp_path: Path) -> None:
    def start_and_crash(folder: str) -> None:
        child = subprocess.Popen(["sleep", "600"])
        Path(folder, str(child.pid)).touch()
        os._exit(3)

    (done,) = pool.run(start_and_crash, [(0, str(tmp_path))])
    assert done.failure.kind == "WorkerDied"
    children = [int(path.name) for path in tmp_path.iterdir()]
    assert len(children) == 2, "it was tried twice"
    assert all(map(gone, children))


def test_a_worker_that_does_not_listen_ends_when_all_above_it_are_killed(tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    program = (
        "import sys\nfrom heldout.backends.pool import Pool\n"
        "def deaf(path):\n"
        "    import ctypes, os, pathlib\n"
        "    pathlib.Path(path).write_text(f'{os.getpid()} {os.getppid()}.')\n"
        "    ctypes.PyDLL(None).sleep(600)\n"
        "list(Pool(1).run(deaf, [(0, sys.argv[1])]))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(mark)])
    deadline = time.monotonic() + 60
    while not (mark.exists() and mark.read_text().endswith(".")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    worker, nursery = map(int, mark.read_text().strip(".").split())
    os.kill(nursery, signal.SIGSTOP)  # it shall not see its parent's end
    parent.kill()
    parent.wait()
    os.kill(nursery, signal.SIGKILL)
    assert gone(worker)


def test_how_a_worker_ended_is_known_to_a_program_that_ignores_its_children(tmp_path: Path) -> None:
    program = (
        "import os, signal\nfrom heldout.backends.pool import Pool\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "def leave(x):\n    import os\n    os._exit(3) if x == 2 else None\n"
        "done = {d.task_id: d for d in Pool(2).run(leave, [(i, i) for i in range(6)])}\n"
        "print(sorted(done), [d.failure.message for d in done.values() if d.failure])\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout.startswith("[0, 1, 2, 3, 4, 5] [")
    assert ended.stdout.count("This fit ended its process: worker died (exit code 3)") == 1


def test_files_of_a_study_within_a_fit_go_with_its_worker(pool: Pool) -> None:
    def make_folder(x: int) -> str:
        from heldout.backends.shared_data import transport_folder

        return str(transport_folder())

    one = Pool(1)
    (done,) = one.run(make_folder, [(0, 0)])
    inner = Path(done.value)
    assert inner.is_dir()
    assert inner.is_relative_to(transport_folder())
    one.shutdown()
    assert not inner.exists()


def test_no_more_workers_are_booted_than_there_is_work_for() -> None:
    many = Pool(64)
    assert len(list(many.run(str, [(i, i) for i in range(3)]))) == 3
    assert len(many.workers) == 3
    assert len(list(many.run(str, [(i, i) for i in range(5)]))) == 5
    assert len(many.workers) == 5
    many.shutdown()


class Hostile(RegressorMixin, BaseEstimator):
    """Does what `trick` says when it is trained without row 0."""

    def __init__(self, trick: str = "") -> None:
        self.trick = trick

    def fit(self, X: Any, y: Any) -> Hostile:
        if 0.0 not in X[:, 0]:
            getattr(self, f"_{self.trick}")()
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)

    def _exit(self) -> None:
        sys.exit("enough")

    def _mute(self) -> None:
        raise Mute

    def _shout(self) -> None:
        raise ValueError("x" * 3_000_000)

    def _storm(self) -> None:
        for number in range(5_000):
            warnings.warn(f"at step {number}", stacklevel=2)

    def _close_streams(self) -> None:
        for handle in (0, 1, 2):
            os.close(handle)


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


X = np.column_stack([np.arange(40.0), np.ones(40)])
y = np.arange(40.0)


def evaluated(trick: str, backend: str) -> ho.Result:
    test = ho.KFold(4, shuffle=False)
    return ho.evaluate(Hostile(trick), X, y, test=test, backend=backend, jobs=2, progress=False)


@pytest.mark.parametrize("backend", ["inline", "processes"])
@pytest.mark.parametrize(
    ("trick", "error", "message"),
    [
        ("exit", "SystemExit", "enough"),
        ("mute", "Mute", "(its message cannot be shown)"),
        ("shout", "ValueError", "characters left out"),
    ],
)
def test_a_fit_that_cannot_even_fail_well_is_a_failure_with_its_name(
    trick: str, error: str, message: str, backend: str
) -> None:
    (failure,) = evaluated(trick, backend).failures.to_dict("records")
    assert (failure["part"], failure["stage"], failure["error"]) == (0, "fit", error)
    assert message in failure["message"]
    assert len(failure["message"]) < 10_000


@pytest.mark.parametrize("backend", ["inline", "processes"])
def test_a_storm_of_warnings_is_counted_and_not_kept(backend: str) -> None:
    result = evaluated("storm", backend)
    assert result.risk.value is not None
    told = [finding.message for finding in result.findings if finding.code == "H201"]
    assert len(told) == 21
    assert any("at step 0" in words for words in told)
    assert len(result.warnings) == 21
    assert "(4,980 other warnings of one fit are not shown)" in result.warnings["message"].tolist()


def test_a_worker_without_streams_goes_on(pool: Pool) -> None:
    result = evaluated("close_streams", "processes")
    assert result.risk == evaluated("storm", "inline").risk
