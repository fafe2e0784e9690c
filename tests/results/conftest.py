"""What several files of these tests share; their plain functions are in modules beside this one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from heldout.planner import evidence
from heldout.planner.evidence import Prices

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small studies are asked as much as large ones are."""
    monkeypatch.setattr(
        evidence, "prices_of", lambda study, task: Prices(study=1.0, begin=0, call=0, row=0, test_call=0)
    )
