"""The list of a journal's studies, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heldout.base.words import clipped, line, number
from heldout.report.page.index import moment
from heldout.report.text import told

_STYLES = {"running": "bold cyan", "unfinished": "yellow", "left": "dim"}
_LEARNER = 60  # characters of a learner


def index_view(index: Mapping[str, Any]) -> RenderableType:
    """A line a study, the newest first, and what could not be read."""
    if not index["studies"]:
        return Text(f"No study is in {line(index['journal'])}. heldout evaluate and compare enter theirs.")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in ("when", "state", "learner", "risk"):
        table.add_column(Text(head), overflow="fold", no_wrap=head in ("when", "state"))
    for one in index["studies"]:
        state = Text(line(one["state"]), style=_STYLES.get(one["state"], ""))
        words = (clipped(_learner(one), _LEARNER), _risk(one["risk"]))
        table.add_row(Text(moment(one["ended"] or one["started"])), state, *map(Text, words))
    damaged = index["damaged"]
    return Group(table, Text(f"Left out, since damaged: {', '.join(damaged)}.")) if damaged else table


def short_index(index: Mapping[str, Any]) -> Text:
    """A line a study: its key, how far it came, its learner and its risk."""
    lines = [
        f"{one['key']}  {line(one['state'])}  {clipped(_learner(one), _LEARNER)}  {_risk(one['risk'])}"
        for one in index["studies"]
    ]
    return Text("\n".join(lines), no_wrap=True, overflow="ignore")


def _learner(one: Mapping[str, Any]) -> str:
    return ("comparison: " if one["kind"] == "comparison" else "") + line(one["learner"])


def _risk(risk: Mapping[str, Any] | None) -> str:
    if risk is None:
        return "–"
    between = "" if risk["low"] is None else f" ({number(risk['low'])} to {number(risk['high'])})"
    return f"{line(risk['loss'] or '')} {told(risk)}{between}".strip()
