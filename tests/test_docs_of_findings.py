"""The catalogue of findings: every number in the code has a section, and every example has its finding."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from heldout.audit.trap import EXPLAINED
from heldout.results.looks import RULES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
SECTIONS = {part[:4]: part for part in PAGE.split("\n### ")[1:]}
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
EXAMPLES = [code for code, text in SECTIONS.items() if BLOCK.search(text)]
# No short program brings these about: a kernel that is wrong, a worker that dies, a file that is damaged.
WITHOUT = {"H205", "H206", "H209", "H501", "H502", "H503"}


def test_every_number_in_the_code_has_a_section_and_severities() -> None:
    used = {
        code for path in (ROOT / "src").rglob("*.py") for code in re.findall(r'"(H\d{3})"', path.read_text("utf-8"))
    }
    assert used >= set(RULES) | set(EXPLAINED)
    assert used <= set(SECTIONS)
    for text in SECTIONS.values():
        assert any(f"- Severity: {severity}" in text for severity in ("info", "warning", "error"))


def test_titles_are_those_of_the_code() -> None:
    titles = {code: text.partition(": ")[2].partition("\n")[0] for code, text in SECTIONS.items()}
    for code, (title, _) in RULES.items():
        assert titles[code] == title
        for words in ("- Why it matters: ", "- The way out: "):
            assert words in SECTIONS[code]
    for code, explained in EXPLAINED.items():
        assert titles[code] == explained.title


def test_every_section_that_can_have_one_has_an_example() -> None:
    known = set(SECTIONS) - WITHOUT - {"H105", "H110", "H111"}
    assert set(EXAMPLES) >= known


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the lines at the top of the page define."""
    found: dict[str, Any] = {}
    exec(BLOCK.findall(PAGE)[0], found)
    return found


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_has_the_finding(code: str, names: dict[str, Any]) -> None:
    (example,) = BLOCK.findall(SECTIONS[code])
    own = dict(names)
    if code == "H203":
        exec(BLOCK.findall(SECTIONS["H202"])[0], own)  # it goes on from there
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        exec(compile(example, f"{code} of findings.md", "exec"), own)
    messages = [finding.message for finding in own["result"].findings if finding.code == code]
    assert messages, [str(finding) for finding in own["result"].findings]
    quoted = " ".join(re.findall(r"^> (.*)$", SECTIONS[code], re.MULTILINE))
    assert quoted in " ".join(messages)
    severity = next(finding.severity for finding in own["result"].findings if finding.code == code)
    assert severity in SECTIONS[code].partition("- Severity: ")[2].partition("\n")[0]
