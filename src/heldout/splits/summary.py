"""Summary of drawn splits (rows, groups, times and class shares of each part), and the data of their picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from heldout.base.rowkeys import Rows
from heldout.splits.drawn import Splits
from heldout.splits.strata import PLURALS, Strata, strata_to_keep
from heldout.splits.time_blocks import in_time_order
from heldout.task import Task

Columns = dict[str, Any]
Counts = NDArray[np.intp]
MOST_SHARES = 1 << 22  # parts × classes: a larger table of shares is left out
TRAIN, HELD = "train", "held"
MOST_LANES = 40  # parts that are shown, evenly spread over all of them; more are too thin to see
MOST_BINS = 240  # stretches of rows, each at least a pixel or two wide
MARKS = 5  # positions along the axis that are named


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """Drawn splits in numbers, as columns and plain values."""

    words: str
    parts: Columns  # a row for each part
    shares: Columns  # a row for each part, side and class or stratum; no columns where there is neither
    totals: Mapping[str, Any]  # plain values over all parts


def summarise_splits(task: Task, splits: Splits) -> Summary:
    """Count the rows, groups and classes of each part of `splits`, drawn from `task`.

    The time is linear in the stored rows: training sides of all other rows are counted without being built.
    """
    count, sizes = len(splits), splits.train_sizes
    none = np.zeros(count, dtype=np.intp)
    different, effective = sizes, sizes.astype(np.float64)
    if splits.train is not None:  # a splitter of the user may name a training row twice: it is one row
        different = np.array([len(np.unique(splits.train_rows(part))) for part in range(count)], dtype=np.intp)
    if task.weight is not None:  # effective number of rows: (Σw)²/Σw², Kish's formula
        effective = splits.train_sums(task.weight) ** 2 / splits.train_sums(task.weight**2)
    parts: Columns = {
        "part": np.arange(count),
        # Each repeat of a partition holds every row out once.
        "repeat": splits.held_cuts[:-1] // len(splits.rows) if splits.recipe.partition else none,
        "train_rows": sizes,
        "held_rows": splits.held_sizes,
        "unused_rows": len(splits.rows) - splits.held_sizes - different,
        "buffer_rows": none if splits.buffered is None else splits.buffered,
        "effective_train": effective,
        **_group_counts(task, splits),
        **_times(task, splits),
    }
    shares, spread = _shares(task, splits)
    return Summary(words=splits.recipe.words, parts=parts, shares=shares, totals={**_totals(splits, parts), **spread})


def counts_by_side(splits: Splits, strata: Strata) -> tuple[Counts, Counts]:
    """Count the training and held-out rows of each stratum or label in each part: two arrays (parts × strata).

    `strata` are those of `splits.rows`, in that order.
    """
    shape = (len(splits.rows), len(strata.values))
    marks = csr_array((np.ones(len(strata.codes), dtype=np.intp), (strata.positions, strata.codes)), shape=shape)

    def count(rows: Rows, cuts: Rows) -> Counts:
        named = np.ones(len(rows), dtype=np.intp), np.searchsorted(splits.rows, rows), cuts
        return np.asarray((csr_array(named, shape=(len(cuts) - 1, len(splits.rows))) @ marks).toarray())

    held = count(splits.held, splits.held_cuts)
    if splits.train is None or splits.train_cuts is None:
        return strata.counts - held, held
    return count(splits.train, splits.train_cuts), held


def _group_counts(task: Task, splits: Splits) -> Columns:
    if task.groups is None:
        return {}
    groups = task.groups
    held = np.array([len(np.unique(groups[splits.held_rows(part)])) for part in range(len(splits))])
    if splits.train is None:  # groups are whole, so the rest has all the others
        train = len(np.unique(groups[splits.rows])) - held
    else:
        train = np.array([len(np.unique(groups[splits.train_rows(part)])) for part in range(len(splits))])
    return {"train_groups": train, "held_groups": held}


def _times(task: Task, splits: Splits) -> Columns:
    """Return the first and last time of each side of each part."""
    if task.time is None:
        return {}
    ordered = in_time_order(task, splits.rows)
    times = task.time[ordered]
    position = np.empty(int(splits.rows[-1]) + 1, dtype=np.intp)
    position[ordered] = np.arange(len(ordered))
    ends = np.empty((4, len(splits)), dtype=np.intp)
    for part in range(len(splits)):
        held = np.sort(position[splits.held_rows(part)])
        if splits.train is None:
            train = _ends_of_rest(held, len(ordered))
        else:
            positions = position[splits.train_rows(part)]
            train = int(positions.min()), int(positions.max())
        ends[:, part] = *train, held[0], held[-1]
    names = ("train_from", "train_to", "held_from", "held_to")
    return {name: times[row] for name, row in zip(names, ends, strict=True)}


def _ends_of_rest(held: NDArray[np.intp], n: int) -> tuple[int, int]:
    """Return the first and last position of 0..n-1 that is not in the ascending `held`."""
    from_start = np.flatnonzero(held != np.arange(len(held)))
    from_end = np.flatnonzero(held != np.arange(n - len(held), n))
    first = int(from_start[0]) if len(from_start) else len(held)
    last = n - len(held) + int(from_end[-1]) if len(from_end) else n - len(held) - 1
    return first, last


def _shares(task: Task, splits: Splits) -> tuple[Columns, Mapping[str, Any]]:
    """Return the class shares of both sides of each part, and the largest deviation from the share in all rows."""
    if task.strata is None and task.classes is None and not splits.recipe.stratified:
        return {}, {}
    parts = len(splits)
    strata = strata_to_keep(task, splits.rows, at_least=max(2, parts // splits.recipe.repeats))
    count = len(strata.values)
    facts: dict[str, Any] = {"strata": PLURALS[strata.word], "strata_count": count}
    if count * parts > MOST_SHARES:
        return {}, {**facts, "shares_untold": True}
    sides = dict(zip((TRAIN, HELD), counts_by_side(splits, strata), strict=True))
    sizes = {TRAIN: splits.train_sizes, HELD: splits.held_sizes}
    overall = strata.counts / len(splits.rows)
    shares = {side: counts / sizes[side][:, None] for side, counts in sides.items()}
    for side, share in shares.items():
        facts[f"{side}_deviation"] = _farthest(share - overall, strata)
    columns = {
        "part": np.tile(np.repeat(np.arange(parts), count), 2),
        "side": [side for side in sides for _ in range(parts * count)],
        strata.word: list(strata.values) * (2 * parts),
        "rows": np.concatenate([counts.ravel() for counts in sides.values()]),
        "share": np.concatenate([share.ravel() for share in shares.values()]),
        "overall": np.tile(overall, 2 * parts),
    }
    return columns, facts


def _farthest(deviations: NDArray[np.float64], strata: Strata) -> dict[str, Any]:
    part, code = np.unravel_index(int(np.argmax(np.abs(deviations))), deviations.shape)
    return {"points": 100 * float(deviations[part, code]), "part": int(part), "of": strata.named(int(code))}


def _totals(splits: Splits, parts: Columns) -> dict[str, Any]:
    sizes = splits.train_sizes
    return {
        "rows": len(splits.rows),
        "parts": len(splits),
        "repeats": splits.recipe.repeats,
        "train_least": int(sizes.min()),
        "train_most": int(sizes.max()),
        "train_mean": float(sizes.mean()),
        "train_share": float(sizes.mean()) / len(splits.rows),
        "effective_mean": float(parts["effective_train"].mean()),
        "unused_mean": float(parts["unused_rows"].mean()),
        "buffer_mean": float(parts["buffer_rows"].mean()),
        "fingerprint": splits.fingerprint,
    }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Picture:
    """Data of the picture of splits: rows counted in stretches, so that its size does not depend on their number."""

    words: str
    parts: int  # all of them
    lanes: NDArray[np.intp]  # the parts that are shown, one below the other
    in_time: bool  # rows from earliest to latest, not by their number
    edges: NDArray[np.intp]  # where stretches begin and end, in rows
    marks: tuple[tuple[int, str], ...]  # a position on the axis, and the time or the row number there
    train: NDArray[np.intp]  # lanes × stretches: rows
    held: NDArray[np.intp]
    unused: NDArray[np.intp]


def picture_of(task: Task, splits: Splits, *, most_bins: int = MOST_BINS) -> Picture:
    """Count the rows of every part in stretches of the data, in time order where time is declared."""
    n = len(splits.rows)
    ordered = splits.rows if task.time is None else in_time_order(task, splits.rows)
    bins = min(n, most_bins)
    lanes = np.unique(np.linspace(0, len(splits) - 1, min(len(splits), MOST_LANES)).astype(np.intp))
    edges = np.arange(bins + 1) * n // bins
    bin_of = np.empty(int(splits.rows[-1]) + 1, dtype=np.int32)  # by row number; only rows of this level are looked up
    bin_of[ordered] = np.repeat(np.arange(bins, dtype=np.int32), np.diff(edges))
    sizes = np.diff(edges)
    train, held = (np.zeros((len(lanes), bins), dtype=np.intp) for _ in range(2))
    for lane, part in enumerate(lanes.tolist()):
        held[lane] = np.bincount(bin_of[splits.held_rows(part)], minlength=bins)
        if splits.train is None:
            train[lane] = sizes - held[lane]
        else:
            train[lane] = np.bincount(bin_of[np.unique(splits.train_rows(part))], minlength=bins)
    return Picture(
        words=splits.recipe.words,
        parts=len(splits),
        lanes=lanes,
        in_time=task.time is not None,
        edges=edges,
        marks=_marks(None if task.time is None else task.time[ordered], n),
        train=train,
        held=held,
        unused=sizes - train - held,
    )


def _marks(times: NDArray[Any] | None, n: int) -> tuple[tuple[int, str], ...]:
    """Return some evenly spaced positions and their names, the first and the last row among them."""
    positions = sorted({int(position) for position in np.linspace(0, n - 1, MARKS)})
    if times is None:
        return tuple((position, f"{position:,}") for position in positions)
    if times.dtype.kind == "M" and times[-1] - times[0] >= np.timedelta64(MARKS, "D"):
        times = times.astype("datetime64[D]")
    return tuple((position, str(times[position])) for position in positions)
