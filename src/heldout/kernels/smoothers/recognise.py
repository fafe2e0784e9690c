"""What the kernel claims of a search, and which trainings it leaves to brute force, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import sklearn

from heldout.kernels.claims import Claims, chain_of, last_type
from heldout.kernels.fitting import make_candidate
from heldout.kernels.smoothers.forms import MODELS, OF_COUNTS, Form, is_number, no_model, read
from heldout.kernels.step import Training
from heldout.kernels.sums.data import check_data, matrix_of
from heldout.kernels.sums.rounding import Refuse
from heldout.losses import Loss, needed_methods
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task

MOST_BYTES = 1 << 30  # of the matrices of one kernel on all rows
MATRICES = 5  # as large as a Gram matrix, in memory at a time: the matrix, its vectors, an inverse and what makes them

Member = tuple[Form, float, Any]
_PLAIN = (str, bool, int, float, type(None))
# What is wrong with the data of tasks that are alive: to find out takes a pass over X.
_PROBLEMS: WeakKeyDictionary[Task, str] = WeakKeyDictionary()
_MEMBERS: WeakKeyDictionary[Search, dict[Any, tuple[Member | Refuse, str]]] = WeakKeyDictionary()


def member_of(search: Search, candidate: int, task: Task) -> Member:
    """What a candidate is; raises Refuse. Candidates that differ in alpha alone are taken apart once."""
    known = _MEMBERS.setdefault(search, {})
    columns = task.n_columns or 1
    family, params = search.family_of(candidate), search.params_of(candidate)
    alphas = [name for name in params if name.split("__")[-1] == "alpha"]
    others = tuple((name, type(value), value) for name, value in params.items() if name not in alphas)
    plain = all(isinstance(value, _PLAIN) for _, _, value in others)
    if not plain or len(alphas) != 1 or not is_number(params[alphas[0]]):
        kind: Any = (columns, candidate)
    else:
        kind = (columns, family.name, alphas[0], others)
    if kind not in known:
        known[kind] = _take_apart(search, candidate, columns)
    found, name = known[kind]
    if len(kind) > 2 and name != alphas[0]:  # the alpha of something else
        found, name = _take_apart(search, candidate, columns)
    if isinstance(found, Refuse):
        raise found
    form, alpha, kernel = found
    return form, float(params[name]) if name in params else alpha, kernel


def _take_apart(search: Search, candidate: int, columns: int) -> tuple[Member | Refuse, str]:
    """What a candidate is, or why not, and the name of its penalty among the parameters."""
    estimator = make_candidate(search, candidate)
    prefix = chain_of(estimator)[-1][0]
    name = f"{prefix}__alpha" if prefix else "alpha"
    try:
        return read(estimator, columns), name
    except Refuse as reason:
        return reason, name


def claim(search: Search, task: Task) -> Claims:
    """All candidates of the kind as one group. The data are looked at only when some candidate is."""
    refusals: dict[str, None] = {}
    own: list[int] = []
    about: dict[Form, str | None] = {}
    first = 0
    for family in search.families:
        candidates, first = range(first, first + len(family.candidates)), first + len(family.candidates)
        kind = last_type(family)
        if kind is not None and kind not in MODELS:  # a large grid of another learner is not looked through
            refusals.setdefault(no_model(kind))
            continue
        for candidate in candidates:
            try:
                form, _, _ = member_of(search, candidate, task)
            except Refuse as reason:
                refusals.setdefault(str(reason))
                continue
            if form not in about:
                about[form] = _about(form, search, task)
            why = about[form]
            if why is None:
                own.append(candidate)
            else:
                refusals.setdefault(why)
    return Claims(groups=(tuple(own),) if own else (), refusals=tuple(refusals))


def refuse_training(training: Training, splits: Mapping[str, Splits]) -> str | None:
    """Why this training must be brute force's, or None."""
    if training.averaged or len(training.trains) != 1:
        return "the predictor is an average of several"
    own = training.trains[0]
    drawn = splits[own.splits]
    if drawn.train is None:
        return None
    rows = drawn.train_rows(own.part)
    if len(np.unique(rows)) < len(rows):
        return "training rows are repeated"
    if any(np.isin(splits[held.splits].held_rows(held.part), rows).any() for held in training.answers):
        return "held-out rows are trained on"
    return None


def takes_all(splits: Splits) -> bool:
    """Whether surely no part of these splits is refused."""
    return splits.train is None


def lacking(losses: tuple[Loss, ...]) -> str | None:
    """What these losses ask for that predict alone cannot give, in words; None if nothing."""
    for loss in losses:
        if loss.asks_predictor:
            return f"the loss {loss.name!r} asks the fitted estimator itself"
    for alternatives in needed_methods(losses):
        if "predict" not in alternatives:
            return f"the loss needs {' or '.join(alternatives)}, which these learners lack"
    return None


def _about(form: Form, search: Search, task: Task) -> str | None:
    lack = lacking(search.losses)
    if lack:
        return lack
    if MATRICES * 8 * len(task) ** 2 > MOST_BYTES:
        return f"a kernel matrix of {len(task):,} rows takes {8e-9 * len(task) ** 2:.1f} GB, and several are needed"
    if task.weight is not None and not form.weighted:
        return "GaussianProcessRegressor takes no weights"
    if task.weight is not None and task.weight.min() <= 0:
        return "some rows have weight 0"
    if task.weight is not None and sklearn.get_config()["enable_metadata_routing"]:
        return "sample weights go where metadata routing sends them"
    if task.y.dtype.kind not in "iuf" or (task.y.dtype.kind == "f" and task.y.dtype != np.float64):
        return f"y is of type {task.y.dtype}"
    if task not in _PROBLEMS:
        _PROBLEMS[task] = _about_data(task)
    if _PROBLEMS[task]:
        return _PROBLEMS[task]
    if form.name in OF_COUNTS and (matrix_of(task) < 0).any():
        return f"the kernel {form.name!r} takes no negative numbers"
    return None


def _about_data(task: Task) -> str:
    try:
        check_data(task)
    except Refuse as reason:
        return str(reason)
    return "X is float32, and kernels of float32 rows keep seven digits" if matrix_of(task).dtype == np.float32 else ""
