"""Row numbers a user gave, kept as bytes: immutable, equal by content, hashable, small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import SplitError


@dataclass(frozen=True, slots=True, repr=False)
class Packed:
    """Whole numbers in the order given. `mask_length` is the length of the boolean mask they came from, if any."""

    raw: bytes
    mask_length: int | None = None

    @classmethod
    def of(cls, values: Any, *, who: str) -> Packed:
        """From row numbers or a boolean mask; anything else is refused."""
        numbers = np.asarray(values)
        if numbers.ndim != 1:
            raise SplitError(f"{who}: row numbers must be a flat sequence, but have the shape {numbers.shape}.")
        if numbers.dtype == bool:
            return cls(np.flatnonzero(numbers).astype(np.intp).tobytes(), len(numbers))
        if len(numbers) and not np.issubdtype(numbers.dtype, np.integer):
            raise SplitError(
                f"{who}: row numbers must be whole numbers or a boolean mask, but are {numbers.dtype}. "
                "Row numbers count from 0; names of an index do not serve."
            )
        return cls(numbers.astype(np.intp).tobytes())

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The row numbers, read-only."""
        return np.frombuffer(self.raw, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.raw) // np.dtype(np.intp).itemsize

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"

    def refuse_other_length(self, n: int, *, who: str) -> None:
        """A mask must be as long as the task."""
        if self.mask_length not in (None, n):
            raise SplitError(f"{who}: the boolean mask has {self.mask_length} entries, but the task has {n} rows.")
