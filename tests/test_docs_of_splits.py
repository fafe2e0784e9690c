"""The page on splits: its code runs, and prints what the page says."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "splits.md"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def test_the_page_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for code, printed in blocks:
        out = StringIO()
        with redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), names)
        assert out.getvalue() == printed


def test_every_page_it_leads_to_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (PAGE.parent / link).exists()]
    assert len(links) > 4
    assert missing == []


@pytest.mark.parametrize("page", ["splits.md", "panel.md"])
def test_the_readme_leads_to_the_page(page):
    assert f"docs/{page}" in (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
