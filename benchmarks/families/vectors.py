"""Support vector machines: a grid of C and gamma, chosen inside five folds."""

from __future__ import annotations

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import heldout as ho
from benchmarks.table import classes, nested

GRID = {"svc__C": ho.log_grid(-2, 2, 7).tolist(), "svc__gamma": [0.01, 0.1, 1.0]}

ROWS = {
    "svc": lambda: nested(
        "scaler+SVC rbf, 2,000 × 20, 7 C × 3 γ, nested 5×5",
        2.4,
        (make_pipeline(StandardScaler(), SVC()), GRID),
        classes(2000, 20),
        folds=(5, 5),
        score="accuracy",
    ),
}
