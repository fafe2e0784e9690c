"""Files, types, spaces and own learners on the command line."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_diabetes, load_iris

from heldout.cli.main import main


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "200", "NO_COLOR": None}, prog_name="heldout")


def summary_of(*words: str) -> dict[str, Any]:
    done = run("evaluate", *words, "--json", "--jobs", "1")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def visits(tmp_path: Path) -> str:
    """A table with every kind of column."""
    rng = np.random.default_rng(0)
    rows = 80
    frame = pd.DataFrame(
        {
            "visit": np.arange(1, rows + 1),
            "customer_id": [f"c{i:03d}" for i in rng.permutation(rows)],
            "zip": [f"{i:05d}" for i in rng.choice([100, 3000, 4000], rows)],
            "age": rng.integers(18, 80, rows).astype(object),
            "remark": [
                f"{w} visit with {m} and {i} more" for i, (w, m) in enumerate(rng.choice(["x", "y"], (rows, 2)))
            ],
            "seen": pd.date_range("2024-01-01", periods=rows, freq="2D").astype(str),
            "spent": rng.normal(50, 9, rows).round(2),
        }
    )
    frame.loc[3, "age"] = "?"
    frame.to_csv(tmp_path / "visits.csv", index=False)
    return str(tmp_path / "visits.csv")


def test_types_are_shown_and_identifiers_left_out_with_a_note(visits: str) -> None:
    text = run("explain", visits, "-t", "spent", "--missing", "?", "--type", "zip=category").stdout
    assert "80 rows, 4 columns to learn from (1 number, 1 date, 1 category, 1 text, 1 missing value)" in text
    assert "dates seen; categories zip; texts remark; the rest numbers" in text
    assert "visit, customer_id (identifiers, which tell rows apart; --type visit=category keeps it)" in text


def test_types_that_are_given_win(visits: str) -> None:
    text = run("explain", visits, "-t", "spent", "--type", "visit=number", "--type", "age=identifier").stdout
    assert "left out    customer_id, age (identifiers" in text
    assert "(2 numbers, 1 date, 1 text)" in text
    said = summary_of(
        visits, "-t", "spent", "-l", "ridge", "--type", "visit=number", "--missing", "?", "--test", "kfold:3"
    )
    assert said["about"]["columns"] == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--type", "zap=category"], "--type zap: no such column in 'visits.csv'. Did you mean 'zip'?"),
        (["--type", "zip=categ"], "There is no type 'categ' of columns. Did you mean 'category'"),
        (["--type", "zip"], "write COLUMN=TYPE, as in zip=category"),
        (["--type", "zip=text", "--type", "zip=date"], "--type zip is given twice"),
        (["--type", "age=number"], "'?' in line 5 is no number"),
        (["-l", "ridge", "--space", "ridge.alhpa=1"], "'ridge' has no parameter 'alhpa'. Did you mean 'alpha'?"),
        (["-l", "ridge", "--space", "knn.n_neighbors=1"], "--space knn: this learner does not compete"),
        (["-l", "ridge", "--space", "ridge.alpha=log:0:1:2"], "a log range begins above 0"),
        (["-l", "al"], "There is no learner 'al' in the catalogue. Did you mean 'all'"),
        (["-l", "os:system"], "would import code and run it. If you trust that code, add --allow-import"),
        (["-l", "os:getcwd", "--allow-import"], "has no fit and get_params"),
        (["--loss", "sqared"], "Did you mean 'squared'?"),
    ],
)
def test_wrong_words_are_named(visits: str, words: list[str], message: str) -> None:
    done = run("evaluate", visits, "-t", "spent", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_nothing_but_identifiers_is_refused(tmp_path: Path) -> None:
    pd.DataFrame({"id": np.arange(50), "y": np.arange(50.0) ** 2}).to_csv(tmp_path / "a.csv", index=False)
    done = run("evaluate", str(tmp_path / "a.csv"), "-t", "y")
    assert done.exit_code == 2
    assert "No column of 'a.csv' is left to learn from" in done.stderr
    assert "id (an identifier" in done.stderr


def test_a_bomb_and_an_empty_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.data.compressed.FREE_BYTES", 1000)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"x,y\n" + b"0,0\n" * 100_000))
    done = run("evaluate", str(tmp_path / "bomb.csv.gz"), "-t", "y")
    assert done.exit_code == 2
    assert "'bomb.csv.gz' has" in done.stderr
    assert "but unpacks to more than" in done.stderr
    (tmp_path / "void.jsonl").write_text("")
    assert "'void.jsonl' is empty" in run("evaluate", str(tmp_path / "void.jsonl"), "-t", "y").stderr


def test_the_same_table_in_any_format_gives_the_same_risk(tmp_path: Path) -> None:
    frame = load_iris(as_frame=True).frame.iloc[::3].rename(columns={"target": "species"})
    frame.to_csv(tmp_path / "a.csv.gz", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True, double_precision=15)
    words = ["-t", "species", "-l", "knn", "--test", "kfold:3", "--validation", "kfold:3"]
    risks = [
        summary_of(str(tmp_path / f"a{end}"), *words)["risk"] for end in (".csv.gz", ".parquet", ".feather", ".jsonl")
    ]
    assert all(risk == risks[0] for risk in risks)


def test_spaces_reach_the_study(tmp_path: Path) -> None:
    load_diabetes(as_frame=True).frame.head(90).to_csv(tmp_path / "a.csv", index=False)
    words = [str(tmp_path / "a.csv"), "-t", "target", "--regression", "-l", "ridge,knn", "--space", "knn=fixed"]
    facts = json.loads(run("explain", *words, "--space", "ridge.alpha=log:1e-2:1e2:5", "--json").stdout)
    assert facts["candidates"] == 6


def test_all_learners_compete_in_one_study(tmp_path: Path) -> None:
    load_iris(as_frame=True).frame.to_csv(tmp_path / "a.csv", index=False)
    done = run("explain", str(tmp_path / "a.csv"), "-t", "target", "-l", "all", "--loss", "log")
    assert (
        "learner     logistic, lda, bayes, knn, tree, forest, extra_trees, boosting, dummy (without ridge: it has no "
        in (done.stdout)
    )
    assert "Plan for logistic | lda | bayes | knn" in done.stdout


def test_an_own_learner_reaches_the_workers(tmp_path: Path) -> None:
    (tmp_path / "own_learner_here.py").write_text(
        "import numpy as np\n"
        "from sklearn.base import BaseEstimator, RegressorMixin\n"
        "class Mean(RegressorMixin, BaseEstimator):\n"
        "    def __init__(self, shrink=0.0):\n        self.shrink = shrink\n"
        "    def fit(self, X, y):\n        self.mean_ = float(y.mean()) * (1 - self.shrink)\n        return self\n"
        "    def predict(self, X):\n        return np.full(len(X), self.mean_)\n"
    )
    load_diabetes(as_frame=True).frame.head(90).to_csv(tmp_path / "a.csv", index=False)
    words = [str(tmp_path / "a.csv"), "-t", "target", "--regression", "-l", "own_learner_here:Mean", "--allow-import"]
    words += ["--space", "Mean.shrink=0,0.5", "--fit-timeout", "60", "--json"]  # a limit makes workers do the fits
    done = run("evaluate", *words, "--jobs", "2")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["about"]["families"] == ["Mean"]
