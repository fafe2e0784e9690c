"""What a study says about itself, through the command: findings, what was looked for, exit codes, options."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from heldout.cli.main import main

RNG = np.random.default_rng(3)
ROWS = 240
TABLE = pd.DataFrame(RNG.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
TOLD = TABLE["a"] + TABLE["b"]
TABLE["price"] = 10 * TOLD + 5 * RNG.normal(size=ROWS)
TABLE["noise"] = RNG.normal(size=ROWS)
TABLE["bent"] = np.where(TABLE["a"] * TABLE["b"] > 0, 10.0, -10.0) + RNG.normal(size=ROWS)
TABLE["part"] = np.arange(ROWS) % 5
TABLE["broken"] = TABLE["price"] + 100 * (TABLE["part"] == 3)
TABLE["site"] = np.array([*"abcd"])[RNG.integers(0, 4, ROWS)]
TABLE["spread"] = TABLE["price"] + np.where(TABLE["site"] == "c", 60 * TABLE["noise"], 0)
TABLE["hour"] = np.arange(ROWS)
TABLE["drift"] = 10 * TOLD + (3 + 27 * np.arange(ROWS) / ROWS) * np.random.default_rng(0).normal(size=ROWS)
TABLE["leak"] = TABLE["price"] + 0.1 * RNG.normal(size=ROWS)


@pytest.fixture
def table(working_folder: Path) -> Path:
    TABLE.to_csv("table.csv", index=False)
    return working_folder / "table.csv"


def run(target: str, *options: str, columns: str = "a,b,c", code: int = 0) -> dict[str, Any]:
    """Run `heldout evaluate` on some columns of the table, and return its JSON."""
    roles = {value for option, value in itertools.pairwise(options) if option in ("--time", "--groups")}
    roles |= {option.removeprefix("column:") for option in options}
    dropped = [name for name in TABLE if name not in (*columns.split(","), target, *roles)]
    drops = [word for name in dropped for word in ("--drop", name)]
    command = ["evaluate", "table.csv", "-t", target, "--json", "--no-journal", "--jobs", "1", *drops, *options]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def findings(found: dict[str, Any]) -> dict[str, str]:
    return {one["code"]: f"{one['severity']}: {one['message']}" for one in found["findings"] if one["code"] >= "H7"}


EXAMPLES = {
    "H701": ("price", ["--learner", "ridge", "--space", "ridge.alpha=log:1e3:1e5:3"], "alpha=1000, try 100, 10, 1 too"),
    "H702": ("price", ["--learner", "ridge"], "alpha=1.0 does as well as what was chosen"),
    "H703": ("price", ["--learner", "ridge", "--space", "ridge=fixed"], "Ridge has its default parameters"),
    "H704": ("noise", ["--learner", "ridge"], "is not shown to be better than no model"),
    "H706": ("broken", ["--learner", "ridge", "--test", "column:part"], "Fold 3 is far from the others"),
    "H708": (
        "noise",
        ["--learner", "tree", "--space", "tree.max_leaf_nodes=64", "--space", "tree.min_samples_leaf=1"],
        "Training rows are answered far better than held-out rows",
    ),
    "H709": ("drift", ["--learner", "ridge", "--time", "hour"], "Later blocks are worse: RMSE"),
    "H712": (
        "price",
        ["--learner", "lasso", "--space", "lasso.alpha=0.3", "--checks", "all"],
        "1 of 3 columns are used by nothing: permuting them changes no answer of any fold (c)",
    ),
    "H710": ("bent", ["--learner", "ridge", "--checks", "all"], "Boosting does better on the same folds"),
}


@pytest.mark.parametrize("code", EXAMPLES)
def test_each_finding_is_in_the_json_of_the_command(table: Path, code: str) -> None:
    target, options, words = EXAMPLES[code]
    assert words in findings(run(target, *options))[code]


def test_a_linear_model_and_one_column_that_do_as_well_are_said_with_all_checks(table: Path) -> None:
    options = ["--learner", "tree", "--checks", "all"]
    assert "a plain linear model is better than this learner" in findings(run("price", *options))["H705"]
    leaky = findings(run("price", *options, columns="a,b,leak"))
    assert leaky["H711"].startswith("info: The column 'leak' (linear) alone does as well as all columns")
    assert "H711" not in findings(run("bent", *options))


def test_a_site_is_named_by_its_level(table: Path) -> None:
    found = findings(run("spread", "--learner", "ridge", columns="a,b,c,site"))
    assert "between the levels of 'site': RMSE" in found["H707"]
    assert "where it is c" in found["H707"]


def test_a_sound_study_has_nothing_but_that_tuning_gains_little(table: Path) -> None:
    found = run("price", "--learner", "ridge", "--fail-on", "warning")
    assert set(findings(found)) <= {"H702"}
    assert "one fold is far from the others" in found["checks"]["looked"]
    assert any(text.startswith("boosting does better on the same folds (") for text in found["checks"]["not_looked"])


def test_warnings_fail_where_it_is_asked_and_ignored_ones_do_not(table: Path) -> None:
    options = ["--learner", "ridge", "--fail-on", "warning"]
    assert "H704" in findings(run("noise", *options, code=1))
    assert "H704" not in findings(run("noise", *options, "--ignore", "H704"))
    assert not findings(run("noise", *options, "--checks", "none"))


def test_explain_prices_what_all_checks_fit(table: Path) -> None:
    drops = [word for name in TABLE if name not in ("a", "b", "c", "price") for word in ("--drop", name)]
    command = ["explain", "table.csv", "-t", "price", "--learner", "ridge", *drops]
    quick, every = (CliRunner().invoke(main, [*command, "--checks", checks]).output for checks in ("quick", "all"))
    assert "yardsticks" not in quick
    assert "yardsticks" in every
    assert "untuned learner" in every


def test_the_screen_says_what_was_found(table: Path) -> None:
    drops = [word for name in TABLE if name not in ("a", "b", "c", "noise") for word in ("--drop", name)]
    result = CliRunner().invoke(
        main, ["evaluate", "table.csv", "-t", "noise", "--no-journal", "--learner", "ridge", *drops]
    )
    assert result.exit_code == 0
    words = " ".join(result.output.split())
    assert "H704" in words
    assert "The learner is not shown to be better than no model" in words
