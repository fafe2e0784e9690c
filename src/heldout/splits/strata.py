"""Strata: the groups of rows whose shares a draw keeps. Declared, classes, quantile bins of a number, or labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.strategy import marks_labels
from heldout.task import Task

MOST_BINS = 10  # deciles: finer bins say little more about a number, and leave few rows in each
DECLARED, CLASS, BIN, LABEL = "stratum", "class", "bin", "label"
PLURALS = {DECLARED: "strata", CLASS: "classes", BIN: "bins", LABEL: "labels"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """The strata of some rows as codes 0..C-1 in the order of `values`: one per row, but any number of labels."""

    codes: NDArray[np.intp]
    positions: NDArray[np.intp]  # of the row that has each code
    values: Sequence[Any]  # what each code stands for; of labels their names
    word: str  # a key of PLURALS

    @property
    def counts(self) -> NDArray[np.intp]:
        return np.bincount(self.codes, minlength=len(self.values))

    def named(self, code: int) -> str:
        return str(self.values[code]) if self.word == LABEL else f"{self.word} {self.values[code]!r}"


def stratified_words(task: Task) -> str:
    """Describe the stratification of this task, for the recipe."""
    if task.strata is not None or task.classes is not None:
        return "stratified"
    return "stratified by labels" if task.y.ndim == 2 else "stratified by bins of the target"


def strata_to_keep(task: Task, rows: Rows, *, at_least: int) -> Strata:
    """Return the strata that a stratified draw keeps; bins of a number have at least `at_least` rows each."""
    if task.strata is None and task.y.ndim == 2:
        return _labels(task, rows)
    return strata_of(task, rows, at_least=at_least)


def strata_of(task: Task, rows: Rows, *, at_least: int = 2) -> Strata:
    """Return the strata of these rows: those declared, else classes, bins of a number, or combinations of labels."""
    if task.strata is not None or (task.classification and task.y.ndim == 1):
        word, kept = (CLASS, task.y) if task.strata is None else (DECLARED, task.strata)
        values, codes = np.unique(kept[rows], return_inverse=True)
        return _one_a_row(codes, values.tolist(), word)
    if task.y.ndim == 2:
        _, first, codes = np.unique(task.y[rows].astype(str), axis=0, return_index=True, return_inverse=True)
        names = [", ".join(map(str, task.y[rows[position]].tolist())) for position in first]
        return _one_a_row(codes.reshape(-1), names, CLASS)
    return quantile_bins(task.y[rows], at_least=at_least)


def _one_a_row(codes: NDArray[np.intp], values: Sequence[Any], word: str) -> Strata:
    return Strata(codes=codes, positions=np.arange(len(codes)), values=values, word=word)


def quantile_bins(numbers: NDArray[Any], *, at_least: int) -> Strata:
    """Cut numbers into at most ten quantile bins of at least `at_least` rows each; equal numbers share a bin.

    Examples
    --------
    >>> import numpy as np
    >>> bins = quantile_bins(np.array([3.0, 1.0, 2.0, 2.0, 9.0, 7.0]), at_least=2)
    >>> bins.codes.tolist(), bins.values
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
    return _one_a_row(codes.astype(np.intp, copy=False), names, BIN)


def _labels(task: Task, rows: Rows) -> Strata:
    """Return the labels of each row: columns of zeros and ones as they are, else one label per output and value."""
    y, columns = task.y[rows], range(task.y.shape[1])
    if marks_labels(task):
        named = {f"label {column}": y[:, column] == 1 for column in columns if y[:, column].any()}
    else:
        values = [(column, value) for column in columns for value in np.unique(y[:, column]).tolist()]
        named = {f"{value!r} of output {column}": y[:, column] == value for column, value in values}
    positions, codes = np.nonzero(np.column_stack(list(named.values())))
    return Strata(codes=codes, positions=positions, values=tuple(named), word=LABEL)


def held_by_labels(splitter: str, labels: Strata, rows: int, *, who: str, **options: Any) -> list[NDArray[np.intp]]:
    """Return held-out positions among `rows` rows, one array per split, each with its share of every label.

    `splitter` names a class of the package iterative-stratification, and `options` are its arguments.
    """
    try:
        from iterstrat import ml_stratifiers
    except ImportError as error:
        raise SplitError(
            f"{who} was asked to stratify several labels, which needs the package iterative-stratification. Install it "
            "with pip install 'heldout[multilabel]', declare groups= (which need no package), or pass stratify=False."
        ) from error
    # The package needs at least two labels; a column that marks all rows changes no share.
    marks = np.ones((rows, max(2, len(labels.values))), dtype=bool)
    marks[:, : len(labels.values)] = False
    marks[labels.positions, labels.codes] = True
    drawn = getattr(ml_stratifiers, splitter)(**options).split(marks, marks)
    return [np.asarray(held, dtype=np.intp) for _, held in drawn]
