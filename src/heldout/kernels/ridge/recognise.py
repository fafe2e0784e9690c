"""What the kernel claims of a search, and which trainings it leaves to brute force, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
import sklearn

from heldout.base.rowkeys import Rows
from heldout.kernels.claims import Claims, chain_of, last_type
from heldout.kernels.fitting import make_candidate
from heldout.kernels.ridge.columns import Unreadable
from heldout.kernels.ridge.design import check_data, class_codes, numeric_type
from heldout.kernels.ridge.forms import MODELS, Form, no_model, read_alpha, read_form
from heldout.kernels.ridge.respond import lacking
from heldout.kernels.step import Training
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task

Read = tuple[Form, float]
_PLAIN = (str, bool, int, float, type(None))

# Class codes of tasks that are alive: a training is refused or not thousands of times a plan.
_CODES: WeakKeyDictionary[Task, Any] = WeakKeyDictionary()
# What is wrong with the data of tasks that are alive: to find out takes a pass over X.
_PROBLEMS: WeakKeyDictionary[Task, str] = WeakKeyDictionary()
# What was read of searches that are alive, each on the task it was last read for: every stage reads it again.
_READ: WeakKeyDictionary[Search, tuple[ReferenceType[Task], dict[Any, Any]]] = WeakKeyDictionary()


class Reader:
    """Reads candidates one at a time; candidates that differ in alpha alone are taken apart once."""

    def __init__(self, search: Search, task: Task) -> None:
        self._search, self._task = search, task
        known = _READ.get(search)
        if known is None or known[0]() is not task:
            known = _READ[search] = (ref(task), {})
        self._seen: dict[Any, tuple[Form | Unreadable, str, Any]] = known[1]

    def read(self, candidate: int) -> Read:
        """The form and alpha of a candidate; raises Unreadable."""
        family, params = self._search.family_of(candidate), self._search.params_of(candidate)
        plain = all(isinstance(value, _PLAIN) or name.endswith("alpha") for name, value in params.items())
        kind = (family.name, tuple((n, type(v), v) for n, v in params.items() if not n.endswith("alpha")))
        if not plain or kind not in self._seen:
            found = self._take_apart(candidate)
            if not plain:
                return self._finish(found, params)
            self._seen[kind] = found
        return self._finish(self._seen[kind], params)

    def _take_apart(self, candidate: int) -> tuple[Form | Unreadable, str, Any]:
        estimator = make_candidate(self._search, candidate)
        prefix, last = chain_of(estimator)[-1]
        try:
            form: Form | Unreadable = read_form(estimator, self._task)
        except Unreadable as reason:
            form = reason
        return form, f"{prefix}__alpha" if prefix else "alpha", getattr(last, "alpha", None)

    def _finish(self, found: tuple[Form | Unreadable, str, Any], params: Mapping[str, Any]) -> Read:
        form, name, default = found
        if isinstance(form, Unreadable):
            raise form
        others = [n for n in params if n.endswith("alpha") and n != name]
        if others:
            raise Unreadable(f"{others[0]!r} is not the alpha of the linear model")
        return form, read_alpha(form, params.get(name, default))


def claim(search: Search, task: Task) -> Claims:
    """Candidates by form. The data are looked at only when some candidate is of the kind."""
    reader = Reader(search, task)
    groups: dict[Form, list[int]] = {}
    refusals: dict[str, None] = {}
    first = 0
    for family in search.families:
        own, first = range(first, first + len(family.candidates)), first + len(family.candidates)
        kind = last_type(family)
        if kind is not None and kind not in MODELS:  # a large grid of another learner is not looked through
            refusals.setdefault(no_model(kind))
            continue
        _sort(own, reader, groups, refusals)
    claimed: list[tuple[int, ...]] = []
    checked: str | None = None
    for form, members in groups.items():
        if checked is None:
            checked = _about_task(task)
        reason = checked or _about_form(form, search, task)
        if reason:
            refusals.setdefault(reason)
        else:
            claimed.append(tuple(members))
    return Claims(groups=tuple(claimed), refusals=tuple(refusals))


def _sort(candidates: Iterable[int], reader: Reader, groups: dict[Form, list[int]], refusals: dict[str, None]) -> None:
    for candidate in candidates:
        try:
            form, _ = reader.read(candidate)
            groups.setdefault(form, []).append(candidate)
        except Unreadable as problem:
            refusals.setdefault(str(problem))


def refuse_training(task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
    """Why this training must be brute force's, or None."""
    if training.averaged or len(training.trains) != 1:
        return "the predictor is an average of several"
    own = training.trains[0]
    drawn = splits[own.splits]
    size = int(drawn.train_sizes[own.part])
    if size < 2:
        return "fewer than two training rows"
    left_out = len(task) - size if drawn.train is None else len(task)
    if task.weight is not None and task.weight.min() <= 0 and not task.weight[drawn.train_rows(own.part)].any():
        return "all training rows have weight 0"
    if task.classes is not None and _may_lack_class(task, left_out) and _lacks_class(task, drawn.train_rows(own.part)):
        return "a class is absent from the training rows"
    return None


def takes_all(task: Task, parts: range, splits: Splits) -> bool:
    """Whether surely none of these parts is refused."""
    smallest = int(splits.train_sizes[parts.start : parts.stop].min())
    left_out = len(task) - smallest if splits.train is None else len(task)
    weighed = task.weight is None or bool(task.weight.min() > 0)
    return smallest >= 2 and weighed and (task.classes is None or not _may_lack_class(task, left_out))


def _about_task(task: Task) -> str:
    config = sklearn.get_config()
    if task.weight is not None and config["enable_metadata_routing"]:
        return "sample weights go where metadata routing sends them"
    if task not in _PROBLEMS:
        try:
            check_data(task)
            _PROBLEMS[task] = ""
        except Unreadable as reason:
            _PROBLEMS[task] = str(reason)
    return _PROBLEMS[task]


def _about_form(form: Form, search: Search, task: Task) -> str | None:
    lack = lacking(form, search.losses)
    if lack:
        return lack
    try:
        numeric_type(task, form)
    except Unreadable as reason:
        return str(reason)
    if not form.classifies:
        return None if task.y.dtype.kind in "biuf" and task.y.dtype.itemsize <= 8 else f"y is of type {task.y.dtype}"
    if task.classes is None:
        return "several labels a row"
    if task.y.dtype.kind == "f" and not np.array_equal(task.y, np.round(task.y)):
        return "y holds fractions, which are no classes"
    return "y has a single class" if len(task.classes) < 2 else None


def _codes(task: Task) -> Any:
    if task not in _CODES:
        codes = class_codes(task)
        _CODES[task] = (codes, int(np.bincount(codes).min()))
    return _CODES[task]


def _may_lack_class(task: Task, left_out: int) -> bool:
    return bool(_codes(task)[1] <= left_out)


def _lacks_class(task: Task, rows: Rows) -> bool:
    assert task.classes is not None
    codes = _codes(task)[0]
    return bool((np.bincount(codes[rows], minlength=len(task.classes)) == 0).any())
