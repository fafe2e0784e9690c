"""Strata: what a draw keeps in its shares. Declared by the user, classes, quantile bins of a number, or labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import Argument, Sentence, SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.strategy import AUTO
from heldout.task import Task

MOST_BINS = 10  # deciles: finer bins say little more about a number, and leave few rows in each
DECLARED, CLASS, BIN, LABEL = "stratum", "class", "bin", "label"
PLURALS = {DECLARED: "strata", CLASS: "classes", BIN: "bins", LABEL: "labels"}
Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """The strata of some rows: codes 0..C-1 in the order of the values, and what each stands for."""

    codes: NDArray[np.intp]
    values: NDArray[Any]
    word: str  # a key of PLURALS

    @property
    def counts(self) -> NDArray[np.intp]:
        return np.bincount(self.codes, minlength=len(self.values))

    @property
    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which row has which stratum, as positions and codes."""
        return np.arange(len(self.codes)), self.codes

    def named(self, code: int) -> str:
        value = self.values[code]
        return f"{self.word} {value.item() if isinstance(value, np.generic) else value!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The labels of some rows, of which a row has any number: a mark where it has one."""

    marks: NDArray[np.bool_]  # rows × labels, each label marked somewhere
    names: tuple[str, ...]
    word: str = LABEL

    @property
    def counts(self) -> NDArray[np.intp]:
        return np.asarray(self.marks.sum(axis=0), dtype=np.intp)

    @property
    def values(self) -> tuple[str, ...]:
        return self.names

    @property
    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which row has which label, as positions and codes."""
        positions, codes = np.nonzero(self.marks)
        return positions, codes

    def named(self, code: int) -> str:
        return self.names[code]


def stratified_words(task: Task) -> str:
    """What a draw of this task that stratifies is called."""
    if task.strata is not None or task.classes is not None:
        return "stratified"
    return "stratified by labels" if task.y.ndim == 2 else "stratified by bins of the target"


def is_stratified(task: Task, stratify: str | bool, *, who: str) -> bool:
    """Whether a draw must keep strata: as asked, or by "auto" those declared, else classes where there are no groups.

    Groups that are dealt by their classes leave folds no spread of their own: see
    docs/decisions/0036-groups-are-not-dealt-by-their-classes.md.
    """
    if stratify == AUTO:
        return task.strata is not None or (task.classes is not None and task.groups is None)
    if stratify and task.strata is None and task.y.ndim == 2 and not _has_labels(task):
        raise SplitError(
            f"{who} was asked to stratify, but the target has {task.y.shape[1]} outputs of numbers and the task has no "
            "strata.",
            Sentence("Pass {} with the task, or stratify=False.", Argument("strata")),
        )
    return bool(stratify)


def strata_to_keep(task: Task, rows: Rows, *, at_least: int) -> Strata | Labels:
    """What a draw that stratifies keeps in its shares; bins of a number get `at_least` rows each."""
    if task.strata is None and task.y.ndim == 2:
        return _labels(task, rows)
    return strata_of(task, rows, at_least=at_least)


def strata_of(task: Task, rows: Rows, *, at_least: int = 2) -> Strata:
    """The strata of these rows: those declared, else classes, bins of a number, or combinations of labels."""
    if task.strata is not None:
        values, codes = np.unique(task.strata[rows], return_inverse=True)
        return Strata(codes=codes, values=values, word=DECLARED)
    if task.y.ndim == 2:
        _, first, codes = np.unique(task.y[rows].astype(str), axis=0, return_index=True, return_inverse=True)
        values = np.array([", ".join(map(str, task.y[rows[position]].tolist())) for position in first], dtype=object)
        return Strata(codes=codes.reshape(-1), values=values, word=CLASS)
    if task.classification:
        values, codes = np.unique(task.y[rows], return_inverse=True)
        return Strata(codes=codes, values=values, word=CLASS)
    return quantile_bins(task.y[rows], at_least=at_least)


def quantile_bins(numbers: NDArray[Any], *, at_least: int) -> Strata:
    """At most ten bins of almost equally many rows, `at_least` so many in each; equal numbers share a bin.

    Examples
    --------
    >>> import numpy as np
    >>> bins = quantile_bins(np.array([3.0, 1.0, 2.0, 2.0, 9.0, 7.0]), at_least=2)
    >>> bins.codes.tolist(), bins.values.tolist()
    ([1, 0, 0, 0, 1, 1], ['1 to 2', '3 to 9'])
    """
    ordered = np.sort(numbers)
    n = len(ordered)
    begins = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1  # where a cut goes between two different numbers
    wanted = max(1, min(MOST_BINS, n // at_least))
    cuts = [0]
    for target in (np.arange(1, wanted) * n / wanted).tolist():
        free = begins[(begins - cuts[-1] >= at_least) & (n - begins >= at_least)]
        if len(free) and target > cuts[-1]:
            cuts.append(int(free[np.argmin(np.abs(free - target))]))
    codes = np.searchsorted(ordered[cuts[1:]], numbers, side="right")
    ends = [*cuts[1:], n]
    names = [f"{float(ordered[a]):.4g} to {float(ordered[b - 1]):.4g}" for a, b in zip(cuts, ends, strict=True)]
    return Strata(codes=codes.astype(np.intp, copy=False), values=np.array(names, dtype=object), word=BIN)


def _has_labels(task: Task) -> bool:
    """Whether several outputs are classes: a classifier's, or nothing but zeros and ones."""
    return task.classification or (task.y.dtype.kind in "biuf" and bool(np.isin(task.y, (0, 1)).all()))


def _labels(task: Task, rows: Rows) -> Labels:
    """Zeros and ones are labels as they are; of other classes each value of each output is a label."""
    y = task.y[rows]
    if task.y.dtype.kind in "biuf" and np.isin(task.y, (0, 1)).all():
        marks, names = y.astype(bool), [f"label {column}" for column in range(y.shape[1])]
    else:
        marked, names = [], []
        for column in range(y.shape[1]):
            for value in np.unique(y[:, column]):
                marked.append(y[:, column] == value)
                names.append(f"{value.item() if isinstance(value, np.generic) else value!r} of output {column}")
        marks = np.column_stack(marked)
    present = np.flatnonzero(marks.any(axis=0))
    return Labels(marks=marks[:, present], names=tuple(names[column] for column in present))


def label_folds(labels: Labels, k: int, *, seed: int, who: str) -> list[Positions]:
    """K blocks of positions, each with about its share of the rows of every label."""
    return _held_by("MultilabelStratifiedKFold", labels, who, n_splits=k, shuffle=True, random_state=seed)


def label_holdouts(labels: Labels, times: int, count: int, *, seed: int, who: str) -> list[Positions]:
    """Held-out positions, about `count` each time, with their share of the rows of every label."""
    options = {"n_splits": times, "test_size": count, "random_state": seed}
    return _held_by("MultilabelStratifiedShuffleSplit", labels, who, **options)


def _held_by(splitter: str, labels: Labels, who: str, **options: Any) -> list[Positions]:
    try:
        from iterstrat import ml_stratifiers
    except ImportError as error:
        raise SplitError(
            f"{who} was asked to stratify several labels, which needs the package iterative-stratification. Install it "
            "with pip install 'heldout[multilabel]', declare groups= (which need no package), or pass stratify=False."
        ) from error
    # It takes tables of two labels or more; a column that marks all rows changes no share.
    marks = labels.marks if labels.marks.shape[1] > 1 else np.column_stack([labels.marks, np.ones_like(labels.marks)])
    drawn = getattr(ml_stratifiers, splitter)(**options).split(marks, marks)
    return [np.asarray(held, dtype=np.intp) for _, held in drawn]
