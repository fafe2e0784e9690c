"""The pool beside joblib's loky on the same short calls: run `python benchmarks/pool.py`.

Efficiency is the pure work of all calls, divided by the workers and by the time that the run took.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import joblib

from heldout.backends.pool import Pool, shared_pool


def spin(seconds: float) -> float:
    """Work of a fixed length, as a small fit is."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return seconds


def on_pool(pool: Pool, calls: int, seconds: float) -> None:
    assert sum(done.failure is None for done in pool.run(spin, ((i, seconds) for i in range(calls)))) == calls


def on_loky(jobs: int, calls: int, seconds: float) -> None:
    found = joblib.Parallel(n_jobs=jobs, backend="loky")(joblib.delayed(spin)(seconds) for _ in range(calls))
    assert len(found) == calls


def boot_seconds(jobs: int) -> float:
    """From nothing to `jobs` workers that have said hello."""
    pool, start = Pool(jobs), time.perf_counter()
    pool.start()
    while pool.ready() < jobs:
        time.sleep(0.005)
    seconds = time.perf_counter() - start
    pool.shutdown()
    return seconds


def timed_in_turn(*programs: Callable[[], None], repeats: int) -> list[float]:
    """The median seconds of each, run in turn so that a busy moment of the machine meets all of them."""
    times: list[list[float]] = [[] for _ in programs]
    for _ in range(repeats):
        for program, seconds in zip(programs, times, strict=True):
            start = time.perf_counter()
            program()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    jobs, repeats = options.jobs, options.repeats
    print(f"{jobs} workers boot in {boot_seconds(jobs):.2f} s")
    pool = shared_pool(jobs)
    on_pool(pool, 4 * jobs, 0.001)  # both are warm from here
    on_loky(jobs, 4 * jobs, 0.001)
    print(f"{'calls':>7} {'each':>8} {'heldout':>9} {'loky':>9} {'heldout eff.':>13} {'loky eff.':>10}")
    for calls, seconds in [(2000, 0.001), (200, 0.001), (20_000, 0.0001), (100, 0.02), (20, 0.1)]:
        ours, theirs = timed_in_turn(
            partial(on_pool, pool, calls, seconds), partial(on_loky, jobs, calls, seconds), repeats=repeats
        )
        ideal = calls * seconds / jobs
        print(
            f"{calls:7d} {seconds * 1e3:6.1f}ms {ours:8.3f}s {theirs:8.3f}s {ideal / ours:13.0%} {ideal / theirs:10.0%}"
        )


if __name__ == "__main__":
    main()
