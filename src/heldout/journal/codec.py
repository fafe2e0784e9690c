"""Plain data as bytes and back: trees of JSON values with arrays among them. No pickles, so reading runs no code."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.errors import JournalError

_LENGTH = struct.Struct("<I")
_RAW_KINDS = "biufcmMUS"  # dtypes whose bytes are their content
_ARRAY = "@"  # the one key of a JSON object that stands for an array
_WORTH_PACKING = 512  # bytes
_PLAIN = (bool, int, float, str, type(None))
_DAMAGED = (struct.error, zlib.error, ValueError, KeyError, IndexError, TypeError, OverflowError)


class NotPlain(TypeError):
    """A value that cannot be written as plain data."""


def encode(tree: Any) -> bytes:
    """The bytes of a tree of dicts, lists, texts, numbers and arrays.

    Examples
    --------
    >>> import numpy as np
    >>> decode(encode({"losses": np.array([0.5, np.nan]), "words": ["a", None]}))
    {'losses': array([0.5, nan]), 'words': ['a', None]}
    """
    specs: list[list[Any]] = []
    bodies: list[bytes] = []
    shape = _without_arrays(tree, specs, bodies)
    head = json.dumps([shape, specs], ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"".join([_LENGTH.pack(len(head)), head, *bodies])


def decode(content: bytes) -> Any:
    """The tree that `encode` wrote; a JournalError where the bytes are not whole."""
    try:
        (length,) = _LENGTH.unpack_from(content)
        start = _LENGTH.size + length
        shape, specs = json.loads(content[_LENGTH.size : start].decode("utf-8", "surrogatepass"))
        arrays = []
        for dtype, dims, order, size, packed in specs:
            body = content[start : start + size]
            start += size
            arrays.append(_array_of(zlib.decompress(body) if packed else body, dtype, dims, order))
        return _with_arrays(shape, arrays)
    except _DAMAGED as error:
        raise JournalError(f"These bytes are no record of a journal: {error}") from error


def _without_arrays(tree: Any, specs: list[list[Any]], bodies: list[bytes]) -> Any:
    if isinstance(tree, np.ndarray):
        spec, body = _written(tree)
        specs.append(spec)
        bodies.append(body)
        return {_ARRAY: len(specs) - 1}
    if isinstance(tree, dict):
        if _ARRAY in tree or not all(isinstance(name, str) for name in tree):
            raise NotPlain(f"a dict with keys such as {next(iter(tree))!r}")
        return {name: _without_arrays(value, specs, bodies) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_without_arrays(value, specs, bodies) for value in tree]
    if isinstance(tree, np.bool_ | np.integer | np.floating):
        return tree.item()
    if isinstance(tree, _PLAIN):
        return tree
    raise NotPlain(f"a value of type {type(tree).__name__}")


def _with_arrays(shape: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(shape, dict):
        if shape.keys() == {_ARRAY}:
            return arrays[shape[_ARRAY]]
        return {name: _with_arrays(value, arrays) for name, value in shape.items()}
    if isinstance(shape, list):
        return [_with_arrays(value, arrays) for value in shape]
    return shape


def _written(array: NDArray[Any]) -> tuple[list[Any], bytes]:
    """An array's type, shape, order, size in bytes, whether it is packed; and its body.

    The order in memory is kept: sums along an axis may depend on it in their last bit.
    """
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    if array.dtype.kind == "O":
        dtype, body = "O", _objects_as_text(array)
    elif array.dtype.kind in _RAW_KINDS:
        dtype, body = array.dtype.str, array.tobytes(order)  # type: ignore[arg-type]
    else:
        raise NotPlain(f"an array of type {array.dtype}")
    packed = False
    if len(body) >= _WORTH_PACKING:
        smaller = zlib.compress(body, 1)
        if len(smaller) < 0.9 * len(body):
            body, packed = smaller, True
    return [dtype, list(array.shape), order, len(body), packed], body


def _array_of(body: bytes, dtype: str, dims: list[int], order: str) -> NDArray[Any]:
    if dtype == "O":
        values = np.empty(int(np.prod(dims, dtype=int)), dtype=object)
        texts = json.loads(body.decode("utf-8", "surrogatepass"))
        if len(texts) != len(values):
            raise ValueError("an array of another length")
        values[:] = texts
        return values.reshape(dims)
    array: NDArray[Any] = np.frombuffer(bytearray(body), dtype=np.dtype(dtype))
    if array.dtype.itemsize == 0:  # texts without a character: no byte says how many there are
        array = np.zeros(int(np.prod(dims, dtype=int)), dtype=np.dtype(dtype))
    return array.reshape(dims, order="F" if order == "F" else "C")


def _objects_as_text(array: NDArray[Any]) -> bytes:
    values = array.ravel().tolist()
    for value in values:
        if type(value) not in _PLAIN:
            raise NotPlain(f"an array that holds {type(value).__name__}")
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")
