"""`heldout evaluate` and `compare` say what is wrong with the data, and end with the exit code that was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from heldout.cli.main import main

ROWS = 240


def run(*words: str, width: int = 80) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": str(width), "NO_COLOR": None}, prog_name="heldout")


def write(frame: pd.DataFrame, place: Path) -> str:
    frame.to_csv(place, index=False)
    return str(place)


def base() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age, school = rng.integers(18, 80, ROWS), rng.integers(8, 20, ROWS)
    wage = np.round(np.exp(3 + 0.01 * age + 0.08 * school + rng.normal(0, 0.3, ROWS)), 2)
    return pd.DataFrame({"age": age, "school": school, "wage": wage})


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A leak as in R's `Wage`, an id, two traps at once, noise, and 6 % positives."""
    rng, place, frame = np.random.default_rng(1), tmp_path_factory.mktemp("tables"), base()
    plain = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=list("abc"))
    made = {
        "leak": frame.assign(logwage=np.log(frame["wage"]).round(6)),
        "id": frame.assign(order=rng.permutation(ROWS) + 7000),
        "named id": frame.assign(order_id=rng.choice(10**6, ROWS, replace=False)),
        "two": frame.assign(
            logwage=np.log(frame["wage"]).round(6), seen=pd.date_range("2024-01-01", periods=ROWS).astype(str)
        ),
        "noise": plain.assign(y=rng.choice(["no", "yes"], ROWS)),
        "rare": plain.assign(y=np.where(rng.permutation(ROWS) < 0.06 * ROWS, "yes", "no")),
    }
    return {name: write(table, place / f"{name}.csv") for name, table in made.items()}


def words_for(tables: dict[str, str], name: str) -> list[str]:
    classes = name in ("noise", "rare")
    how = ["-l", "logistic" if classes else "ridge", "--space", f"{'logistic' if classes else 'ridge'}=fixed"]
    return [tables[name], "-t", "y" if classes else "wage", *how, "--test", "kfold:3", "--no-journal", "--jobs", "1"]


@pytest.mark.parametrize(
    ("name", "found", "exits"),
    [
        ("leak", {"H605": "error"}, {"error": 1, "warning": 1, "info": 1}),
        ("id", {"H603": "warning"}, {"error": 0, "warning": 1, "info": 1}),
        ("named id", {}, {"error": 0, "warning": 0, "info": 0}),
        ("two", {"H605": "error", "H607": "warning"}, {"error": 1, "warning": 1, "info": 1}),
        ("noise", {}, {"error": 0, "warning": 0, "info": 0}),
        ("rare", {}, {"error": 0}),
    ],
)
def test_each_trap_is_said_and_counts(tables: dict[str, str], name: str, found: Any, exits: dict[str, int]) -> None:
    words = words_for(tables, name)
    summary = json.loads(run("evaluate", *words, "--json").stdout)
    of_checks = {one["code"]: one["severity"] for one in summary["findings"] if one["code"].startswith("H6")}
    assert of_checks == found
    assert summary["checks"]["ran"]
    looked_for = [one["severity"] for one in summary["findings"] if one["code"][:2] in ("H6", "H7")]
    assert summary["checks"]["found"] == {one: looked_for.count(one) for one in ("error", "warning", "info")}
    others = [one["severity"] for one in summary["findings"] if one["code"] not in found]
    for severity, code in exits.items():
        done = run("evaluate", *words, "--fail-on", severity)
        counted = {"error": others.count("error"), "warning": len(others) - others.count("info"), "info": len(others)}
        assert done.exit_code == (1 if counted[severity] else code), (severity, done.output)
        if code:
            assert "Findings: " in done.stderr
            assert any(one in done.stderr for one in found)
    text = run("evaluate", *words).stdout
    for code in found:
        assert f"({code})" in text
    assert run("evaluate", *words, "--ignore", ",".join(found), "--fail-on", "error").exit_code == 0
    assert run("evaluate", *words, "--checks", "none", "--fail-on", "error").exit_code == 0


def test_what_the_command_leaves_out_by_the_rule_of_check_is_not_reported(tables: dict[str, str]) -> None:
    done = run("check", tables["named id"], "-t", "wage")
    assert "H603 warning: Column 'order_id'" in done.stdout
    done = run("evaluate", *words_for(tables, "named id"))
    assert "left out    order_id (an identifier" in done.stdout
    assert "H603" not in done.stdout


def test_compare_counts_findings_too(tables: dict[str, str]) -> None:
    words = [tables["leak"], "-t", "wage", "-l", "ridge,dummy", "--test", "kfold:3", "--no-journal", "--jobs", "1"]
    summary = json.loads(run("compare", *words, "--json").stdout)
    assert [one["code"] for one in summary["findings"]].count("H605") == 1
    assert summary["checks"]["found"]["error"] == 1
    assert run("compare", *words, "--fail-on", "error").exit_code == 1
    assert run("compare", *words, "--fail-on", "error", "--ignore", "H605").exit_code == 0


def test_a_study_file_says_what_is_looked_for(tables: dict[str, str], tmp_path: Path) -> None:
    written = str(tmp_path / "study.toml")
    words = [*words_for(tables, "leak"), "--checks", "all", "--ignore", "H605,H607"]
    assert run("evaluate", *words, "--write-study", written).exit_code == 0
    text = Path(written).read_text(encoding="utf-8")
    assert 'checks = "all"' in text
    assert "H605,H607" in text
    summary = json.loads(run("evaluate", written, "--no-journal", "--json").stdout)
    assert (summary["checks"]["mode"], summary["checks"]["ignored"]) == ("all", ["H605", "H607"])
    assert run("evaluate", written, "--no-journal", "--ignore", "H603", "--fail-on", "error").exit_code == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--ignore", "H6O5"), "no finding 'H6O5' to ignore"),
        (("--checks", "some"), "Invalid value for '--checks'"),
    ],
)
def test_wrong_words_are_refused(tables: dict[str, str], words: tuple[str, ...], message: str) -> None:
    done = run("evaluate", *words_for(tables, "leak"), *words)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_sixty_columns_of_traps_are_one_screen(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(2), 400
    y = np.round(rng.normal(size=n), 6)
    columns: dict[str, Any] = {f"leak{i}": y * (i + 2) + i for i in range(10)}
    columns |= {f"near{i}": y + rng.normal(0, 0.05, n) for i in range(10)}
    columns |= {f"code{i}": [f"K{i}-{j:05d}" for j in rng.permutation(n)] for i in range(10)}
    columns |= {f"number{i}": rng.permutation(n) + 100 * i for i in range(10)}
    columns |= {f"day{i}": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(n), unit="D") for i in range(8)}
    columns |= dict.fromkeys([f"const{i}" for i in range(6)], 1) | dict.fromkeys([f"empty{i}" for i in range(6)])
    place = write(pd.DataFrame({**columns, "y": y}), tmp_path / "wide.csv")
    lines = run("check", place, "-t", "y").stdout.splitlines()
    assert len(lines) <= 48
    assert max(map(len, lines)) <= 80
    summary = json.loads(run("check", place, "-t", "y", "--json").stdout)
    kinds = [(one["code"], one["severity"]) for one in summary["findings"]]
    assert len(kinds) == len(set(kinds)) == 6
    ids = next(one for one in summary["findings"] if one["code"] == "H603")
    assert len(ids["columns"]) == 20
    near = next(one for one in summary["findings"] if one["code"] == "H604")
    assert set(near["evidence"]) == set(near["columns"])
    assert near["evidence"]["near0"]["explained"] > 0.98
