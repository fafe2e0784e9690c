"""Keys of sets of rows, and the seeds that depend on them.

A key is the sum of one hash per row, so the key of a set difference is found without building the set.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]  # n × 2: two independent lanes of 64 bits
Rows = NDArray[np.intp]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit values so that every bit of the input reaches every bit of the output (splitmix64)."""
    z = values + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_A
    z = (z ^ (z >> np.uint64(27))) * _MIX_B
    return np.asarray(z ^ (z >> np.uint64(31)))


def index_hashes(n: int) -> Hashes:
    """Hash each row number. These hashes identify the rows of one task."""
    numbers = np.arange(n, dtype=np.uint64)
    return np.stack([mix(numbers), mix(numbers + np.uint64(0xD1B54A32D192ED03))], axis=1)


def key_of(hashes: Hashes, rows: Rows) -> int:
    """Return the key of a set of rows: the sum of their hashes, lane by lane."""
    low, high = hashes[rows].sum(axis=0, dtype=np.uint64)
    return (int(high) << 64) | int(low)


def key_minus(whole: int, part: int) -> int:
    """Return the key of a set without one of its subsets."""
    lane = (1 << 64) - 1
    low = ((whole & lane) - (part & lane)) & lane
    high = ((whole >> 64) - (part >> 64)) & lane
    return (high << 64) | low


def derive(seed: int, *path: str | int) -> int:
    """Derive a seed in [0, 2**32) that depends on `seed` and on `path` alone.

    >>> derive(0, "validation", 12) == derive(0, "validation", 12) != derive(0, "test", 12)
    True
    """
    text = "\x1f".join([str(seed), *(f"{type(p).__name__}:{p}" for p in path)])
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "little")
