"""Opens the data that the user names: Parquet files and Dask data frames as streams, other files as tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heldout.base.errors import InputError, OptionError, TargetError
from heldout.data.dask_frame import open_dask
from heldout.data.parquet import ParquetStream, open_parquet
from heldout.data.read_table import is_read_whole, open_table, read_source
from heldout.kernels.statistics.gather import first_shift
from heldout.kernels.sums.dataset import SAMPLED_ROWS, Shift
from heldout.task.source import rows_from
from heldout.task.stream import Chunk, Stream, StreamedTask

MOST_CLASSES = 1_000


def is_stream(X: Any) -> bool:
    """Check whether X is read as a stream: a Parquet file or folder, or a Dask data frame."""
    if isinstance(X, str | os.PathLike):
        return not is_read_whole(X)
    return is_dask_frame(X)


def is_dask_frame(X: Any) -> bool:
    """Check whether X is a Dask data frame, without importing Dask."""
    kind = type(X)
    return kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] in ("dask", "dask_expr")


@contextmanager
def table_of(X: Any) -> Iterator[Any]:
    """Yield the table in the file that X names, as the source of what is declared inside; anything else unchanged."""
    if isinstance(X, str | os.PathLike):
        frame, source = read_source(open_table(os.fspath(X)))
        with rows_from(source):
            yield frame
    else:
        yield X


def target_of(y: Any, target: Any) -> Any:
    """Return the target, which is given as either `y` or `target`."""
    if y is not None and target is not None:
        raise OptionError("y= and target= are the same thing. Pass one of them.")
    return y if target is None else target


def open_stream(X: Any, target: Any) -> Stream:
    """Open the stream that X names; a path is read as a Parquet file or folder."""
    if is_dask_frame(X):
        return open_dask(X, target)
    if target is None:
        raise TargetError(f"Which column of {Path(X).name!r} is learned? Name it: target='price', say.")
    return open_parquet(X, target)


def declare_stream(stream: Stream, *, classification: bool) -> tuple[StreamedTask, Shift]:
    """Return the task of a stream, and the shift (subtracted from columns and target) of its first chunk.

    For classification, one pass over the target alone finds the classes.
    """
    first = next(iter(stream.chunks()), None)
    if first is None or not len(first):
        raise InputError(f"{stream.name!r} has no rows.")
    y = _classes(stream) if classification else _numbers(first, stream.name)
    head = pd.DataFrame(
        {name: column[:SAMPLED_ROWS] for name, column in zip(stream.columns, first.columns, strict=True)}
    )
    task = StreamedTask(
        X=head,
        y=y,
        classification=classification,
        columns=stream.columns,
        rows=stream.rows,
        name=stream.name,
        target=stream.target,
        source=stream.name if isinstance(stream, ParquetStream) else None,
        content=stream.fingerprint,
    )
    return task, first_shift(first, regression=not classification)


def _numbers(first: Chunk, name: str) -> NDArray[Any]:
    if first.y.dtype.kind not in "biuf":
        raise TargetError(
            f"The target of {name!r} holds {type(first.y[0]).__name__}, but this learner predicts numbers. "
            "Name a column of numbers, or use a classifier."
        )
    return first.y[:SAMPLED_ROWS]


def _classes(stream: Stream) -> NDArray[Any]:
    classes: NDArray[Any] | None = None
    for labels in stream.targets():
        in_chunk = np.unique(labels)
        classes = in_chunk if classes is None else np.unique(np.concatenate([classes, in_chunk]))
        if len(classes) > MOST_CLASSES:
            raise TargetError(
                f"The target of {stream.name!r} has more than {MOST_CLASSES:,} values. Is it a number? Then use a "
                "regressor."
            )
    assert classes is not None, "an empty stream is refused before"
    if classes.dtype.kind == "f" and not np.array_equal(classes, np.trunc(classes)):
        raise TargetError(f"The target of {stream.name!r} has fractions, which are no classes. Use a regressor.")
    if len(classes) < 2:
        raise TargetError(
            f"The target of {stream.name!r} holds only one class ({classes.tolist()[0]!r}), so there is nothing to "
            "tell apart."
        )
    return classes
