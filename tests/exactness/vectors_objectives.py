"""Dual objectives of support vector machines beside scikit-learn's own, on fits of a planned study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC

from heldout.api.evaluate import ask
from heldout.kernels.brute import fit_predictor
from heldout.kernels.step import Work
from heldout.kernels.vectors.answer import Sitting
from heldout.kernels.vectors.points import Doubtful
from heldout.kernels.vectors.recognise import read_search
from heldout.kernels.vectors.solve import solve_all
from heldout.planner.passes import make_plan

Posed = tuple[Any, Any, Any, dict[str, Any]]
RULE = "vectors"


def objectives_above(build: Callable[[], Posed]) -> float:
    """How far, relative to scikit-learn's, dual objectives lie above its own, in the first trainings of the plan."""
    learner, X, y, more = build()
    roles = {name: more.get(name) for name in ("groups", "time", "sample_weight", "strata")}
    asked = ask(learner, X, y, test=more["test"], roles=roles, loss=None, level=0.95, seed=0, options=None)
    plan = make_plan(asked.study, asked.task, done=frozenset(), rules={}, precision="solver")
    search = asked.study.search
    work = Work(task=asked.task, search=search, splits=asked.study.splits, losses={})
    machines = read_search(search)[0]
    worst = 0.0
    for step in (step for step in plan.steps if step.kernel == RULE):
        for training in list(step.trainings)[:2]:
            own = [machines[c] for c in step.candidates]
            sitting = Sitting(training=training, work=work, before=own[0].before, shared=None, left=99)
            for shape in dict.fromkeys(machine.shape for machine in own):
                worst = max(worst, _worst_above([machine for machine in own if machine.shape == shape], sitting))
    return worst


def _worst_above(machines: list[Any], sitting: Sitting) -> float:
    points = sitting.points()
    try:
        grams = None if points is None else points.grams(machines[0].shape)
    except Doubtful:
        grams = None
    if grams is None:
        return 0.0
    solved = solve_all(machines, grams.train, sitting.targets())
    known = [(machine, solved[machine.candidate]) for machine in machines]
    return max((_above(machine, ours, sitting) for machine, ours in known if ours is not None), default=0.0)


def _above(machine: Any, ours: Any, sitting: Sitting) -> float:
    targets = sitting.targets()
    theirs = fit_predictor(sitting.training, sitting.work, machine.candidate)
    rows = sitting.work.train_rows(sitting.training.trains[0])
    X = sitting.work.task.take(rows)
    last = theirs
    if isinstance(theirs, Pipeline):
        X, last = theirs[:-1].transform(X), theirs[-1]
    params = {} if last.kernel == "linear" else {"gamma": last._gamma}
    params |= {"coef0": last.coef0} if last.kernel in ("poly", "sigmoid") else {}
    params |= {"degree": last.degree} if last.kernel == "poly" else {}
    K = pairwise_kernels(np.asarray(X, dtype=float), metric=last.kernel, **params)
    mine, other = (_objective(last, duals, K, targets.y) for duals in (ours.duals, _table(last, len(rows))))
    return float((mine - other) / max(abs(other), 1e-12))


def _table(fitted: Any, n: int) -> Any:
    """scikit-learn's duals, a column for each pair of classes, by its own account of them."""
    full = np.zeros((len(fitted.dual_coef_), n))
    full[:, fitted.support_] = fitted.dual_coef_
    classes = getattr(fitted, "classes_", None)
    if classes is None or len(classes) == 2:
        return full.T
    of = np.repeat(np.arange(len(classes)), fitted.n_support_)
    columns = []
    for i in range(len(classes)):
        for j in range(i + 1, len(classes)):
            column = np.zeros(n)
            column[fitted.support_[of == i]] = fitted.dual_coef_[j - 1, of == i]
            column[fitted.support_[of == j]] = fitted.dual_coef_[i, of == j]
            columns.append(column)
    return np.stack(columns, axis=1)


def _objective(model: Any, duals: Any, K: Any, y: Any) -> float:
    if isinstance(model, NuSVC):  # duals are known up to a factor, which nu fixes
        duals = duals / np.abs(duals).sum(axis=0)
    half = 0.5 * float(np.einsum("ik,ij,jk->", duals, K, duals, optimize=True))
    if isinstance(model, NuSVC):
        return half
    if isinstance(model, SVC):
        return half - float(np.abs(duals).sum())
    linear = -float(np.asarray(y, dtype=float) @ duals[:, 0])
    return half + linear + (model.epsilon * float(np.abs(duals).sum()) if isinstance(model, SVR) else 0.0)
