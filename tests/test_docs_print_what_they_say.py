"""Pages whose examples print what stands below them."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.parametrize("name", ["losses.md", "model.md", "splits.md"])
def test_the_page_prints_what_it_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((DOCS / name).read_text(encoding="utf-8"))
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for code, printed in blocks:
        out = StringIO()
        with redirect_stdout(out):
            exec(compile(code, name, "exec"), names)
        assert out.getvalue() == printed
