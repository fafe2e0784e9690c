"""Frames and learners of the tests of streams."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

TUNED = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0]}, validation=ho.KFold(3))


def make_frame(n=600, columns=4, *, classes=False):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, columns)) + np.arange(columns)
    y = X @ np.arange(1.0, columns + 1) + random.normal(size=n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
    return frame.assign(y=np.where(y > y.mean(), "high", "low") if classes else y)
