"""CPU of the first screen: `heldout evaluate small.csv -t y --learner ridge` beside ten lines of scikit-learn.

The script reads the same file, searches the same candidates by nested folds, and scores the mean as a baseline. It
prints two numbers; heldout prints its first screen, with familiar scores, intervals, checks and findings, and keeps a
journal. The seconds are those of user and system of the whole process, its start included, as medians over turns. Run
it with ``python -m benchmarks.first_screen``.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

TURNS = 11
MOST = 1.25  # the ratio that is asked
SCRIPT = """
import numpy as np, pandas as pd
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
table = pd.read_csv("small.csv")
X, y = table.drop(columns="y"), table["y"]
folds, space = KFold(5, shuffle=True, random_state=0), {"ridge__alpha": np.logspace(-6, 4, 21)}
search = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), space, scoring="neg_mean_squared_error", cv=folds)
for learner in (search, DummyRegressor()):
    print(cross_val_score(learner, X, y, scoring="neg_mean_squared_error", cv=folds))
"""
COMMAND = ["-m", "heldout", "evaluate", "small.csv", "-t", "y", "--learner", "ridge"]
PROGRAMS = {
    "heldout evaluate --learner ridge": COMMAND,
    "scikit-learn, ten lines": ["-c", SCRIPT],
    "its imports alone": ["-c", "\n".join(SCRIPT.splitlines()[:7])],
}


def main() -> None:
    """Print the CPU seconds of each program, and the ratio of heldout to the script."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=X @ np.arange(5) + rng.standard_normal(200))
    seconds: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(Path(folder) / "small.csv", index=False)
        for turn in range(TURNS + 1):
            for name, words in PROGRAMS.items():
                spent = _cpu([sys.executable, *words], folder)
                shutil.rmtree(Path(folder) / ".heldout", ignore_errors=True)  # the next turn would answer from it
                if turn:  # the first turn fills the disk cache
                    seconds[name].append(spent)
    for name, found in seconds.items():
        print(f"{name:34} {median(found):6.2f} s of CPU   {min(found):.2f} to {max(found):.2f}")
    ours, theirs, _ = (median(found) for found in seconds.values())
    print(f"ratio {ours / theirs:.2f}, asked: at most {MOST}{'' if ours <= MOST * theirs else '  ABOVE'}")


def _cpu(words: list[str], folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
