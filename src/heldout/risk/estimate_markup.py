"""An estimate as a piece of a notebook: the number, its interval, and what both mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.base.markup import SPACE, Html, badge, element, facts, together
from heldout.base.words import interval_words, told

OPTIMISTIC = "optimistic"


def estimate_markup(estimate: Mapping[str, Any]) -> Html:
    """The number with its interval on a line, then what it estimates, how the interval was made and from what."""
    between = interval_words(estimate)
    head = element(
        "p",
        element("strong", f"{estimate['loss']} {told(estimate)}"),
        together(Html(" · "), between) if between else "",
        together(SPACE, badge(OPTIMISTIC, "warning")) if estimate["optimistic"] else "",
    )
    return together(head, estimate_facts(estimate))


def estimate_facts(estimate: Mapping[str, Any]) -> Html:
    """What stands under an estimate's number."""
    made = estimate["low"] is not None
    return facts(
        {
            "estimates": estimate["estimand"],
            "interval": f"{estimate['method']}, {estimate['guarantee']}" if made else estimate["reason"] or "none",
            "but": estimate["reason"] if made else None,
            "from": f"{estimate['n']:,} held-out rows",
        }
    )
