"""What the kernel claims of a search, and which trainings it leaves to brute force, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
import sklearn

from heldout.kernels.claims import Claims, candidates_of, last_type
from heldout.kernels.fitting import make_candidate
from heldout.kernels.lasso.forms import MODELS, Form, Penalty, no_model, read_form
from heldout.kernels.ridge.columns import Unreadable
from heldout.kernels.ridge.design import check_data, numeric_type
from heldout.kernels.ridge.recognise import refuse_training as refuse_linear
from heldout.kernels.ridge.recognise import takes_all as takes_all_linear
from heldout.kernels.ridge.respond import lacking
from heldout.kernels.step import Training
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task

Read = tuple[Form, Penalty]
SWEEPS = 25  # of a descent, about, at the tolerance that scikit-learn stops at
SHARED_BY = 4  # training sets, at least, that the products of a block of rows serve
LARGEST_GRAM = 1 << 27  # bytes: several of them must fit a step's memory
# What was read of searches that are alive, each on the task it was last read for: every stage reads it again.
_READ: WeakKeyDictionary[Search, tuple[ReferenceType[Task], dict[int, Read | Unreadable]]] = WeakKeyDictionary()
# What is wrong with the data of tasks that are alive: to find out takes a pass over X.
_PROBLEMS: WeakKeyDictionary[Task, str] = WeakKeyDictionary()


def read_candidate(search: Search, task: Task, candidate: int) -> Read:
    """The form and penalty of a candidate; raises Unreadable."""
    known = _known(search, task)
    if candidate not in known:
        known[candidate] = _read(make_candidate(search, candidate), task)
    found = known[candidate]
    if isinstance(found, Unreadable):
        raise found
    return found


def claim(search: Search, task: Task) -> Claims:
    """Candidates by form. The data are looked at only when some candidate is of the kind."""
    kinds = [last_type(family) for family in search.families]
    if all(kind is not None and kind not in MODELS for kind in kinds):  # a large grid of others is not looked through
        return Claims(refusals=tuple(dict.fromkeys(no_model(kind) for kind in kinds if kind is not None)))
    known = _known(search, task)
    groups: dict[Form, list[int]] = {}
    refusals: dict[str, None] = {}
    for candidate, estimator in candidates_of(search):
        if candidate not in known:
            known[candidate] = _read(estimator, task)
        found = known[candidate]
        if isinstance(found, Unreadable):
            refusals.setdefault(str(found))
        else:
            groups.setdefault(found[0], []).append(candidate)
    claimed: list[tuple[int, ...]] = []
    for form, members in groups.items():
        reason = _about_task(task) or _about_form(form, search, task)
        if reason:
            refusals.setdefault(reason)
        else:
            claimed.append(tuple(members))
    return Claims(groups=tuple(claimed), refusals=tuple(refusals))


def refuse_training(search: Search, task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
    """Why this training must be brute force's, or None."""
    reason = refuse_linear(task, training, splits)
    if reason is not None:
        return reason
    own = training.trains[0]
    return _does_not_pay(int(splits[own.splits].train_sizes[own.part]), search, task)


def takes_all(search: Search, task: Task, parts: range, splits: Splits) -> bool:
    """Whether surely none of these parts is refused."""
    smallest = int(splits.train_sizes[parts.start : parts.stop].min())
    return takes_all_linear(task, parts, splits) and _does_not_pay(smallest, search, task) is None


def _does_not_pay(rows: int, search: Search, task: Task) -> str | None:
    """By operation counts: sums of products shared by several training sets and sweeps over them, or over rows."""
    columns = task.n_columns or 1
    fits = max(1, len(search))
    products = rows * columns**2 / SHARED_BY + fits * SWEEPS * columns**2
    sweeps = fits * SWEEPS * 2 * rows * columns
    if columns <= 2 * rows and products <= sweeps:
        return None
    return f"products of {columns:,} columns cost more than descents of {fits:,} candidates over {rows:,} rows"


def _known(search: Search, task: Task) -> dict[int, Read | Unreadable]:
    known = _READ.get(search)
    if known is None or known[0]() is not task:
        known = _READ[search] = (ref(task), {})
    return known[1]


def _read(estimator: object, task: Task) -> Read | Unreadable:
    try:
        return read_form(estimator, task)
    except Unreadable as reason:
        return reason


def _about_task(task: Task) -> str:
    if task.weight is not None and sklearn.get_config()["enable_metadata_routing"]:
        return "sample weights go where metadata routing sends them"
    if task not in _PROBLEMS:
        try:
            check_data(task)
            _PROBLEMS[task] = ""
        except Unreadable as reason:
            _PROBLEMS[task] = str(reason)
    return _PROBLEMS[task]


def _about_form(form: Form, search: Search, task: Task) -> str | None:
    lack = lacking(form.linear, search.losses)
    if lack:
        return lack
    try:
        dtype = numeric_type(task, form.linear)
    except Unreadable as reason:
        return str(reason)
    if task.y.dtype.kind not in "biuf" or task.y.dtype.itemsize > 8:
        return f"y is of type {task.y.dtype}"
    if form.joint and (task.y.dtype == np.float32) != (dtype == np.float32):
        return f"X is read as {dtype} and y as {task.y.dtype}, which several tasks do not mix"
    size = 8 * (int(task.n_columns or 1) + 1 + (task.y.shape[1] if task.y.ndim > 1 else 1)) ** 2
    return f"products of {task.n_columns:,} columns take {size / 1e9:.1f} GB" if size > LARGEST_GRAM else None
