"""The catalogue of findings: complete, in order, and what the docs say."""

from __future__ import annotations

from pathlib import Path

from heldout.audit.trap import EXPLAINED, findings_page
from heldout.base.findings import CODES

PAGE = Path(__file__).parents[3] / "docs" / "check.md"


def test_every_number_of_check_is_explained() -> None:
    of_check = {code for code in CODES if code.startswith("H6")} | {"H101"}
    assert list(EXPLAINED) == sorted(of_check)
    for one in EXPLAINED.values():
        sentences = (one.looks, one.why, one.way_out)
        assert all(text[0].isupper() and text.endswith(".") and "  " not in text for text in sentences)
        assert any(word in one.severity for word in ("info", "warning", "error"))


def test_the_docs_hold_the_list_as_it_is() -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = text.partition("## The findings\n\n")[2]
    assert made == findings_page(), "docs/check.md: replace what follows '## The findings' by findings_page()"
