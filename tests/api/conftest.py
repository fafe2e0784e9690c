"""What several files of these tests share; their plain functions are in modules beside this one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from stream_files import make_frame


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
    monkeypatch.setattr("heldout.engine.stream_passes.SAMPLE_NUMBERS", 1 << 13)
