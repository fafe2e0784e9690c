"""What the kernel claims of a search, and which trainings it leaves to brute force, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import sklearn

from heldout.kernels.claims import Claims, candidates_of, last_type
from heldout.kernels.ridge.recognise import refuse_training
from heldout.kernels.step import Training
from heldout.kernels.vectors.forms import MODELS, Machine, Unreadable, no_model, read_machine
from heldout.kernels.vectors.respond import lacking
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.containers import container_kind
from heldout.task.task import Task

MATRIX_BYTES = 1 << 28  # a kernel matrix past this size is not made
MOST_ROWS = int((MATRIX_BYTES // 8) ** 0.5)

# What was read of searches that are alive: every stage reads it again.
_READ: WeakKeyDictionary[Search, tuple[dict[int, Machine], tuple[str, ...]]] = WeakKeyDictionary()


def read_search(search: Search) -> tuple[dict[int, Machine], tuple[str, ...]]:
    """The machines among the candidates, and a reason for each kind of others."""
    if search not in _READ:
        kinds = [last_type(family) for family in search.families]
        if all(kind is not None and kind not in MODELS for kind in kinds):  # a large grid is not looked through
            _READ[search] = ({}, tuple(dict.fromkeys(no_model(kind) for kind in kinds if kind is not None)))
            return _READ[search]
        machines: dict[int, Machine] = {}
        refusals: dict[str, None] = {}
        for candidate, estimator in candidates_of(search):
            try:
                machines[candidate] = read_machine(candidate, estimator)
            except Unreadable as reason:
                refusals.setdefault(str(reason))
        _READ[search] = (machines, tuple(refusals))
    return _READ[search]


def claim(search: Search, task: Task) -> Claims:
    """Candidates by preparation."""
    machines, refusals = read_search(search)
    if not machines:
        return Claims(refusals=refusals)
    reasons = dict.fromkeys(refusals)
    about = _about_task(task)
    groups: dict[Any, list[int]] = {}
    for candidate, machine in machines.items():
        reason = about or _about_machine(machine, search, task)
        if reason:
            reasons.setdefault(reason)
        else:
            groups.setdefault((machine.preparation, machine.classifies), []).append(candidate)
    return Claims(groups=tuple(map(tuple, groups.values())), refusals=tuple(reasons))


def refuse(task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
    """Why this training must be brute force's, or None."""
    reason = refuse_training(task, training, splits)
    if reason is not None:
        return reason
    own = training.trains[0]
    size = int(splits[own.splits].train_sizes[own.part])
    if size > MOST_ROWS:
        return f"the kernel matrix of {size:,} training rows is too large; {MOST_ROWS:,} are the most"
    held = sum(int(splits[held.splits].held_sizes[held.part]) for held in training.answers)
    if held * size * 8 > MATRIX_BYTES:
        return f"the kernel matrix of {held:,} held-out rows with {size:,} training rows is too large"
    return None


def _about_task(task: Task) -> str | None:
    if task.weight is not None:
        if sklearn.get_config()["enable_metadata_routing"]:
            return "sample weights go where metadata routing sends them"
        if task.weight.min() <= 0:
            return "a row has weight 0, which the fit leaves out"
    kind = container_kind(task.X)
    if kind == "sparse":
        return "X is sparse; kernel matrices are made of dense rows"
    return "X is no table of columns" if kind == "objects" or len(task.X.shape) != 2 else None


def _about_machine(machine: Machine, search: Search, task: Task) -> str | None:
    lack = lacking(machine, search.losses)
    if lack:
        return lack
    if task.y.ndim != 1:
        return "y has several columns"
    if not machine.classifies:
        return None if task.y.dtype.kind in "biuf" and task.y.dtype.itemsize <= 8 else f"y is of type {task.y.dtype}"
    if task.classes is None:
        return "y holds no classes"
    if task.y.dtype.kind == "f" and not np.array_equal(task.y, np.round(task.y)):
        return "y holds fractions, which are no classes"
    return "y has a single class" if len(task.classes) < 2 else None
