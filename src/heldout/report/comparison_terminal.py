"""The summary of a comparison for a terminal, with rich: what it shows first, then the numbers it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heldout.report.comparison import MOST_SENTENCES, estimand_lines
from heldout.report.terminal import facts_view, findings_view
from heldout.report.text import line, number


def comparison_view(summary: Mapping[str, Any]) -> Group:
    """Sentences, ranking, differences, findings, and how they were made."""
    blocks = [
        _sentences(summary["pairs"]),
        _ranking(summary["ranking"]),
        _pairs(summary["pairs"]),
        findings_view(summary["findings"]),
        facts_view(_foot(summary)),
    ]
    return Group(*(part for block in blocks if block is not None for part in (Text(), block)))


def short_comparison(summary: Mapping[str, Any]) -> Text:
    """The sentences, each with what its difference estimates.

    >>> pair = {"sentence": "a is better than b by 1 to 2.", "estimand": "risk of 'a' less that of 'b'"}
    >>> short_comparison({"pairs": [pair]}).plain
    "a is better than b by 1 to 2. The difference estimates: risk of 'a' less that of 'b'."
    """
    told = [{"sentence": f"{one['sentence']} The difference estimates: {one['estimand']}."} for one in summary["pairs"]]
    return _sentences(told, style="")


def _sentences(pairs: Sequence[Mapping[str, Any]], style: str = "bold") -> Text:
    more = [f"… {len(pairs) - MOST_SENTENCES} more pairs"] if len(pairs) > MOST_SENTENCES else []
    return Text("\n".join([*(line(pair["sentence"]) for pair in pairs[:MOST_SENTENCES]), *more]), style=style)


def _ranking(ranking: Sequence[Mapping[str, Any]]) -> RenderableType:
    level = f"{100 * ranking[0]['level']:.4g}% interval, each by itself"
    table = _table("risk", line(ranking[0]["loss"]), level)
    for one in ranking:
        told = _between(one) if one["value"] is not None else line(one["reason"])
        table.add_row(Text(line(one["name"])), Text(number(one["value"]), style="green"), Text(told))
    return table


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> RenderableType:
    level = f"{100 * pairs[0]['interval_level']:.4g}% interval"
    equal = any(pair["chance_equal"] is not None for pair in pairs)
    chances = any(pair["chance_first_better"] is not None for pair in pairs)
    heads = ["better / equal / worse" if equal else "better / worse"] if chances else []
    table = _table("difference", "", level, "p", "Holm p", *heads)
    for pair in pairs[:MOST_SENTENCES]:
        name = f"{line(pair['first'])} − {line(pair['second'])}"
        sides = (pair["chance_first_better"], pair["chance_equal"], pair["chance_second_better"])
        cells = [number(pair["difference"]), _between(pair), number(pair["p"]), number(pair["p_holm"])]
        cells += [" / ".join(f"{one:.3f}" for one in sides if one is not None)] if chances else []
        table.add_row(Text(name), *map(Text, cells))
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text(first), overflow="fold")
    for head in others:
        table.add_column(Text(head), justify="left" if "interval" in head else "right")
    return table


def _between(one: Mapping[str, Any]) -> str:
    return "–" if one["low"] is None else f"{number(one['low'])} to {number(one['high'])}"


def _foot(summary: Mapping[str, Any]) -> dict[str, str]:
    about, made = summary["about"], [pair for pair in summary["pairs"] if pair["method"]]
    facts = {}
    if made:
        ways = dict.fromkeys(f"{one['method']}, {one['guarantee']}; p by {one['p_method']}" for one in made)
        held = "they hold together at" if len(summary["pairs"]) > 1 else "at"
        facts["intervals"] = f"{'; '.join(ways)}; {held} {100 * summary['level']:.4g}%"
    if summary["rope"] is not None:
        facts["equal"] = f"within ±{number(summary['rope'])}"
    facts["estimates"] = "; ".join(words for _, words in estimand_lines(summary["ranking"]))
    facts["test"] = f"{about['test']}, the same for all"
    facts["work"] = f"{about['rows']:,} rows, data {about['fingerprint'][:12]}, seed {about['seed']}"
    return facts
