"""`heldout evaluate <file> --learner all` on scikit-learn's bundled data, beside a careful script of its own.

The script is what someone who knows scikit-learn writes: pipelines, stratified outer folds, and in each outer training
part a grid search over five families, so that its number is a nested risk too. Its folds and its spaces are not
heldout's. Seconds are of the wall, so they mean something on a machine that does nothing else. Run it with
``python -m benchmarks.command [name or format …]``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

LOADERS: dict[str, Callable[..., Any]] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "digits": load_digits,
}
FORMATS = ("csv", "parquet")


def table_of(name: str) -> pd.DataFrame:
    """The dataset with its target as the last column, classes by their names."""
    data = LOADERS[name](as_frame=True)
    target = data.target if name == "diabetes" else data.target.map(lambda code: f"class {code}")
    return data.data.assign(target=target)


def by_command(place: Path, *, regression: bool) -> tuple[dict[str, Any], float]:
    """The risk that the command prints, and its seconds."""
    words = [sys.executable, "-m", "heldout", "evaluate", str(place), "--target", "target"]
    words += ["--learner", "all", "--json", "--no-progress", "--regression" if regression else "--classification"]
    started = time.perf_counter()
    # A folder of its own, so that no journal answers for it.
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=place.parent)
    return json.loads(done.stdout)["risk"], time.perf_counter() - started


def by_script(table: pd.DataFrame, *, regression: bool) -> tuple[float, float]:
    """The nested risk of the careful script, and its seconds."""
    X, y = table.drop(columns="target"), table["target"]
    folds = KFold if regression else StratifiedKFold
    families = _regressors(X.shape[1]) if regression else _classifiers(X.shape[1])
    steps = Pipeline([("scale", StandardScaler()), ("model", families[0]["model"][0])])
    scoring = "neg_mean_squared_error" if regression else "accuracy"
    search = GridSearchCV(steps, families, scoring=scoring, cv=folds(5, shuffle=True, random_state=1))
    started = time.perf_counter()
    outer = folds(5, shuffle=True, random_state=2)
    scores = cross_val_score(search, X, y, scoring=scoring, cv=outer, n_jobs=2, error_score="raise")
    risk = -scores.mean() if regression else 1 - scores.mean()
    return float(risk), time.perf_counter() - started


def _classifiers(columns: int) -> list[dict[str, list[Any]]]:
    return [
        {"model": [LogisticRegression(max_iter=10_000)], "model__C": np.logspace(-3, 3, 7).tolist()},
        {"model": [KNeighborsClassifier()], "model__n_neighbors": [1, 3, 5, 9, 15]},
        {"model": [SVC()], "model__C": [1, 10, 100], "model__gamma": [0.2 / columns, 1 / columns]},
        {"model": [RandomForestClassifier(random_state=0)], "model__max_features": ["sqrt", 0.3]},
        {"model": [HistGradientBoostingClassifier(max_leaf_nodes=8, max_iter=60, random_state=0)],
         "model__learning_rate": [0.2]},
    ]  # fmt: skip


def _regressors(columns: int) -> list[dict[str, list[Any]]]:
    return [
        {"model": [Ridge()], "model__alpha": np.logspace(-3, 3, 13).tolist()},
        {"model": [LassoCV(cv=5, random_state=0)]},
        {"model": [KNeighborsRegressor()], "model__n_neighbors": [5, 9, 15, 25, 41]},
        {"model": [SVR()], "model__C": [10, 100, 1000], "model__gamma": [0.2 / columns, 1 / columns]},
        {"model": [RandomForestRegressor(random_state=0)], "model__max_features": [0.3, 1.0]},
        {"model": [HistGradientBoostingRegressor(max_leaf_nodes=8, random_state=0)],
         "model__learning_rate": [0.05, 0.2]},
    ]  # fmt: skip


def main(words: list[str]) -> None:
    """Print a line a dataset and format: all of them, or those named."""
    print("dataset        format   seconds  risk and its interval         script  seconds  within")
    forms = [form for form in FORMATS if form in words] or FORMATS
    for name in [name for name in LOADERS if name in words] or LOADERS:
        table, regression = table_of(name), name == "diabetes"
        script, took = by_script(table, regression=regression)
        for form in forms:
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / f"{name}.{form}"
                if form == "csv":
                    table.to_csv(place, index=False)
                else:
                    table.to_parquet(place, index=False)
                risk, wall = by_command(place, regression=regression)
            within = "yes" if risk["low"] <= script <= risk["high"] else "NO"
            interval = f"{risk['value']:.4g} ({risk['low']:.4g} to {risk['high']:.4g})"
            about = f"{name:14} {form:8} {wall:7.1f}  {interval:28}"
            print(f"{about}  {script:6.4g}  {took:7.1f}  {within}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
