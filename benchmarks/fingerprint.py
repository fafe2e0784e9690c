"""How fast row hashes are: ``python -m benchmarks.fingerprint [gigabytes]``, single-threaded."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from heldout.task.content import row_hashes

Make = Callable[[int, int], np.ndarray[Any, Any]]


def main(gigabytes: float = 1.0) -> None:
    """Print GB/s for arrays of each type, width and memory layout."""
    rng = np.random.default_rng(0)
    kinds: list[tuple[str, int, Make]] = [
        ("float64", 8, lambda n, p: rng.random((n, p))),
        ("float64, F order", 8, lambda n, p: rng.random((p, n)).T),
        ("float64, every other column", 8, lambda n, p: rng.random((n, 2 * p))[:, ::2]),
        ("float64, some NaN", 8, lambda n, p: _with_nan(rng.random((n, p)))),
        ("float32", 4, lambda n, p: rng.random((n, p), dtype=np.float32)),
        ("int64", 8, lambda n, p: rng.integers(0, 1000, (n, p))),
    ]
    print(f"{'X':30s} {'columns':>8s} {'GB/s':>6s}")
    for name, size, make in kinds:
        for columns in (20, 200):
            X = make(int(gigabytes * 1e9) // size // columns, columns)
            print(f"{name:30s} {columns:8d} {_speed(X):6.2f}", flush=True)


def _with_nan(X: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    X[::100, 0] = np.nan
    return X


def _speed(X: np.ndarray[Any, Any]) -> float:
    """GB of X a second, the best of two runs."""
    y = np.zeros(len(X))
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        row_hashes(X, y)
        best = min(best, time.perf_counter() - start)
    return X.nbytes / best / 1e9


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:2]))
