"""Text on figures: cleaned, on one line, no longer than its place, and never read as a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from heldout.base.words import line

TEXT = 10.0  # points; a figure as wide as a phone shows them about as large as they are
SMALL = 9.0
LETTERS = 58  # that fit side by side across a figure of ours
LETTER = 6.1  # points, of a usual one
_NOT_XML = re.compile("[\ufffe\uffff]")


def cleaned(text: Any) -> str:
    """A text from data or learners on one line, with nothing in it that a page would act on."""
    return _NOT_XML.sub("�", line(text))


def short(text: Any, most: int) -> str:
    """The same no longer than that: the middle is left out, since names differ at their ends.

    >>> short("histgradientboosting__max_leaf_nodes", 21)
    'histgradie…leaf_nodes'
    """
    whole = cleaned(text)
    if len(whole) <= most:
        return whole
    tail = (most - 1) // 2
    return whole[: most - 1 - tail] + "…" + whole[len(whole) - tail :]


def room(ax: Any) -> int:
    """How many letters fit side by side across these axes, which may be the user's own and narrow."""
    inches = ax.get_position().width * ax.figure.get_figwidth()
    return max(12, int(inches * 72 / LETTER))


def literal(texts: Iterable[Any]) -> None:
    """A dollar sign in a name is a dollar sign: matplotlib would take two of them for a formula."""
    for text in texts:
        text.set_parse_math(False)


def write(ax: Any, place: tuple[float, float], text: str, **how: Any) -> Any:
    """Put a text on the axes, at a place in data or whatever ``transform`` says."""
    how = {"fontsize": TEXT, "color": "#1F2328", **how}
    return ax.text(*place, text, parse_math=False, clip_on=False, **how)
