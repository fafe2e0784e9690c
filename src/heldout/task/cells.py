"""Digests of single values that are not plain numbers: by what they are, never by where they lie in memory."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import InputError
from heldout.base.rowkeys import Hashes
from heldout.task.sequences import is_missing

_TELLING = (datetime.date, datetime.time, datetime.timedelta, Decimal, Fraction)  # their repr says all of them
# Types whose equal values are the same content, so that one digest serves all of them. Not so decimals (1.0 and
# 1.00), times in two zones, or tuples (of 1 and of 1.0).
_INTERCHANGEABLE = {str, int, float, bool, bytes, type(None), datetime.date}


def cell_digests(cells: Sequence[Any]) -> Hashes:
    """Two 64-bit hashes for each cell, by its type and value."""
    types = set(map(type, cells))
    if types <= _INTERCHANGEABLE:
        # The type is part of the key because 1, 1.0 and True are one key of a dict but three contents.
        keys = cells if len(types) == 1 else list(zip(map(type, cells), cells, strict=True))
        known = dict.fromkeys(keys, b"")
        for key in known:
            known[key] = digest_value(key if len(types) == 1 else key[1])
        joined = b"".join([known[key] for key in keys])
    else:
        joined = b"".join(map(digest_value, cells))
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64, copy=False).reshape(-1, 2)


def coded_digests(codes: NDArray[np.integer[Any]], values: Sequence[Any]) -> Hashes:
    """The digests of cells given as codes into few values; a code of -1 is a missing cell."""
    digests: Hashes = cell_digests([*values, None])[codes]
    return digests


def digest_value(value: Any) -> bytes:
    """Sixteen bytes for one value."""
    return blake2b(_content(value), digest_size=16).digest()


def _content(value: Any) -> bytes:
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if is_missing(value):
        return b"-"
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind not in "mM" else (str(value.dtype), int(value.astype(np.int64)))
    if isinstance(value, bool | int):
        return (b"b" if isinstance(value, bool) else b"i") + str(int(value)).encode()
    if isinstance(value, float):
        return b"f" + (value + 0.0).hex().encode()
    if isinstance(value, bytes):
        return b"y" + value
    if isinstance(value, _TELLING):
        return f"r{type(value).__name__}{value!r}".encode()
    if isinstance(value, np.ndarray):
        return f"a{value.dtype}{value.shape}".encode() + _joined(value.ravel().tolist())
    if isinstance(value, list | tuple):
        return type(value).__name__.encode() + _joined(value)
    if isinstance(value, Mapping):
        return b"m" + b"".join(sorted(digest_value(key) + digest_value(item) for key, item in value.items()))
    if isinstance(value, set | frozenset):
        return b"e" + b"".join(sorted(map(digest_value, value)))
    return _pickled(value)


def _joined(values: Iterable[Any]) -> bytes:
    return b"".join(map(digest_value, values))


def _pickled(value: Any) -> bytes:
    # Not repr: that of many classes is an address, or is cut short.
    try:
        return b"p" + pickle.dumps(value, protocol=5)
    except Exception as reason:
        raise InputError(
            f"A value of type {type(value).__name__} in the data has no content to be told by: it cannot be pickled "
            f"({reason}). Use plain values (numbers, texts, arrays, lists, dicts)."
        ) from reason
