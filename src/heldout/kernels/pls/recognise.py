"""What the kernel claims of a search, and which trainings it leaves to brute force, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.cross_decomposition import PLSRegression

from heldout.kernels.claims import Claims, candidates_of, last_type
from heldout.kernels.pls.forms import NO_MODEL, Form, read_form
from heldout.kernels.ridge.columns import Columns, Unreadable
from heldout.kernels.ridge.design import check_data
from heldout.kernels.ridge.respond import lacking
from heldout.kernels.step import Training
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task

# What is wrong with the data of tasks that are alive: to find out takes a pass over X.
_PROBLEMS: WeakKeyDictionary[Task, str] = WeakKeyDictionary()


def claim(search: Search, task: Task) -> Claims:
    """Candidates by form. The data are looked at only when some candidate is of the kind."""
    kinds = [last_type(family) for family in search.families]
    if all(kind is not None and kind is not PLSRegression for kind in kinds):  # large grids are not looked through
        return Claims(refusals=tuple(dict.fromkeys(NO_MODEL.format(kind.__name__) for kind in kinds if kind)))
    groups: dict[Form, list[int]] = {}
    refusals: dict[str, None] = {}
    for candidate, estimator in candidates_of(search):
        try:
            form, _ = read_form(estimator, task)
            groups.setdefault(form, []).append(candidate)
        except Unreadable as problem:
            refusals.setdefault(str(problem))
    if groups:
        reason = _about_task(search, task)
        if reason:
            return Claims(refusals=(*refusals, reason))
    return Claims(groups=tuple(tuple(members) for members in groups.values()), refusals=tuple(refusals))


def refuse_training(training: Training, splits: Mapping[str, Splits]) -> str | None:
    """Why this training must be brute force's, or None."""
    if training.averaged or len(training.trains) != 1:
        return "the predictor is an average of several"
    own = training.trains[0]
    return "fewer than three training rows" if int(splits[own.splits].train_sizes[own.part]) < 3 else None


def takes_all(parts: range, splits: Splits) -> bool:
    """Whether surely none of these parts is refused."""
    return int(splits.train_sizes[parts.start : parts.stop].min()) >= 3


def _about_task(search: Search, task: Task) -> str:
    if task.weight is not None:
        return "PLSRegression takes no weights"
    if task.y.ndim > 1 and task.y.shape[1] > 1:
        return "with several targets scikit-learn's iteration stops at a tolerance"
    if task.y.dtype.kind not in "biuf" or task.y.dtype.itemsize > 8:
        return f"y is of type {task.y.dtype}"
    lack = lacking(Form(columns=Columns(), scale=True).linear, search.losses)
    if lack:
        return lack
    if any("float32" in str(kind).lower() for kind in _types(task)):
        return "X is of type float32, which PLSRegression centres in single precision before it predicts"
    if task not in _PROBLEMS:
        try:
            check_data(task)
            _PROBLEMS[task] = ""
        except Unreadable as reason:
            _PROBLEMS[task] = str(reason)
    return _PROBLEMS[task]


def _types(task: Task) -> list[Any]:
    if hasattr(task.X, "dtypes"):
        return list(task.X.dtypes)
    return [getattr(task.X, "dtype", None)]
