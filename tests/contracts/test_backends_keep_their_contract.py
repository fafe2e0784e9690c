"""Every backend keeps the contract, also the one that docs/engine.md adds from outside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from backend_contract import check_backend

from heldout.backends import registry
from heldout.backends.base import BackendSettings
from heldout.base.errors import OptionError

PAGE = Path(__file__).parents[2] / "docs" / "engine.md"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> str:
    """What `backend=` takes once the code of the page has run."""
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if "Kind(" in block]
    monkeypatch.setattr(registry, "KINDS", [*registry.KINDS])
    exec(compile(code, str(PAGE), "exec"), {})
    return "backwards"


@pytest.mark.parametrize("backend", [None, "inline", "processes"])
def test_our_backends_keep_the_contract(backend: str | None, asked: Any) -> None:
    check_backend(backend, asked)


def test_the_example_keeps_the_contract(example: str, asked: Any) -> None:
    check_backend(example, asked)


def test_a_backend_from_outside_is_offered_where_its_name_is_nearly_right(example: str) -> None:
    with pytest.raises(OptionError, match="Did you mean 'backwards'"):
        registry.open_backend("backward", BackendSettings())
