"""The catalogue of findings: complete, in order, and what the docs say."""

from __future__ import annotations

from pathlib import Path

from heldout.audit.trap import EXPLAINED

PAGE = Path(__file__).parents[3] / "docs" / "check.md"


def test_every_number_of_check_is_explained() -> None:
    assert list(EXPLAINED) == ["H101", *(f"H6{number:02}" for number in range(1, 16))]
    for explained in EXPLAINED.values():
        for text in (explained.why, explained.way_out):
            assert text[0].isupper()
            assert text.endswith(".")
            assert "  " not in text


def test_the_docs_say_the_same_and_what_is_looked_at_and_how_grave_it_is() -> None:
    entries = PAGE.read_text(encoding="utf-8").partition("## The findings\n\n")[2].split("### ")[1:]
    for (code, explained), entry in zip(EXPLAINED.items(), entries, strict=True):
        title, looks, points = entry.strip().split("\n\n")
        assert title == f"{code}: {explained.title}"
        assert looks.endswith(".")
        why, way_out, severity = points.splitlines()
        assert (why, way_out) == (f"- Why it matters: {explained.why}", f"- The way out: {explained.way_out}")
        assert severity.startswith("- Severity: ")
        assert any(word in severity for word in ("info", "warning", "error"))
