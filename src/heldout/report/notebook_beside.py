"""What is asked beside a study, as HTML for a notebook: checks of data, advice, drawn splits, and plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.markup import Html, code, details, element, facts, finding_markup, html, listed, table, titled, view
from heldout.base.words import number
from heldout.report.check import count_words, in_order, not_seen_words

MOST_TRAPS = 20
MOST_PLAIN = 10_000  # characters


def text_fragment(text: str) -> str:
    """Text that was set for a terminal, with its lines and columns."""
    return view(code(text, MOST_PLAIN))


def check_fragment(summary: Mapping[str, Any]) -> str:
    """The findings of `check`: what was seen, why it matters and the way out, the gravest first."""
    found = [_trap(one) for one in in_order(summary["findings"])]
    rest = found[MOST_TRAPS:]
    return view(
        element("p", count_words(summary), css="head"),
        *found[:MOST_TRAPS],
        details(f"{len(rest):,} more", *rest),
        element("p", not_seen_words(summary)),
    )


def _trap(finding: Mapping[str, Any]) -> Html:
    return element(
        "div",
        finding_markup(finding["code"], finding["severity"], finding["seen"]),
        facts({"why": finding["why"], "way out": finding["way_out"]}),
    )


def advice_fragment(advice: Mapping[str, Any]) -> str:
    """The recipe with its call and its reasons, then the rows that promises need and what the rows at hand promise."""
    return view(_recipe(advice), _needs(advice), _promises(advice))


def _recipe(advice: Mapping[str, Any]) -> Html:
    if advice["recipe"] is None:
        return element("p", "No recipe without the number of rows: pass n=…", css="head")
    sizes = advice["sizes"]
    each = " in each part" if advice["k"] else ""
    return element(
        "div",
        element("p", advice["recipe"], css="head"),
        element("p", f"for {advice['n']:,} rows and {_candidates(advice)}"),
        code(advice["call"]),
        facts(
            {
                "to train": f"{sizes['train']:,} rows{each}",
                "to choose": f"{sizes['dev']:,} rows{each}" if sizes["dev"] else None,
                "to test": f"{sizes['test']:,} rows{each}",
            }
        ),
        listed(advice["reasons"]),
    )


def _needs(advice: Mapping[str, Any]) -> Html:
    rows = advice["test_rows"]
    found: list[Sequence[Any]] = []
    if advice["dev_rows"] is not None:
        within = f"choose within {number(advice['gap'])} of the best of {_candidates(advice)}"
        found.append((html(within), advice["dev_rows"], "to choose"))
    if advice["width"] is not None:
        wide = f"an interval {number(advice['width'])} wide"
        found += [
            (wide, rows[by], words)
            for by, words in (("bound", "to test, whatever the losses"), ("normal", "to test, by normal planning"))
            if rows[by] is not None
        ]
    return titled(f"Rows needed, at {100 * advice['level']:.4g}%", table(("", "rows", ""), found))


def _promises(advice: Mapping[str, Any]) -> Html:
    gap, width = advice["bounds"]["dev_gap"], advice["bounds"]["test_width"]
    found = []
    if gap is not None:
        found.append(f"choosing on {advice['sizes']['dev']:,} rows once: within {number(gap)} of the best candidate")
    if width is not None:
        found.append(f"testing on {advice['sizes']['test']:,} rows once: an interval at most {number(width)} wide")
    return titled("What the rows at hand promise", listed(found))


def _candidates(advice: Mapping[str, Any]) -> str:
    count = advice["candidates"]
    return "1 candidate" if count == 1 else f"{count:,} candidates"


def splits_fragment(splits: Mapping[str, Any]) -> str:
    """Drawn splits: how they were drawn, and the sizes of the first parts."""
    parts = enumerate(zip(splits["train_rows"], splits["held_rows"], strict=True))
    rows = [(part, train, held) for part, (train, held) in parts]
    return view(
        element("p", splits["words"], css="head"),
        table(("part", "trains on", "holds out"), rows),
        facts({"fingerprint": splits["fingerprint"][:12], "of data": splits["task_fingerprint"][:12]}),
    )
