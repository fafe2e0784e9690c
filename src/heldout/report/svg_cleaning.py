"""From what matplotlib writes to a drawing that lives in a page: no style of its own, few bytes, words for all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from heldout.report.figures.palette import NAMES
from heldout.report.figures.told import Told
from heldout.report.svg_paths import bounds, compact, rounded

_KEPT = ("stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity", "stroke-linecap")
_TEXT = ("font-size", "font-weight", "text-anchor")
_CLASS_OF = {colour.lower(): name for colour, name in NAMES.items()}
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
_NO_TURN = re.compile(r"rotate\(-?0(?:\.0*)? [^)]*\)")
_FONT = re.compile(r"(?:(?P<weight>\d+|bold)\s+)?(?P<size>[\d.]+px)")
DOTS_FROM = 61  # points without words of their own, from which on they are one path


def cleaned_svg(text: str, told: Told, *, prefix: str) -> str:
    """The drawing, ready to stand in a page beside others.

    Colours of the palette become classes, so that a page can turn them; ids begin with the prefix; marks that have
    words get them as ``data-tip`` and can be reached by the keyboard. Raises where marks and words do not agree in
    number, since then they would belong to each other's neighbours.
    """
    found = ElementTree.fromstring(text)
    paths = {one.get("id", ""): one for one in found.iter() if _tag(one) == "path" and one.get("id")}
    svg = Element("svg", {"viewBox": _shorter(found.get("viewBox", "")), "class": "fig"})
    svg.set("role", "group" if told.tips else "img")  # what is an image to a screen reader has nothing in it to reach
    svg.set("aria-labelledby", f"{prefix}t {prefix}d")
    for tag, words in (("title", told.title), ("desc", told.alt)):
        SubElement(svg, tag, {"id": f"{prefix}{tag[0]}"}).text = words
    body = SubElement(svg, "g", {"stroke-linejoin": "round", "fill": "none"})
    _Cleaning(paths, told.tips, prefix).into(body, found)
    return ElementTree.tostring(svg, encoding="unicode")


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _shorter(text: str) -> str:
    """Numbers within a text, with two decimals."""
    return _NUMBER.sub(lambda match: rounded(match[0]), text)


class _Cleaning:
    """One drawing on its way: the marks that were met, and the words that are left for them."""

    def __init__(self, paths: Mapping[str, Element], tips: Mapping[str, tuple[str, ...]], prefix: str) -> None:
        self.paths, self.prefix = paths, prefix
        self.left: dict[str, Iterator[str]] = {name: iter(words) for name, words in tips.items()}
        self.used: dict[str, str] = {}

    def into(self, parent: Element, source: Element) -> None:
        """Everything in a drawing; all its words must have found their mark."""
        self._children(parent, source, None)
        if self.used:
            defs = Element("defs")
            for old, new in self.used.items():
                one = SubElement(defs, "path", {"id": new, "d": compact(self.paths[old].get("d", ""))})
                one.attrib.update(_looks(self.paths[old]))
            parent.insert(0, defs)
        if any(next(words, None) is not None for words in self.left.values()):
            raise ValueError(f"The drawing {self.prefix!r} has fewer marks than words for them.")

    def _children(self, parent: Element, source: Element, group: str | None) -> None:
        for one in source:
            tag = _tag(one)
            if tag == "g":
                self._group(parent, one, group)
            elif tag == "use":
                self._mark(self._use(parent, one), group)
            elif tag == "path":
                self._path(parent, one, group)
            elif tag == "text" and (one.text or "").strip():
                _text(parent, one)

    def _group(self, parent: Element, one: Element, group: str | None) -> None:
        name = one.get("id")
        if name in self.left:
            group = name
        elif name == "points" and len(uses := [u for u in one.iter() if _tag(u) == "use"]) >= DOTS_FROM:
            self._dots(parent, uses)
            return
        self._children(parent, one, group)

    def _path(self, parent: Element, one: Element, group: str | None) -> None:
        looks = _looks(one)
        if "class" not in looks and "fill" not in looks and "stroke" not in looks and group is None:
            return  # neither filled nor stroked: a background
        path = compact(one.get("d", ""))
        if path:
            self._mark(SubElement(parent, "path", {"d": path, **looks}), group)

    def _use(self, parent: Element, one: Element) -> Element:
        old = _target(one)
        new = self.used.setdefault(old, f"{self.prefix}m{len(self.used)}")
        places = {name: rounded(one.get(name, "0")) for name in ("x", "y")}
        return SubElement(parent, "use", {"href": f"#{new}", **places, **_looks(one)})

    def _mark(self, element: Element, group: str | None) -> None:
        if group is None:
            return
        words = next(self.left[group], None)
        if words is None:
            raise ValueError(f"The drawing {self.prefix!r} has more marks than words for them.")
        element.attrib.update({"data-tip": words, "tabindex": "0", "role": "img", "aria-label": words})

    def _dots(self, parent: Element, uses: list[Element]) -> None:
        """Very many round marks as one path: lines of no length with round ends."""
        wide, _ = bounds(self.paths[_target(uses[0])].get("d", ""))
        looks = {
            name.replace("fill", "stroke"): value for name, value in _looks(uses[0]).items() if "stroke" not in name
        }
        looks["class"] = looks.get("class", "").split(" ")[0].replace("f-", "s-")
        path = "".join(f"M{rounded(u.get('x', '0'))} {rounded(u.get('y', '0'))}h0" for u in uses)
        SubElement(parent, "path", {"d": path, **looks, "stroke-width": rounded(str(wide)), "stroke-linecap": "round"})


def _target(use: Element) -> str:
    return next(value for name, value in use.attrib.items() if name.endswith("href")).removeprefix("#")


def _style(element: Element) -> dict[str, str]:
    pairs = (part.split(":", 1) for part in element.get("style", "").split(";") if ":" in part)
    return {name.strip(): value.strip() for name, value in pairs}


def _looks(element: Element) -> dict[str, str]:
    """The style of a path or a mark as attributes, and its colours as classes where the palette has them."""
    style = _style(element)
    found: dict[str, str] = {}
    classes = []
    fill = style.get("fill", "#000000" if _tag(element) == "path" and not element.get("id") else None)
    for side, colour in (("fill", fill), ("stroke", style.get("stroke"))):
        if colour is None or colour == "none":
            continue
        name = _CLASS_OF.get(colour.lower())
        if name is None:
            found[side] = colour
        else:
            classes.append(f"{side[0]}-{name}")
    if classes:
        found["class"] = " ".join(classes)
    stroked = style.get("stroke", "none") != "none"
    for name in _KEPT:
        if name in style and (stroked or not name.startswith("stroke")):
            found[name] = _shorter(style[name])
    return found


def _text(parent: Element, one: Element) -> None:
    style = _style(one)
    if "font" in style and (font := _FONT.match(style["font"])):  # as matplotlib wrote it before 3.10
        style |= {f"font-{name}": value for name, value in font.groupdict().items() if value is not None}
    found = {name: style[name].removesuffix("px") for name in _TEXT if name in style}
    found.update({name: rounded(one.get(name, "0")) for name in ("x", "y") if one.get(name)})
    turn = _NO_TURN.sub("", one.get("transform", "")).strip()
    if turn:
        found["transform"] = _shorter(turn)
    name = _CLASS_OF.get(style.get("fill", "#000000").lower())
    found["class" if name else "fill"] = f"f-{name}" if name else style.get("fill", "#000000")
    SubElement(parent, "text", found).text = one.text
