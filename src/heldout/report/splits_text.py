"""A summary of drawn splits as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_LINES = 20  # parts that are listed one by one

_HEADINGS = {
    "part": "part",
    "train_rows": "trains on",
    "held_rows": "holds out",
    "unused_rows": "unused",
    "buffer_rows": "by buffer",
    "train_groups": "groups trained on",
    "held_groups": "held out",
    "held_from": "held out from",
    "held_to": "to",
}


def render_summary(words: str, parts: Mapping[str, Any], totals: Mapping[str, Any]) -> str:
    """The parts as a table, then training size, buffers and class shares in a line each."""
    count = totals["parts"]
    lines = [f"{words}: {count:,} part{'s' if count > 1 else ''} of {totals['rows']:,} rows"]
    lines += _table(parts, buffered=totals["buffer_mean"] > 0)
    if count > MOST_LINES:
        lines.append(f"… and {count - MOST_LINES:,} more")
    lines.append(_training_words(totals))
    if totals["buffer_mean"] > 0:
        lines.append(f"buffers throw away {_number(totals['buffer_mean'])} rows a part on average")
    if "strata" in totals:
        lines.append(_share_words(totals))
    lines += [f"H101 warning: {note}" for note in totals.get("notes", ())]
    return "\n".join(lines)


def _table(parts: Mapping[str, Any], *, buffered: bool) -> list[str]:
    names = [name for name in _HEADINGS if name in parts and (buffered or name != "buffer_rows")]
    columns = []
    for name in names:
        cells = [_cell(value) for value in list(parts[name][:MOST_LINES])]
        width = max(len(_HEADINGS[name]), *(len(cell) for cell in cells))
        columns.append([text.rjust(width) for text in (_HEADINGS[name], *cells)])
    return ["  ".join(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> str:
    if hasattr(value, "dtype") and value.dtype.kind == "M":
        text = str(value.astype("datetime64[s]"))
        return text.removesuffix("T00:00:00")
    if isinstance(value, float) or (hasattr(value, "dtype") and value.dtype.kind == "f"):
        return f"{value:g}"
    return f"{value:,}" if hasattr(value, "dtype") and value.dtype.kind in "iu" else str(value)


def _training_words(totals: Mapping[str, Any]) -> str:
    least, most = totals["train_least"], totals["train_most"]
    size = f"{least:,}" if least == most else f"{least:,} to {most:,}, {_number(totals['train_mean'])} on average"
    words = f"training size {size}, {totals['train_share']:.1%} of the rows"
    if totals["effective_mean"] < totals["train_mean"] * (1 - 1e-9):
        words += f"; by their weights they count as {_number(totals['effective_mean'])}"
    return words


def _share_words(totals: Mapping[str, Any]) -> str:
    count, word = totals["strata_count"], totals["strata"]
    if totals.get("shares_untold"):
        return f"{count:,} {word}: too many to tell their shares in each of {totals['parts']:,} parts"
    held, train = totals["held_deviation"], totals["train_deviation"]
    where = "" if abs(held["points"]) < 0.05 else f" (the farthest: {held['of']} in part {held['part']})"
    return (
        f"{count:,} {word}: held-out shares are those of all rows to within {abs(held['points']):.1f} points{where}, "
        f"training shares to within {abs(train['points']):.1f}"
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
