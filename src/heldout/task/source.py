"""Where the rows of a table come from, and how messages number them: by the lines of a file, or from 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """Holds the name of a file and how its rows are numbered; without a file rows are counted from 0."""

    name: str | None = None  # "houses.csv"
    read_as: str = ""  # how the file was read, in words, unless that is the usual way
    unit: str = "row"  # what messages call a row: "line", "sheet row"
    number: Callable[[], Numbers | None] = lambda: None  # numbers each row; called only when a message needs it

    def kept(self, rows: NDArray[np.bool_]) -> Source:
        """Return the source of the rows that are kept of this one's."""

        def number() -> Numbers | None:
            numbers = self.number()
            return np.flatnonzero(rows) if numbers is None else numbers[rows]

        return replace(self, number=number)


MEMORY = Source()
_source: ContextVar[Source] = ContextVar("heldout source", default=MEMORY)


@contextmanager
def rows_from(source: Source) -> Iterator[None]:
    """Record this source as that of all rows that are declared inside, and of the messages about them."""
    token = _source.set(source)
    try:
        yield
    finally:
        _source.reset(token)


def source_of_now() -> Source:
    """Return the source of the rows that are declared now."""
    return _source.get()


def some_rows(rows: Sequence[int] | Numbers, *, shown: int = 5) -> str:
    """Format the numbers of rows for a message: the first few, and how many there are.

    >>> some_rows([3])
    'row 3'
    >>> some_rows(np.arange(9))
    'rows 0, 1, 2, 3, 4, … (9 in all)'
    >>> with rows_from(Source(unit="line", number=lambda: np.arange(2, 12))):
    ...     some_rows([0, 3])
    'lines 2, 5'
    """
    source, asked = source_of_now(), np.asarray(rows)
    numbers = source.number()
    known = numbers is not None and asked.max() < len(numbers)
    numbers, unit = (numbers[asked], source.unit) if numbers is not None and known else (asked, "row")
    first = ", ".join(str(int(number)) for number in numbers[:shown])
    if len(numbers) == 1:
        return f"{unit} {first}"
    return f"{unit}s {first}" + ("" if len(numbers) <= shown else f", … ({len(numbers)} in all)")
