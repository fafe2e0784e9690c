"""What the engine costs: its pool beside joblib's loky on the same calls, the journal, scaling, and a cold start.

Run ``python -m benchmarks engine``. Efficiency is the pure work of all fits, divided by the workers and by the time the
run took. Each pair is run in turn, so that a busy moment of the machine meets both, and medians are shown. Fits spin
for a fixed time, so that the work does not depend on what else the processor does.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import heldout as ho
from benchmarks.timed import Timed
from heldout.backends.pool import Pool, shared_pool

JOBS = 2
REPEATS = 7


def main() -> None:
    """Print each number beside what is required of it."""
    print(__doc__)
    short_fits()
    journal_cost()
    scaling()
    boot()


def fit_for(seconds: float) -> float:
    """A fit of a fixed length."""
    return float(Timed(seconds=seconds).fit(ROWS, TARGET).mean_)


ROWS, TARGET = np.ones((20, 2)), np.arange(20.0)


def short_fits(fits: int = 2_000, seconds: float = 0.001) -> None:
    """Many fits of a millisecond: the pool of heldout and joblib's loky on the same calls."""
    pool = shared_pool(JOBS)
    ours = partial(_on_pool, pool, fits, seconds)
    theirs = partial(_on_loky, fits, seconds)
    ours(), theirs()  # both are warm from here
    times = in_turn(ours, theirs)
    ideal = fits * seconds / JOBS
    efficiency = ideal / times[0]
    verdict = _verdict(efficiency >= 0.7 and times[0] < times[1])
    print(f"{fits:,} fits of {seconds * 1e3:.0f} ms on {JOBS} processes; required: 70 % and faster than loky")
    print(f"  heldout  {times[0]:.3f} s, {efficiency:.1%} efficient")
    print(f"  loky     {times[1]:.3f} s, {ideal / times[1]:.1%} efficient")
    print(f"  ratio    {times[1] / times[0]:.3f}   {verdict}\n", flush=True)


def journal_cost(seconds: float = 0.02) -> None:
    """A nested study of 20 ms fits with a journal and without."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(1_000))

        def kept() -> None:
            _study(seconds, journal=str(Path(folder, f"{next(numbers)}.db")))

        plain = partial(_study, seconds)
        plain()
        without, with_journal = in_turn(plain, kept, repeats=5)
    cost = with_journal / without - 1.0
    print(f"a nested study of {FITS} fits of 20 ms on {JOBS} processes; required: the journal costs at most 5 %")
    print(f"  without  {without:.3f} s")
    print(f"  with     {with_journal:.3f} s")
    print(f"  cost     {cost:.1%}   {_verdict(cost <= 0.05)}\n", flush=True)


def scaling(fits: int = 60, seconds: float = 0.05) -> None:
    """The same fits on one worker and on two."""
    one, two = Pool(1), Pool(2)
    _on_pool(one, 4, seconds), _on_pool(two, 4, seconds)
    times = in_turn(partial(_on_pool, one, fits, seconds), partial(_on_pool, two, fits, seconds), repeats=3)
    ratio = times[0] / times[1]
    print(f"{fits} fits of {seconds * 1e3:.0f} ms, from 1 worker to 2; required: 1.8")
    print(f"  {times[0]:.3f} s → {times[1]:.3f} s: {ratio:.2f}   {_verdict(ratio >= 1.8)}\n", flush=True)
    one.shutdown(), two.shutdown()


def boot() -> None:
    """From nothing to workers that have said hello, and to one that takes a dead one's place."""
    import subprocess
    import sys

    program = (
        "import time; import heldout as ho; import sklearn.linear_model; from heldout.backends.pool import Pool\n"
        "import heldout.api.evaluate\n"
        "start = time.perf_counter(); pool = Pool(2); pool.start()\n"
        "while pool.ready() < 2: time.sleep(0.002)\n"
        "cold = time.perf_counter() - start; worker = pool.workers[0]; worker.discard(); pool.workers.remove(worker)\n"
        "start = time.perf_counter(); pool.start()\n"
        "while pool.ready() < 2: time.sleep(0.002)\n"
        "print(cold, time.perf_counter() - start)"
    )
    found = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
             for _ in range(3)]  # fmt: skip
    cold, replaced = (statistics.median(float(pair[i]) for pair in found) for i in (0, 1))
    print(f"{JOBS} workers boot in {cold:.2f} s; one that died is replaced in {replaced * 1e3:.0f} ms")


def in_turn(*programs: Callable[[], Any], repeats: int = REPEATS) -> list[float]:
    """The median seconds of each."""
    times: list[list[float]] = [[] for _ in programs]
    for _ in range(repeats):
        for program, seconds in zip(programs, times, strict=True):
            start = time.perf_counter()
            program()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in times]


def _on_pool(pool: Pool, fits: int, seconds: float) -> None:
    assert sum(done.failure is None for done in pool.run(fit_for, ((i, seconds) for i in range(fits)))) == fits


def _on_loky(fits: int, seconds: float) -> None:
    found = joblib.Parallel(n_jobs=JOBS, backend="loky")(joblib.delayed(fit_for)(seconds) for _ in range(fits))
    assert len(found) == fits


CANDIDATES, FOLDS = 10, 4
FITS = FOLDS * (CANDIDATES * FOLDS + 1)


def _study(seconds: float, journal: str | None = None) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
    space = {"shrink": [0.01 * i for i in range(CANDIDATES)]}
    learner = ho.Tuned(Timed(seconds=seconds), space, validation=ho.KFold(FOLDS))
    ho.evaluate(learner, X, y, test=ho.KFold(FOLDS), jobs=JOBS, backend="processes", journal=journal, progress=False)


def _verdict(good: bool) -> str:
    return "ok" if good else "NOT MET"


if __name__ == "__main__":
    main()
