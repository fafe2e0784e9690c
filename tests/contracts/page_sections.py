"""The examples of docs/extending.md, a section each."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def section_code(title: str) -> str:
    """The example of one section of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return str(code)


def run_section(title: str) -> dict[str, Any]:
    """Run the example of one section, and return what it defines."""
    module = ModuleType("extending_" + title.lower().replace(" ", "_"))
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(section_code(title), str(PAGE), "exec"), vars(module))
    return vars(module)
