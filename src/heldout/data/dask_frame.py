"""Reads Dask data frames as streams; workers process the partitions and return only small results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import ColumnError, InputError
from heldout.data.stream_columns import feature_columns, refuse_missing
from heldout.splits.cells import Codes
from heldout.task.stream import Chunk, Stream

AT_A_TIME = 16  # partitions computed at a time; their results are taken in order


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DaskStream(Stream):
    """A stream over a Dask data frame; each partition that has rows is a chunk, in their order."""

    frame: Any
    sizes: tuple[int, ...]

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks in one pass; each partition is copied to this process in turn."""
        for number, start in self._starts():
            yield _chunk(self.frame.get_partition(number).compute(), start, self.columns, self.target)

    def targets(self) -> Iterator[NDArray[Any]]:
        """Yield the distinct labels of each partition, which the workers find."""
        yield from self._on_workers(self.frame[[self.target]], [partial(_labels, self.target)] * len(self._starts()))

    def spread(self, do: Callable[..., Any], counts: Iterator[Codes] | None = None) -> Iterator[Any]:
        """Yield `do(chunk, before)` of each chunk in order, computed by the workers.

        `before` is the sum of the `counts` of all earlier chunks: their rows of each kind. Without `counts` it is None.
        """
        starts = self._starts()
        before: Sequence[Any] = [None] * len(starts)
        if counts is not None:
            each = np.array(list(counts))
            before = np.cumsum(each, axis=0) - each
        chunk_of = partial(_chunk, columns=self.columns, target=self.target)
        work = [
            partial(_on_partition, do, partial(chunk_of, start=start), passed)
            for (_, start), passed in zip(starts, before, strict=True)
        ]
        yield from self._on_workers(self.frame, work)

    def _starts(self) -> list[tuple[int, int]]:
        """Return the index of each partition that has rows, with the number of its first row."""
        firsts = np.cumsum([0, *self.sizes]).tolist()
        return [(number, firsts[number]) for number, size in enumerate(self.sizes) if size]

    def _on_workers(self, frame: Any, work: Sequence[Callable[[Any], Any]]) -> Iterator[Any]:
        """Run one task per partition on the active scheduler, a few at a time; yield the results in order."""
        import dask

        parts = frame.to_delayed()
        waiting = deque(
            dask.delayed(task, pure=False, traverse=False)(parts[number])
            for (number, _), task in zip(self._starts(), work, strict=True)
        )
        while waiting:
            batch = [waiting.popleft() for _ in range(min(AT_A_TIME, len(waiting)))]
            yield from dask.compute(*batch)


def open_dask(frame: Any, target: Any) -> DaskStream:
    """Open a Dask data frame as a stream; the rows of its partitions are counted first."""
    names = [str(name) for name in frame.columns]
    other_types = {name: kind for name, kind in zip(names, frame.dtypes, strict=True) if not _is_number(kind)}
    columns = feature_columns("the Dask data frame", names, target, other_types=other_types)
    sizes = tuple(int(size) for size in frame.map_partitions(len).compute())
    if not sum(sizes):
        raise InputError("The Dask data frame has no rows.")
    words = "\x1f".join([*names, target, *map(str, frame.dtypes), *map(str, sizes)])
    return DaskStream(
        name=f"Dask data frame of {frame.npartitions} partitions",
        frame=frame,
        rows=sum(sizes),
        sizes=sizes,
        columns=columns,
        target=target,
        fingerprint=blake2b(words.encode(), digest_size=16).hexdigest(),
    )


def _is_number(kind: Any) -> bool:
    return isinstance(kind, np.dtype) and kind.kind in "biuf" and kind != np.float16


def _on_partition(do: Callable[..., Any], chunk_of: Callable[[Any], Chunk], passed: Codes | None, part: Any) -> Any:
    return do(chunk_of(part), passed)


def _labels(target: str, part: Any) -> NDArray[Any]:
    return np.unique(_target(part[target], target, 0))


def _chunk(part: Any, start: int, columns: tuple[str, ...], target: str) -> Chunk:
    values = [part[name].to_numpy() for name in columns]
    for name, found in zip(columns, values, strict=True):
        if found.dtype.kind not in "biuf":
            raise ColumnError(f"Column {name!r} holds {found.dtype} from row {start} on, not the numbers it declares.")
    return Chunk(start=start, columns=values, y=_target(part[target], target, start))


def _target(values: Any, name: str, start: int) -> NDArray[Any]:
    refuse_missing(values.isna().to_numpy(), name, start, target=True)
    found: NDArray[Any] = np.asarray(values.to_numpy())
    return found.astype(object) if found.dtype.kind not in "biuf" else found
