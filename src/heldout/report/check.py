"""The findings of `check` as text, and as a view for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from heldout.report.text import line

_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}
_GRAVE_FIRST = ("error", "warning", "info")


def render_check(summary: Mapping[str, Any]) -> str:
    """The findings as plain text: one a paragraph, the gravest first, then their count and what no check sees."""
    blocks = [
        f"{one['code']} {one['severity']}: {line(one['seen'])}\n  {line(one['why'])}\n  {line(one['way_out'])}"
        for one in in_order(summary["findings"])
    ]
    return "\n".join([*blocks, count_words(summary), not_seen_words(summary)])


def check_view(summary: Mapping[str, Any], head: Mapping[str, str]) -> RenderableType:
    """What was read, each finding with what was seen, why it matters and the way out, and a line that counts them."""
    shown: list[RenderableType] = [_facts(head)] if head else []
    for finding in in_order(summary["findings"]):
        style = _STYLES.get(finding["severity"], "")
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, min_width=7)
        table.add_column(ratio=1, overflow="fold")
        table.add_row(
            Text(finding["code"], style=style), Text(finding["severity"], style=style), Text(line(finding["seen"]))
        )
        table.add_row(Text(), Text(), Text(line(finding["why"]), style="dim"))
        table.add_row(Text(), Text(), Text(f"→ {line(finding['way_out'])}"))
        shown += [Text(), table]
    words = Group(Text(count_words(summary), style="bold"), Text(not_seen_words(summary), style="dim"))
    return Group(*shown, Text(), words) if shown else words


def count_words(summary: Mapping[str, Any]) -> str:
    """How many findings there are of each severity, and what they rest on.

    >>> counts = {"info": 1, "warning": 2, "error": 0}
    >>> facts = {"counts": counts, "rows": 10, "rows_looked_at": 10, "columns": 3, "ignored": ["H601"]}
    >>> count_words(facts)
    '2 warnings, 1 info in 10 rows and 3 columns; ignored: H601'
    """
    counts = summary["counts"]
    found = ", ".join(_counted(counts[one], one) for one in _GRAVE_FIRST if counts[one]) or "Nothing found"
    rows, looked = summary["rows"], summary["rows_looked_at"]
    of_rows = f"{rows:,} rows" if looked == rows else f"{looked:,} rows drawn at random from {rows:,}"
    columns = summary["columns"]
    ignored = f"; ignored: {', '.join(summary['ignored'])}" if summary["ignored"] else ""
    return f"{found} in {of_rows} and {columns:,} column{'' if columns == 1 else 's'}{ignored}"


def not_seen_words(summary: Mapping[str, Any]) -> str:
    """What no table shows, so that nobody takes a silent check for a proof."""
    return f"Not seen by any check: {'. '.join(summary['not_seen'])}."


def _counted(count: int, severity: str) -> str:
    return f"{count} {severity}" if count == 1 or severity == "info" else f"{count} {severity}s"


def in_order(findings: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The gravest first, by number."""
    return sorted(findings, key=lambda one: (_GRAVE_FIRST.index(one["severity"]), one["code"]))


def _facts(head: Mapping[str, str]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim", min_width=10)
    table.add_column(ratio=1, overflow="fold")
    for label, text in head.items():
        table.add_row(Text(label), Text(line(text)))
    return Padding(table, 0)
