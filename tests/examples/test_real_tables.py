"""Real tables that come with packages: the command answers them without options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.real_tables import PAGE, TABLES
from click.testing import CliRunner

from heldout.cli.main import main


@pytest.mark.parametrize(
    ("name", "families", "codes"),
    [
        ("penguins", ["logistic", "boosting"], set()),
        ("affairs", ["logistic", "boosting"], {"H110"}),
        ("statecrime", ["ridge"], {"H110", "H111"}),
    ],
)
def test_a_real_table_is_answered_without_options(
    name: str, families: list[str], codes: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    TABLES[name].write(tmp_path / "table.csv")
    words = ["evaluate", "table.csv", "-t", TABLES[name].target, "--no-journal", "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["about"]["families"] == families
    assert {finding["code"] for finding in summary["findings"]} >= codes
    assert summary["headline"]["verdict"] in ("better", "not shown")


def test_the_page_has_a_row_for_each_table() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert [row.split(" ")[1] for row in rows[2:]] == list(TABLES)
    assert len(TABLES) == 10
