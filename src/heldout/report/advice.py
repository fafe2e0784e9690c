"""Advice as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.report.text import number


def render_advice(advice: Mapping[str, Any]) -> str:
    """The recipe first, why, then the rows that the promises need and what the rows at hand promise."""
    blocks = [_recipe(advice), _needs(advice), _promises(advice)]
    return "\n\n".join(block for block in blocks if block)


def _recipe(advice: Mapping[str, Any]) -> str:
    if advice["recipe"] is None:
        return "No recipe without the number of rows: pass n=…"
    sizes = advice["sizes"]
    dev = f", {sizes['dev']:,} to choose" if sizes["dev"] else ""
    lines = [
        f"{advice['recipe']}   for {advice['n']:,} rows and {_candidates(advice['candidates'])}",
        f"  {advice['call']}",
        f"  {sizes['train']:,} rows to train{dev}, {sizes['test']:,} to test{', in each part' if advice['k'] else ''}",
        *(f"  - {reason}" for reason in advice["reasons"]),
    ]
    return "\n".join(lines)


def _needs(advice: Mapping[str, Any]) -> str:
    rows, lines = advice["test_rows"], []
    level = f"{100 * advice['level']:.4g}%"
    if advice["dev_rows"] is not None:
        lines.append(
            f"  choose within {number(advice['gap'])} of the best of {_candidates(advice['candidates'])}: "
            f"{advice['dev_rows']:,} development rows"
        )
    if advice["width"] is not None:
        by_bound = None if rows["bound"] is None else f"{rows['bound']:,} test rows whatever the losses"
        by_normal = None if rows["normal"] is None else f"{rows['normal']:,} test rows by normal planning"
        told = ", ".join(words for words in (by_bound, by_normal) if words)
        lines.append(f"  an interval {number(advice['width'])} wide: {told}")
    return "\n".join([f"Rows needed, at {level}", *lines]) if lines else ""


def _promises(advice: Mapping[str, Any]) -> str:
    gap, width = advice["bounds"]["dev_gap"], advice["bounds"]["test_width"]
    lines = []
    if gap is not None:
        lines.append(f"  choosing on {advice['sizes']['dev']:,} rows once: within {number(gap)} of the best candidate")
    if width is not None:
        lines.append(f"  testing on {advice['sizes']['test']:,} rows once: an interval at most {number(width)} wide")
    return "\n".join(["What the rows at hand promise", *lines]) if lines else ""


def _candidates(count: int) -> str:
    return "1 candidate" if count == 1 else f"{count:,} candidates"
