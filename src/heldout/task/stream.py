"""A task read in chunks, for data larger than memory: each pass reads all rows, and single rows cannot be selected."""

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
    """Consecutive rows: a plain array of numbers per column, and the target."""

    start: int  # the number of the first row
    columns: Sequence[NDArray[Any]]
    y: NDArray[Any]

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stream(ABC):
    """Data that can be read from the start any number of times, always in the same chunks."""

    name: str  # for people: "data.parquet"
    rows: int
    columns: tuple[str, ...]  # the names of the columns of X
    target: str
    fingerprint: str  # 32 hex digits: what tells this stream from others

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks of one pass. Raise an error that names the column if values are not plain numbers."""

    @abstractmethod
    def targets(self) -> Iterator[NDArray[Any]]:
        """Yield the target alone, in one pass."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StreamedTask(Task):
    """A task with only its first rows in memory, in `X` and `y`. For a classifier, `y` holds the classes instead."""

    rows: int
    name: str
    content: str  # the stream's fingerprint

    def __post_init__(self) -> None:
        vars(self)["size"] = self.rows

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the stream. It comes from the file's description of itself, not from every value."""
        return self.content

    @property
    def row_hashes(self) -> Hashes:
        raise self._no_access()

    def take(self, rows: Rows) -> Any:
        raise self._no_access()

    def _no_access(self) -> InputError:
        return InputError(f"{self.name!r} is read as a stream, so single rows of it cannot be picked. Load the data.")
