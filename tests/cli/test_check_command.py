"""`heldout check`: what people and programs see, exit codes as a gate, and words that mean nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_iris

import heldout as ho
from heldout.cli.main import main

ROWS = 300


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table with copies, a counter, the target again, a constant with an evil name, a split and weights."""
    rng = np.random.default_rng(0)
    y = rng.random(ROWS) < 0.5
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=ROWS),
            "width": rng.normal(size=ROWS),
            "city": rng.choice(["Bern", "Basel"], ROWS),
            "again": np.where(y, 2, 5),
            "<b>\x1b[31m\nx": 1,
            "weight": rng.uniform(1, 2, ROWS),
            "sold": np.where(y, "yes", "no"),
        }
    )
    frame = pd.concat([frame, frame.head(20)], ignore_index=True)
    frame["part"] = np.where(np.arange(len(frame)) < 200, "train", "test")
    frame["visit"] = np.arange(len(frame))
    return write(frame, tmp_path_factory.mktemp("leaky") / "leaky.csv")


@pytest.fixture(scope="module")
def iris(tmp_path_factory: pytest.TempPathFactory) -> str:
    frame = load_iris(as_frame=True).frame
    return write(frame, tmp_path_factory.mktemp("iris") / "iris.csv", index=True)


def write(frame: pd.DataFrame, place: Path, *, index: bool = False) -> str:
    frame.to_csv(place, index=index)
    return str(place)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["check", *words], env={"COLUMNS": "100", "NO_COLOR": None}, prog_name="heldout")


def test_every_report_says_that_columns_chosen_beforehand_are_not_seen(iris: str) -> None:
    words = "Not seen by any check: columns that were chosen beforehand by looking at all rows"
    X, y = load_iris(return_X_y=True)
    checked = ho.check(X, y)
    assert str(checked).splitlines()[-1].startswith(words)
    assert words in checked._repr_html_()
    assert words in " ".join(run(iris, "--target", "target").stdout.split())
    assert found(iris, "--target", "target")["not_seen"] == [
        "columns that were chosen beforehand by looking at all rows; choose them inside the pipeline"
    ]


def found(*words: str) -> dict[str, Any]:
    done = run(*words, "--json")
    assert done.exit_code in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_what_people_see(leaky: str) -> None:
    done = run(leaky, "--target", "sold", "--weights", "weight", "--drop", "part")
    assert done.exit_code == 1
    text = done.stdout
    assert text.startswith(
        "  data        leaky.csv: 320 rows\n  target      sold: 2 classes\n\n"
        "1 error, 2 warnings, 1 info in 320 rows and 6 columns\n  H605 error: Column 'again'"
    )
    assert text.index("H605") < text.index("H601 warning") < text.index("H603 warning") < text.index("H610 info")
    assert "20 rows of 320 (6.25%) repeat another row" in text
    assert "way out  Leave the column out (--drop on the command line)." in text
    assert "\x1b" not in text


def test_programs_see_what_the_library_says(leaky: str) -> None:
    frame = pd.read_csv(leaky)
    summary = found(leaky, "-t", "sold", "--split", "part")
    test = ho.Given((frame["part"] == "test").to_numpy())
    assert summary == json.loads(json.dumps(ho.check(frame.drop(columns="part"), "sold", test=test).summary()))
    copies = next(one for one in summary["findings"] if one["code"] == "H601")
    assert (copies["severity"], copies["evidence"]["straddling"]) == ("error", 20)
    assert set(copies) == {"code", "severity", "title", "seen", "why", "way_out", "columns", "evidence"}


def test_clean_data_pass_the_gate(iris: str) -> None:
    done = run(iris, "--target", "target")
    assert done.exit_code == 0
    assert "left out    the first column, which has no name and only counts rows" in done.stdout
    assert run(iris, "--target", "target", "--fail-on", "info").exit_code == 1


def test_the_gate_opens_where_it_is_told_to(leaky: str) -> None:
    gate = (leaky, "-t", "sold", "--drop", "part", "--quiet")
    assert run(*gate, "--fail-on", "error").exit_code == 1
    assert run(*gate, "--fail-on", "error", "--ignore", "H605").exit_code == 0
    assert run(*gate, "--fail-on", "never").exit_code == 0
    done = run(*gate, "--ignore", "h605, H601", "--ignore", "H603")
    assert (done.exit_code, done.stdout) == (0, "1 info in 320 rows and 7 columns; ignored: H601, H603, H605\n")


def test_a_sample_is_said(leaky: str) -> None:
    done = run(leaky, "-t", "sold", "--rows", "150", "--quiet")
    assert done.stdout.endswith("in 150 rows drawn at random from 320 and 8 columns\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "sald"), "--target sald: no such column in 'leaky.csv'. Did you mean 'sold'?"),
        (("--target", "sold", "--ignore", "H6O1"), "There is no finding 'H6O1' to ignore. There are H101, H601,"),
        (("--target", "sold", "--split", "city"), "--split city: its values ('Bern', 'Basel') do not say"),
        (("--target", "sold", "--drop", "sold"), "Column 'sold' cannot be both --target and --drop"),
        (("--target", "sold", "--split", "part", "--test", "kfold:5"), "--test and --split both say"),
        (("--target", "sold", "--test", "kfold:400"), "KFold(400) needs at least 400 rows"),
        (("--target", "sold", "--fail-on", "bad"), "Invalid value for '--fail-on'"),
        (("--target", "sold", "--regression"), "--regression needs numbers"),
        ((), "Missing option '--target'"),
    ],
)
def test_wrong_use_ends_with_two_and_the_way_out(leaky: str, words: tuple[str, ...], message: str) -> None:
    done = run(leaky, *words)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())


def test_nothing_left_to_look_at_is_said(tmp_path: Path) -> None:
    place = write(pd.DataFrame({"y": [1, 2] * 30, "x": range(60)}), tmp_path / "small.csv")
    done = run(place, "-t", "y", "--drop", "x")
    assert done.exit_code == 2
    assert "No column of 'small.csv' is left to look at" in done.stderr
