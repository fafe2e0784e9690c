"""Shows values by the room report/, which rooms below it cannot import directly."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

_ROOM = "heldout.report.show"


def html_of(kind: str, values: Mapping[str, Any]) -> str:
    """Render a value as HTML for ``_repr_html_``; `kind` is one of those in :mod:`heldout.report.show`.

    The room is imported by name when something is first shown, so that no import points up the house.
    """
    html: str = import_module(_ROOM).as_html(kind, values)
    return html


def text_of(kind: str, values: Mapping[str, Any]) -> str:
    """Render it as plain text, for ``print``."""
    text: str = import_module(_ROOM).as_text(kind, values)
    return text


class Shown:
    """What is laid out from its summary: as text for ``print``, as HTML in a notebook."""

    __slots__ = ()
    _shown_as: ClassVar[str]  # one of the kinds in :mod:`heldout.report.show`

    def summary(self) -> dict[str, Any]:
        """Plain values that JSON can hold."""
        raise NotImplementedError

    def __str__(self) -> str:
        return text_of(self._shown_as, self.summary())

    def _repr_html_(self) -> str:
        return html_of(self._shown_as, self.summary())
