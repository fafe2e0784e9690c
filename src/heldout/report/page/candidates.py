"""The table of all candidates: a thousand rows must fit into the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from heldout.report.page.tables import Table, make_table

MOST_PARAMS = 8  # columns; the other parameters share one
ROOM = 400_000  # bytes of rows


def candidates_table(summary: Mapping[str, Any]) -> Table:
    """A row a candidate, the best first, with a column for each of the first parameters."""
    rows = summary.get("candidates") or []
    params = list(dict.fromkeys(name for row in rows for name in row["params"]))
    own, rest = params[:MOST_PARAMS], params[MOST_PARAMS:]
    families = len({row["family"] for row in rows}) > 1
    failed = any(row["note"] for row in rows)
    loss = f"Validation {summary['about']['chosen_by']}"
    titles = _titles(own)
    head = ["Place", *(["Family"] if families else []), *titles, *(["Other parameters"] if rest else [])]
    head += [loss, "Standard error", "Chosen in folds", *(["Note"] if failed else [])]
    made = (
        [
            place,
            *([row["family"]] if families else []),
            *(_value(row["params"], name) for name in own),
            *([", ".join(f"{name}={row['params'][name]}" for name in rest if name in row["params"])] if rest else []),
            row["mean"],
            row["se"],
            row["chosen"],
            *([row["note"] or ""] if failed else []),
        ]
        for place, row in enumerate(rows, start=1)
    )
    numeric = ["Place", loss, "Standard error", "Chosen in folds"]
    numeric += [
        title
        for title, name in zip(titles, own, strict=True)
        if all(_is_number(row["params"].get(name, 0)) for row in rows)
    ]
    table = make_table("All candidates, the best first", head, made, numeric=numeric, most=len(rows), room=ROOM)
    return replace(table, left_out=max(table.left_out, summary["about"]["candidates"] - table.shown))


def _titles(params: Sequence[str]) -> list[str]:
    """The last part of each name, as in `step__param`, where that tells them apart."""
    short = [name.rpartition("__")[2] for name in params]
    return short if len(set(short)) == len(short) else list(params)


def _value(params: Mapping[str, Any], name: str) -> Any:
    """A parameter's value; words for what a cell would take for nothing or for a number that it is not."""
    if name not in params:
        return ""
    value = params[name]
    return str(value) if value is None or isinstance(value, bool | list | dict) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
