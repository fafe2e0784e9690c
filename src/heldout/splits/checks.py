"""Checks drawn splits: no side is empty, and no row, group or overlapping time is on both sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError
from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits
from heldout.splits.groups import group_name
from heldout.task import Task


def checked(task: Task, splits: Splits, *, who: str) -> Splits:
    """Return these splits, or raise a SplitError that names the part and the row or group at fault.

    The time is linear in the stored rows. Parts that train on all other rows cannot overlap, so they skip that check.
    """
    check_structure(splits, who=who)
    if task.groups is not None:
        _check_groups(task, task.groups, splits, who)
    if task.time_end is not None:
        _check_spans(task, splits, who)
    if task.weight is not None:
        _check_weights(task.weight, splits, who)
    return splits


def check_structure(splits: Splits, *, who: str) -> None:
    """Check what holds whatever the task: no side is empty, all rows are of this level, and no row is on both sides."""
    _check_sizes(splits, who)
    _check_held(splits, who)
    if splits.train is not None:
        _check_train(splits, who)


def partition_repeats(rows: Rows, held: Rows, held_cuts: Rows) -> int:
    """Return how many times the parts partition `rows`, repeat after repeat; 0 if they do not.

    >>> import numpy as np
    >>> partition_repeats(np.arange(4), np.array([0, 3, 1, 2]), np.array([0, 2, 4]))
    1
    """
    repeats, rest = divmod(len(held), len(rows)) if len(rows) else (0, 0)
    starts = np.arange(repeats) * len(rows)
    if rest or not (held_cuts[np.searchsorted(held_cuts, starts)] == starts).all():
        return 0
    each = held.reshape(repeats, -1)
    return repeats if (each == rows).all() or (np.sort(each, axis=1) == rows).all() else 0


def _check_sizes(splits: Splits, who: str) -> None:
    if len(splits) == 0:
        raise SplitError(f"{who} gives no parts at all. At least one must hold rows out.")
    for sizes, side in ((splits.held_sizes, "holds out no rows"), (splits.train_sizes, "has no training rows")):
        if sizes.min() <= 0:
            raise SplitError(
                f"{who}: part {int(np.argmin(sizes))} {side}, of {len(splits.rows)} rows at this level. "
                "Use fewer parts, another share, or more rows."
            )


def _check_held(splits: Splits, who: str) -> None:
    _refuse_strangers(splits.rows, splits.held, splits.held_cuts, who)
    steps_up = np.diff(splits.held) > 0
    steps_up[splits.held_cuts[1:-1] - 1] = True  # numbers may fall from one part to the next
    if steps_up.all():
        return
    parts = np.repeat(np.arange(len(splits)), splits.held_sizes)
    order = np.lexsort((splits.held, parts))
    held, parts = splits.held[order], parts[order]
    twice = np.flatnonzero((held[1:] == held[:-1]) & (parts[1:] == parts[:-1]))
    if len(twice):
        raise SplitError(f"{who}: part {parts[twice[0]]} holds out row {held[twice[0]]} twice. Name each row once.")


def _refuse_strangers(rows: Rows, numbers: Rows, cuts: Rows, who: str) -> None:
    inside = np.zeros(rows[-1] + 1, dtype=bool)
    inside[rows] = True
    known = (numbers >= 0) & (numbers <= rows[-1])
    known[known] = inside[numbers[known]]
    if not known.all():
        position = int(np.argmin(known))
        part = int(np.searchsorted(cuts, position, side="right")) - 1
        raise SplitError(
            f"{who}: part {part} names row {numbers[position]}, which is not among the {len(rows)} rows at this level. "
            "Row numbers count from 0."
        )


def _check_train(splits: Splits, who: str) -> None:
    assert splits.train is not None
    assert splits.train_cuts is not None
    _refuse_strangers(splits.rows, splits.train, splits.train_cuts, who)
    found = _on_both_sides(np.arange(splits.rows[-1] + 1), splits)
    if found is not None:
        part, both = found
        raise SplitError(
            f"{who}: part {part} has row {both[0]} both in training and held out ({len(np.unique(both))} such rows). "
            "Take them out of one side."
        )


def _on_both_sides(labels: NDArray[np.intp], splits: Splits) -> tuple[int, Rows] | None:
    """Find the first part with a label on both sides. Return it and its training rows with such labels, or None."""
    held_out = np.zeros(int(labels.max()) + 1, dtype=bool)
    for part in range(len(splits)):
        held, train = labels[splits.held_rows(part)], splits.train_rows(part)
        held_out[held] = True
        both = held_out[labels[train]]
        if both.any():
            return part, train[both]
        held_out[held] = False
    return None


def _check_weights(weight: NDArray[np.float64], splits: Splits, who: str) -> None:
    """Raise a SplitError if all rows of a side have zero weight."""
    counted = (weight > 0).astype(np.float64)
    held, train = splits.held_sums(counted), splits.train_sums(counted)
    for counts, side in ((held, "holds out rows of zero weight only"), (train, "trains on rows of zero weight only")):
        if not counts.all():
            raise SplitError(
                f"{who}: part {int(np.argmin(counts))} {side}. Leave rows of zero weight out, or use fewer parts."
            )


def _check_groups(task: Task, groups: NDArray[np.intp], splits: Splits, who: str) -> None:
    if splits.train is None:
        found = _cut_group(groups, splits)
    else:
        both = _on_both_sides(groups, splits)
        found = None if both is None else (both[0], int(groups[both[1][0]]))
    if found is not None:
        raise SplitError(
            f"{who}: in part {found[0]} group {group_name(task, found[1])} is both in training and held out. Keep each "
            "group on one side, or use KFold, Holdout, Resample or LeaveOneOut of heldout, which do."
        )


def _cut_group(groups: NDArray[np.intp], splits: Splits) -> tuple[int, int] | None:
    """Find a part that holds out only some rows of a group, and that group; None if there is none.

    Each part must train on all other rows. The time is linear in the rows.
    """
    count = int(groups.max()) + 1
    totals = np.bincount(groups[splits.rows], minlength=count)
    parts = np.repeat(np.arange(len(splits)), splits.held_sizes)
    keys, held = np.unique(parts * count + groups[splits.held], return_counts=True)
    cut = np.flatnonzero(held < totals[keys % count])
    return (int(keys[cut[0]] // count), int(keys[cut[0]] % count)) if len(cut) else None


def _check_spans(task: Task, splits: Splits, who: str) -> None:
    """Raise a SplitError if a training row's time overlaps that of a held-out row. Our own draws purge such rows."""
    for part in range(len(splits)):
        train = splits.train_rows(part)
        both = overlapping(task, train, splits.held_rows(part))
        if both.any():
            raise SplitError(
                f"{who}: part {part} trains on row {train[np.argmax(both)]}, whose time overlaps that of a held-out "
                f"row ({np.count_nonzero(both)} such rows). Use Forward, KFold, Holdout or Resample of heldout, which "
                "purge them, or pass pairs (training rows, held-out rows) without them."
            )


def overlapping(task: Task, train: Rows, held: Rows) -> NDArray[np.bool_]:
    """Return a mask of the training rows whose time span shares an instant with that of any held-out row.

    >>> time = np.arange(4)
    >>> task = Task(X=np.zeros((4, 1)), y=np.zeros(4), classification=False, time=time, time_end=time + 1)
    >>> overlapping(task, np.array([0, 1]), np.array([2, 3])).tolist()
    [False, True]
    """
    assert task.time is not None
    assert task.time_end is not None
    order = np.argsort(task.time[held], kind="stable")
    starts = task.time[held][order]
    latest = np.maximum.accumulate(task.time_end[held][order])  # the latest end among rows that start no later
    begun = np.searchsorted(starts, task.time_end[train], side="right")  # held-out rows that start before a row ends
    return np.asarray((begun > 0) & (latest[np.maximum(begun - 1, 0)] >= task.time[train]))
