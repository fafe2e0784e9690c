"""Numbers as 64-bit words: the raw matter of content hashes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

NUMBER_KINDS = "biufmM"  # dtype kinds that have words; datetimes count as the integers they are kept as
_HALF = np.uint64(32)


def number_words(tile: NDArray[Any], scratch: Words) -> Words:
    """One word for each number, written into `scratch` (2 × at least the size of the tile).

    A float is its value as float64, with one NaN and one zero; an integer, boolean or datetime its value as int64.
    The high half of each word is folded into its low half: signs and exponents lie at the top, where a
    multiplication modulo 2**64 would lose them (two sign bits, 2**63 each, would even cancel).
    """
    words = scratch[0, : tile.size].reshape(tile.shape)
    shifted = scratch[1, : tile.size].reshape(tile.shape)
    kind = tile.dtype.kind
    if kind == "f":
        _write_floats(words.view(np.float64), tile)
    elif kind == "u":
        words[...] = tile
    else:
        words.view(np.int64)[...] = tile.astype(np.int64) if kind in "mM" else tile
    np.right_shift(words, _HALF, out=shifted)
    return np.bitwise_xor(words, shifted, out=words)


def _write_floats(floats: NDArray[np.float64], tile: NDArray[Any]) -> None:
    with np.errstate(all="ignore"):  # numbers wider than float64 may overflow; they are learned from as float64 too
        if tile.dtype == np.float64:
            np.add(tile, 0.0, out=floats)  # -0.0 + 0.0 is 0.0
        else:
            floats[...] = tile
            floats += 0.0
        # A minimum is NaN when any number is: cheaper than a mask that is seldom needed.
        if np.isnan(np.minimum.reduce(floats, axis=None, initial=np.inf)):
            floats[np.isnan(floats)] = np.nan
