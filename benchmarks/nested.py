"""Nested cross-validation by heldout beside scikit-learn's GridSearchCV in cross_val_score, on the same fits.

Run ``python -m benchmarks nested``. Both sides get the same rows and are timed in turn; every rule of the planner is
switched off, so that both do the same fits. *Warm*: the median of several runs after one that is not counted, in which
workers boot. *Cold*: the first call in a fresh process, imports done, workers not booted; the better of two.
The ratio is the best of scikit-learn's three ways divided by heldout; at least 0.95 is required.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.studies import JOBS, PEERS, NestedStudy, iris_logistic, iris_neighbours, opaque

OURS = f"heldout, jobs={JOBS}"
REQUIRED = 0.95
WARM_SECONDS = 12.0  # at least this long is spent on each study's warm runs

_COLD = """
import sys
from time import perf_counter
from benchmarks.studies import {maker}
study = {maker}({steps})
started = perf_counter()
{call}
print(perf_counter() - started)
"""


def main() -> None:
    """Print a table for each study."""
    print(__doc__)
    for maker in (opaque, iris_neighbours, iris_logistic):
        study = maker()
        report(study, maker.__name__)


def report(study: NestedStudy, maker: str) -> None:
    """Time one study on both sides and print what came of it."""
    ways = ways_of(study)
    difference = largest_difference(ways)
    warm = time_in_turn(ways)
    cold = {name: cold_seconds(study, maker, name) for name in ways}
    print(f"{study.words}: {len(study.X)} rows, {study.fits} fits on each side")
    print(f"  {'':28}{'warm':>10}{'cold':>10}")
    for name in ways:
        print(f"  {name:28}{warm[name]:>8.3f} s{cold[name]:>8.3f} s")
    for state, seconds in (("warm", warm), ("cold", cold)):
        peer = min(PEERS, key=seconds.__getitem__)
        ratio = seconds[peer] / seconds[OURS]
        verdict = "" if state == "cold" else "   ok" if ratio >= REQUIRED else f"   below {REQUIRED}"
        print(f"  ratio, {state}: {ratio:.2f} to {peer}{verdict}")
    print(f"  largest difference of fold scores: {difference:g}\n", flush=True)


def ways_of(study: NestedStudy) -> dict[str, Callable[[], Any]]:
    """Each way to answer the study, by name."""
    return {OURS: study.by_heldout, **{name: partial(study.by_sklearn, **jobs) for name, jobs in PEERS.items()}}


def largest_difference(ways: dict[str, Callable[[], Any]]) -> float:
    """The largest difference of a fold's score between heldout and any other way. Warms all of them up."""
    scores = {name: way() for name, way in ways.items()}
    return max(float(np.abs(scores[OURS] - other).max()) for other in scores.values())


def time_in_turn(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The median seconds of each way, run in turn so that a busy moment of the machine meets all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    began, rounds = perf_counter(), 0
    while rounds < 5 or (perf_counter() - began < WARM_SECONDS and rounds < 100):
        for name, way in ways.items():
            started = perf_counter()
            way()
            seconds[name].append(perf_counter() - started)
        rounds += 1
    return {name: median(values) for name, values in seconds.items()}


def cold_seconds(study: NestedStudy, maker: str, name: str) -> float:
    """The first call in a fresh process, the better of two."""
    jobs = ", ".join(f"{level}={number}" for level, number in PEERS.get(name, {}).items())
    call = "study.by_heldout()" if name == OURS else f"study.by_sklearn({jobs})"
    steps = getattr(study.estimator, "steps", "")
    program = _COLD.format(maker=maker, steps=steps, call=call)
    return min(_seconds_of(program) for _ in range(2))


def _seconds_of(program: str) -> float:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    main()
