"""The ledger of looks at test sets, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from heldout.report.text import line, number


def ledger_view(summary: Mapping[str, Any]) -> RenderableType:
    """Each test set with its looks, the first first, and what is left for the next."""
    if not summary["test_sets"]:
        return Text(f"No test set was looked at, by {line(summary['journal'])}. Cross-validation is no look.")
    blocks: list[RenderableType] = []
    for one in summary["test_sets"]:
        head = Text.assemble((f"test set {one['rows_key'][:8]}", "bold"), f"  {one['rows']:,} rows, ", _times(one))
        blocks += [head, Padding(_looks(one["looks"]), (0, 0, 0, 2)), Text(f"  {width_words(one, summary['level'])}")]
        blocks.append(Text())
    return Group(*blocks[:-1])


def short_ledger(summary: Mapping[str, Any]) -> Text:
    """A line a test set.

    >>> one = {"rows_key": "ab" * 16, "rows": 50, "next_width": 0.4, "looks": [{}]}
    >>> short_ledger({"level": 0.95, "test_sets": [one]}).plain
    'abababab  50 rows  1 look  next look: an interval up to 0.4 wide at 95%, for a loss from 0 to 1'
    """
    lines = [
        f"{one['rows_key'][:8]}  {one['rows']:,} rows  {_times(one)}  {width_words(one, summary['level'])}"
        for one in summary["test_sets"]
    ]
    return Text("\n".join(lines), no_wrap=True, overflow="ignore")


def width_words(one: Mapping[str, Any], level: float) -> str:
    """What the next look may still tell."""
    if one["next_width"] is None:
        return "next look: no bound covers a learner chosen after these. Test on fresh rows"
    if one["next_width"] >= 1:
        return "next look: these rows are used up, the interval would tell nothing. Test on fresh rows"
    width = number(one["next_width"])
    return f"next look: an interval up to {width} wide at {100 * level:.4g}%, for a loss from 0 to 1"


def _times(one: Mapping[str, Any]) -> str:
    return "1 look" if len(one["looks"]) == 1 else f"{len(one['looks'])} looks"


def _looks(looks: Sequence[Mapping[str, Any]]) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in ("when", "learner", "loss", "told"):
        table.add_column(Text(head), overflow="fold", no_wrap=head == "when")
    for look in looks:
        when = look["when"].replace("T", " ").removesuffix("+00:00")
        told = look["answer"] + (f": {look['told']}" if look.get("told") else "")
        table.add_row(*(Text(line(text)) for text in (when, look["learner"], look["loss"], told)))
    return table
