"""Which rows could as well have had each other's target, were there nothing to learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import RoleError
from heldout.base.rowkeys import Rows
from heldout.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exchange:
    """A way to shuffle the target: `rows(rng)` says from which row each row takes its target."""

    words: str
    rows: Callable[[np.random.Generator], Rows]


def exchange_of(task: Task) -> Exchange:
    """Within strata where there are any; within groups, or of whole groups that have one target each."""
    strata = np.zeros(len(task), dtype=np.intp) if task.strata is None else task.strata
    within = "" if task.strata is None else " within each stratum"
    if task.groups is None:
        _refuse_still(task, strata)
        return Exchange(words=f"rows{within}", rows=lambda rng: _shuffle_within(strata, rng))
    if _varies(task, task.groups):
        blocks = task.groups * (int(strata.max()) + 1) + strata
        _refuse_still(task, blocks)
        return Exchange(words=f"rows within each group{within}", rows=lambda rng: _shuffle_within(blocks, rng))
    _, first, codes = np.unique(task.groups, return_index=True, return_inverse=True)
    if (strata != strata[first][codes]).any():
        raise RoleError(
            "Whole groups would exchange their targets, but a group lies in several strata. Leave strata out, "
            "or declare strata that groups do not cross."
        )
    _refuse_still(task, strata)
    return Exchange(words=f"whole groups{within}", rows=lambda rng: first[_shuffle_within(strata[first], rng)][codes])


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
