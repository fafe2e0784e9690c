"""Which rows could as well have had each other's target, were there nothing to learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import RoleError
from heldout.base.rowkeys import Rows
from heldout.task import Task

FEWEST_ALIKE = 5  # groups that exchange their targets with one another


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exchange:
    """A way to shuffle the target: `rows(rng)` says from which row each row takes its target."""

    words: str
    rows: Callable[[np.random.Generator], Rows]


def exchange_of(task: Task) -> Exchange:
    """Within strata where there are any: rows; whole groups that have one target each; else groups, and rows in them.

    Shuffling rows within their groups alone would leave every group its own targets, and so all that features which
    groups have in common can tell: a learner would do as well on the shuffled targets.
    """
    strata = np.zeros(len(task), dtype=np.intp) if task.strata is None else task.strata
    within = "" if task.strata is None else " within each stratum"
    if task.groups is None:
        _refuse_still(task, strata)
        return Exchange(words=f"rows{within}", rows=lambda rng: _shuffle_within(strata, rng))
    if _varies(task, task.groups):
        _refuse_still(task, strata)
        words = f"groups of about the same size, and rows within each group{within}"
        deal = _GroupsAndRows.of(np.unique(task.groups, return_inverse=True)[1], strata)
        return Exchange(words=words, rows=deal.rows)
    _, first, codes = np.unique(task.groups, return_index=True, return_inverse=True)
    if (strata != strata[first][codes]).any():
        raise RoleError(
            "Whole groups would exchange their targets, but a group lies in several strata. Leave strata out, "
            "or declare strata that groups do not cross."
        )
    _refuse_still(task, strata)
    return Exchange(words=f"whole groups{within}", rows=lambda rng: first[_shuffle_within(strata[first], rng)][codes])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _GroupsAndRows:
    """Groups that take each other's targets, in random order, as far as there are rows for them.

    A group that is larger than the one whose targets it takes gets the rest from the next group in the same cycle of
    exchanges, which may be itself. So every target is used once, and groups of equal size take each other's whole.
    """

    groups: NDArray[np.intp]  # of each row, 0..G-1
    strata: NDArray[np.intp]
    alike: NDArray[np.intp]  # of each group: which groups it may exchange with
    counts: NDArray[np.intp]  # groups × strata: rows

    @classmethod
    def of(cls, groups: NDArray[np.intp], strata: NDArray[np.intp]) -> _GroupsAndRows:
        kinds = int(strata.max()) + 1
        shape = int(groups.max()) + 1, kinds
        counts = np.bincount(groups * kinds + strata, minlength=shape[0] * kinds).reshape(shape)
        return cls(groups=groups, strata=strata, alike=_alike(counts.sum(axis=1)), counts=counts)

    def rows(self, rng: np.random.Generator) -> Rows:
        """From which row each row takes its target."""
        taken_from = _shuffle_within(self.alike, rng)
        takers, place = self._in_random_order(rng)
        givers, _ = self._in_random_order(rng)
        strata, source = self.strata[takers], taken_from[self.groups[takers]]
        while len(short := np.flatnonzero(place >= self.counts[source, strata])):
            source[short] = taken_from[source[short]]
        starts = np.append(0, np.cumsum(self.counts)[:-1]).reshape(self.counts.shape)
        rows = np.empty_like(takers)
        rows[takers] = givers[starts[source, strata] + place]
        return rows

    def _in_random_order(self, rng: np.random.Generator) -> tuple[Rows, NDArray[np.intp]]:
        """Rows by group and stratum, in random order within, and the place of each there."""
        by_chance = rng.permutation(len(self.groups))
        order = by_chance[np.lexsort((self.strata[by_chance], self.groups[by_chance]))]
        counts = self.counts.ravel()
        return order, np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)


def _alike(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Groups of about the same size, as codes: equal sizes together, with their neighbours where they are few."""
    values, codes, groups = np.unique(sizes, return_inverse=True, return_counts=True)
    bins, filled = np.zeros(len(values), dtype=np.intp), 0
    for place, count in enumerate(groups.tolist()):
        bins[place] = bins[place - 1] + (filled >= FEWEST_ALIKE) if place else 0
        filled = count if place and bins[place] > bins[place - 1] else filled + count
    if filled < FEWEST_ALIKE and bins[-1] > 0:
        bins[bins == bins[-1]] -= 1
    return np.asarray(bins[codes], dtype=np.intp)


def _shuffle_within(blocks: NDArray[np.intp], rng: np.random.Generator) -> Rows:
    rows = np.arange(len(blocks), dtype=np.intp)
    by_chance = rng.permutation(len(blocks))
    rows[np.argsort(blocks, kind="stable")] = by_chance[np.argsort(blocks[by_chance], kind="stable")]
    return rows


def _varies(task: Task, blocks: NDArray[np.intp]) -> bool:
    """Whether the target takes several values inside some block."""
    _, first, codes = np.unique(blocks, return_index=True, return_inverse=True)
    return bool((task.y != task.y[first][codes]).any())


def _refuse_still(task: Task, blocks: NDArray[np.intp]) -> None:
    if not _varies(task, blocks):
        raise RoleError(
            "Shuffling changes nothing: the target is the same for all rows that may exchange it. Leave strata out, or "
            "declare coarser ones."
        )
