"""The ground that faults are made on: small studies, learners that misbehave, small disks, and who is left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from sklearn.base import BaseEstimator, RegressorMixin

import heldout as ho

rng = np.random.default_rng(0)
X, y = rng.normal(size=(80, 3)), rng.normal(size=80) + 3.0
X[:, 0] = np.arange(80.0)  # so that a learner knows which rows it has
TEST = ho.KFold(4, shuffle=False)
HELD_FITS = "HELDOUT_HELD_FITS"  # names the folder of Held


class Tricky(RegressorMixin, BaseEstimator):
    """Predicts a scaled mean. Trained without row 0 it does what `trick` says; `folder` gets a file for each fit."""

    def __init__(self, trick: str = "", scale: float = 1.0, seconds: float = 0.0, folder: str = "") -> None:
        self.trick = trick
        self.scale = scale
        self.seconds = seconds
        self.folder = folder

    def fit(self, X: Any, y: Any) -> Tricky:
        if self.folder:
            Path(self.folder, f"fit-{time.monotonic_ns()}-{os.getpid()}").touch()
        time.sleep(self.seconds)
        if self.trick and 0.0 not in X[:, 0]:
            getattr(self, f"_{self.trick}")()
        self.mean_ = float(np.mean(y)) * self.scale
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)

    def _wait_once(self) -> None:
        """Waits to be killed, the first time."""
        mark = Path(self.folder, "waited")
        if not mark.exists():
            mark.write_text(str(os.getpid()))
            time.sleep(60)

    def _segfault(self) -> None:
        ctypes.string_at(0)

    def _hang(self) -> None:
        while True:
            time.sleep(0.01)

    def _kill(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def _fill(self) -> None:
        held = []
        while len(held) < 100:  # 0.8 GB
            held.append(np.ones(1_000_000))
            time.sleep(0.002)
        time.sleep(60)  # until somebody steps in

    def _allocate(self) -> None:
        np.ones(2_000_000_000)


class Held(RegressorMixin, BaseEstimator):
    """Predicts the mean. A folder that the environment names gets a file for each fit; with a file `hold` in it, fits
    after the first eight wait until that is gone, and the eight are too slow to share a batch with one that waits."""

    def fit(self, X: Any, y: Any) -> Held:
        place = Path(os.environ[HELD_FITS])
        hold = place / "hold"
        deadline = time.monotonic() + 300
        if hold.exists():
            time.sleep(0.2)
        while hold.exists() and len(list(place.glob("fit-*"))) >= 8 and time.monotonic() < deadline:
            time.sleep(0.02)
        (place / f"fit-{time.monotonic_ns()}-{os.getpid()}").touch()
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def evaluate(learner: Any, **how: Any) -> ho.Result:
    return ho.evaluate(learner, X, y, test=TEST, progress=False, **how)


def expect(truth: Any, words: str) -> None:
    """Raise where the user did not see what the list of faults promises."""
    if not truth:
        raise AssertionError(words)


def only(rows: list[Any], words: str) -> Any:
    expect(len(rows) == 1, f"{words}: {rows}")
    return rows[0]


def finding(result: ho.Result, code: str) -> str:
    """The message of the one finding with this code."""
    return str(only([one.message for one in result.findings if one.code == code], f"findings {code}"))


@contextmanager
def small_disk(place: Path, size: str, *, readonly: bool = False) -> Iterator[Path]:
    """A file system of its own, in memory. It takes the right to mount; `make faults` asks for it where it can."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        if readonly:
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def may_mount() -> bool:
    """Whether this process may mount a file system."""
    return sys.platform.startswith("linux") and os.geteuid() == 0


def wait_for(truth: Callable[[], Any], words: str) -> None:
    """Wait until this is so; an error after two minutes, which no machine takes for it."""
    deadline = time.monotonic() + 120
    while not truth():
        expect(time.monotonic() < deadline, f"waited in vain: {words}")
        time.sleep(0.02)


def cells_in(journal: Path) -> int:
    """Rows of answers, as another program reads them while the study runs."""
    if not journal.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM cells").fetchone()[0])
    except sqlite3.Error:  # not there yet
        return 0


def left_behind(temporary: Path) -> list[str]:
    """Worker processes and temporary files of a program that has ended."""
    deadline = time.monotonic() + 30.0
    while True:
        workers = [
            f"process {one.pid}"
            for one in psutil.process_iter()
            if _environment(one).get("TMPDIR") == str(temporary) and one.pid != os.getpid()
        ]
        if not workers or time.monotonic() > deadline:
            return workers + [str(path) for path in temporary.iterdir()]
        time.sleep(0.05)


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return dict(process.environ())
    except psutil.Error:
        return {}
