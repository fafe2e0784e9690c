"""The page on losses: its code runs and prints what the page says, and its tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from sklearn.metrics import get_scorer_names

from heldout.losses import OWN_NAMES, resolve_losses

PAGE = Path(__file__).parents[1] / "docs" / "losses.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_name_of_ours_has_a_line_with_its_range():
    rows = dict(re.findall(r"^\| `([a-z_:0-9.]+)` \| .*\| (.*?) \|$", TEXT, re.MULTILINE))
    assert set(rows) == set(OWN_NAMES)
    for name, words in rows.items():
        (loss,) = resolve_losses(name, classification=True)
        assert loss.rows is not None
        assert words.endswith("up") == (loss.high == float("inf"))


def test_the_scoring_names_of_the_page_are_those_that_rows_have():
    table = TEXT[TEXT.index("| row loss |") : TEXT.index("All other scoring names")]
    named = set(re.findall(r"`([a-z0-9_]+)`", table)) & set(get_scorer_names())
    ours = {name for name in get_scorer_names() if resolve_losses(name, classification=True)[0].rows is not None}
    assert named == ours


def test_every_page_it_leads_to_is_there_and_the_readme_leads_to_it():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert [link for link in links if not (PAGE.parent / link).exists()] == []
    assert "docs/losses.md" in (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
