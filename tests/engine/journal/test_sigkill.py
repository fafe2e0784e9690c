"""A study that is killed and started again ends with the same bytes; `make faults` does it fifty times."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

PATH = Path(__file__).parents[2] / "faults" / "sigkill.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("faults_sigkill", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["faults_sigkill"] = module
    spec.loader.exec_module(module)
    return module


def test_a_study_that_was_killed_three_times_ends_with_the_same_bytes(tmp_path: Path):
    found = load().sigkill_resume(3, candidates=6, folder=tmp_path)
    assert found["same"]
    assert found["acknowledged_twice"] == 0
    assert found["unfinished"] > 0
    assert found["cells"] == 6 * 4 * 5 + 5
    assert found["fits"] >= found["cells"]
