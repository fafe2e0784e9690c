"""How fast row hashes are: ``python -m benchmarks.fingerprint [gigabytes]``, single-threaded.

Beside them, in the same run, what else could tell rows or tables apart: one 64-bit hash a row by pandas, and one
blake2b digest of all the bytes, which knows no rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd

from heldout.task.hashing import row_hashes

Array = np.ndarray[Any, Any]


def main(gigabytes: float = 1.0) -> None:
    """Print GB/s for arrays of each type, width and memory layout."""
    rng = np.random.default_rng(0)
    kinds: list[tuple[str, int, Callable[[int, int], Array]]] = [
        ("float64", 8, lambda n, p: rng.random((n, p))),
        ("float64, F order", 8, lambda n, p: rng.random((p, n)).T),
        ("float64, every other column", 8, lambda n, p: rng.random((n, 2 * p))[:, ::2]),
        ("float64, some NaN", 8, lambda n, p: _with_nan(rng.random((n, p)))),
        ("float32", 4, lambda n, p: rng.random((n, p), dtype=np.float32)),
        ("int64", 8, lambda n, p: rng.integers(0, 1000, (n, p))),
    ]
    print(f"{'X (GB of it a second)':30s} {'columns':>8s} {'heldout':>8s} {'pandas':>8s} {'blake2b':>8s}")
    for name, size, make in kinds:
        for columns in (20, 200):
            X = make(int(gigabytes * 1e9) // size // columns, columns)
            part = X[: max(1, len(X) // 20)]  # the others are slow
            ours = _speed(X, lambda X: row_hashes(X, np.zeros(len(X))))
            pandas = _speed(part, lambda X: pd.util.hash_pandas_object(pd.DataFrame(X), index=False))
            whole = _speed(part, lambda X: blake2b(np.ascontiguousarray(X).data).digest())
            print(f"{name:30s} {columns:8d} {ours:8.2f} {pandas:8.2f} {whole:8.2f}", flush=True)


def _with_nan(X: Array) -> Array:
    X[::100, 0] = np.nan
    return X


def _speed(X: Array, work: Callable[[Array], object]) -> float:
    """GB of X a second, the best of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work(X)
        best = min(best, time.perf_counter() - start)
    return X.nbytes / best / 1e9


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:2]))
