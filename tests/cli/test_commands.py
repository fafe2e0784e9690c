"""The other commands: compare, advise, ledger, report, completion; own splits, the journal, findings and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import heldout as ho
from heldout.api.learners import tuned_learner
from heldout.cli.main import main

NO_STUDY = ("--jobs", "1")


def run(*words: str, width: int = 80) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": str(width), "NO_COLOR": None}, prog_name="heldout")


def answer(*words: str) -> Any:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def frame(working_folder: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 90
    made = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    made["y"] = made["a"] * 2 + rng.normal(size=n)
    made["label"] = np.where(made["y"] > 0, "yes", "no")
    made["who"] = [f"w{i}" for i in rng.integers(0, 12, n)]
    made["day"] = np.arange(n)
    made["part"] = np.where(np.arange(n) % 4 == 0, "test", np.where(np.arange(n) % 4 == 1, "dev", "train"))
    made["fold"] = np.arange(n) % 3
    made["flag"] = np.arange(n) % 2
    made.to_csv("table.csv", index=False)
    made[["a", "b", "c", "y"]].to_csv("numbers.csv", index=False)
    made[["a", "b", "c", "label"]].to_csv("classes.csv", index=False)
    return made


def test_compare_gives_the_numbers_of_the_library(frame: pd.DataFrame) -> None:
    words = ["numbers.csv", "-t", "y", "-l", "ridge,dummy", "-l", "knn+tree", "--test", "kfold:3", *NO_STUDY]
    said = answer("compare", *words, "--validation", "holdout:0.3", "--rope", "0.1", "--space", "knn.n_neighbors=3,9")
    data = frame[["a", "b", "c", "y"]]
    spaces = {"knn": {"n_neighbors": [3, 9]}}
    learners = {
        name: tuned_learner(
            name.split("+"),
            data.drop(columns="y"),
            classification=False,
            validation=ho.Holdout(0.3),
            random_state=0,
            spaces=spaces if "knn" in name else None,
        )
        for name in ("ridge", "dummy", "knn+tree")
    }
    found = ho.compare(learners, pd.read_csv("numbers.csv"), "y", test=ho.KFold(3), rope=0.1, jobs=1)
    assert said["ranking"] == json.loads(json.dumps(found.summary()["ranking"]))
    assert [pair["sentence"] for pair in said["pairs"]] == list(found.sentences)
    shown = run("compare", *words, "--validation", "holdout:0.3")
    assert shown.exit_code == 0
    assert max(map(len, shown.stdout.splitlines())) <= 80
    first, best, ranked, after = (
        shown.stdout.index(word) for word in ("same folds", "Best: ", "less the best", "next: ")
    )
    assert first < best < ranked < after
    assert "--pairs for every pair" in shown.stdout
    assert "is better than" not in shown.stdout
    pairs = run("compare", *words, "--validation", "holdout:0.3", "--pairs").stdout
    assert pairs.index("less the best") < pairs.index("\nDifferences of all pairs by squared") < pairs.index("Holm p")
    quiet = run("compare", *words, "--validation", "holdout:0.3", "--quiet").stdout
    assert quiet.startswith("Best: ")
    assert quiet.count("\n") == 1


def test_a_learner_of_ones_own_is_compared_with_its_space(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("own_ridge.py").write_text("from sklearn.linear_model import Ridge\n\nclass Own(Ridge):\n    pass\n")
    monkeypatch.syspath_prepend(".")
    words = ["-l", "own_ridge:Own,dummy", "--allow-import", "--space", "Own.alpha=0.1,10", "--test", "kfold:2"]
    ranked = answer("compare", "numbers.csv", "-t", "y", *words, *NO_STUDY)["ranking"]
    assert [learner["name"] for learner in ranked] == ["own_ridge:Own", "dummy"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "numbers.csv", "-t", "y", "-l", "ridge"], "two learners or more, and here is 1"),
        (["compare", "numbers.csv", "-t", "y"], "and here are none"),
        (["compare", "numbers.csv", "-t", "y", "-l", "ridge,dummy", "--space", "knn=fixed"], "--space knn: no learner"),
        (["compare", "numbers.csv", "-t", "y", "-l", "ridge,dumy"], "Did you mean 'dummy'?"),
        (["evalute", "numbers.csv"], "There is no command 'evalute'. Did you mean 'evaluate'?"),
        (["evaluate", "numbers.csv", "--taget", "y"], "--target"),
        (["evaluate", "numbers.csv"], "which column of 'numbers.csv' is to be predicted? It has a, b, c, y."),
        (["evaluate", "numbers.csv", "-t", "y", "-q", "--json"], "--quiet and --json contradict each other"),
        (["evaluate", "numbers.csv", "-t", "y", "--no-journal", "--anew"], "--no-journal and --anew contradict"),
        (["evaluate", "numbers.csv", "-t", "y", "--no-journal", "--journal", "a.db"], "--no-journal and --journal"),
        (["evaluate", "numbers.csv", "-t", "y", "--write-study", "a.csv"], "the name of a study file ends in .toml"),
        (["evaluate", "numbers.csv", "-t", "y", "--write-study", "no/a.toml"], "there is no folder"),
        (["evaluate", "numbers.csv", "-t", "y", "--buffer", "3"], "but no time is declared. Add --time"),
        (["evaluate", "table.csv", "-t", "y", "--time", "day", "--embargo", "3"], "use --test kfold:5"),
        (["evaluate", "table.csv", "-t", "y", "--time", "day", "--buffer", "-3"], "--buffer -3: "),
        (["evaluate", "table.csv", "-t", "y", "--time", "day:nope"], "--time nope: no such column"),
        (["evaluate", "table.csv", "-t", "y", "--test", "column:prt"], "--test prt: no such column in 'table.csv'"),
        (["evaluate", "table.csv", "-t", "y", "--test", "column:y"], "cannot be both --target and --test"),
        (["evaluate", "table.csv", "-t", "y", "--test", "column:part=tst"], "no row of 'part' is 'tst'. Did you mean"),
        (["evaluate", "table.csv", "-t", "y", "--test", "column:flag"], "Write column:flag=1 for one test set"),
        (["evaluate", "table.csv", "-t", "y", "--test", "rows:none.txt"], "there is no file 'none.txt'"),
        (["evaluate", "table.csv", "-t", "y", "--test", "rows:table.csv"], "line 1 of 'table.csv' is 'a,b,c"),
        (["evaluate", "table.csv", "-t", "y", "--test", "splits:table.csv"], "is not a whole"),
        (["evaluate", "table.csv", "-t", "y", "--race", "exact", "--race-level", "0.2"], "--race-level is the probab"),
        (["evaluate", "table.csv", "-t", "y", "--race", "paired", "--race-level", "1"], "0<x<1"),
        (["report", "none.heldout"], "There is no file 'none.heldout'"),
        (["report", "table.csv"], "is not a whole saved result"),
        (["ledger"], "There is no journal '.heldout/journal.db'"),
        (["ledger", "table.csv"], "is no journal of heldout"),
        (["advise", "--rows", "10", "--budget", "1h"], "--budget needs DATA"),
        (["advise", "--rows", "10", "--learner", "ridge"], "--learner speaks of a table, and none is named"),
        (["advise", "numbers.csv", "-t", "y", "--rows", "10"], "--rows is for advice without DATA"),
        (["advise", "numbers.csv", "-t", "y", "--budget", "soon"], "write a time such as 90s"),
        (["completion", "tcsh"], "'tcsh'"),
    ],
)
def test_wrong_use_is_named_and_exits_with_2(words: list[str], message: str) -> None:
    done = run(*words, width=200)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_own_splits_by_column_and_by_file(frame: pd.DataFrame, working_folder: Path) -> None:
    held = np.flatnonzero(frame["part"] == "test")
    (working_folder / "held.txt").write_text("\n".join(map(str, held)))
    X = pd.read_csv("table.csv")[["a", "b", "c", "y"]]
    learner = tuned_learner(["dummy"], X.drop(columns="y"), classification=False)
    expected = ho.evaluate(learner, X, "y", test=ho.Given(held)).risk
    others = [word for name in ("label", "who", "day", "fold", "flag") for word in ("--drop", name)]
    for test in ("column:part", "column:part=test", "rows:held.txt"):
        drop = ["--drop", "part"] if test.startswith("rows") else []
        said = answer("evaluate", "table.csv", "-t", "y", "-l", "dummy", "--test", test, *others, *drop, "--no-journal")
        assert said["about"]["columns"] == 3
        assert said["risk"]["value"] == expected.value
        assert (said["about"]["test"], said["risk"]["n"]) == (f"{len(held)} rows given", len(held))
    ho.draw(ho.KFold(4), X, "y", seed=3).save("own.splits")
    said = answer("evaluate", "numbers.csv", "-t", "y", "-l", "dummy", "--test", "splits:own.splits", "--no-journal")
    assert len(said["folds"]) == 4


def test_folds_by_column_and_development_rows_by_mark(frame: pd.DataFrame) -> None:
    others = [word for name in ("label", "who", "day", "flag") for word in ("--drop", name)]
    words = ["table.csv", "-t", "y", *others, *NO_STUDY, "--no-journal"]
    said = answer("evaluate", *words, "-l", "dummy", "--test", "column:fold", "--drop", "part")
    assert [fold["held_rows"] for fold in said["folds"]] == [30, 30, 30]
    parts = ["--test", "column:part=test", "--validation", "column:part=dev"]
    said = answer("evaluate", *words, "-l", "tree", "--space", "tree.max_depth=1,2", *parts, "--drop", "fold")
    assert (said["about"]["test"], said["about"]["validation"]) == ("23 rows given", "23 rows given")


def test_buffers_reach_both_levels(frame: pd.DataFrame) -> None:
    words = ["table.csv", "-t", "y", "-l", "tree", "--space", "tree.max_depth=1,2", "--drop", "label", "--drop", "part"]
    facts = answer("explain", *words, "--time", "day", "--buffer", "2units")
    assert "buffer of 2 units of time" in facts["outer"]
    assert "buffer of 2 units of time" in facts["inner"]
    facts = answer("explain", *words, "--time", "day", "--test", "kfold:3", "--buffer", "2", "--embargo", "1")
    assert "buffer of 2 rows, embargo of 1 row" in facts["outer"]
    facts = answer("explain", *words, "--groups", "who", "--time", "day", "--test", "forward:2")
    assert "2 folds of groups" in facts["outer"]


def test_the_journal_is_on_and_shown_and_answers_again() -> None:
    words = ["evaluate", "numbers.csv", "-t", "y", "-l", "tree", "--validation", "holdout:0.3", "--test", "kfold:3"]
    first = run(*words, *NO_STUDY, "--verbose")
    assert "journal     .heldout/journal.db (--no-journal keeps nothing)" in first.stdout
    assert "journal     0 cells from it, " in first.stdout
    assert Path(".heldout/.gitignore").read_text() == "*\n"
    again = run(*words, *NO_STUDY, "--verbose")
    assert "cells from it, 0 computed" in again.stdout
    said = [one.stdout.partition("RMSE ")[2].partition("  work ")[0] for one in (first, again)]
    assert said[0] == said[1] != ""


def test_no_journal_keeps_nothing() -> None:
    done = run("evaluate", "numbers.csv", "-t", "y", "-l", "dummy", "--no-journal", *NO_STUDY)
    assert done.exit_code == 0
    assert "journal" not in done.stdout
    assert not Path(".heldout").exists()


def test_a_folder_that_cannot_be_written_is_said() -> None:
    Path(".heldout").write_text("a file in its place")
    done = run("evaluate", "numbers.csv", "-t", "y", "-l", "dummy", *NO_STUDY)
    assert done.exit_code == 0
    assert "journal     none: .heldout cannot be written here" in done.stdout


def test_a_killed_run_goes_on(working_folder: Path) -> None:
    """Killed while its fits go on; the same command finishes, with the numbers of a run that was left alone."""
    (working_folder / "slow.py").write_text(
        "import os, time\nfrom sklearn.dummy import DummyRegressor\n\n\n"
        "class Slow(DummyRegressor):\n"
        "    def fit(self, X, y, sample_weight=None):\n"
        "        with open('fits', 'a') as file:\n            file.write('x')\n"
        "        if os.path.getsize('fits') == 4:\n            os.kill(os.getpid(), 9)\n"
        "        time.sleep(0.3)\n"
        "        return super().fit(X, y, sample_weight)\n"
    )
    words = ["evaluate", "numbers.csv", "-t", "y", "-l", "slow:Slow", "--allow-import", "--json", *NO_STUDY]
    command = [sys.executable, "-m", "heldout", *words]
    killed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert killed.returncode == -9, killed.stderr
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(Path("fits").read_text()) < 4 + 5  # something of the first run was used
    plain = answer("evaluate", "numbers.csv", "-t", "y", "-l", "dummy", "--no-journal", *NO_STUDY)
    assert json.loads(done.stdout)["risk"]["value"] == plain["risk"]["value"]


def test_what_a_journal_cannot_know_is_named_with_the_way_out(working_folder: Path) -> None:
    (working_folder / "odd.py").write_text(
        "from sklearn.preprocessing import FunctionTransformer\nfrom sklearn.pipeline import make_pipeline\n"
        "from sklearn.dummy import DummyRegressor\n"
        "Model = make_pipeline(FunctionTransformer(lambda X: X), DummyRegressor())\n"
    )
    words = ["evaluate", "numbers.csv", "-t", "y", "-l", "odd:Model", "--allow-import", *NO_STUDY]
    done = run(*words)
    assert done.exit_code == 2
    assert "is a lambda" in done.stderr
    assert "or pass --no-journal." in done.stderr
    assert run(*words, "--no-journal").exit_code == 0


def test_findings_end_the_command_with_1_where_asked() -> None:
    words = ["evaluate", "classes.csv", "-t", "label", "--test", "holdout:0.3", *NO_STUDY]
    assert run(*words, "-l", "tree", "--fail-on", "warning").exit_code == 0
    again = run(*words, "-l", "bayes", "--fail-on", "warning")
    assert again.exit_code == 1
    assert again.stderr == "Findings: H402 (--fail-on warning)\n"
    assert 'let them answer "rounded" or "pass/fail:…"' in " ".join(again.stdout.split())
    assert run(*words, "-l", "bayes", "--fail-on", "error").exit_code == 0


def test_the_ledger_lists_looks_and_what_is_left() -> None:
    words = ["evaluate", "classes.csv", "-t", "label", "--test", "holdout:0.3", "--answer", "pass/fail:0.6", *NO_STUDY]
    assert run(*words, "-l", "dummy").exit_code == 0
    run(*words, "-l", "bayes")
    said = answer("ledger")
    (one,) = said["test_sets"]
    assert [look["loss"] for look in one["looks"]] == ["zero_one"] * 2
    assert [look["answer"] for look in one["looks"]] == ["pass/fail:0.6"] * 2
    assert one["looks"][0]["told"].startswith("pass: at most 0.6 (0 to ")
    from heldout.risk.earlier_looks import half_width

    assert one["next_width"] == 2 * half_width(one["rows"], alphabets=[2, 2])
    shown = run("ledger").stdout
    assert shown.startswith(f"test set {one['rows_key'][:8]}  27 rows, 2 looks\n")
    assert "next look: an interval up to" in shown
    assert max(map(len, shown.splitlines())) <= 80
    run("evaluate", "classes.csv", "-t", "label", "--test", "holdout:0.3", "-l", "dummy", "--seed", "1", *NO_STUDY)
    assert "no bound covers a learner chosen after these" in run("ledger", "-q").stdout


def test_a_ledger_without_looks() -> None:
    run("evaluate", "numbers.csv", "-t", "y", "-l", "dummy", *NO_STUDY)
    assert "No test set was looked at" in run("ledger").stdout


def test_report_shows_what_was_saved() -> None:
    first = run(
        "evaluate", "numbers.csv", "-t", "y", "-l", "ridge", "--save", "result.heldout", "--no-journal", *NO_STUDY
    )
    shown = run("report", "result.heldout")
    assert shown.exit_code == 0
    assert shown.stdout.strip() in first.stdout
    assert answer("report", "result.heldout")["risk"] == ho.load("result.heldout").summary()["risk"]
    assert run("report", "result.heldout", "-q").stdout.startswith("RMSE ")
    assert "rules left alone, and why" in run("report", "result.heldout", "-v").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script(shell: str) -> None:
    done = run("completion", shell)
    assert done.exit_code == 0
    assert "_HELDOUT_COMPLETE" in done.stdout


def test_completion_knows_columns_learners_and_splits() -> None:
    def offered(words: str) -> list[str]:
        typed = words.split(" ")
        env = {"_HELDOUT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(typed) - 1)}
        done = CliRunner().invoke(main, [], env=env, prog_name="heldout")
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert offered("heldout evaluate table.csv --target l") == ["label"]
    assert offered("heldout evaluate table.csv --learner ridge,fo") == ["ridge,forest"]
    assert offered("heldout evaluate table.csv --validation sh") == ["shared"]
    assert offered("heldout comp") == ["compare", "completion"]


def test_advice_on_data_and_on_numbers() -> None:
    said = answer("advise", "numbers.csv", "-t", "y", "-l", "ridge,dummy")
    assert (said["n"], said["recipe"], said["k"]) == (90, "nested cross-validation", 5)
    assert said["command"] == (
        "heldout evaluate numbers.csv --target y --learner ridge,dummy --test kfold:5 --validation kfold:5"
    )
    plan = answer("explain", "numbers.csv", "-t", "y", "-l", "ridge,dummy")
    assert (said["cost"]["fits"], said["cost"]["cells"]) == (plan["fits"], plan["cells"])
    assert (
        answer("advise", "numbers.csv", "-t", "y", "-l", "linear", "--about", "predictor")["recipe"] == "leave-one-out"
    )
    said = answer("advise", "table.csv", "-t", "label", "-l", "tree", "--groups", "who", "--time", "day", "--drop", "y")
    assert said["recipe"] == "simple validation on the most recent rows"
    assert said["command"].endswith("--test holdout:0.2 --validation holdout:0.25")
    assert not any("--groups" in reason for reason in said["reasons"])  # they are declared
    said = answer("advise", "--rows", "900", "--group-count", "40")
    assert said["command"].startswith("heldout evaluate DATA --groups COLUMN --test ")
    shown = run("advise", "--rows", "10000", "--candidates", "17", "--gap", "0.05", "--error-rate", "0.1")
    assert "5,218 development rows" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert answer("advise", "--rows", "10000", "--candidates", "17")["n"] == 10_000
    assert run("advise", "--rows", "50", "-q").stdout == "heldout evaluate DATA --test kfold:10\n"
    rows_alone = run("advise", "--candidates", "17", "--gap", "0.05", "-q").stdout  # no recipe without rows
    assert rows_alone.startswith("choose within 0.05 of the best of 17 candidates: 5,218 development rows\n")


def test_the_advised_command_runs() -> None:
    command = answer("advise", "numbers.csv", "-t", "y", "-l", "ridge")["command"]
    assert run(*command.split()[1:], "-q", *NO_STUDY).exit_code == 0


def test_a_budget_buys_a_cheaper_recipe() -> None:
    words = ["advise", "numbers.csv", "-t", "y", "-l", "tree,knn"]
    rich, poor = answer(*words, "--budget", "1000h"), answer(*words, "--budget", "1us")
    assert rich["command"].endswith("--test kfold:5 --validation kfold:5")
    assert 0 < rich["cost"]["seconds"] < 600
    assert poor["command"].endswith("--test holdout:0.2 --validation holdout:0.25")
    assert "more than the" in " ".join(poor["reasons"])
    assert "Fewer learners or a smaller --space would take less." in poor["reasons"][-1]
    assert poor["cost"]["fits"] < rich["cost"]["fits"]
