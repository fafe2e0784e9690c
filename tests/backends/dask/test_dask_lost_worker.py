"""The same study here, on two local processes, and on a cluster that loses a worker half-way: the same numbers."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

import heldout as ho

X, y = (part[:150] for part in load_diabetes(return_X_y=True))
FITS = 4 * (4 * 3 + 1)  # outer folds × (inner folds × candidates, and the chosen one)


class Ticking(DecisionTreeRegressor):
    """Takes its time, and leaves a file for each fit that it began."""

    def __init__(self, max_depth: int | None = None, random_state: Any = None, ticks: str = "") -> None:
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.ticks = ticks

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Ticking:
        Path(self.ticks, uuid.uuid4().hex).touch()
        time.sleep(0.05)
        return super().fit(X, y)


def risk_on(backend: Any, ticks: Path) -> ho.Result:
    ticks.mkdir()
    learner = ho.Tuned(Ticking(ticks=str(ticks)), {"max_depth": [1, 2, 3]}, validation=ho.KFold(4))
    options = ho.Options(rules={"within": False})
    return ho.evaluate(learner, X, y, test=ho.KFold(4), backend=backend, jobs=2, progress=False, options=options)


@pytest.mark.slow
def test_a_worker_that_is_killed_half_way_changes_no_number(tmp_path: Path) -> None:
    alone = risk_on("inline", tmp_path / "inline")
    local = risk_on("processes", tmp_path / "processes")
    ticks = tmp_path / "dask"
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        before = client.run(os.getpid)
        victim = min(before.values())

        def kill_half_way() -> None:
            while not ticks.exists() or len(os.listdir(ticks)) < FITS // 2:
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill_half_way, daemon=True)
        killer.start()
        far = risk_on(client, ticks)
        killer.join()
        assert victim not in client.run(os.getpid).values()
    assert len(os.listdir(tmp_path / "inline")) == FITS
    assert len(os.listdir(ticks)) >= FITS, "the fits in flight were begun again"
    for other in (local, far):
        assert other.risk == alone.risk
        assert other.folds.equals(alone.folds)
        assert other.choices.equals(alone.choices)
        assert np.array_equal(other.predictions["predict"], alone.predictions["predict"])
    assert any("the Dask worker tcp://" in str(finding) for finding in far.findings)
