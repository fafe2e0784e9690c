"""Figures as drawings for a page: the SVG, its title, its words, and the numbers behind it."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from heldout.base.errors import OptionError, did_you_mean
from heldout.base.warnings import catch_warnings
from heldout.report.figures.canvas import axes_of, matplotlib_figure
from heldout.report.figures.catalogue import KINDS, TOGETHER, Kind
from heldout.report.figures.told import Cell
from heldout.report.svg_cleaning import cleaned_svg

_LOCK = Lock()  # matplotlib's settings are those of the whole program, and a server draws on several threads
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "heldout",
    "text.parse_math": False,
    "path.simplify": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One drawing, and all that a reader needs who does not see it."""

    name: str
    svg: str
    title: str
    alt: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def draw_all(name: str, data: Mapping[str, Any], *, prefix: str) -> list[Drawn]:
    """Draw one entry of a summary's figures: a drawing for each of its panels, none where it says that there is none.

    Parameters
    ----------
    name : str
        As in the summary. "comparison" gives three drawings: "ranking", "comparison" and "paired_folds"; each of the
        first and the last can be asked for by its own name.
    data : mapping
        The figure's values.
    prefix : str
        What every id in the drawings begins with: another one for each call, so that a page can hold them all.
    """
    if name not in KINDS:
        raise OptionError(f"There is no figure {name!r}. {did_you_mean(name, KINDS)}")
    if "none" in data:
        return []
    panels = [(kind, panel) for kind in TOGETHER.get(name, (name,)) for panel in KINDS[kind].panels(data)]
    with _LOCK, catch_warnings():
        # A letter that matplotlib's own font lacks is no fault here: the page's fonts draw it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        # A setting that is about to go is set to what it is by default, which needs no warning.
        warnings.filterwarnings("ignore", message="The .* rcparam", category=DeprecationWarning)
        return [_drawn(kind, panel, prefix=f"{prefix}{place}-") for place, (kind, panel) in enumerate(panels)]


def _drawn(name: str, panel: Mapping[str, Any], *, prefix: str) -> Drawn:
    kind = KINDS[name]
    told = kind.tell(panel)
    svg = cleaned_svg(_raw(kind, panel), told, prefix=prefix)
    return Drawn(name=name, svg=svg, title=told.title, alt=told.alt, head=told.head, rows=told.rows)


def _raw(kind: Kind, panel: Mapping[str, Any]) -> str:
    """What matplotlib writes, the same bytes for the same values whatever the user's own settings are."""
    matplotlib_figure()  # its error says what to install
    import matplotlib

    settings: Any = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
    settings |= _SETTINGS
    with matplotlib.rc_context(settings):
        ax = axes_of(kind.shape(panel), shown=False)
        kind.draw(panel, ax)
        out = io.StringIO()
        ax.figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return out.getvalue()
