"""A picture of drawn splits on matplotlib axes, from what :mod:`heldout.splits.summary` counted."""

from __future__ import annotations

from typing import Any

from heldout.report.figures.splits import draw_splits
from heldout.splits.summary import Picture


def draw_picture(picture: Picture, ax: Any = None) -> Any:
    """Draw a picture of :mod:`heldout.splits.summary`, and give back its axes."""
    return draw_splits({name: getattr(picture, name) for name in Picture.__slots__}, ax)
