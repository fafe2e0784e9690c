"""How the cost of the scaler+ridge study grows, how much memory it takes, and how it stands to RidgeCV.

Run ``python -m benchmarks growth``. Each size runs in a process of its own; memory is the peak of the whole process
less what it held before the data were made, in multiples of the data, the user's own copy included.
"""

from __future__ import annotations

import json
import subprocess
import sys
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

ALPHAS = ho.log_grid(-6, 2, 17)

_STUDY = """
import json, resource
from time import perf_counter
from benchmarks.growth import data, nested
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
small = data(500, 20)
nested(*small, folds=5)
before = peak()
X, y = data({rows}, {columns})
nested_seconds = []
for _ in range({times}):
    started = perf_counter()
    nested(X, y, folds={folds})
    nested_seconds.append(perf_counter() - started)
middle = sorted(nested_seconds)[len(nested_seconds) // 2]
print(json.dumps({{"seconds": middle, "memory": (peak() - before) / X.nbytes}}))
"""


def data(rows: int, columns: int) -> tuple[Any, Any]:
    """Plain linear data, made a block at a time so that making it takes no more memory than it."""
    random = np.random.default_rng(0)
    X = np.empty((rows, columns))
    for start in range(0, rows, 10_000):
        X[start : start + 10_000] = random.normal(size=(min(10_000, rows - start), columns))
    return X, X @ random.normal(size=columns) + random.normal(size=rows)


def nested(X: Any, y: Any, *, folds: int) -> Any:
    """The study: scaler+ridge, 17 α, 5-fold inside `folds`-fold."""
    tuned = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ALPHAS}, validation=ho.KFold(5))
    return ho.evaluate(tuned, X, y, test=ho.KFold(folds), jobs=2, progress=False)


def main() -> None:
    """Print growth in rows and folds, memory, and the comparison with RidgeCV."""
    print(__doc__)
    print(f"{'rows':>9}{'outer folds':>13}{'seconds':>10}{'memory':>10}")
    for rows, folds, times in ((2_000, 5, 5), (20_000, 5, 5), (200_000, 5, 1), (20_000, 10, 3), (20_000, 20, 3)):
        seen = _alone(rows, folds, times)
        print(f"{rows:>9,}{folds:>13}{seen['seconds']:>10.3f}{seen['memory']:>9.2f}×", flush=True)
    _outside()


def _alone(rows: int, folds: int, times: int) -> dict[str, float]:
    program = _STUDY.format(rows=rows, columns=200, folds=folds, times=times)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def _outside() -> None:
    X, y = data(20_000, 200)
    tuned = ho.Tuned(Ridge(), {"alpha": ALPHAS}, validation=ho.LeaveOneOut(), jobs=2)
    rival = RidgeCV(ALPHAS)
    for words, ours, theirs, asked in (
        ("leave-one-out choice of Ridge's α", lambda: tuned.fit(X, y), lambda: rival.fit(X, y), 2.0),
        (
            "5-fold study of that learner",
            lambda: ho.evaluate(tuned, X, y, test=ho.KFold(5), jobs=2, progress=False),
            lambda: cross_val_score(rival, X, y, cv=5),
            3.0,
        ),
    ):
        own, other = _fastest(ours), _fastest(theirs)
        print(
            f"{words}, 20,000 × 200: heldout {own:.3f} s, RidgeCV {other:.3f} s, "
            f"ratio {other / own:.2f}, asked {asked:g}"
        )


def _fastest(do: Any) -> float:
    seconds = []
    for _ in range(4):
        started = perf_counter()
        do()
        seconds.append(perf_counter() - started)
    return min(seconds[1:])


if __name__ == "__main__":
    main()
