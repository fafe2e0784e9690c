"""Stratified folds of whole groups, beside scikit-learn's: ``python -m benchmarks.splits [rows]``, single-threaded.

Ten folds, of a million rows in 100,000 groups at the end, which takes scikit-learn minutes. Beside the seconds: the
largest distance between the share of a class in a fold and in all rows, and the bytes a row that our draw takes at its
peak.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from heldout.splits import KFold
from heldout.task import Task

Array = np.ndarray[Any, Any]
Folds = list[Array]
K = 10
ROWS_A_GROUP = 10
MOST = 3.0  # times the seconds of scikit-learn that are allowed


def main(rows: int = 1_000_000) -> None:
    """Print seconds, distance of shares and memory for few and many classes, groups of even and uneven size."""
    print(f"{K} folds, stratified, groups of {ROWS_A_GROUP} rows on average kept whole")
    print(f"{'':34s} {'seconds':^17s} {'':>7s} {'largest share gap':^19s} {'bytes':>8s}")
    print(f"{'rows, classes, sizes of groups':34s} {'heldout':>8s} {'sklearn':>8s} {'ratio':>7s}", end="")
    print(f" {'heldout':>9s} {'sklearn':>9s} {'a row':>8s}")
    for share, classes, uneven in ((10, 2, False), (10, 5, False), (10, 50, True), (1, 5, True)):
        task = _grouped_task(rows // share, classes, uneven=uneven)
        _race(task, f"{len(task):,}, {classes}, {'heavy-tailed' if uneven else 'even'}")
    print("\nBytes a row of heldout as rows grow (5 classes, heavy-tailed):", end="")
    for share in (8, 4, 2, 1):
        task = _grouped_task(rows // share, 5, uneven=True)
        print(f"  {len(task):,}: {_peak(_ours, task) / len(task):.0f}", end="")
    print()


def _race(task: Task, name: str) -> None:
    (mine, took), (theirs, their_took) = _timed(_ours, task), _timed(_theirs, task)
    bytes_a_row = _peak(_ours, task) / len(task)
    print(f"{name:34s} {took:8.2f} {their_took:8.2f} {took / their_took:7.4f}", end="")
    print(f" {_gap(task.y, mine):9.6f} {_gap(task.y, theirs):9.6f} {bytes_a_row:8.0f}", flush=True)
    if took > MOST * their_took:
        raise SystemExit(f"Too slow: {took / their_took:.1f} times scikit-learn's seconds, {MOST} are allowed.")


def _grouped_task(rows: int, classes: int, *, uneven: bool) -> Task:
    """Rows in groups, each with its own mixture of classes."""
    rng = np.random.default_rng(0)
    count = rows // ROWS_A_GROUP
    weight = rng.lognormal(0, 1, count) if uneven else np.ones(count)
    groups = rng.choice(count, rows, p=weight / weight.sum())
    mixture = rng.dirichlet(rng.dirichlet(np.full(classes, 2.0)) * classes + 1e-3, count).cumsum(axis=1)
    y = (rng.random(rows)[:, None] > mixture[groups]).sum(axis=1).clip(0, classes - 1)
    return Task(X=np.zeros((rows, 1)), y=y, classification=True, groups=np.unique(groups, return_inverse=True)[1])


def _ours(task: Task) -> Folds:
    splits = KFold(K).draw(task, task.all_rows, seed=0)
    return [splits.held_rows(part) for part in range(K)]


def _theirs(task: Task) -> Folds:
    splitter = StratifiedGroupKFold(K, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on rare classes
        return [held for _, held in splitter.split(task.y, task.y, task.groups)]


def _timed(draw: Callable[[Task], Folds], task: Task) -> tuple[Folds, float]:
    start = time.perf_counter()
    return draw(task), time.perf_counter() - start


def _peak(draw: Callable[[Task], Folds], task: Task) -> int:
    tracemalloc.start()
    try:
        draw(task)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _gap(y: Array, folds: Folds) -> float:
    """The largest |fold share − overall share|."""
    classes = int(y.max()) + 1
    overall = np.bincount(y, minlength=classes) / len(y)
    return max(float(np.abs(np.bincount(y[held], minlength=classes) / len(held) - overall).max()) for held in folds)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
