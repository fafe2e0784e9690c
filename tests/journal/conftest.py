"""Studies with a journal are a module beside the tests: this makes it importable from here, and each begins afresh."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from journal_runs import fits


@pytest.fixture(autouse=True)
def no_fits() -> None:
    fits.clear()


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, X[:, 0] + rng.normal(size=60) + 2
