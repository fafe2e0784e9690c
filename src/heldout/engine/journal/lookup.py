"""Finding the candidates of a study by their keys, many at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.engine.journal.keys import CANDIDATE_BYTES


class CandidateLookup:
    """From keys of candidates to their numbers in a study; equal candidates share a key, and each is found."""

    def __init__(self, keys: NDArray[np.uint8]) -> None:
        texts = _as_texts(keys)
        self._order = np.argsort(texts, kind="stable")
        self._sorted = texts[self._order]

    def find(self, keys: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The candidates with these keys, and at which place among `keys` each stands.

        >>> study = np.arange(48, dtype=np.uint8).reshape(3, 16)
        >>> CandidateLookup(study).find(study[[2, 0]] | np.array([[0], [128]], dtype=np.uint8))
        (array([2]), array([0]))
        """
        texts = _as_texts(keys)
        low, high = np.searchsorted(self._sorted, texts), np.searchsorted(self._sorted, texts, side="right")
        counts = high - low
        places = np.repeat(np.arange(len(texts)), counts)
        within = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._order[low[places] + within], places


def _as_texts(keys: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Keys that numpy can sort. Trailing zero bytes count as padding, which still tells keys of one length apart."""
    return np.ascontiguousarray(keys).view(f"S{CANDIDATE_BYTES}").reshape(-1)
