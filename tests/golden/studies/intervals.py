"""Golden studies of intervals, learning curves and looks at one test set."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import (
    Ridge,
)
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from golden.ground import (
    Ground,
    classes,
    numbers,
    study,
)
from golden.seen import plain, seen, seen_estimates
from golden.studies.learners import scaled_ridge

# Intervals, learning curves, looks at one test set.


class Halves:
    """Both halves of the rows, drawn several times, each split in two on its own."""

    def __init__(self, times: int) -> None:
        self.times = times

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        for time in range(self.times):
            rows = np.random.default_rng(time).permutation(len(X))
            for half in np.array_split(rows, 2):
                for held in np.array_split(half, 2):
                    yield np.setdiff1d(half, held), np.sort(held)


INTERVALS = {
    "wilson": ("classes", ho.Holdout(0.5, stratify=False)),
    "clopper-pearson": ("classes", ho.Holdout(0.5, stratify=False)),
    "betting": ("classes", ho.Holdout(0.5, stratify=False)),
    "maurer-pontil": ("classes", ho.Holdout(0.5, stratify=False)),
    "hoeffding": ("classes", ho.Holdout(0.5, stratify=False)),
    "bootstrap-t": ("numbers", ho.Holdout(0.5)),
    "bca": ("numbers", ho.Holdout(0.5)),
    "student": ("numbers", ho.Holdout(0.5)),
    "cluster-t": ("numbers", ho.Holdout(0.5)),
    "rows": ("numbers", ho.KFold(3)),
    "corrected-t": ("numbers", ho.KFold(3)),
    "cautious-t": ("numbers", ho.KFold(3)),
    "bayle": ("numbers", ho.KFold(3)),
    "bayle-within": ("numbers", ho.KFold(3)),
    "5x2": ("numbers", ho.KFold(2, repeats=5)),
    "5x2-t": ("numbers", ho.KFold(2, repeats=5)),
    "bht": ("numbers", ho.KFold(3)),
    "ratio": ("numbers", ho.KFold(3)),
    "conservative-z": ("numbers", Halves(5)),
}


@study()
def intervals(at: Ground) -> Any:
    """Every method by name: the estimates alone, since the rest is pinned elsewhere."""
    found = {}
    for name, (kind, test) in INTERVALS.items():
        data = classes(f"interval {name}", 60) if kind == "classes" else numbers(f"interval {name}")
        learner = DecisionTreeClassifier(max_depth=2, random_state=0) if kind == "classes" else Ridge()
        options = ho.Options(interval=name, repetitions=2)
        result = at.evaluate(learner, *data, test=test, level=0.9, options=options)
        found[name] = {"estimates": seen_estimates(result.summary()["estimates"]), "lines": seen(result.plan)["lines"]}
    return found


@study()
def batch_means(at: Ground) -> Any:
    X, y = numbers("batches", 150)
    options = ho.Options(interval="batch-means")
    return at.study(Ridge(), X, y, time=np.arange(150), test=ho.Forward(3), options=options)


@study()
def learning_curve(at: Ground) -> Any:
    X, y = numbers("curve", 90)
    options = ho.Options(learning_curve=(0.3, 0.6))
    result = at.evaluate(scaled_ridge(), X, y, test=ho.KFold(3), options=options)
    return {
        "curve": plain(result.learning_curve.to_dict("list")),
        "estimates": seen_estimates(result.summary()["estimates"]),
    }


@study(exact=True)
def looks_at_one_test_set(at: Ground) -> Any:
    """Coarse answers, later looks that pay for earlier ones, and a look after everything was shown."""
    X, y = classes("looks", 160)
    test = ho.Holdout(0.5, stratify=False)
    found = {}
    for depth, answer in enumerate(("pass/fail:0.3", "rounded:0.05", "value", "full", "full"), start=1):
        learner = DecisionTreeClassifier(max_depth=depth, random_state=0)
        result = at.evaluate(learner, X, y, test=test, options=ho.Options(answer=answer))
        found[f"{depth} {answer}"] = seen_look(result)
    return found


def seen_look(result: Any) -> Any:
    summary = result.summary()
    return {"risk": summary["risk"], "verdict": summary["verdict"], "findings": summary["findings"]}
