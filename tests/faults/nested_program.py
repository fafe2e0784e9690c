"""A nested study with a journal, as a user's script has it: killed and started again by `sigkill.py`.

The learner writes a line for each fit, so that whoever reads them knows what was computed. Where the environment says
after how many fits, the next one waits until the program is killed.
"""

from __future__ import annotations

import os
import sys
import time
from hashlib import blake2b
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

import heldout as ho

FIT_SECONDS = 0.008
COUNT_FILE = "HELDOUT_FITS"
HOLD_AFTER = "HELDOUT_HOLD_AFTER"


class Marked(RegressorMixin, BaseEstimator):
    """Answers a number of its own for each parameter and training set, and writes it down."""

    def __init__(self, shrink: float = 0.0) -> None:
        self.shrink = shrink

    def fit(self, X: Any, y: Any) -> Marked:
        digest = blake2b(np.ascontiguousarray(X).tobytes() + np.float64(self.shrink).tobytes(), digest_size=6).digest()
        self.mark_ = float(np.mean(y)) * (1 - self.shrink) + int.from_bytes(digest, "little") * 2.0**-60
        time.sleep(FIT_SECONDS)
        _wait_where_asked()
        with open(os.environ[COUNT_FILE], "a", encoding="utf-8") as file:
            file.write(f"{self.mark_.hex()}\n")
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mark_)


def _wait_where_asked() -> None:
    """Wait to be killed, after as many fits as the environment says."""
    if HOLD_AFTER in os.environ:
        with open(os.environ[COUNT_FILE], encoding="utf-8") as file:
            done = len(file.readlines())
        if done >= int(os.environ[HOLD_AFTER]):
            time.sleep(600)


def study(journal: str | None, candidates: int) -> ho.Result:
    """A nested study of twenty fits a candidate, and five."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.normal(size=90) + 3
    space = {"shrink": np.linspace(0, 0.5, candidates)}
    learner = ho.Tuned(Marked(), space, validation=ho.KFold(4), random_state=0)
    return ho.evaluate(learner, X, y, test=ho.KFold(5), seed=1, jobs=1, backend="inline", journal=journal)


if __name__ == "__main__":
    journal, saved, *candidates = sys.argv[1:]
    study(None if journal == "-" else journal, int(candidates[0]) if candidates else 24).save(saved)
