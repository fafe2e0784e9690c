"""The quick part of `make faults`: kill, hang, memory limit, SIGKILL and resume, two writers, Ctrl-C. All are real."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def load() -> ModuleType:
    """`run.py`, by a name that no other program's has."""
    spec = importlib.util.spec_from_file_location("faults_run", Path(__file__).with_name("run.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["faults_run"] = module
    spec.loader.exec_module(module)
    return module


faults = load()
QUICK = [case for case in faults.CASES if case.quick]


def test_every_kind_of_fault_has_a_quick_case() -> None:
    assert {case.number for case in QUICK} == {1, 2, 4, 6, 7, 10}


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_the_user_sees_what_is_promised(case: faults.Case) -> None:
    as_promised, saw = faults.run_case(case)
    assert as_promised, saw
