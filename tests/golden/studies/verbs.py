"""Golden studies of the other verbs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    RandomForestRegressor,
)
from sklearn.linear_model import (
    Ridge,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from golden.ground import (
    Ground,
    classes,
    days_of,
    groups_of,
    numbers,
    study,
)
from golden.seen import seen
from golden.studies.data import Grumbling, mixed_table
from golden.studies.learners import scaled_ridge

# Other verbs.


@study()
def compare(at: Ground) -> Any:
    learners = {
        "ridge": scaled_ridge(),
        "mean": DummyRegressor(),
        "neighbours": KNeighborsRegressor(5),
    }
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False}
    return seen(ho.compare(learners, *numbers("compare"), test=ho.KFold(4), loss="absolute", rope=0.5, **how))


@study(exact=True)
def compare_on_one_test_set(at: Ground) -> Any:
    learners = {"deep": DecisionTreeClassifier(random_state=0), "mean": DummyClassifier(), "grumbling": Grumbling(1000)}
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False}
    return seen(ho.compare(learners, *classes("compare once", 90), test=ho.Holdout(0.4, stratify=False), **how))


@study()
def compare_by_area(at: Ground) -> Any:
    learners = {"bayes": GaussianNB(), "flat": GaussianNB(var_smoothing=10.0)}
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False, "groups": groups_of("by area", 90)}
    X, y = classes("by area", 90)
    return {
        "area": seen(ho.compare(learners, X, y, test=ho.KFold(3, stratify=False), loss="roc_auc", **how)),
        "f1": seen(ho.compare(learners, X, y, test=ho.KFold(3), loss="f1", **how)),
    }


@study()
def chance(at: Ground) -> Any:
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False}
    data = classes("chance", 48)
    flowers = groups_of("chance", 48)
    return {
        "rows": seen(ho.chance(GaussianNB(), *data, permutations=19, test=ho.KFold(3), **how)),
        "groups": seen(
            ho.chance(DummyClassifier(), *data, permutations=9, groups=flowers, test=ho.KFold(3), seed=2, **how)
        ),
    }


@study()
def compare_across(at: Ground) -> Any:
    sets = {f"set {i}": classes(f"across {i}", 48) for i in range(4)}
    learners = {"bayes": GaussianNB(), "none": DummyClassifier(), "near": KNeighborsClassifier(5)}
    how = {"jobs": at.jobs, "backend": at.backend, "progress": False}
    return seen(ho.compare_across(learners, sets, test=ho.KFold(3), rope=0.01, **how))


@study()
def check(at: Ground) -> Any:
    frame = mixed_table("check", 120)
    frame["copy"] = frame["price"] * 3 + 1
    frame["row_id"] = np.arange(120)
    frame["constant"] = 1
    frame.iloc[100:] = frame.iloc[:20].to_numpy()
    frame = frame.infer_objects()
    X, y = classes("clean check", 120)
    return {
        "leaky": seen(ho.check(frame, target="price")),
        "ignoring": seen(ho.check(frame, target="price", groups="who", ignore="H605,H603")),
        "clean": seen(ho.check(X, y, test=ho.Given(np.arange(30)))),
    }


@study()
def advise(at: Ground) -> Any:
    return {
        "many": seen(ho.advise(n=10_000, candidates=17, gap=0.05, width=0.1, error_rate=0.1)),
        "few": seen(ho.advise(n=120, candidates=5)),
        "fixed": seen(ho.advise(n=300, about="predictor", closed_form=True)),
        "time": seen(ho.advise(n=2_000, time=True, candidates=3, level=0.9)),
        "groups": seen(ho.advise(n=2_000, groups=40, columns=10)),
        "rows": seen(ho.advise(width=0.04, error_rate=0.1, candidates=9, gap=0.1)),
    }


DRAWN = {
    "kfold": (ho.KFold(4), {}),
    "repeats": (ho.KFold(3, repeats=2, stratify=False), {}),
    "holdout": (ho.Holdout(0.3), {}),
    "holdout_of_rows": (ho.Holdout(rows=20, stratify=False), {}),
    "resample": (ho.Resample(4, held_out=0.3), {}),
    "leave_one_out": (ho.LeaveOneOut(), {}),
    "given": (ho.Given(np.arange(10)), {}),
    "grouped": (ho.KFold(3), {"groups": True}),
    "grouped_classes": (ho.KFold(3, stratify=True), {"groups": True}),
    "grouped_resample": (ho.Resample(3), {"groups": True}),
    "groups_out": (ho.LeaveOneOut(), {"groups": True}),
    "forward": (ho.Forward(3, window=40, buffer="3d"), {"time": True}),
    "blocks": (ho.KFold(4, buffer=2, embargo=3), {"time": True}),
    "recent": (ho.Holdout(0.25, buffer="4d"), {"time": True}),
    "windows": (ho.Resample(3, held_out=0.2, buffer=1), {"time": True}),
    "panel": (ho.Forward(2, buffer="2d"), {"time": True, "groups": True}),
    "panel_blocks": (ho.KFold(2), {"time": True, "groups": True}),
    "strata": (ho.KFold(3), {"strata": True}),
    "strata_in_groups": (ho.KFold(3), {"strata": True, "groups": True}),
}


@study()
def draw(at: Ground) -> Any:
    X, y = classes("draw", 96, kinds=3)
    roles = {
        "groups": groups_of("draw", 96, 16),
        "time": days_of("draw", 96),
        "strata": groups_of("draw strata", 96, 3),
    }
    return {
        name: seen(ho.draw(strategy, X, y, seed=2, **{role: roles[role] for role in declared}))
        for name, (strategy, declared) in DRAWN.items()
    }


@study()
def explain(at: Ground) -> Any:
    X, y = numbers("explain")
    forest = ho.Tuned(RandomForestRegressor(random_state=0), {"n_estimators": [5, 50], "max_depth": [2, 4]})
    return {
        "ridge": seen(ho.explain(scaled_ridge(), X, y, test=ho.KFold(3))),
        "leave_one_out": seen(ho.explain(scaled_ridge(validation=ho.LeaveOneOut()), X, y, test=ho.LeaveOneOut())),
        "forest": seen(ho.explain(forest, X, y, test=ho.KFold(3))),
        "race": seen(ho.explain(forest, X, y, test=ho.KFold(3), options=ho.Options(race="exact"))),
        "bht": seen(ho.explain(Ridge(), X, y, test=ho.KFold(3), options=ho.Options(interval="bht"))),
        "rule_off": seen(ho.explain(scaled_ridge(), X, y, options=ho.Options(rules={"ridge": False}))),
    }
