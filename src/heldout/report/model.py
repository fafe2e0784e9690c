"""Turns what the model does into tables: the risk by subgroup, and the columns that it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.report.blocks import Block, Note, Number, Span, Table
from heldout.report.words import between, ends_words, level_words, shown


def model_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of subgroups and of importance, for those that were asked for."""
    return [*_subgroups(summary.get("subgroups")), *_importance(summary.get("importance"))]


def _subgroups(found: Mapping[str, Any] | None) -> list[Block]:
    if found is None:
        return []
    rows = tuple(
        (
            row["slice"],
            row["group"],
            row["rows"],
            Number(row["value"], shown(row["value"], row, share=False)),
            Number(row["low"], ends_words(row, share=False) or "none"),
            Span(row["reason"] or "", "quiet"),
        )
        for row in ({**row, "unit": found["unit"]} for row in found["rows"])
    )
    head = ("by", "subgroup", "rows", found["loss"], f"{level_words(found['level'])} together", "")
    return [
        Table(title="Risk by subgroup", head=head, rows=rows, brief=40, key="subgroups", sentences=True),
        Note(found["sentence"]),
    ]


def _importance(found: Mapping[str, Any] | None) -> list[Block]:
    if found is None:
        return []
    rows = tuple(
        (row["feature"], row["importance"], Number(row["low"], "none" if row["low"] is None else between(row)))
        for row in found["rows"]
    )
    head = ("column", f"{found['loss']} gets worse by", f"{level_words(found['level'])} interval over folds")
    title = f"What it uses: columns permuted, {found['repeats']} times in each fold"
    return [Table(title=title, head=head, rows=rows, brief=10, left_out=found["left_out"], key="importance")]
