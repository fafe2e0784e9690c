"""`--slices` and `--importance`: on the screen, in the page, in `--json`, in a study file, and priced by `explain`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

import heldout as ho
from heldout.cli.main import main


def run(*words: str):
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "80", "NO_COLOR": None}, prog_name="heldout")


@pytest.fixture
def table(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4].assign(diagnosis=np.where(y == 1, "benign", "malignant"))
    X["clinic"] = np.where(np.arange(len(X)) % 5, "north", "south")
    X.loc[:3, "clinic"] = "islet"
    X.to_csv(tmp_path / "bc.csv", index=False)
    return str(tmp_path / "bc.csv")


ASKED = ("--target", "diagnosis", "--learner", "logistic", "--drop", "clinic")


def test_subgroups_of_a_dropped_column_and_importance_are_on_the_screen_and_in_the_page(table, tmp_path):
    page = tmp_path / "bc.html"
    shown = run("evaluate", table, *ASKED, "--slices", "clinic", "--importance", "2", "--report", str(page))
    assert shown.exit_code == 0, shown.output
    words = " ".join(shown.output.split())
    assert "The worst subgroup is clinic " in words
    assert "clinic islet 4" in words
    assert "No interval: 4 rows are too few (10 at least)." in words
    assert "What it uses: columns permuted, 2 times in each fold" in words
    html = page.read_text()
    assert len(html) < 1_000_000
    for title in ("ROC curve of malignant", "Precision and recall of malignant", "Risk by subgroup", "Each class"):
        assert title in html
    for title in ("What the learner uses", "Coefficients", "What each threshold gives", "Cumulative gains"):
        assert title in html


def test_json_holds_both_and_a_study_file_asks_again(table, tmp_path):
    asked = (*ASKED, "--slices", "clinic", "--slices", "mean area", "--importance", "2")
    first = run("evaluate", table, *asked, "--write-study", "bc.toml", "--json", "--save", "bc.heldout")
    told = json.loads(first.stdout)
    assert {row["slice"] for row in told["subgroups"]["rows"]} == {"clinic", "mean area"}
    assert told["importance"]["repeats"] == 2
    assert [row["feature"] for row in told["importance"]["rows"]] == ho.load("bc.heldout").importance()[
        "feature"
    ].tolist()
    again = json.loads(run("evaluate", "bc.toml", "--json").stdout)
    assert again["subgroups"] == told["subgroups"]
    assert again["importance"] == told["importance"]


def test_without_them_nothing_is_said(table):
    told = json.loads(run("evaluate", table, *ASKED, "--json").stdout)
    assert told["subgroups"] is None
    assert told["importance"] is None
    assert "subgroup" not in run("evaluate", table, *ASKED).output


def test_explain_prices_importance(table):
    assert "importance: 5 fits again, and 45 predictions" in " ".join(
        run("explain", table, *ASKED, "--importance", "2").output.split()
    )


def test_a_column_that_is_not_there_is_refused(table):
    refused = run("evaluate", table, *ASKED, "--slices", "clinc")
    assert refused.exit_code == 2
    assert "--slices clinc: no such column in 'bc.csv'. Did you mean 'clinic'?" in refused.output


def test_subgroups_of_the_target_and_of_a_role(table):
    frame = pd.read_csv(table)
    told = json.loads(run("evaluate", table, *ASKED, "--slices", "diagnosis", "--json").stdout)["subgroups"]
    assert {row["group"]: row["rows"] for row in told["rows"]} == frame["diagnosis"].value_counts().to_dict()
    grouped = json.loads(
        run(
            "evaluate", table, "-t", "diagnosis", "-l", "logistic", "--strata", "clinic", "--slices", "clinic", "--json"
        ).stdout
    )
    assert len(grouped["subgroups"]["rows"]) == 3
