"""Reads Dask data frames as streams; each partition is worked on where it is, and only small results come back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import ColumnError, InputError, TargetError, did_you_mean
from heldout.splits.cells import Codes
from heldout.task.stream import Chunk

AT_A_TIME = 16  # partitions under way; what they give is taken in order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DaskStream:
    """A Dask data frame; its partitions in order are its chunks."""

    name: str
    frame: Any
    sizes: tuple[int, ...]
    columns: tuple[str, ...]
    target: str
    fingerprint: str

    @property
    def rows(self) -> int:
        return sum(self.sizes)

    def chunks(self) -> Iterator[Chunk]:
        """One pass, which brings one partition at a time to this process."""
        for number, start in self._starts():
            yield _chunk(self.frame.get_partition(number).compute(), start, self.columns, self.target)

    def targets(self) -> Iterator[NDArray[Any]]:
        """The distinct labels of each partition, found by the workers."""
        yield from self._on_workers(self.frame[[self.target]], [_Labels(self.target)] * len(list(self._starts())))

    def spread(self, do: Callable[..., Any], counts: Iterator[Codes] | None = None) -> Iterator[Any]:
        """What `do` makes of each chunk and of the rows of each kind that came before it, in order."""
        before = [None] * len(self.sizes) if counts is None else _before(counts)
        work = [
            _OfPartition(do=do, start=start, dealt=dealt, columns=self.columns, target=self.target)
            for (_, start), dealt in zip(self._starts(), before, strict=False)
        ]
        yield from self._on_workers(self.frame, work)

    def _starts(self) -> Iterator[tuple[int, int]]:
        """The partitions that have rows, and the number of their first row."""
        start = 0
        for number, size in enumerate(self.sizes):
            if size:
                yield number, start
            start += size

    def _on_workers(self, frame: Any, work: Sequence[Callable[[Any], Any]]) -> Iterator[Any]:
        """Run one task for each partition on the active scheduler, a few at a time; results come in order."""
        import dask

        parts = frame.to_delayed()
        waiting = deque(
            dask.delayed(task, pure=False, traverse=False)(parts[number])
            for (number, _), task in zip(self._starts(), work, strict=True)
        )
        while waiting:
            batch = [waiting.popleft() for _ in range(min(AT_A_TIME, len(waiting)))]
            yield from dask.compute(*batch)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _OfPartition:
    do: Callable[..., Any]
    start: int
    dealt: Codes | None
    columns: tuple[str, ...]
    target: str

    def __call__(self, part: Any) -> Any:
        return self.do(_chunk(part, self.start, self.columns, self.target), self.dealt)


@dataclass(frozen=True, slots=True)
class _Labels:
    target: str

    def __call__(self, part: Any) -> NDArray[Any]:
        return np.unique(_target(part[self.target], self.target, 0))


def is_dask_frame(X: Any) -> bool:
    """Whether this is a Dask data frame, told without importing Dask."""
    kind = type(X)
    return kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] in ("dask", "dask_expr")


def open_dask(frame: Any, target: Any) -> DaskStream:
    """The stream of a Dask data frame; its partitions are counted first."""
    names = [str(name) for name in frame.columns]
    if not isinstance(target, str) or target not in names:
        hint = did_you_mean(str(target), names)
        raise TargetError(f"y={target!r} is no column of the Dask data frame. {hint}")
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice:
        raise ColumnError(f"The Dask data frame has more than one column named {twice[0]!r}.")
    columns = tuple(name for name in names if name != target)
    if not columns:
        raise ColumnError(f"The Dask data frame has no column beside the target {target!r} to learn from.")
    for name in columns:
        kind = frame.dtypes[name]
        if not isinstance(kind, np.dtype) or kind.kind not in "biuf" or kind == np.float16:
            raise ColumnError(
                f"Column {name!r} of the Dask data frame is of type {kind}, no plain number. Turn it into numbers, or "
                "leave it out."
            )
    sizes = tuple(int(size) for size in frame.map_partitions(len).compute())
    if not sum(sizes):
        raise InputError("The Dask data frame has no rows.")
    words = "\x1f".join([*names, target, *map(str, frame.dtypes), *map(str, sizes)])
    return DaskStream(
        name=f"Dask data frame of {frame.npartitions} partitions",
        frame=frame,
        sizes=sizes,
        columns=columns,
        target=target,
        fingerprint=blake2b(words.encode(), digest_size=16).hexdigest(),
    )


def _before(counts: Iterator[Codes]) -> list[Codes]:
    """How many rows of each kind came before each partition."""
    each = list(counts)
    return [np.sum(each[:number], axis=0) if number else np.zeros_like(each[0]) for number in range(len(each))]


def _chunk(part: Any, start: int, columns: tuple[str, ...], target: str) -> Chunk:
    return Chunk(
        start=start,
        columns=[_plain(part[name], name, start) for name in columns],
        y=_target(part[target], target, start),
    )


def _plain(values: Any, name: str, start: int) -> NDArray[Any]:
    found: NDArray[Any] = values.to_numpy()
    if found.dtype.kind not in "biuf":
        raise ColumnError(f"Column {name!r} holds {found.dtype} from row {start} on, where numbers were said to be.")
    return found


def _target(values: Any, name: str, start: int) -> NDArray[Any]:
    missing = np.flatnonzero(values.isna().to_numpy())
    if len(missing):
        raise TargetError(f"The target {name!r} is missing in row {start + int(missing[0])}. Drop or fill such rows.")
    found: NDArray[Any] = np.asarray(values.to_numpy())
    return found.astype(object) if found.dtype.kind not in "biuf" else found
