"""Learners that several golden studies ask."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import (
    Ridge,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

ALPHAS = ho.log_grid(-3, 3, 4)
ITERATED = 1e-6


def scaled_ridge(**options: Any) -> Any:
    pipe = make_pipeline(StandardScaler(), Ridge())
    return ho.Tuned(pipe, {"ridge__alpha": ALPHAS}, **{"validation": ho.KFold(3)} | options)


def tree(**options: Any) -> Any:
    space = {"max_depth": [1, 3]}
    return ho.Tuned(DecisionTreeClassifier(random_state=0), space, **{"validation": ho.KFold(3)} | options)
