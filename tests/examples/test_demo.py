"""`make demo` is the first impression: a short screen and a page, with nothing of the developers' tools installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_demo_prints_one_screen_and_names_its_page(tmp_path: Path) -> None:
    program = ROOT / "examples" / "demo.py"
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.rstrip().splitlines()
    assert len(lines) < 50
    page = tmp_path / "demo.html"
    assert lines[-1] == f"The same with figures, for colleagues: open {page}"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert re.search("Better than always answering 'no'|always \"no\"", ended.stdout)
    assert "boosting" in ended.stdout
    assert "logistic regression" in ended.stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_demo_installs_the_library_and_no_tools_of_developers(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    said = {
        target: subprocess.run(["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for target in ("demo", "test")
    }
    assert re.findall("pip install.*", said["demo"]) == [
        'pip install --quiet --disable-pip-version-check --editable ".[report]"'
    ]
    assert "python examples/demo.py" in said["demo"]
    assert "--group dev" in said["test"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert [re.split("[>=]", name)[0] for name in extras["report"]] == ["jinja2", "matplotlib"]
