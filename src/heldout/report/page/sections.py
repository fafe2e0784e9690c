"""The sections of a page: which there are, in their order, and the figures in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heldout.report.figures.catalogue import TOGETHER
from heldout.report.page.tables import Table, make_table
from heldout.report.svg import Drawn, draw_all

if TYPE_CHECKING:
    from markupsafe import Markup

_GRAVE_FIRST = ("error", "warning", "info")
MOST_FINDINGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section: its place in the page, its title, a sentence on how to read it, and the template of its inside."""

    key: str
    title: str
    lede: str

    @property
    def template(self) -> str:
        """The file that lays it out."""
        return f"sections/{self.key}.html.j2"


def sections_of(titles: Mapping[str, tuple[str, str]], present: Collection[str]) -> list[Section]:
    """The sections that are present, in the order of their titles."""
    return [Section(key=key, title=title, lede=lede) for key, (title, lede) in titles.items() if key in present]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure as the templates take it: the drawing, its caption, and its numbers as a table."""

    svg: Markup
    title: str
    alt: str  # what the drawing says in words; the drawing itself gives it to those who cannot see it
    numbers: Table


def figures_of(figures: Mapping[str, Any]) -> dict[str, list[Figure]]:
    """Every figure of a summary, drawn; an empty list where there is none."""
    made: dict[str, list[Figure]] = {one: [] for name in figures for one in TOGETHER.get(name, (name,))}
    for name, data in figures.items():
        for drawn in draw_all(name, data, prefix=f"{name.replace('_', '-')}-"):
            made[drawn.name].append(_figure(drawn))
    return made


def _figure(drawn: Drawn) -> Figure:
    from markupsafe import Markup

    numeric = [
        title
        for place, title in enumerate(drawn.head)
        if any(isinstance(row[place], int | float) for row in drawn.rows)
    ]
    table = make_table(f"The numbers: {drawn.title}", drawn.head, drawn.rows, numeric=numeric)
    safe = Markup(drawn.svg)  # svg.py escapes what it draws
    return Figure(svg=safe, title=drawn.title, alt=drawn.alt, numbers=table)


def graves_first(findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Findings by severity, then by code."""
    return sorted(findings, key=lambda one: (_GRAVE_FIRST.index(one["severity"]), one["code"]))


def counts_of(findings: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """How many findings there are of each severity that there is, the gravest first."""
    found = [one["severity"] for one in findings]
    return [(severity, found.count(severity)) for severity in _GRAVE_FIRST if severity in found]
