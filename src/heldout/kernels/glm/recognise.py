"""What the kernel claims of a search, and which trainings it leaves to brute force, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np
import sklearn
from numpy.typing import NDArray

from heldout.kernels.claims import MOST_KEPT, Claims, candidates_of, chain_of, last_type
from heldout.kernels.fitting import make_candidate
from heldout.kernels.glm.design import Floats, spread_of
from heldout.kernels.glm.forms import MODELS, Form, no_model, read_form, read_strength, strength_name
from heldout.kernels.glm.respond import lacking
from heldout.kernels.ridge.columns import Unreadable
from heldout.kernels.ridge.design import check_data, class_codes, matrix_of
from heldout.kernels.step import Training
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task

MOST_COLUMNS = 200  # past this, scikit-learn's own steps, which need no second derivatives, are faster
MOST_COEFFICIENTS = 600  # columns times linear predictors
WIDEST = 1e4  # of a column's spread, or 1 over it, unless it is scaled
FARTHEST = 1e3  # of a column's mean from 0 in its spreads, unless it is centred: past it scikit-learn ends early

# What is wrong with the data of tasks that are alive, and where their columns lie.
_PROBLEMS: WeakKeyDictionary[Task, str] = WeakKeyDictionary()
_SPREADS: WeakKeyDictionary[Task, tuple[Floats, Floats, Floats, Floats]] = WeakKeyDictionary()
# Class codes of tasks that are alive and the rows of the rarest class, or of targets above 0.
_CODES: WeakKeyDictionary[Task, tuple[NDArray[np.intp], int]] = WeakKeyDictionary()


def claim(search: Search, task: Task) -> Claims:
    """Candidates by form. The data are looked at only when some candidate is of the kind."""
    refusals: dict[str, None] = {}
    kinds = [last_type(family) for family in search.families]
    if all(kind is not None and kind not in MODELS for kind in kinds):
        return Claims(refusals=tuple(dict.fromkeys(no_model(kind) for kind in kinds if kind is not None)))
    groups: dict[Form, list[int]] = {}
    for candidate, estimator in candidates_of(search):
        try:
            form = read_form(estimator, task)
            read_strength(form, _strength(estimator))
            groups.setdefault(form, []).append(candidate)
        except Unreadable as problem:
            refusals.setdefault(str(problem))
    claimed: list[tuple[int, ...]] = []
    for form, members in groups.items():
        reason = _about_task(task) or _about_form(form, search, task)
        if reason:
            refusals.setdefault(reason)
        else:
            claimed.append(tuple(members))
    return Claims(groups=tuple(claimed), refusals=tuple(refusals))


def read_candidates(search: Search, task: Task, candidates: tuple[int, ...]) -> dict[Form, dict[int, float]]:
    """The forms of claimed candidates, and the strength of each one's penalty."""
    made = dict(candidates_of(search)) if len(search) <= MOST_KEPT else {}
    found: dict[Form, dict[int, float]] = {}
    for candidate in candidates:
        estimator = made[candidate] if candidate in made else make_candidate(search, candidate)
        form = read_form(estimator, task)
        found.setdefault(form, {})[candidate] = read_strength(form, _strength(estimator))
    return found


def _strength(estimator: object) -> object:
    model = chain_of(estimator)[-1][1]
    return getattr(model, strength_name(model))


def refuse_training(task: Task, training: Training, splits: Mapping[str, Splits]) -> str | None:
    """Why this training must be brute force's, or None."""
    own = training.trains[0]
    drawn = splits[own.splits]
    size = int(drawn.train_sizes[own.part])
    if size < 2:
        return "fewer than two training rows"
    left_out = len(task) - size if drawn.train is None else len(task)
    weighed = task.weight is None or bool(task.weight.min() > 0)
    if weighed and not _may_lack(task, left_out):
        return None
    rows = drawn.train_rows(own.part)
    weight = np.ones(len(rows)) if task.weight is None else task.weight[rows]
    if task.classes is None:
        return None if float(weight @ task.y[rows]) > 0 else "no training row has a target above 0 and a weight"
    held = np.bincount(_codes(task)[0][rows], weights=weight, minlength=len(task.classes))
    return None if (held > 0).all() else "a class is absent from the training rows, or has weight 0"


def takes_all(task: Task, parts: range, splits: Splits) -> bool:
    """Whether surely none of these parts is refused."""
    smallest = int(splits.train_sizes[parts.start : parts.stop].min())
    left_out = len(task) - smallest if splits.train is None else len(task)
    weighed = task.weight is None or bool(task.weight.min() > 0)
    return smallest >= 2 and weighed and not _may_lack(task, left_out)


def _may_lack(task: Task, left_out: int) -> bool:
    """Whether so many rows may hold all of a class, or all targets above 0."""
    return _codes(task)[1] <= left_out


def _codes(task: Task) -> tuple[NDArray[np.intp], int]:
    if task not in _CODES:
        codes = class_codes(task) if task.classes is not None else (task.y > 0).astype(np.intp)
        counts = np.bincount(codes, minlength=2)
        _CODES[task] = (codes, int(counts.min() if task.classes is not None else counts[1]))
    return _CODES[task]


def _about_task(task: Task) -> str:
    if task.weight is not None and sklearn.get_config()["enable_metadata_routing"]:
        return "sample weights go where metadata routing sends them"
    if task not in _PROBLEMS:
        try:
            check_data(task)
            X = matrix_of(task)
            _PROBLEMS[task] = "" if X.dtype != np.float32 else "X is float32, and so are scikit-learn's own steps"
            if not _PROBLEMS[task]:
                _SPREADS[task] = (X.min(axis=0), X.max(axis=0), *spread_of(np.asarray(X, dtype=np.float64)))
        except Unreadable as reason:
            _PROBLEMS[task] = str(reason)
    return _PROBLEMS[task]


def _about_form(form: Form, search: Search, task: Task) -> str | None:
    lack = lacking(form, search.losses)
    if lack:
        return lack
    lowest, highest, shift, scale = (form.columns.pick(one) for one in _SPREADS[task])
    if len(scale) > MOST_COLUMNS:
        return f"more than {MOST_COLUMNS} columns, where steps with second derivatives are no faster"
    centred, scaled = (form.columns.flags(which, len(scale)) for which in ("centred", "scaled"))
    if (np.abs(shift) > FARTHEST * scale)[~centred].any():  # the scale of a constant column is 1
        return "a column lies far from 0, where scikit-learn's own fit ends before its optimum"
    bare = scale[~scaled & (lowest < highest)]
    if ((bare > WIDEST) | (bare < 1 / WIDEST)).any():
        return "spreads of columns lie far apart, where scikit-learn's own fit ends before its optimum"
    return _about_classes(task, len(scale)) if form.classifies else _about_numbers(form, task)


def _about_numbers(form: Form, task: Task) -> str | None:
    if task.y.ndim > 1:
        return "several targets a row"
    if task.y.dtype.kind not in "biuf" or task.y.dtype.itemsize > 8:
        return f"y is of type {task.y.dtype}"
    least = float(task.y.min())
    return "y has values that the loss does not take" if least < 0 or (form.power == 2 and least == 0) else None


def _about_classes(task: Task, columns: int) -> str | None:
    if task.classes is None:
        return "several labels a row"
    if task.y.dtype.kind == "f" and not np.array_equal(task.y, np.round(task.y)):
        return "y holds fractions, which are no classes"
    if len(task.classes) < 2:
        return "y has a single class"
    many = (len(task.classes) - 1) * (columns + 1)
    return f"{many:,} coefficients, more than are solved for together" if many > MOST_COEFFICIENTS else None
