"""The list of findings for the docs, made from the catalogue."""

from __future__ import annotations

from heldout.audit.traps.catalogue import EXPLAINED
from heldout.base.findings import CODES


def findings_page() -> str:
    """The list as Markdown: a heading a number, what is looked at, why it matters, the way out, and its severity."""
    return "\n".join(_entry(code) for code in EXPLAINED)


def _entry(code: str) -> str:
    one = EXPLAINED[code]
    return (
        f"### {code}: {CODES[code]}\n\n"
        f"{one.looks}\n\n"
        f"- Why it matters: {one.why}\n"
        f"- The way out: {one.way_out}\n"
        f"- Severity: {one.severity}.\n"
    )
