"""A task that passes in chunks: larger than memory, so its rows are seen once a pass and never picked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from heldout.base.errors import InputError
from heldout.base.rowkeys import Hashes, Rows
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunk:
    """Some rows that follow each other: a plain array of numbers a column, and the target."""

    start: int  # the number of the first row
    columns: Sequence[NDArray[Any]]
    y: NDArray[Any]

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stream(ABC):
    """Data that can be read from the beginning as often as asked, in the same chunks each time."""

    name: str  # for people: "data.parquet"
    rows: int
    columns: tuple[str, ...]  # the names of the columns of X
    target: str
    fingerprint: str  # 32 hex digits: what tells this stream from others

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """One pass. What cannot be read as plain numbers is refused, the column named."""

    @abstractmethod
    def targets(self) -> Iterator[NDArray[Any]]:
        """One pass over the target alone."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StreamedTask(Task):
    """A task of which only the first rows are at hand: `X` and `y` hold them, or for a classifier y its classes."""

    rows: int
    name: str
    content: str  # the stream's fingerprint

    def __post_init__(self) -> None:
        vars(self)["size"] = self.rows

    @property
    def fingerprint(self) -> str:
        """The stream's own: made from what the file says of itself, not from every value in it."""
        return self.content

    @property
    def row_hashes(self) -> Hashes:
        raise self._no_access()

    def take(self, rows: Rows) -> Any:
        raise self._no_access()

    def _no_access(self) -> InputError:
        return InputError(f"{self.name!r} is read as a stream, so single rows of it cannot be picked. Load the data.")
