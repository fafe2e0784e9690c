"""The page on splits: every page that it leads to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "splits.md"


def test_every_page_it_leads_to_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (PAGE.parent / link).exists()]
    assert len(links) > 4
    assert missing == []


@pytest.mark.parametrize("page", ["splits.md", "panel.md"])
def test_the_readme_leads_to_the_page(page):
    assert f"docs/{page}" in (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
