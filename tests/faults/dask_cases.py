"""Faults of a Dask cluster, made for real: its processes are killed while a study runs on them.

Each case returns what the user saw, and raises where that is not what the list of faults promises.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.errors import BackendError

NO_RULES = ho.Options(rules={"ridge": False, "within": False})
X, y = (part[:120] for part in load_diabetes(return_X_y=True))


class Watched(Ridge):
    """Leaves a file for each fit that it began; ends the Dask worker that it is fitted on where a row is missing."""

    def __init__(
        self, alpha: float = 1.0, seconds: float = 0.0, ticks: str = "", must_see: float | None = None
    ) -> None:
        super().__init__(alpha=alpha)
        self.seconds = seconds
        self.ticks = ticks
        self.must_see = must_see

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Watched:
        if self.ticks:
            Path(self.ticks, f"{self.alpha}-{uuid.uuid4().hex}").touch()
        if self.must_see is not None and self.must_see not in X[:, 5]:
            for ancestor in psutil.Process().parents():
                if "spawn_main" in " ".join(ancestor.cmdline()):
                    ancestor.kill()
            time.sleep(60)
        time.sleep(self.seconds)
        return super().fit(X, y)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A scheduler and its workers, each a process of its own."""

    address: str  # as backend= takes it
    scheduler: subprocess.Popen[bytes]
    workers: int

    def worker_pids(self) -> list[int]:
        from distributed import Client

        with Client(self.address.replace("dask://", "tcp://"), set_as_default=False) as client:
            client.wait_for_workers(self.workers, timeout=60)
            return sorted(client.run(os.getpid).values())


@contextmanager
def running_cluster(*, workers: int = 2, allowed_failures: int = 3) -> Iterator[Cluster]:
    """A cluster of processes, started as an administrator would."""
    environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "scheduler.json")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, "env": environment}
        dask = [sys.executable, "-m", "dask"]
        scheduler = subprocess.Popen(
            [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", place],
            **quiet,
        )
        staff = subprocess.Popen(
            [*dask, "worker", "--scheduler-file", place, "--nworkers", str(workers), "--nthreads", "1"], **quiet
        )
        try:
            yield Cluster(address=_address_in(place), scheduler=scheduler, workers=workers)
        finally:
            family = [one for parent in (staff, scheduler) for one in _family(parent.pid)]
            for process in (staff, scheduler):
                process.terminate()
            for process in (staff, scheduler):
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            for one in family:
                if one.is_running():
                    one.kill()


def _address_in(place: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if place.exists() and (text := place.read_text()).strip().endswith("}"):
            return str(json.loads(text)["address"]).replace("tcp://", "dask://")
        time.sleep(0.05)
    raise TimeoutError("The scheduler did not start.")


def _family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@contextmanager
def once_begun(fits: int, ticks: str, action: Callable[[], None]) -> Iterator[None]:
    """Do something as soon as so many fits have begun."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            if len(os.listdir(ticks)) >= fits:
                action()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def nested(alphas: list[float], *, seconds: float = 0.0, ticks: str = "") -> ho.Tuned:
    """The learner of all cases: fits of a known length, one tick each."""
    return ho.Tuned(Watched(seconds=seconds, ticks=ticks), {"alpha": alphas}, validation=ho.KFold(4))


def evaluate(learner: Any, **how: Any) -> ho.Result:
    return ho.evaluate(learner, X, y, test=ho.KFold(4), progress=False, options=NO_RULES, **how)


def same_numbers(one: ho.Result, other: ho.Result) -> bool:
    """Whether two results agree to the last bit: the risk, every fold and every prediction."""
    return (
        one.risk.value == other.risk.value
        and one.folds["squared"].tolist() == other.folds["squared"].tolist()
        and np.array_equal(one.predictions["predict"], other.predictions["predict"])
    )


def dask_worker_killed() -> str:
    """A worker is killed half-way: what it was at is run again elsewhere, and the numbers are the same."""
    alphas = [0.1, 1.0, 10.0]
    alone = evaluate(nested(alphas), backend="inline")
    with running_cluster() as cluster, tempfile.TemporaryDirectory() as ticks:
        victim = cluster.worker_pids()[0]
        with once_begun(30, ticks, lambda: os.kill(victim, signal.SIGKILL)):
            result = evaluate(nested(alphas, seconds=0.05, ticks=ticks), backend=cluster.address)
        began = len(os.listdir(ticks))
    if psutil.pid_exists(victim) or not same_numbers(result, alone):
        raise AssertionError(f"risk {result.risk.value}, alone {alone.risk.value}")
    return f"the same risk, {result.risk.value:.6g}, bit for bit; {began} fits were begun for 52 that were needed"


def dask_scheduler_killed() -> str:
    """The scheduler is killed half-way: an error at once, with the line to go on; the same call goes on."""
    alphas = [0.1, 1.0, 10.0]
    alone = evaluate(nested(alphas), backend="inline")
    with tempfile.TemporaryDirectory() as ticks, tempfile.TemporaryDirectory() as folder:
        learner = nested(alphas, seconds=0.05, ticks=ticks)
        journal = os.path.join(folder, "study.db")
        with running_cluster() as cluster, once_begun(30, ticks, lambda: cluster.scheduler.kill()):
            try:
                evaluate(learner, backend=cluster.address, journal=journal)
            except BackendError as error:
                seen = str(error)
            else:
                raise AssertionError("nobody noticed")
        begun = len(os.listdir(ticks))
        result = evaluate(learner, jobs=1, journal=journal)
        again = len(os.listdir(ticks)) - begun
    if "scheduler" not in seen or not same_numbers(result, alone) or again >= 52:
        raise AssertionError(f"{seen}; {again} fits were begun again; risk {result.risk.value}")
    return f"{seen} It then went on, with {again} fits left of 52, to the same risk, bit for bit"


def dask_poison() -> str:
    """A fit ends every Dask worker it meets: it fails with a name, all else is done, the result says incomplete."""
    alone = evaluate(Watched(), backend="inline")
    values, counts = np.unique(X[:, 5], return_counts=True)
    rare = float(values[counts == 1][0])
    row = int(np.flatnonzero(X[:, 5] == rare)[0])
    fatal = int(alone.predictions.set_index("row").loc[row, "fold"])
    with running_cluster(allowed_failures=1) as cluster:
        before = set(cluster.worker_pids())
        result = evaluate(Watched(must_see=rare), backend=cluster.address)
        died = len(before - set(cluster.worker_pids()))
    expected = [loss for fold, loss in enumerate(alone.folds["squared"]) if fold != fatal]
    (failure,) = result.failures.to_dict("records")
    good = result.risk.value is None and failure["error"] == "KilledWorker" and failure["part"] == fatal and died
    if not good or [loss for loss in result.folds["squared"] if loss == loss] != expected:
        raise AssertionError(f"{result.failures}, {result.folds}, {died} died")
    return f"{result.risk.reason} {failure['error']}: {failure['message']}"
