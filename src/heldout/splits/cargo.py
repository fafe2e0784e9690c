"""What groups bring to the part they are dealt to: rows of each stratum, on the scale on which unevenness is counted.

How uneven a deal is: the sum over parts and strata of (rows − expected rows)² / rows of the stratum in all, as in a
chi-square, with the number of rows as one more column that weighs a quarter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.splits.strata import Labels, Strata

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
WEIGHT_OF_SIZE = 0.25  # parts of even size, but even shares of the strata first
FULL_TABLE = 4  # times the rows: larger tables of groups × strata are kept without their zeros


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cargo:
    """What each group brings to its part: scaled amounts in few of many columns, group after group.

    Memory is linear in the rows, however many strata there are.
    """

    starts: Codes  # of each group, and the end
    columns: Codes
    amounts: Floats  # rows / √(rows of the column in all)
    totals: Floats  # of each column
    weights: Floats  # of each group: the sum of its squared amounts
    likeness: NDArray[np.uint64]  # of each group: equal where groups bring the same

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def carriers(self) -> Codes:
        """In how many groups each stratum is found."""
        return np.bincount(self.columns, minlength=len(self.totals))[:-1]

    def of(self, group: int) -> tuple[Codes, Floats]:
        """The columns and amounts of one group."""
        own = slice(self.starts[group], self.starts[group + 1])
        return self.columns[own], self.amounts[own]


def cargo_of(groups: Codes, strata: Strata | Labels) -> Cargo:
    """What groups (codes 0..G-1, one a row) bring of each stratum, and of rows in all."""
    places, codes = strata.entries
    kinds = len(strata.values)
    width, count = kinds + 1, int(groups.max()) + 1
    keys = np.concatenate([groups[places] * width + codes, groups * width + kinds])
    if count * width <= FULL_TABLE * len(keys):
        table = np.bincount(keys, minlength=count * width)
        met = np.flatnonzero(table)
        rows = table[met]
    else:
        met, rows = np.unique(keys, return_counts=True)
    columns = met % width
    starts = np.append(0, np.cumsum(np.bincount(met // width, minlength=count)))
    totals = np.bincount(columns, weights=rows, minlength=width)
    scale = 1 / np.sqrt(totals)
    scale[kinds] *= np.sqrt(WEIGHT_OF_SIZE)
    amounts = rows * scale[columns]
    # Equal sums of hashes mean equal cargo but for a collision in 64 bits, which would cost some evenness and no more.
    marks = np.random.RandomState(0).randint(0, 2**64, width, dtype=np.uint64)
    return Cargo(
        starts=starts,
        columns=columns,
        amounts=amounts,
        totals=totals * scale,
        weights=np.add.reduceat(amounts**2, starts[:-1]),
        likeness=np.add.reduceat(rows.astype(np.uint64) * marks[columns], starts[:-1]),
    )
