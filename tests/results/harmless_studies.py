"""Studies in which nothing is wrong: columns tell the target, rows are independent, and the learner suits them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho


def harmless_study(number: int) -> ho.Result:
    """One of many: classes or numbers, 150 to 600 rows, with groups or time or neither, tuned or not."""
    rng = np.random.default_rng(number)
    rows, classes = int(rng.choice([150, 300, 600])), number % 2 == 0
    X = rng.normal(size=(rows, int(rng.integers(3, 8))))
    X[:, -1] = rng.integers(0, 4, rows)  # a column of few levels
    told = 1.2 * X[:, 0] + X[:, 1] + np.sin(2 * X[:, 2])
    noise = rng.normal(size=rows) if number % 7 else rng.standard_t(4, size=rows)
    y = (2 * told + noise > 0).astype(int) if classes else 10 * (told + noise)
    roles: dict[str, Any] = {}
    if number % 10 == 7:
        roles["groups"] = rng.integers(0, rows // 8, rows)
    if number % 10 == 3:
        roles["time"] = np.arange(rows)
    learners = [
        ho.Tuned(LogisticRegression(), {"C": ho.log_grid(-3, 3, 7)})
        if classes
        else ho.Tuned(Ridge(), {"alpha": ho.log_grid(-3, 3, 13)}),
        ho.Tuned(
            make_pipeline(StandardScaler(), (KNeighborsClassifier if classes else KNeighborsRegressor)()),
            {f"kneighbors{'classifier' if classes else 'regressor'}__n_neighbors": [1, 3, 5, 9, 15, 25]},
        ),
        ho.Tuned(
            (DecisionTreeClassifier if classes else DecisionTreeRegressor)(random_state=0),
            {"max_leaf_nodes": [4, 8, 16, 32]},
        ),
        LogisticRegression(C=0.5) if classes else Ridge(alpha=0.5),
    ]
    return ho.evaluate(learners[int(rng.integers(4))], X, y, seed=number, jobs=1, progress=False, **roles)
