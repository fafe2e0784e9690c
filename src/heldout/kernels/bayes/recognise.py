"""What the kernel claims of a search, and which trainings it leaves to brute force, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import sklearn
from numpy.typing import NDArray

from heldout.kernels.bayes.data import check_matrix
from heldout.kernels.bayes.forms import KINDS, Form, lacking, no_model, read_form
from heldout.kernels.claims import Claims, candidates_of, last_type
from heldout.kernels.fitting import make_candidate
from heldout.kernels.ridge.columns import Unreadable
from heldout.kernels.ridge.design import class_codes
from heldout.kernels.step import Training
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task

# Class codes of tasks that are alive, and the size of the smallest class: asked for every training of a plan.
_CODES: WeakKeyDictionary[Task, tuple[NDArray[np.intp], int]] = WeakKeyDictionary()
# What is wrong with the data of tasks that are alive, by kind of learner: to find out takes a pass over X.
_PROBLEMS: WeakKeyDictionary[Task, dict[str, str]] = WeakKeyDictionary()


def claim(search: Search, task: Task) -> Claims:
    """Candidates by form. The data are looked at only when some candidate is of the kind."""
    groups: dict[Form, list[int]] = {}
    refusals: dict[str, None] = {}
    for candidate, estimator in _looked_at(search, refusals):
        try:
            form, _ = read_form(estimator, task)
            groups.setdefault(form, []).append(candidate)
        except Unreadable as problem:
            refusals.setdefault(str(problem))
    claimed: list[tuple[int, ...]] = []
    for form, members in groups.items():
        reason = lacking(search.losses) or _about_task(task) or _about_data(task, form)
        if reason:
            refusals.setdefault(reason)
        else:
            claimed.append(tuple(members))
    return Claims(groups=tuple(claimed), refusals=tuple(refusals))


def forms_of(search: Search, task: Task, candidates: tuple[int, ...]) -> dict[Form, dict[int, float]]:
    """The smoothing of each of these candidates, by form."""
    wanted = set(candidates)
    if len(candidates) * 2 < len(search):
        made = {candidate: make_candidate(search, candidate) for candidate in candidates}
    else:
        made = {candidate: estimator for candidate, estimator in candidates_of(search) if candidate in wanted}
    forms: dict[Form, dict[int, float]] = {}
    for candidate in candidates:
        form, value = read_form(made[candidate], task)
        forms.setdefault(form, {})[candidate] = value
    return forms


def refuse_training(task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
    """Why this training must be brute force's, or None."""
    if training.averaged or len(training.trains) != 1:
        return "the predictor is an average of several"
    own = training.trains[0]
    drawn = splits[own.splits]
    size = int(drawn.train_sizes[own.part])
    if size < 2:
        return "fewer than two training rows"
    codes, smallest = _codes(task)
    left_out = len(task) - size if drawn.train is None else len(task)
    if smallest <= left_out:
        assert task.classes is not None
        counts = np.bincount(codes[drawn.train_rows(own.part)], minlength=len(task.classes))
        if (counts == 0).any():
            return "a class is absent from the training rows"
    return None


def takes_all(task: Task, parts: range, splits: Splits) -> bool:
    """Whether surely none of these parts is refused."""
    smallest = int(splits.train_sizes[parts.start : parts.stop].min())
    return smallest >= 2 and splits.train is None and _codes(task)[1] > len(task) - smallest


def _looked_at(search: Search, refusals: dict[str, None]) -> Any:
    """Candidates that may be of the kind: a large grid of another learner is not looked through."""
    own: list[range] = []
    first = 0
    for family in search.families:
        span, first = range(first, first + len(family.candidates)), first + len(family.candidates)
        kind = last_type(family)
        if kind is not None and kind not in KINDS:
            refusals.setdefault(no_model(kind))
        else:
            own.append(span)
    if not own:
        return
    for candidate, estimator in candidates_of(search):
        if any(candidate in span for span in own):
            yield candidate, estimator


def _about_task(task: Task) -> str | None:
    if task.weight is not None and sklearn.get_config()["enable_metadata_routing"]:
        return "sample weights go where metadata routing sends them"
    if task.classes is None:
        return "several labels a row, or no classes"
    if len(task.classes) < 2:
        return "y has a single class"
    if task.y.dtype.kind == "f" and not np.array_equal(task.y, np.round(task.y)):
        return "y holds fractions, which are no classes"
    return None


def _about_data(task: Task, form: Form) -> str:
    known = _PROBLEMS.setdefault(task, {})
    if form.kind not in known:
        try:
            check_matrix(task, form)
            known[form.kind] = ""
        except Unreadable as reason:
            known[form.kind] = str(reason)
    return known[form.kind]


def _codes(task: Task) -> tuple[NDArray[np.intp], int]:
    if task not in _CODES:
        codes = class_codes(task)
        _CODES[task] = (codes, int(np.bincount(codes).min()))
    return _CODES[task]
