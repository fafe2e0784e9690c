"""Whole groups dealt to parts so that every part gets its share of the rows and of each stratum.

A deal is greedy, heavy groups first, and then settled by exchanges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.splits.cargo import Cargo
from heldout.splits.settle import settle

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
EXCHANGED = 2 / 3  # of the groups, where several draws are to differ
SPARE = 1e-6


def deal_groups(cargo: Cargo, k: int, *, seed: int | None, again: bool = False) -> Codes:
    """The part, of k, that each group goes to. None is empty as long as there are k groups.

    Parameters
    ----------
    seed : int or None
        Decides the order among groups of about the same weight; None: the heaviest first, exactly.
    again : bool
        Whether this deal repeats another. Then some groups, by chance, stay where the greedy deal put them: otherwise
        few groups would be dealt alike each time.
    """
    chance = None if seed is None else np.random.RandomState(seed)
    order, starts = _runs(cargo, chance)
    gaps = np.repeat(-cargo.totals[:, None] / k, k, axis=1)
    parts = np.empty(len(cargo), dtype=np.intp)
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        columns, amounts = cargo.of(order[begin])
        levels = amounts @ gaps[columns]
        if end - begin == 1:
            part = int(levels.argmin())
            parts[order[begin]] = part
            gaps[columns, part] += amounts
        else:
            shares = fill_up(levels / cargo.weights[order[begin]], end - begin)
            parts[order[begin:end]] = np.repeat(np.arange(k), shares)
            gaps[columns] += amounts[:, None] * shares
    light = order[::-1]  # the last dealt are the lightest, fit for fine work
    if again and chance is not None:
        light = light[chance.random_sample(len(light)) < EXCHANGED]
    return settle(cargo, parts, gaps, light)


def fill_up(levels: Floats, count: int) -> Codes:
    """How many of `count` equal units go to each vessel when every unit goes to the lowest and raises it by one.

    Examples
    --------
    >>> import numpy as np
    >>> fill_up(np.array([0.0, 2.5, 0.5]), 4).tolist()
    [2, 0, 2]
    """
    low = np.sort(levels)
    # With the j lowest vessels covered, the water stands at (count + their levels) / j: the highest j that it reaches.
    surface = (count + np.cumsum(low)) / np.arange(1, len(low) + 1)
    surface_now = surface[np.flatnonzero(surface >= low)[-1]]
    # Rounded down with a little to spare: what is left over is poured below, too much could not be taken back.
    units: Codes = np.maximum(np.floor(surface_now - levels - SPARE), 0).astype(np.intp)
    left = count - int(units.sum())
    while left > 0:
        lowest = np.argsort(levels + units, kind="stable")[:left]
        units[lowest] += 1
        left -= len(lowest)
    return units


def exchange_for_shares(cargo: Cargo, taken: Codes, share: float, *, seed: int, again: bool) -> Codes:
    """The groups `taken`, after exchanges with the others that bring `share` of each stratum among them.

    `again` says that other draws are to differ from this one, so that some groups stay where chance put them.
    """
    parts = np.ones(len(cargo), dtype=np.intp)
    parts[taken] = 0
    inside = np.repeat(parts == 0, np.diff(cargo.starts))
    width = len(cargo.totals)
    gap = np.bincount(cargo.columns[inside], weights=cargo.amounts[inside], minlength=width) - share * cargo.totals
    free = np.random.RandomState(seed).permutation(len(cargo))
    free = free[: round(EXCHANGED * len(cargo))] if again else free
    return np.flatnonzero(settle(cargo, parts, np.column_stack([gap, -gap]), free) == 0)


def _runs(cargo: Cargo, chance: np.random.RandomState | None) -> tuple[Codes, Codes]:
    """Groups in the order of dealing, equal cargo side by side, and where each run of equals starts."""
    count = len(cargo)
    mixed = np.arange(count) if chance is None else chance.permutation(count)
    weights = cargo.weights if chance is None else np.floor(np.log2(cargo.weights))
    _, first, kind = np.unique(cargo.likeness[mixed], return_index=True, return_inverse=True)
    places = np.lexsort((first[kind], -weights[mixed]))
    kinds = kind[places]
    starts = np.flatnonzero(np.append(True, kinds[1:] != kinds[:-1]))
    return mixed[places], np.append(starts, count)
