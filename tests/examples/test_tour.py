"""The tour in the docs is what its script runs, and what the commands print."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tour() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tour_example", ROOT / "examples" / "tour.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def shown(tour: ModuleType) -> dict[str, str]:
    """What the page shows below each command."""
    blocks = [part.partition("```\n")[0] for part in tour.DOCS.read_text(encoding="utf-8").split("```console\n$ ")[1:]]
    return {command: output for command, _, output in (block.partition("\n") for block in blocks)}


def test_the_page_has_every_command_in_its_order(tour: ModuleType, shown: dict[str, str]) -> None:
    assert list(shown) == [command for _, command, _ in tour.STEPS]
    for verb in ("check", "advise", "evaluate", "compare", "predict", "ledger"):
        assert any(command.startswith(f"heldout {verb} ") or command == f"heldout {verb}" for command in shown), verb


@pytest.mark.parametrize("number", [0, 1, 3])
def test_the_page_shows_what_is_printed(tour: ModuleType, shown: dict[str, str], tmp_path: Path, number: int) -> None:
    tour.make_tables(tmp_path)
    command = tour.STEPS[number][1]
    assert tour.transcript(command, tmp_path) == shown[command]
