"""Advice as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heldout.base.amounts import show_seconds
from heldout.base.words import fit_words
from heldout.report.text import line, number, safe


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


def advice_view(advice: Mapping[str, Any]) -> RenderableType:
    """The same for a terminal: what was read, the recipe with its command, why, the promises and the cost."""
    from heldout.report.terminal import facts_view

    blocks: list[RenderableType] = [facts_view(advice["head"])] if advice.get("head") else []
    if advice["recipe"] is None:
        blocks.append(Text("No recipe without the number of rows: name a table, or --rows."))
    else:
        of = f"for {advice['n']:,} rows and {_candidates(advice['candidates'])}"
        facts = {"rows": _rows_words(advice), **_cost_words(advice.get("cost"))}
        reasons = Table.grid(padding=(0, 1, 0, 0))
        for reason in advice["reasons"]:
            reasons.add_row(Text("-"), Text(line(reason)))
        recipe = Text.assemble((line(advice["recipe"]), "bold green"), f"   {of}")
        blocks.append(Group(recipe, Text(_over_lines(advice["command"])), facts_view(facts), reasons))
    blocks += [Text(text) for text in (_needs(advice), _promises(advice)) if text]
    return Group(*(part for number, block in enumerate(blocks) for part in ([Text()] if number else []) + [block]))


def short_advice(advice: Mapping[str, Any]) -> Text:
    """The command alone, or the rows that are needed."""
    return Text(safe(advice["command"] or _needs(advice)), no_wrap=True, overflow="ignore")


def _over_lines(command: str, most: int = 76) -> str:
    """A command line cut before options, so that it can be copied as it stands.

    >>> _over_lines("heldout evaluate a.csv --target y --test kfold:5", 32).splitlines()
    ['  heldout evaluate a.csv \\\\', '    --target y --test kfold:5']
    """
    first, *options = safe(command).split(" --")
    lines = [f"  {first}"]
    for option in options:
        if len(lines[-1]) + len(option) + 5 <= most:
            lines[-1] += f" --{option}"
        else:
            lines.append(f"    --{option}")
    return " \\\n".join(lines)


def _rows_words(advice: Mapping[str, Any]) -> str:
    sizes = advice["sizes"]
    dev = f", {sizes['dev']:,} to choose" if sizes["dev"] else ""
    return f"{sizes['train']:,} to train{dev}, {sizes['test']:,} to test{', in each part' if advice['k'] else ''}"


def _cost_words(cost: Mapping[str, Any] | None) -> dict[str, str]:
    if cost is None:
        return {}
    before = cost["fits_before"]
    time = f", about {show_seconds(cost['seconds'])} on this machine" if cost["seconds"] is not None else ""
    return {"cost": f"{cost['cells']:,} cells, {fit_words(cost['fits'], before)}{time}"}
