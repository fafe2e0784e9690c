"""What the kernel claims of a search, with the reasons for what it refuses."""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
import sklearn

from heldout.base.responses import METHODS
from heldout.kernels.claims import Claims, last_type
from heldout.kernels.discriminants.forms import MODELS, Form, no_model, read_form
from heldout.kernels.fitting import make_candidate
from heldout.kernels.ridge.columns import Columns, Unreadable
from heldout.kernels.ridge.design import check_data, numeric_type
from heldout.kernels.ridge.forms import Form as LinearForm
from heldout.losses import Loss
from heldout.search.search import Search
from heldout.task.task import Task

LARGEST = 1 << 28  # bytes that the products of the classes of one set of rows may take

# What was read of searches that are alive, each on the task it was last read for: every stage reads it again.
_READ: WeakKeyDictionary[Search, tuple[ReferenceType[Task], dict[int, tuple[Form, float] | str]]] = WeakKeyDictionary()
# What is wrong with the data of tasks that are alive: to find out takes a pass over X.
_PROBLEMS: WeakKeyDictionary[Task, str] = WeakKeyDictionary()


class Reader:
    """Reads candidates one at a time, and remembers."""

    def __init__(self, search: Search, task: Task) -> None:
        self._search, self._task = search, task
        known = _READ.get(search)
        if known is None or known[0]() is not task:
            known = _READ[search] = (ref(task), {})
        self._seen = known[1]

    def read(self, candidate: int) -> tuple[Form, float]:
        """The form of a candidate and its shrinkage; raises Unreadable."""
        if candidate not in self._seen:
            try:
                self._seen[candidate] = read_form(make_candidate(self._search, candidate), self._task)
            except Unreadable as reason:
                self._seen[candidate] = str(reason)
        found = self._seen[candidate]
        if isinstance(found, str):
            raise Unreadable(found)
        return found


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
        for candidate in own:
            try:
                groups.setdefault(reader.read(candidate)[0], []).append(candidate)
            except Unreadable as problem:
                refusals.setdefault(str(problem))
    if groups:
        reason = lacking(search.losses) or _about_task(task)
        if reason:
            refusals.setdefault(reason)
            groups = {}
    return Claims(groups=tuple(map(tuple, groups.values())), refusals=tuple(refusals))


def lacking(losses: tuple[Loss, ...]) -> str | None:
    """What these losses ask for that recorded responses cannot give, in words; None if nothing."""
    for loss in losses:
        if loss.asks_predictor:
            return f"the loss {loss.name!r} asks the fitted estimator itself"
        for alternatives in loss.methods:
            if not any(method in METHODS for method in alternatives):
                return f"the loss needs {' or '.join(alternatives)}, which these learners lack"
    return None


def methods_asked(losses: tuple[Loss, ...]) -> frozenset[str]:
    """The response methods that brute force would ask an estimator with all of them, for these losses."""
    return frozenset(
        next(method for method in alternatives if method in METHODS) for loss in losses for alternatives in loss.methods
    )


def _about_task(task: Task) -> str:
    if sklearn.get_config()["array_api_dispatch"]:
        return "array_api_dispatch may send the fit to another library"
    if task not in _PROBLEMS:
        _PROBLEMS[task] = _problem(task)
    return _PROBLEMS[task]


def _problem(task: Task) -> str:
    classes: Any = task.classes
    if classes is None:
        return "y is not one class a row"
    if task.weight is not None:
        return "discriminants take no sample weights"
    if len(classes) < 2:
        return "y has a single class"
    if task.y.dtype.kind == "f" and not np.array_equal(task.y, np.round(task.y)):
        return "y holds fractions, which are no classes"
    try:
        if numeric_type(task, LinearForm(model="ols", intercept=True, columns=Columns())) == np.float32:
            return "X is of type float32, in which scikit-learn computes discriminants to seven digits"
        check_data(task)
    except Unreadable as reason:
        return str(reason)
    needed = 8 * len(classes) * ((task.n_columns or 1) + 1) ** 2
    if needed > LARGEST:
        return f"products of {task.n_columns:,} columns take {needed / 2**30:.1f} GB a set of rows"
    return ""
