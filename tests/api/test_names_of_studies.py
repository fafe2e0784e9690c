"""What a study is about: its name, target, file, learner and procedure, from Python and the command to every list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner, Result
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.cli.main import main
from heldout.journal import JournalReader

NAMES = ("name", "target", "source", "learner_words", "procedure")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "160"}, prog_name="heldout")


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=60), "age": rng.normal(size=60)})
    table["price"] = 3 * table["size"] + rng.normal(size=60)
    table.to_csv("orders.csv", index=False)
    return table


def about_of(*given: Any, **named: Any) -> list[Any]:
    about = ho.evaluate(*given, progress=False, jobs=1, **named).summary()["about"]
    return [about[name] for name in NAMES]


def test_python_knows_what_it_was_given(orders: pd.DataFrame) -> None:
    learner = make_pipeline(StandardScaler(), Ridge())
    words = ["ridge on scaled columns", "5-fold cross-validation"]
    X = orders[["size", "age"]]
    assert about_of(learner, orders, "price", name="q3") == ["q3", "price", None, *words]
    assert about_of(learner, X, orders["price"]) == [None, "price", None, *words]
    assert about_of(learner, X, orders[["price"]]) == [None, "price", None, *words]
    assert about_of(learner, pl.from_pandas(X), pl.Series("cost", orders["price"].to_numpy()))[:2] == [None, "cost"]
    assert about_of(learner, X.to_numpy(), orders["price"].to_numpy())[:3] == [None, None, None]
    assert about_of(learner, "orders.csv", "price")[:3] == [None, "price", "orders.csv"]
    orders.to_parquet("orders.parquet")
    assert about_of(Ridge(), "orders.parquet", "price", name="s") == [
        "s", "price", "orders.parquet", "ridge", "5-fold cross-validation",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", " a", "two\nlines", "x" * 101, 7, "\x1b[31m"])
def test_a_name_is_a_text_on_one_line(orders: pd.DataFrame, name: Any) -> None:
    for verb in (ho.evaluate, ho.compare):
        learner = {"a": Ridge(), "b": Ridge(2)} if verb is ho.compare else Ridge()
        with pytest.raises(ho.HeldoutError, match="is no name of a study: write a text on one line"):
            verb(learner, orders, "price", name=name)


def test_a_name_changes_no_number_and_no_answer_of_a_journal(orders: pd.DataFrame) -> None:
    one = ho.evaluate(Ridge(), orders, "price", journal="j.db", name="first", progress=False)
    two = ho.evaluate(Ridge(), orders, "price", journal="j.db", name="second", progress=False)
    assert one.risk == two.risk
    assert two.journal.computed == 0
    assert [row.head["name"] for row in JournalReader("j.db").contents().summaries] == ["second"]
    assert "name='second'" in two.summary()["about"]["call"]


def test_the_command_names_a_study_in_every_list(orders: pd.DataFrame) -> None:
    ask = ("orders.csv", "-t", "price", "--journal", "j.db", "--jobs", "1")
    done = run("evaluate", *ask, "-l", "ridge", "--name", "churn 2026", "--json", "--write-study", "study.toml")
    assert done.exit_code == 0, done.output
    about = json.loads(done.stdout)["about"]
    words = ["tuned ridge", "nested 5-fold cross-validation"]
    assert [about[name] for name in NAMES] == ["churn 2026", "price", "orders.csv", *words]
    assert 'name = "churn 2026"' in Path("study.toml").read_text()
    assert run("evaluate", *ask, "-l", "knn,ridge", "--test", "kfold:3", "-q").exit_code == 0
    assert run("compare", *ask, "-l", "ridge,dummy", "--name", "which one", "-q").exit_code == 0
    done = run("report", "--all", "j.db", "--json")
    found = {entry["learner"]: entry for entry in json.loads(done.stdout)["studies"]}
    told = [(entry["name"], entry["target"], entry["source"]) for entry in found.values()]
    assert set(told) == {(name, "price", "orders.csv") for name in ("churn 2026", None, "which one")}
    assert {"tuned ridge", "choice between nearest neighbours and ridge", "ridge, dummy"} <= set(found)
    assert found["tuned ridge"]["page"].startswith("churn-2026-")
    done = run("report", "--all", "j.db", "--out", "pages")
    assert "price from orders.csv  choice between nearest neighbours and ridge" in done.stdout
    assert "which one" in done.stdout
    pages = {one.name for one in Path("pages").iterdir()}
    index = Path("pages/index.html").read_text()
    assert all(f'href="{name}"' in index for name in pages - {"index.html"})
    assert sum(name.startswith(("churn-2026-", "which-one-", "price-")) for name in pages) == len(pages) - 1


def test_a_study_that_never_ended_is_listed_by_its_names(orders: pd.DataFrame) -> None:
    class Stop(KNeighborsRegressor):
        def fit(self, X: Any, y: Any) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ho.evaluate(Stop(), "orders.csv", "price", journal="j.db", name="half", progress=False, jobs=1)
    (entry,) = json.loads(run("report", "--all", "j.db", "--json").stdout)["studies"]
    assert (entry["state"], entry["name"], entry["target"], entry["source"], entry["learner"]) == (
        "unfinished", "half", "price", "orders.csv", "Stop",
    )  # fmt: skip
