"""Numbers of findings: each that the house may give is explained in the docs, and no other is."""

from __future__ import annotations

import re
from pathlib import Path

from heldout.audit.trap import EXPLAINED

ROOT = Path(__file__).parents[2]


def test_every_finding_is_explained() -> None:
    given = {
        code
        for path in (ROOT / "src").rglob("*.py")
        for code in re.findall(r'"(H[1-7]\d\d)"', path.read_text(encoding="utf-8"))
    }
    page = (ROOT / "docs" / "summary.md").read_text(encoding="utf-8").partition("## The numbers of findings")[2]
    explained = re.findall(r"^\| (H\d\d\d) \| \w.*\w \|$", page, re.MULTILINE)
    assert explained == sorted(set(explained))
    assert given == {*explained, *EXPLAINED}
