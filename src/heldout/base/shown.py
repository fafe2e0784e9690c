"""Converts values to plain ones, and renders them with the room report/, which lower rooms cannot import directly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import numpy as np


def plain(value: Any) -> Any:
    """Convert to JSON values: numpy numbers to numbers, NaN to None, infinity to text, anything unknown to its repr.

    >>> plain({"a": np.float64(1.5), "b": (1, float("nan"))})
    {'a': 1.5, 'b': [1, None]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.longdouble):  # its item() is itself
        return plain(float(value))
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else (None if math.isnan(value) else str(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    return repr(value)


_ROOM = "heldout.report.show"


def html_of(kind: str, values: Mapping[str, Any]) -> str:
    """Render a value as HTML for ``_repr_html_``. `kind` is one of those in :mod:`heldout.report.show`.

    The room is imported by name when something is first shown, because imports may not point to higher rooms.
    """
    html: str = import_module(_ROOM).as_html(kind, values)
    return html


def text_of(kind: str, values: Mapping[str, Any]) -> str:
    """Render a value as plain text, for ``print``."""
    text: str = import_module(_ROOM).as_text(kind, values)
    return text


class Shown:
    """Base of objects that are shown by their summary: as text for ``print``, as HTML in a notebook."""

    __slots__ = ()
    _shown_as: ClassVar[str]  # one of the kinds in :mod:`heldout.report.show`

    def summary(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        raise NotImplementedError

    def __str__(self) -> str:
        return text_of(self._shown_as, self.summary())

    def _repr_html_(self) -> str:
        return html_of(self._shown_as, self.summary())
