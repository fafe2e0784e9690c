"""The ground that faults are made on: small studies, learners that misbehave, small disks, and who is left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
        while len(held) < 800:  # 6.4 GB if nobody steps in
            held.append(np.ones(1_000_000))
            time.sleep(0.002)

    def _allocate(self) -> None:
        np.ones(2_000_000_000)


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


def left_behind(temporary: Path) -> list[str]:
    """Worker processes and temporary files of a program that has ended."""
    deadline = time.monotonic() + 5.0
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
