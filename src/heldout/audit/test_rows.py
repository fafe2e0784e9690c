"""Test rows as the ledger stores them, so that they are recognised across studies and changes of the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from math import inf, lgamma, log, log2
from typing import Any, ClassVar
from zlib import compress

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heldout.audit.row_views import View, column_values, exact_tokens, views_of
from heldout.base.rowkeys import Rows
from heldout.task import Task
from heldout.task.hashing import target_hashes

_TELLING_BITS = 40  # of an arrangement: what two tables do not share by chance
_FEW_CODES = 256  # that are searched for a period
_PACKED_NOTHING = 11  # bytes
_MOST_KEYS = 256  # of columns
_FEW_LABELS = 32  # a target with more numbers is known by which of two neighbours is larger

Codes = NDArray[np.int64] | NDArray[np.int8]


@dataclass(frozen=True, kw_only=True, eq=False)
class TestRows:
    """Rows that were held out, with two identities each.

    If two tables have the same rows in the same order, the row number identifies a row. This is so if their targets are
    the same, whatever the features, or their features, whatever the target. Otherwise the content of rows identifies
    them, as :mod:`heldout.audit.row_views` describes. Only hashes are kept.
    """

    __test__: ClassVar[bool] = False  # no test class, for pytest

    tables: tuple[str, ...]  # of the target and of all features in order, where these tell tables apart
    columns: tuple[str, ...]  # of each feature in order, up to a·x + b, where it does
    numbers: NDArray[np.int64]  # ascending
    views: tuple[View, ...]  # the first is of the features as they are
    key: str = field(init=False)  # 32 hex digits for these rows

    def __post_init__(self) -> None:
        digest = blake2b(digest_size=16)
        digest.update("".join(self.tables).encode())
        digest.update(self.numbers.astype("<i8").tobytes())
        digest.update(self.views[0].tokens.astype("<u8").tobytes())
        object.__setattr__(self, "key", digest.hexdigest())

    def __len__(self) -> int:
        return len(self.numbers)

    def shared_with(self, other: TestRows) -> int:
        """Count the rows that are also among the others. The count is an estimate if rows are compared by content."""
        if self.key == other.key:
            return len(self)
        if self._same_table(other):
            return len(np.intersect1d(self.numbers, other.numbers, assume_unique=True))
        others = other.views_by_kind
        alike = ((one, two) for one in self.views for two in others.get(one.kind, ()))
        return next((count for one, two in alike if (count := one.shared_with(two))), 0)

    @cached_property
    def views_by_kind(self) -> dict[tuple[str, int], list[View]]:
        """Return the views by scale and number of columns: only views of one kind can have tokens in common."""
        found: dict[tuple[str, int], list[View]] = {}
        for view in self.views:
            found.setdefault(view.kind, []).append(view)
        return found

    def _same_table(self, other: TestRows) -> bool:
        if set(self.tables) & set(other.tables):
            return True
        some, others = set(self.columns), set(other.columns)
        return len(some & others) > min(len(some), len(others)) / 2


def rows_of_task(task: Task, rows: Rows) -> TestRows:
    """Make the ledger's record of these rows of a task.

    >>> from heldout.task import declare
    >>> X, y = np.eye(40), np.tile([0.5, 2, 1, 7], 10)
    >>> task, other = (declare(X, labels, classification=False) for labels in (y, -y))
    >>> first, second = rows_of_task(task, np.arange(5)), rows_of_task(other, np.arange(3, 9))
    >>> first.shared_with(second)
    2
    """
    rows = np.unique(rows)
    views = views_of(task.X, task.y, rows)
    tables = [key for key in (_target_key(task.y), _features_key(task.X, views[0])) if key is not None]
    return TestRows(
        tables=tuple(tables) or (task.fingerprint,),
        columns=_column_keys(task.X),
        numbers=rows.astype(np.int64),
        views=views,
    )


def _features_key(X: Any, exact: View) -> str | None:
    """Return the digest of X, in row order; None if two different tables could share it by chance."""
    tokens = exact_tokens(X)
    bits = -len(tokens) * log2(exact.rate) if exact.rate > 0 else inf
    codes = pd.factorize(tokens)[0]
    ruled = codes.max() < len(codes) - 1 and _regular(codes)  # where each row is new, its cells tell enough
    return _digest(tokens) if bits >= _TELLING_BITS and not ruled else None


def _column_keys(X: Any) -> tuple[str, ...]:
    """Return the digests of columns, in row order: of the signs of their steps, or of which texts are equal."""
    found = []
    for values in column_values(X):
        pattern: Codes = pd.factorize(values)[0] if values.dtype == np.uint64 else _steps(values)
        if _tells(pattern):
            found.append(_digest(pattern))
    return tuple(sorted(set(found))[:_MOST_KEYS])


def _target_key(y: NDArray[Any]) -> str | None:
    """Return the digest of the target, in row order: up to class names or a·y + b; None if it could match by chance."""
    outputs = y if y.ndim == 2 else y[:, None]
    patterns = [_pattern(outputs[:, position]) for position in range(outputs.shape[1])]
    return _digest(np.concatenate(patterns)) if any(map(_tells, patterns)) else None


def _pattern(target: NDArray[Any]) -> Codes:
    """Return the codes of labels in the order of first appearance; for many numbers, the signs of their steps."""
    numbers = target.dtype.kind in "biuf"
    values, codes = np.unique(target if numbers else target_hashes(target)[:, 0], return_inverse=True)
    return pd.factorize(codes)[0] if not numbers or len(values) <= _FEW_LABELS else _steps(codes)


def _steps(values: NDArray[Any]) -> Codes:
    """Return the sign of each step (1 up, -1 down, 0 equal or missing), turned so that the first change is 1.

    >>> _steps(np.array([2.0, 2.0, -1.0, 5.0])).tolist()
    [0, 1, -1]
    """
    with np.errstate(invalid="ignore", over="ignore"):  # a missing number is no step
        steps = np.nan_to_num(np.sign(values[1:] - values[:-1]))
    turn = next(iter(steps[steps != 0]), 1.0)
    return np.asarray(steps * turn, dtype=np.int8)


def _tells(codes: Codes) -> bool:
    """Return whether two different tables are unlikely to share this arrangement of codes by chance or convention."""
    return _bits(codes) >= _TELLING_BITS and not _regular(codes)


def _bits(codes: Codes) -> float:
    """Return the information in an arrangement of codes, in bits: the log2 of the number of arrangements."""
    if not len(codes):
        return 0.0
    counts = [count for count in np.bincount(codes - codes.min()).tolist() if count]
    arrangements = lgamma(len(codes) + 1) - sum(lgamma(count + 1) for count in counts) - lgamma(len(counts) + 1)
    return arrangements / log(2)


def _regular(codes: Codes) -> bool:
    """Return whether an arrangement follows a rule, like data sorted by class or hours of the day, as any table may.

    A long regular arrangement compresses to far fewer bits than its counts suggest. A short one is checked for a
    period.

    >>> _regular(np.tile([0, 1, 2], 100)), _regular(np.random.default_rng(0).integers(0, 3, 300))
    (True, False)
    """
    if np.all(codes[1:] >= codes[:-1]):
        return True
    few = codes[:_FEW_CODES]
    rounds = (step for step in range(1, len(few) // 2) if np.array_equal(few[step:], few[:-step]))
    if any(np.array_equal(codes[step:], codes[:-step]) for step in rounds):
        return True
    return 8 * (len(compress(codes.tobytes(), 1)) - _PACKED_NOTHING) < _bits(codes) / 2


def _digest(values: NDArray[Any]) -> str:
    small_ends_first = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False)
    return blake2b(small_ends_first.data, digest_size=16).hexdigest()
