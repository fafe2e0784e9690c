"""What several files of these tests share; their plain functions are in modules beside this one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from heldout.planner import evidence
from heldout.planner.predicting import Prices

sys.path.insert(0, str(Path(__file__).parent))
from stream_files import make_frame


@pytest.fixture
def costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small studies are asked as much as large ones are."""
    monkeypatch.setattr(
        evidence, "prices_of", lambda study, task: Prices(study=1.0, begin=0, call=0, row=0, test_call=0)
    )


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers.parquet"
    make_frame().to_parquet(path)
    return path


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.parquet"
    make_frame(classes=True).to_parquet(path)
    return path


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.parquet"
    make_frame(20_000).to_parquet(path, row_group_size=3_000)
    return path


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr("heldout.engine.streaming.gather.SAMPLE_NUMBERS", 1 << 13)
