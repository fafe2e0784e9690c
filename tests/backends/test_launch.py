"""Starting workers: a fork server where that is possible, else fresh interpreters; and none outlives its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import forkserver, spawn
from pathlib import Path

import pytest

from heldout.backends import launch
from heldout.backends.limits import memory_kills, private_memory, total_memory
from heldout.backends.pool import Pool

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the fork server is for Linux")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(2)
    list(pool.run(str, [(0, 0), (1, 1)]))
    yield pool
    pool.shutdown()


@linux
def test_the_fork_server_of_this_python_has_the_parts_that_we_use() -> None:
    """Some are not documented. Where they are missing, workers are fresh interpreters."""
    server = forkserver.ForkServer()
    for name in ("set_forkserver_preload", "connect_to_new_process", "ensure_running"):
        assert callable(getattr(server, name))
    assert server._forkserver_alive_fd is None
    assert hasattr(forkserver._forkserver, "_forkserver_alive_fd")
    assert callable(forkserver.read_signed)
    assert isinstance(multiprocessing.current_process()._config, dict)
    assert callable(forkserver.get_inherited_fds)
    spawn.prepare({})  # nothing of what it prepares is required


@linux
def test_workers_are_forked_by_one_server(pool: Pool) -> None:
    deadline = time.monotonic() + 60
    while pool.ready() < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert launch.fork_server.works
    assert all(isinstance(worker.process, launch.ForkedProcess) for worker in pool.workers)
    parents = {done.value for done in pool.run(lambda _: os.getppid(), [(i, i) for i in range(4)])}
    assert len(parents) == 1
    assert os.getpid() not in parents


@linux
def test_starting_workers_leaves_the_start_method_and_the_environment_to_the_user() -> None:
    program = (
        "import multiprocessing, os\nfrom heldout.backends.pool import Pool\nbefore = dict(os.environ)\n"
        "print([done.value for done in Pool(1).run(str, [(0, 7)])])\n"
        "print(dict(os.environ) == before, multiprocessing.get_start_method(allow_none=True))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("['7']\nTrue None\n", "")


@linux
def test_a_temporary_folder_that_is_gone_when_the_program_ends_is_no_error(tmp_path: Path) -> None:
    """Such as one on a disk that is unmounted meanwhile; workers that are asked for then find another."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    program = (
        "import multiprocessing.util, os, shutil, tempfile\nfrom heldout.backends.pool import Pool\n"
        "folder = tempfile.gettempdir()\n"
        "print([done.value for done in Pool(1).run(str, [(0, 7)])], os.listdir(folder)[0][:8])\n"
        "shutil.rmtree(folder)\ntempfile.tempdir = None\ndel os.environ['TMPDIR']\n"
        "print([done.value for done in Pool(1).run(str, [(0, 8)])])\n"
        "print(os.path.dirname(multiprocessing.util.get_temp_dir()) == tempfile.gettempdir())\n"
    )
    environment = {**os.environ, "TMPDIR": str(folder)}
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment
    )
    assert (ended.stdout, ended.stderr) == ("['7'] heldout-\n['8']\nTrue\n", "")


@linux
def test_a_temporary_folder_whose_path_is_too_long_for_a_socket_starts_fresh_interpreters(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    program = (
        "from heldout.backends import launch, pool\n"
        "print([done.value for done in pool.Pool(1).run(str, [(0, 7)])], launch.fork_server.works)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert (ended.stdout, ended.stderr) == ("['7'] False\n", "")


@linux
def test_a_file_in_the_current_folder_does_not_hide_a_module(tmp_path: Path) -> None:
    (tmp_path / "selectors.py").write_text("raise RuntimeError('the wrong one')")
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(
        "from heldout.backends.pool import Pool\nprint([done.value for done in Pool(1).run(str, [(0, 7)])])\n"
    )
    ended = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("['7']\n", "")


@linux
def test_a_server_with_threads_starts_fresh_interpreters(tmp_path: Path) -> None:
    """A process with threads cannot be forked safely, and some library may start one when it is imported."""
    (tmp_path / "polars.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    program = (
        "import sys\nsys.path.insert(0, sys.argv[1])\nimport polars\nfrom heldout.backends.pool import Pool\n"
        "def command(_):\n    from pathlib import Path\n    return Path('/proc/self/cmdline').read_bytes()\n"
        "print([b'heldout-worker' in done.value for done in Pool(1).run(command, [(0, 0)])])\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("[True]\n", "")


def test_fresh_interpreters_do_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on systems without a fork server."""
    monkeypatch.setattr(launch.fork_server, "works", False)
    pool = Pool(1)

    def leave(x: int) -> int:
        if x == 2:
            os._exit(3)
        return x

    done = {d.task_id: d for d in pool.run(leave, [(i, i) for i in range(4)])}
    assert [done[i].value for i in (0, 1, 3)] == [0, 1, 3]
    assert "exit code 3" in done[2].failure.message
    assert all(isinstance(worker.process, launch.FreshProcess) for worker in pool.workers)
    pool.shutdown()


@linux
def test_where_the_module_has_changed_fresh_interpreters_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "fork_server", launch.ForkServer())
    monkeypatch.setattr(forkserver.ForkServer, "connect_to_new_process", lambda self: None)
    pool = Pool(1)
    assert [done.value for done in pool.run(str, [(0, 7)])] == ["7"]
    assert isinstance(pool.workers[0].process, launch.FreshProcess)
    assert not launch.fork_server.works
    pool.shutdown()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_number_and_end_of_a_worker_are_known() -> None:
    pool = Pool(1)
    list(pool.run(str, [(0, 0)]))
    (worker,) = pool.workers
    os.kill(worker.pid, signal.SIGTERM)
    ending = worker.process.wait(60.0)
    assert ending is not None
    assert (ending.code, str(ending)) == (-15, "worker died (signal 15, SIGTERM)")
    assert worker.crash(ending).peak > 10_000_000
    pool.shutdown()


def test_workers_draw_different_numbers(pool: Pool) -> None:
    def draw(_: int) -> tuple[int, float]:
        import numpy as np

        time.sleep(0.05)
        return os.getpid(), float(np.random.rand())  # noqa: NPY002 (the global state is what is looked at)

    found = [done.value for done in pool.run(draw, [(i, i) for i in range(6)], max_batch_seconds=0.0)]
    assert len({number for _, number in found}) == 6


@linux
def test_a_killed_server_is_replaced(pool: Pool) -> None:
    (server,) = {done.value for done in pool.run(lambda _: os.getppid(), [(i, i) for i in range(4)])}
    os.kill(server, signal.SIGKILL)
    fresh = Pool(1)
    (done,) = fresh.run(lambda _: os.getppid(), [(0, 7)])
    assert done.value not in (server, os.getpid())
    fresh.shutdown()
    assert sorted(done.value for done in pool.run(str, [(0, 7), (1, 8)])) == ["7", "8"], "its workers are replaced too"


@linux
def test_a_worker_that_does_not_listen_ends_with_its_parent(tmp_path: object) -> None:
    program = (
        "import os, sys\nfrom heldout.backends.pool import Pool\n"
        "def deaf(path):\n"
        "    import ctypes, os, pathlib\n"
        "    pathlib.Path(path).write_text(str(os.getpid()))\n"
        "    ctypes.PyDLL(None).sleep(600)\n"
        "list(Pool(1).run(deaf, [(0, sys.argv[1])]))\n"
    )
    mark = os.path.join(str(tmp_path), "pid")
    parent = subprocess.Popen([sys.executable, "-c", program, mark])
    deadline = time.monotonic() + 120
    while not (os.path.exists(mark) and os.path.getsize(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    with open(mark) as file:
        worker = int(file.read())
    parent.kill()
    parent.wait()
    while _alive(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _alive(worker), "it keeps the interpreter lock, so only the system can end it"


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_memory_is_read() -> None:
    assert 1 << 28 < total_memory() < 1 << 48
    before = private_memory(os.getpid())
    held = bytearray(os.urandom(1)) * 100_000_000
    assert private_memory(os.getpid()) - before > 90_000_000
    assert len(held) == 100_000_000
    assert (memory_kills() or 0) >= 0
