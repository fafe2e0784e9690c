"""Reads candidates: which of them a kernel answers, in which groups, and why it leaves others to brute force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn

from heldout.kernels.brute import make_candidate
from heldout.kernels.claims import PLAIN, Claims, chain_of, last_types
from heldout.kernels.designs.columns import Columns, read_columns
from heldout.kernels.driver.contract import Kernel, Needs
from heldout.kernels.step import Training
from heldout.kernels.sums.dataset import class_codes, data_problem, numeric_type, smallest_class
from heldout.kernels.sums.rounding import Refuse
from heldout.losses import Loss
from heldout.search.search import Family, Params, Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task


@dataclass(frozen=True, slots=True)
class Read:
    """Holds what candidates share that differ in path parameters alone."""

    form: Any
    columns: Columns
    names: tuple[str, ...]  # of the path parameters
    defaults: tuple[Any, ...]


class Reader:
    """Reads candidates one at a time, and makes only the first of those that differ in path parameters alone."""

    def __init__(self, kernel: Kernel, search: Search, task: Task) -> None:
        self._kernel, self._search, self._task = kernel, search, task
        self._known: dict[Any, Read | Refuse] = task.memo.setdefault(("read", kernel.name, search), {})
        self._path = {name for names in kernel.models.values() for name in names}

    def read_one(self, candidate: int) -> tuple[tuple[Any, Columns], Any]:
        """Return a candidate's form and columns, and its path value. Raise Refuse if the kernel cannot answer it."""
        return self.read(candidate, *self._search.each([candidate])[0])

    def read(self, candidate: int, family: Family, params: Params) -> tuple[tuple[Any, Columns], Any]:
        """Do the same as `read_one` for a candidate of this family that sets these parameters."""
        fixed = {name: value for name, value in params.items() if name.rpartition("__")[2] not in self._path}
        key: Any = (family.name, len(params), tuple((name, type(value), value) for name, value in fixed.items()))
        if not all(isinstance(value, PLAIN) for value in fixed.values()):
            read = self._take_apart(candidate)
        else:
            if key not in self._known:
                self._known[key] = self._take_apart(candidate)
            read = self._known[key]
        if isinstance(read, Refuse):
            raise read
        odd = [name for name in params if name not in read.names and name not in fixed]
        if odd:
            raise Refuse(f"{odd[0]!r} is not a parameter of the last step")
        value = self._kernel.value(read.form, *map(params.get, read.names, read.defaults))
        return (read.form, read.columns), value

    def _take_apart(self, candidate: int) -> Read | Refuse:
        chain = chain_of(make_candidate(self._search, candidate))
        prefix, model = chain[-1]
        if type(model) not in self._kernel.models:
            return Refuse(no_model(self._kernel, type(model)))
        path = self._kernel.models[type(model)]
        try:
            form = self._kernel.read(model, self._task)
            columns = read_columns([step for _, step in chain[:-1]], self._task, type(model).__name__)
        except Refuse as reason:
            return reason
        names = tuple(f"{prefix}__{name}" if prefix else name for name in path)
        return Read(form, columns, names, tuple(getattr(model, name) for name in path))


def no_model(kernel: Kernel, kind: type) -> str:
    return f"{kind.__name__} is not {kernel.words}"


def claim(kernel: Kernel, search: Search, task: Task) -> Claims:
    """Return groups of candidates with equal form and columns. Data are read only if the kernel knows some model."""
    groups: dict[tuple[Any, Columns], list[int]] = {}
    refusals: dict[str, None] = {}
    reader = Reader(kernel, search, task)
    first = 0
    for family, kind in zip(search.families, last_types(search), strict=True):
        candidates, first = range(first, first + len(family.candidates)), first + len(family.candidates)
        if kind is not None and kind not in kernel.models:  # a large grid of another learner is not looked through
            refusals.setdefault(no_model(kernel, kind))
            continue
        for candidate, params in zip(candidates, family.candidates, strict=True):
            try:
                groups.setdefault(reader.read(candidate, family, params)[0], []).append(candidate)
            except Refuse as reason:
                refusals.setdefault(str(reason))
    claimed: list[tuple[int, ...]] = []
    for (form, columns), members in groups.items():
        problem = lacking(kernel.methods(form), search.losses) or task_problem(task, kernel.needs(form), columns)
        if problem:
            refusals.setdefault(problem)
        else:
            claimed.append(tuple(members))
    return Claims(groups=tuple(claimed), refusals=tuple(refusals))


def read_groups(
    kernel: Kernel, search: Search, task: Task, candidates: Sequence[int]
) -> dict[tuple[Any, Columns], dict[int, Any]]:
    """Return the path value of each claimed candidate, by form and columns."""
    reader = Reader(kernel, search, task)
    groups: dict[tuple[Any, Columns], dict[int, Any]] = {}
    for candidate, (family, params) in zip(candidates, search.each(candidates), strict=True):
        form, value = reader.read(candidate, family, params)
        groups.setdefault(form, {})[candidate] = value
    return groups


def lacking(methods: tuple[str, ...], losses: tuple[Loss, ...]) -> str | None:
    """Return what these losses need besides responses by these methods, in words; None if nothing."""
    for loss in losses:
        if loss.asks_predictor:
            return f"the loss {loss.name!r} asks the fitted estimator itself"
    for alternatives in (alternatives for loss in losses for alternatives in loss.methods):
        if not any(method in methods for method in alternatives):
            return f"the loss needs {' or '.join(alternatives)}, which these learners lack"
    return None


def methods_asked(methods: tuple[str, ...], losses: tuple[Loss, ...]) -> frozenset[str]:
    """Return which of an estimator's response methods brute force would call for these losses."""
    needed = [alternatives for loss in losses for alternatives in loss.methods]
    first = (next((m for m in alternatives if m in methods), None) for alternatives in needed)
    return frozenset(method for method in first if method is not None)


def task_problem(task: Task, needs: Needs, columns: Columns) -> str:
    """Return why a form with these needs cannot be answered on this task, in words; "" if it can."""
    if task.weight is not None and not needs.weights:
        return "these learners take no sample weights"
    if sklearn.get_config()["array_api_dispatch"]:
        return "array_api_dispatch may send the fit to another library"
    if not needs.columns and columns != Columns():
        return "a step stands before these learners, which are answered on X as it is"
    if problem := data_problem(task) if needs.matrix is None else needs.matrix.problem(task):
        return problem
    if not needs.float32 and numeric_type(task, columns.places, first_of_polars=False) == np.float32:
        return "X is of type float32, in which scikit-learn computes these learners to seven digits"
    if needs.largest is not None:
        size = 8 * (len(task.classes) if task.classes is not None else 1) * ((task.n_columns or 1) + 1) ** 2
        if size > needs.largest:
            return f"products of {task.n_columns:,} columns take {size / 2**30:.1f} GB a set of rows"
    return target_problem(task, needs)


def target_problem(task: Task, needs: Needs) -> str:
    """Return why y, or routed weights, do not suit these learners, in words; "" if they do."""
    if task.weight is not None and sklearn.get_config()["enable_metadata_routing"]:
        return "sample weights go where metadata routing sends them"
    if needs.one_output and task.y.ndim != 1:
        return "y has several columns"
    if needs.numbers and (task.y.dtype.kind not in "biuf" or task.y.dtype.itemsize > 8):
        return f"y is of type {task.y.dtype}"
    if needs.classes:
        if task.classes is None:
            return "y is not one class a row"
        if task.y.dtype.kind == "f" and not np.array_equal(task.y, np.round(task.y)):
            return "y holds fractions, which are no classes"
        if len(task.classes) < 2:
            return "y has a single class"
    return ""


def refuse_training(
    kernel: Kernel, search: Search, task: Task, training: Training, splits: Mapping[str, Splits]
) -> str | None:
    """Return why this training must be left to brute force, or None."""
    ref = training.trains[0]
    if takes_all(kernel, search, task, range(ref.part, ref.part + 1), splits[ref.splits]):
        return None
    size = int(splits[ref.splits].train_sizes[ref.part])
    return kernel.refuses_size(search, task, size) or training_problem(task, training, splits)


def takes_all(kernel: Kernel, search: Search, task: Task, parts: range, splits: Splits) -> bool:
    """Return whether it is certain that none of these parts is refused."""
    smallest = int(splits.train_sizes[parts.start : parts.stop].min())
    left_out = task.size - smallest if splits.train is None else task.size
    weighed = task.weight is None or bool(task.weight.min() > 0)
    whole = task.classes is None or smallest_class(task) > left_out
    return smallest >= 2 and weighed and whole and kernel.refuses_size(search, task, smallest) is None


def training_problem(task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
    """Return why no kernel should answer this training, or None."""
    ref = training.trains[0]
    if int(splits[ref.splits].train_sizes[ref.part]) < 2:
        return "fewer than two training rows"
    rows = splits[ref.splits].train_rows(ref.part)
    if task.weight is not None and not task.weight[rows].any():
        return "all training rows have weight 0"
    if task.classes is not None and (np.bincount(class_codes(task)[rows], minlength=len(task.classes)) == 0).any():
        return "a class is absent from the training rows"
    return None
