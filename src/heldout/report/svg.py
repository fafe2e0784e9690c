"""Draws figures as SVG in the page's colours and font, with descriptions for readers who cannot see them."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from heldout.base.errors import OptionError, did_you_mean
from heldout.base.warnings import catch_warnings
from heldout.report.figures.canvas import POINTS, matplotlib_figure
from heldout.report.figures.catalogue import KINDS
from heldout.report.figures.describe import Description, Kind
from heldout.report.figures.palette import NAMES

_LOCK = Lock()  # matplotlib's settings are those of the whole program, and a server draws on several threads
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "heldout",
    "text.parse_math": False,
    "path.simplify": False,
}
_CLASS_OF = {colour.lower(): name for colour, name in NAMES.items()}
_KEPT = ("stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity", "stroke-linecap")
_TEXT = ("font-size", "font-weight", "text-anchor")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
_NO_TURN = re.compile(r"rotate\(-?0(?:\.0*)? [^)]*\)")
_FONT = re.compile(r"(?:(?P<weight>\d+|bold)\s+)?(?P<size>[\d.]+px)")
DOTS_FROM = 61  # from this many marks without tooltips on, they are drawn as one path


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(Description):
    """Holds one drawing as SVG, with its description in words."""

    name: str
    svg: str


def draw_all(name: str, data: Mapping[str, Any], *, prefix: str) -> list[Drawn]:
    """Draw one entry of a summary's figures, one drawing per panel; return an empty list if the entry has no data.

    Parameters
    ----------
    name : str
        As in the summary; the entry "comparison" is also drawn as "ranking" and as "paired_folds".
    data : mapping
        The figure's values.
    prefix : str
        Prefix of every id in the drawings. Use a different one for each call, so that one page can hold all drawings.
    """
    if name not in KINDS:
        raise OptionError(f"There is no figure {name!r}. {did_you_mean(name, KINDS)}")
    if "none" in data:
        return []
    panels = KINDS[name].panels(data)
    with _LOCK, catch_warnings():
        # A character that matplotlib's own font lacks is no problem: the page's fonts draw it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        # All settings are set to their defaults, deprecated ones too, which needs no warning.
        warnings.filterwarnings("ignore", message="The .* rcparam", category=DeprecationWarning)
        return [_drawn(name, panel, prefix=f"{prefix}{place}-") for place, panel in enumerate(panels)]


def _drawn(name: str, panel: Mapping[str, Any], *, prefix: str) -> Drawn:
    kind = KINDS[name]
    words = kind.describe(panel)
    return Drawn(name=name, svg=page_svg(_raw(kind, panel), words, prefix=prefix), **asdict(words))


def _raw(kind: Kind, panel: Mapping[str, Any]) -> str:
    """Return the SVG that matplotlib writes: the same bytes for the same values, whatever the user's settings."""
    matplotlib_figure()  # its error says what to install
    import matplotlib

    settings: Any = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
    settings |= _SETTINGS
    with matplotlib.rc_context(settings):
        figure = kind.plot(panel, shown=False).figure
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return out.getvalue()


def page_svg(text: str, words: Description, *, prefix: str) -> str:
    """Return matplotlib's SVG, adapted to stand in a page beside others.

    Colours of the palette become CSS classes, which a page can restyle, and ids get the prefix. Marks get their
    tooltips as ``data-tip`` and can be reached by the keyboard. Raises ValueError if marks and tooltips differ in
    number, since tooltips would then be attached to the wrong marks.
    """
    source = ElementTree.fromstring(text)
    svg = Element("svg", {"viewBox": _rounded(source.get("viewBox", "")), "class": "fig"})
    svg.set("role", "group" if words.tips else "img")  # what is an image to a screen reader has nothing in it to reach
    svg.set("aria-labelledby", f"{prefix}t {prefix}d")
    for tag, content in (("title", words.title), ("desc", words.alt)):
        SubElement(svg, tag, {"id": f"{prefix}{tag[0]}"}).text = content
    _Copy(source, words.tips, prefix).into(SubElement(svg, "g", {"stroke-linejoin": "round", "fill": "none"}))
    return ElementTree.tostring(svg, encoding="unicode")


class _Copy:
    """Copies the marks of one drawing without matplotlib's own styles and ids."""

    def __init__(self, source: Element, tips: tuple[str, ...], prefix: str) -> None:
        self.source, self.prefix, self.with_tips, self.tips = source, prefix, bool(tips), iter(tips)
        self.paths = {path.get("id", ""): path for path in source.iter() if _tag(path) == "path" and path.get("id")}
        self.used: dict[str, str] = {}  # new ids of marks that are drawn many times, by their old ids

    def into(self, parent: Element) -> None:
        """Copy everything into `parent`; raise ValueError if tooltips are left over."""
        self._children(parent, self.source, marked=False)
        defs = Element("defs")
        for old, new in self.used.items():
            path = self.paths[old]
            SubElement(defs, "path", {"id": new, "d": _rounded(path.get("d", "")), **_looks(path)})
        parent.insert(0, defs)
        if next(self.tips, None) is not None:
            raise ValueError(f"The drawing {self.prefix!r} has fewer marks than words for them.")

    def _children(self, parent: Element, source: Element, *, marked: bool) -> None:
        for child in source:
            tag, looks = _tag(child), _looks(child)
            if tag == "g":
                points = child.get("id") == POINTS
                uses = [use for use in child.iter() if _tag(use) == "use"]
                if points and not self.with_tips and len(uses) >= DOTS_FROM:
                    self._dots(parent, uses)
                else:
                    self._children(parent, child, marked=marked or (points and self.with_tips))
            elif tag == "use":
                new = self.used.setdefault(_target(child), f"{self.prefix}m{len(self.used)}")
                self._mark(SubElement(parent, "use", {"href": f"#{new}", **_place(child), **looks}), marked)
            elif tag == "path" and child.get("d") and (looks.keys() & {"class", "fill", "stroke"} or marked):
                # A path that is neither filled nor stroked is a background.
                self._mark(SubElement(parent, "path", {"d": _rounded(child.get("d", "")), **looks}), marked)
            elif tag == "text" and (child.text or "").strip():
                _text(parent, child)

    def _mark(self, element: Element, marked: bool) -> None:
        if not marked:
            return
        words = next(self.tips, None)
        if words is None:
            raise ValueError(f"The drawing {self.prefix!r} has more marks than words for them.")
        element.attrib.update({"data-tip": words, "tabindex": "0", "role": "img", "aria-label": words})

    def _dots(self, parent: Element, uses: list[Element]) -> None:
        """Draw very many round marks as one path of zero-length lines with round caps."""
        across = [float(number) for number in _NUMBER.findall(self.paths[_target(uses[0])].get("d", ""))[::2]]
        looks = {
            name.replace("fill", "stroke"): value for name, value in _looks(uses[0]).items() if "stroke" not in name
        }
        looks["class"] = looks.get("class", "").split(" ")[0].replace("f-", "s-")
        path = "".join(f"M{place['x']} {place['y']}h0" for place in map(_place, uses))
        width = f"{max(across) - min(across):.2f}"
        SubElement(parent, "path", {"d": path, **looks, "stroke-width": width, "stroke-linecap": "round"})


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _target(use: Element) -> str:
    return next(value for name, value in use.attrib.items() if name.endswith("href")).removeprefix("#")


def _place(element: Element) -> dict[str, str]:
    return {name: _rounded(element.get(name, "0")) for name in ("x", "y")}


def _rounded(text: str) -> str:
    """Return the text with its numbers rounded to two decimals: a hundredth of a point is not visible."""
    return " ".join(_NUMBER.sub(lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), text).split())


def _style(element: Element) -> dict[str, str]:
    pairs = (part.split(":", 1) for part in element.get("style", "").split(";") if ":" in part)
    return {name.strip(): value.strip() for name, value in pairs}


def _looks(element: Element) -> dict[str, str]:
    """Return the style of a path or mark as attributes; colours of the palette become CSS classes."""
    style = _style(element)
    unsaid = "#000000" if _tag(element) == "path" and not element.get("id") else "none"
    sides = {"fill": style.get("fill", unsaid), "stroke": style.get("stroke", "none")}
    colours = {side: colour for side, colour in sides.items() if colour != "none"}
    known = {side: _CLASS_OF[colour.lower()] for side, colour in colours.items() if colour.lower() in _CLASS_OF}
    looks = {side: colour for side, colour in colours.items() if side not in known}
    if known:
        looks["class"] = " ".join(f"{side[0]}-{name}" for side, name in known.items())
    kept = [name for name in _KEPT if name in style and ("stroke" in colours or not name.startswith("stroke"))]
    return looks | {name: _rounded(style[name]) for name in kept}


def _text(parent: Element, source: Element) -> None:
    style = _style(source)
    if "font" in style and (font := _FONT.match(style["font"])):  # as matplotlib wrote it before 3.10
        style |= {f"font-{name}": value for name, value in font.groupdict().items() if value is not None}
    looks = {name: style[name].removesuffix("px") for name in _TEXT if name in style}
    looks |= {name: value for name, value in _place(source).items() if source.get(name)}
    turn = _NO_TURN.sub("", source.get("transform", "")).strip()
    colour = style.get("fill", "#000000")
    name = _CLASS_OF.get(colour.lower())
    looks |= {"transform": _rounded(turn)} if turn else {}
    looks |= {"class": f"f-{name}"} if name else {"fill": colour}
    SubElement(parent, "text", looks).text = source.text
