"""Whole programs that use the pool: scripts without a guard, programs that are interrupted or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process tables of POSIX")

BUSY = """
import os, sys, time
from heldout.backends.pool import shared_pool

def work(x):
    os.write(1, f"pid {os.getpid()}\\n".encode())  # one write, which no other process's can cut
    time.sleep(x)
    return x

pool = shared_pool(1)
"""


def launch(folder: Path, source: str) -> subprocess.Popen[str]:
    script = folder / "script.py"
    script.write_text(source)
    return subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    return state != "Z"


def read_pids(program: subprocess.Popen[str], count: int) -> list[int]:
    assert program.stdout is not None
    pids: list[int] = []
    while len(pids) < count:
        line = program.stdout.readline()
        assert line, program.stderr and program.stderr.read()
        if line.startswith("pid "):
            pids.append(int(line.split()[1]))
    return pids


def gone_within(pids: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(alive, pids))


def test_a_script_without_a_main_guard_works(tmp_path: Path) -> None:
    source = """
print("top")
from dataclasses import dataclass
from heldout.backends.pool import shared_pool

@dataclass
class Answer:
    value: int

def answer(x):
    return Answer(x * factor)

factor = 3
done = list(shared_pool(2).run(answer, ((i, i) for i in range(4))))
assert all(isinstance(d.value, Answer) for d in done)
print(sorted(d.value.value for d in done))
"""
    program = launch(tmp_path, source)
    output, errors = program.communicate(timeout=120)
    assert (output, errors, program.returncode) == ("top\n[0, 3, 6, 9]\n", "", 0)


def test_no_worker_outlives_a_killed_parent(tmp_path: Path) -> None:
    program = launch(tmp_path, BUSY + "list(pool.run(work, [(0, 600.0)]))\n")
    pids = read_pids(program, 1)
    assert all(map(alive, pids))
    program.kill()
    program.wait()
    assert gone_within(pids, 60.0)
    for stream in (program.stdout, program.stderr):
        assert stream is not None
        stream.close()


def test_an_interrupt_ends_busy_workers_at_once_and_leaves_the_pool_usable(tmp_path: Path) -> None:
    source = """
try:
    list(pool.run(work, [(0, 600.0)]))
except KeyboardInterrupt:
    print("interrupted", flush=True)
print([d.value for d in pool.run(work, [(0, 0.0)])])
"""
    program = launch(tmp_path, BUSY + source)
    pids = read_pids(program, 1)
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    output, errors = program.communicate(timeout=120)
    assert errors == ""
    assert output.startswith("interrupted\n")
    assert output.endswith("[0.0]\n")
    assert not any(map(alive, pids))


def test_the_end_of_a_program_leaves_nothing_behind(tmp_path: Path) -> None:
    source = """
from heldout.backends.shared_data import share, transport_folder
share([1, 2], transport_folder(), "x")
running = pool.run(work, [(0, 0.0), (1, 600.0)])
next(running)
os.write(1, f"folder {transport_folder()}\\n".encode())
"""
    program = launch(tmp_path, BUSY + source)
    output, errors = program.communicate(timeout=120)
    assert errors == ""
    words = [line.split() for line in output.splitlines()]
    assert gone_within([int(line[1]) for line in words if line[0] == "pid"], 60.0)
    (folder,) = [line[1] for line in words if line[0] == "folder"]
    assert not Path(folder).exists()
