"""Faults 1 to 5, 7 and 16: what can happen to worker processes, to the program at the keyboard, and to its disk.

Each case returns what the user saw, and raises where that is not what the list of faults promises.
"""

from __future__ import annotations

import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path

import numpy as np
from ground import (
    HELD_FITS,
    TEST,
    Tricky,
    cells_in,
    evaluate,
    expect,
    finding,
    left_behind,
    only,
    small_disk,
    wait_for,
)

import heldout as ho
from heldout.base.errors import BackendError

PROCESSES = {"backend": "processes", "jobs": 2}


@cache
def alone() -> ho.Result:
    """What no fault may change."""
    return evaluate(Tricky(), backend="inline")


def worker_killed(folder: Path) -> str:
    """A worker is killed from outside, in the middle of a fit."""
    mark = folder / "waited"

    def kill_when_waiting() -> None:
        while not mark.exists() or not mark.read_text():
            time.sleep(0.01)
        os.kill(int(mark.read_text()), signal.SIGKILL)

    threading.Thread(target=kill_when_waiting, daemon=True).start()
    result = evaluate(Tricky("wait_once", folder=str(folder)), **PROCESSES)
    expect(result.risk == alone().risk and not len(result.failures), "the numbers changed")
    return f"the same risk, bit for bit. {finding(result, 'H206')}"


def memory_limit(folder: Path) -> str:
    """A fit takes more memory than it may."""
    result = evaluate(Tricky("fill"), **PROCESSES, options=ho.Options(fit_memory="300MB"))
    return _lost_fold(result, "FitMemory", "fewer jobs")


def memory_refused(folder: Path) -> str:
    """The system refuses memory (an address-space limit on the program and its workers)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, hard))
    try:
        return _lost_fold(evaluate(Tricky("allocate"), **PROCESSES), "MemoryError", "allocate")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def crash(folder: Path) -> str:
    """A fit reads address 0."""
    return _lost_fold(evaluate(Tricky("segfault"), **PROCESSES), "WorkerDied", "signal 11, SIGSEGV")


def hang(folder: Path) -> str:
    """A fit never ends."""
    result = evaluate(Tricky("hang"), **PROCESSES, options=ho.Options(fit_timeout=3))
    expect("_hang" in result.failures["traceback"][0], "the traceback does not say where it was")
    return _lost_fold(result, "FitTimeout", "limit of 3 s")


def poison(folder: Path) -> str:
    """A fit kills every worker that it meets."""
    result = evaluate(Tricky("kill", folder=str(folder)), **PROCESSES)
    tried = len(list(folder.glob("fit-*"))) - 3
    expect(tried == 3, f"it was tried {tried} times")
    return _lost_fold(result, "WorkerDied", "tried 3 times")


def _lost_fold(result: ho.Result, error: str, words: str) -> str:
    """Only fold 0, which trains without row 0, is lost; the risk has no value and says why."""
    failure = only(result.failures.to_dict("records"), "failures")
    expect((failure["error"], failure["part"]) == (error, 0), str(failure))
    expect(words in failure["message"], failure["message"])
    expect(result.risk.value is None and result.risk.reason, "the risk has a value")
    others = result.folds["squared"][1:].equals(alone().folds["squared"][1:])
    expect(others, "other folds changed")
    where = f"{failure['panel']} fold {failure['part']}, {failure['candidate'] or 'no parameters'}"
    return f"{result.risk.reason} {failure['error']} in {where}: {failure['message']} The other 3 folds are the same."


def interrupt(folder: Path) -> str:
    """Ctrl-C at the keyboard; then the printed line; then Ctrl-C twice."""
    data, journal = folder / "data.csv", folder / "study.db"
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2_000, 8))
    header = ",".join([*(f"x{i}" for i in range(7)), "y"])
    np.savetxt(data, rows, delimiter=",", header=header, comments="")
    words = ["evaluate", str(data), "--target", "y", "--learner", "boosting", "--jobs", "2", "--journal", str(journal)]
    ended = _interrupt(words, folder, journal, times=1)
    expect(ended.returncode == 130, f"exit {ended.returncode}: {ended.stderr}")
    line = ended.stderr.strip().splitlines()[-1].strip()
    expect(line == shlex.join(["heldout", *words]), ended.stderr)
    kept = cells_in(journal)
    again = subprocess.run(_command(shlex.split(line)[1:]), capture_output=True, text=True, env=_environment(folder))
    expect(again.returncode == 0, again.stderr)
    journal.unlink()
    twice = _interrupt(words, folder, journal, times=2)
    expect(twice.returncode == 130, f"exit {twice.returncode}: {twice.stderr}")
    said = " ".join(ended.stderr.split("To go on:")[0].split())
    return (
        f"{said} To go on: {line} | exit 130, {kept} answers kept, nothing left behind; the line ended with exit 0. "
        "A second Ctrl-C: exit 130 at once"
    )


def interrupt_held(folder: Path) -> str:
    """Ctrl-C while two fits wait for it; then the printed line; then Ctrl-C twice."""
    data, journal, fits = folder / "data.csv", folder / "study.db", folder / "fits"
    rows = np.random.default_rng(0).normal(size=(60, 3))
    np.savetxt(data, rows, delimiter=",", header="a,b,y", comments="")
    fits.mkdir()
    (fits / "hold").touch()
    words = ["evaluate", str(data), "--target", "y", "--learner", "ground:Held", "--allow-import"]
    words += ["--test", "kfold:20", "--jobs", "2", "--journal", str(journal)]
    ended = _interrupt(words, folder, journal, times=1)
    expect(ended.returncode == 130, f"exit {ended.returncode}: {ended.stderr}")
    line = ended.stderr.strip().splitlines()[-1].strip()
    expect(line == shlex.join(["heldout", *words]), ended.stderr)
    kept, before = cells_in(journal), len(list(fits.glob("fit-*")))
    (fits / "hold").unlink()
    again = subprocess.run(_command(shlex.split(line)[1:]), capture_output=True, text=True, env=_environment(folder))
    expect(again.returncode == 0, again.stderr)
    computed = len(list(fits.glob("fit-*"))) - before
    expect(0 < kept < 20 and computed == 20 - kept, f"{kept} kept, {computed} computed")
    journal.unlink()
    for fit in fits.iterdir():
        fit.unlink()
    (fits / "hold").touch()
    twice = _interrupt(words, folder, journal, times=2)
    expect(twice.returncode == 130, f"exit {twice.returncode}: {twice.stderr}")
    return f"exit 130, {kept} of 20 answers kept; the line computed the other {computed}. A second Ctrl-C: exit 130"


def _command(words: list[str]) -> list[str]:
    return [sys.executable, "-m", "heldout", *words]


def _environment(folder: Path) -> dict[str, str]:
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(temporary), "COLUMNS": "200", HELD_FITS: str(folder / "fits")}


def _interrupt(words: list[str], folder: Path, journal: Path, *, times: int) -> subprocess.CompletedProcess[str]:
    """Start the command and press Ctrl-C so often, once some answers are in the journal."""
    process = subprocess.Popen(
        _command(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_environment(folder),
        start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: cells_in(journal) >= 5 or process.poll() is not None, "five kept answers")
    for _ in range(times):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
        time.sleep(0.02)
    out, err = process.communicate(timeout=120)
    left = left_behind(folder / "tmp")
    # An abort leaves its folder to the next run, which sweeps it; workers must be gone all the same.
    expect(not [one for one in left if times == 1 or one.startswith("process")], f"left behind: {left}")
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def small_temporary_space(folder: Path) -> str:
    """The temporary folder is smaller than the data."""
    X, y = np.ones((40_000, 20)), np.arange(40_000.0)
    count = folder / "fits"
    count.mkdir()
    with small_disk(folder / "disk", "2m") as disk:
        tempfile.tempdir = str(disk)
        try:
            ho.evaluate(Tricky(folder=str(count)), X, y, test=TEST, progress=False, **PROCESSES)
        except BackendError as error:
            expect("8.3 MB" in str(error) and "2.1 MB free" in str(error), str(error))
            expect(not list(count.iterdir()), "something was fitted first")
            return f"before the first fit: {error}"
        finally:
            tempfile.tempdir = None
    raise AssertionError("nobody noticed")
