"""Maps each kind of value to the function that turns it into blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heldout.report.blocks import Block, Facts
from heldout.report.comparison import across_blocks, chance_blocks, comparison_blocks
from heldout.report.html import notebook_fragment
from heldout.report.others import (
    advice_blocks,
    check_blocks,
    finding_blocks,
    ledger_blocks,
    sentence_blocks,
    splits_blocks,
    splits_summary_blocks,
)
from heldout.report.plan import account_blocks, short_plan_blocks
from heldout.report.result import estimate_blocks, result_blocks, tuned_blocks
from heldout.report.study_list import studies_blocks
from heldout.report.text import render_text

if TYPE_CHECKING:
    from rich.console import Group

BLOCKS: dict[str, Callable[[Mapping[str, Any]], Sequence[Block]]] = {
    "across": across_blocks,
    "advice": advice_blocks,
    "chance": chance_blocks,
    "check": check_blocks,
    "comparison": comparison_blocks,
    "covers": sentence_blocks,
    "estimate": estimate_blocks,
    "finding": finding_blocks,
    "head": lambda _: (),
    "ledger": ledger_blocks,
    "plan": account_blocks,
    "result": result_blocks,
    "short plan": short_plan_blocks,
    "splits": splits_blocks,
    "splits summary": splits_summary_blocks,
    "studies": studies_blocks,
    "tuned": tuned_blocks,
}


def as_text(kind: str, values: Mapping[str, Any]) -> str:
    """Return a value as plain text, for `print`."""
    return render_text(BLOCKS[kind](values))


def as_html(kind: str, values: Mapping[str, Any]) -> str:
    """Return a value as HTML, for a notebook."""
    return notebook_fragment(BLOCKS[kind](values))


def as_view(kind: str, values: Mapping[str, Any]) -> Group:
    """Return a value for display in a terminal; `head`, which commands add, lists their input above it."""
    from heldout.report.terminal import terminal_view

    return terminal_view([Facts(values.get("head") or {}), *BLOCKS[kind](values)])
