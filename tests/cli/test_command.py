"""The command: numbers equal the library's, output for people and for programs, errors and exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_diabetes, load_iris

import heldout as ho
from heldout.api.learners import tuned_learner
from heldout.catalogue.learners import CATALOGUE
from heldout.cli.completion import LEARNERS
from heldout.cli.main import main
from heldout.cli.options import Question
from heldout.data.read_table import read_table
from heldout.data.target_kind import target_kind


@pytest.fixture(scope="module")
def iris(tmp_path_factory: pytest.TempPathFactory) -> str:
    data = load_iris(as_frame=True)
    frame = data.data.assign(species=data.target.map(dict(enumerate(data.target_names))))
    place = tmp_path_factory.mktemp("iris") / "iris.csv"
    frame.sample(75, random_state=0).to_csv(place, index=False)
    return str(place)


@pytest.fixture(scope="module")
def messy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Diabetes with categories, gaps, dates, clinics, weights and the index that pandas writes."""
    rng = np.random.default_rng(0)
    frame = load_diabetes(as_frame=True).frame.sample(90, random_state=0).reset_index(drop=True)
    frame["sex"] = np.where(frame["sex"] > 0, "f", "m")
    frame["clinic"] = [f"c{i}" for i in rng.integers(0, 12, len(frame))]
    frame["seen"] = (pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(frame)), unit="D")).astype(str)
    frame["weight"] = rng.uniform(0.5, 2, len(frame))
    frame.loc[rng.random(len(frame)) < 0.1, "bmi"] = np.nan
    frame.loc[rng.random(len(frame)) < 0.1, "sex"] = np.nan
    place = tmp_path_factory.mktemp("messy") / "messy.csv"
    frame.to_csv(place)
    return str(place)


def run(*words: str, width: int = 80) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": str(width), "NO_COLOR": None}, prog_name="heldout")


def summary_of(*words: str) -> dict[str, Any]:
    done = run("evaluate", *words, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def without_time(summary: dict[str, Any]) -> dict[str, Any]:
    """All but how long it and the passes of its plan took, and how it was asked."""
    kept = {name: value for name, value in summary.items() if name not in ("seconds", "plan")}
    about = {name: value for name, value in summary["about"].items() if name not in ("call", "command")}
    return {**kept, "about": about, "checks": {**summary["checks"], "seconds": 0}}


def test_numbers_equal_the_library_call(iris: str) -> None:
    words = ["--learner", "knn", "--learner", "tree,dummy", "--test", "kfold:3", "--validation", "holdout:0.25"]
    said = summary_of(iris, "--target", "species", *words, "--seed", "7", "--level", "0.9", "--jobs", "1")
    frame = read_table(iris)
    learner = tuned_learner(
        ["knn", "tree", "dummy"],
        frame.drop(columns="species"),
        classification=True,
        validation=ho.Holdout(0.25),
        random_state=7,
    )
    result = ho.evaluate(learner, iris, "species", test=ho.KFold(3), seed=7, level=0.9, jobs=1)
    assert without_time(said) == without_time(json.loads(json.dumps(result.summary())))
    assert said["risk"]["value"] < 0.2
    assert said["about"]["families"] == ["knn", "tree", "dummy"]


def test_roles_reach_the_study_and_leave_the_columns(messy: str) -> None:
    words = ["--target", "target", "--learner", "tree", "--validation", "holdout:0.3", "--jobs", "1"]
    said = summary_of(messy, *words, "--groups", "clinic", "--weights", "weight", "--drop", "seen", "--drop", "s1")
    frame = read_table(messy).drop(columns=["Unnamed: 0", "seen", "s1"])
    X = frame.drop(columns=["target", "clinic", "weight"])
    learner = tuned_learner(["tree"], X, classification=False, validation=ho.Holdout(0.3))
    result = ho.evaluate(learner, frame, "target", groups="clinic", sample_weight="weight", jobs=1)
    assert said["risk"]["value"] == result.risk.value
    assert said["about"]["columns"] == X.shape[1] == 9
    assert "groups kept whole" in said["about"]["test"]


def test_time_is_tested_forward(messy: str) -> None:
    said = summary_of(messy, "-t", "target", "-l", "dummy", "--time", "seen", "--jobs", "1")
    assert said["about"]["test"].startswith("5 blocks of time, each after")
    assert said["risk"]["estimand"].endswith("on later rows")


def test_several_losses(iris: str) -> None:
    words = ["-l", "knn", "--validation", "holdout:0.3", "--test", "kfold:2", "--jobs", "1"]
    said = summary_of(iris, "-t", "species", *words, "--loss", "log", "--loss", "accuracy")
    assert said["about"]["losses"] == ["log", "accuracy"]
    assert said["about"]["chosen_by"] == "log"
    shown = run("evaluate", iris, "-t", "species", *words, "--loss", "log", "--loss", "accuracy").stdout
    assert "\n  accuracy  " in shown


def test_what_people_see(iris: str) -> None:
    words = ("evaluate", iris, "-t", "species", "-l", "knn,dummy", "--test", "kfold:3", "--jobs", "1")
    done = run(*words)
    assert done.exit_code == 0
    text = done.stdout
    in_order = (
        "75 rows: ",
        "accuracy 9",
        "Better than no model by ",
        "nearest",
        "held out",
        "  chosen ",
        "  work ",
        "  next: ",
    )
    places = [text.index(word) for word in in_order]
    assert places == sorted(places)
    assert "species" in text.splitlines()[0] or "y from" in text.splitlines()[0]
    assert not {"zero_one", "corrected t", "heuristic", "cells", "tier"} & set(text.split("held out")[0].split())
    assert "plan" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in text.splitlines())
    assert "\x1b" not in text
    assert done.stderr == ""
    long = run(*words, "--verbose").stdout
    places = [long.index(word) for word in ("9 candidates", "accuracy 9", "optimistic", "\nThe plan\n", "left alone")]
    assert places == sorted(places)
    assert "species: 3 classes" in long
    assert "iris.csv: 75 rows, 4 columns to learn from (4 numbers)" in long
    assert "expected zero-one risk of the tuned learner trained on 50 rows" in long
    assert "Wilson over rows, heuristic" in long
    assert max(map(len, long.splitlines())) <= 80


def test_each_number_beside_the_risk_has_its_name(iris: str) -> None:
    shown = run("evaluate", iris, "-t", "species", "-l", "knn", "--test", "kfold:3", "--jobs", "1", "-v").stdout
    assert "\n  corrected by BBC-CV" in shown
    assert "\n  corrected by Tibshirani" in shown
    words = ["--test", "holdout:0.3", "--validation", "holdout:0.3", "--loss", "accuracy", "--jobs", "1"]
    shown = run("evaluate", iris, "-t", "species", "-l", "knn", *words, "--verbose").stdout
    assert "\n  best of the family optimistic  " in shown
    assert re.search(r"\n  cost of choosing +0 +0 to 0\.", shown)
    assert shown.partition("What the numbers mean")[0].count("\n  best validation number ") == 1


def test_many_folds_are_counted(iris: str) -> None:
    words = ["-l", "knn", "--test", "resample:15:0.2", "--validation", "holdout:0.3", "--jobs", "1"]
    text = run("evaluate", iris, "-t", "species", *words, "--verbose").stdout
    assert " of 15  knn n_neighbors=" in text
    assert "fold  zero_one" not in text


def test_quiet_is_one_line(iris: str) -> None:
    done = run("evaluate", iris, "-t", "species", "-l", "dummy", "--test", "kfold:3", "-q", "--jobs", "1")
    assert done.stdout.startswith("accuracy 40 %   (95 % interval ")
    assert done.stdout.endswith('   always "versicolor": 40 %\n')
    assert done.stdout.count("\n") == 1


def test_save_and_load(iris: str, tmp_path: Path) -> None:
    file = str(tmp_path / "study.zip")
    words = ["-t", "species", "-l", "tree", "--validation", "holdout:0.3", "--jobs", "1"]
    done = run("evaluate", iris, *words, "--save", file)
    assert f"saved       {file}" in done.stdout
    loaded = ho.load(file).summary()
    assert without_time(loaded) == without_time(summary_of(iris, *words))


def test_explain_shows_the_plan_and_fits_nothing(iris: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fitted(*_: Any, **__: Any) -> Any:
        raise AssertionError("explain fitted something")

    monkeypatch.setattr("sklearn.pipeline.Pipeline.fit", fitted)
    words = [iris, "-t", "species", "-l", "logistic,forest", "--validation", "shared"]
    text = run("explain", *words).stdout
    frame = read_table(iris)
    learner = tuned_learner(
        ["logistic", "forest"], frame.drop(columns="species"), classification=True, validation=ho.SharedBlocks()
    )
    plan = ho.explain(learner, frame, "species")
    assert "Plan for logistic | forest" in text
    assert max(map(len, text.splitlines())) <= 80
    facts = json.loads(run("explain", *words, "--json").stdout)
    assert (facts["candidates"], facts["cells"]) == (15, 15 * 5 * 4 + 5)
    assert (facts["fits"], facts["fits_before"]) == (plan.fits, plan.fits_before)
    assert plan.fits < plan.fits_before


def test_unnamed_row_numbers_are_left_out_and_said_so(messy: str) -> None:
    text = run("explain", messy, "-t", "target").stdout
    assert "left out    the first column" in text
    assert "messy.csv: 90 rows, 13 columns" in text
    assert "learner     ridge" in text


def test_hostile_names_are_shown_as_they_are(tmp_path: Path) -> None:
    frame = load_iris(as_frame=True).frame.iloc[::3].rename(columns={"target": "[red]t[/red]\x1b[31m\x07\u202e"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = [str(tmp_path / "a.csv"), "-t", frame.columns[-1], "-l", "dummy", "--jobs", "1"]
    done = run("evaluate", *words)
    assert done.exit_code == 0
    assert "[red]t[/red]" in done.stdout
    assert "\x1b" not in done.stdout + run("evaluate", *words, "--json").stdout
    wrong = run("evaluate", words[0], "-t", "x\x1b[31m\n[red]")
    assert wrong.exit_code == 2
    assert "\x1b" not in wrong.stderr
    assert "[red]" in wrong.stderr
    assert wrong.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-t", "specie"], "no such column in 'iris.csv'. Did you mean 'species'?"),
        (["-t", "species", "--drop", "petal"], "--drop petal: no such column"),
        (["-t", "species", "--groups", "species"], "cannot be both --target and --groups"),
        (["-t", "species", "-l", "lasso"], "'lasso' is for regression, but this is classification"),
        (["-t", "species", "-l", "forrest"], "Did you mean 'forest'?"),
        (["-t", "species", "--test", "kfol:5"], "Unknown splits 'kfol:5'"),
        (["-t", "species", "--test", "kfold:1"], "at least 2"),
        (["-t", "species", "--validation", "kfold"[:3]], "Unknown splits"),
        (["-t", "species", "--loss", "zero_on"], "Did you mean 'zero_one'?"),
        (["-t", "species", "--regression"], "--regression needs numbers"),
        (["-t", "petal width (cm)", "--classification"], "classifier expects discrete classes"),
        (["-t", "species", "--time", "petal"], "--time petal: no such column"),
        (["-t", "petal width (cm)", "--time", "species"], "Times are numbers, or dates written as 2024-01-31"),
        (["-t", "species", "-l", "dummy", "--validation", "kfold:3"], "--validation has nothing to choose"),
        (["-t", "species", "--jobs", "0"], "--jobs 0 is no number of workers"),
        (["-t", "species", "--level", "2"], "--level"),
        (["-t", "species", "--save", "/no/such/folder/r.zip"], "there is no folder"),
        ([], "Missing option '--target'"),
    ],
)
def test_wrong_use_is_named_and_exits_with_2(iris: str, words: list[str], message: str) -> None:
    done = run("evaluate", iris, *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_no_file_and_no_columns_left(iris: str, tmp_path: Path) -> None:
    assert "There is no file" in run("evaluate", str(tmp_path / "none.csv"), "-t", "y").stderr
    pd.DataFrame({"y": [1.5, 2.5]}).to_csv(tmp_path / "y.csv", index=False)
    done = run("evaluate", str(tmp_path / "y.csv"), "-t", "y")
    assert (done.exit_code, "No column of 'y.csv' is left" in done.stderr) == (2, True)
    pd.DataFrame({"y": [1.5, 2.5], "x": [1, np.inf]}).to_csv(tmp_path / "x.csv", index=False)
    assert (
        "Column 'x' of 'x.csv' holds infinite numbers (line 3)" in run("explain", str(tmp_path / "x.csv"), "-ty").stderr
    )


def test_a_result_without_a_value_exits_with_3(iris: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.dummy import DummyClassifier

    calls: list[int] = []
    fit = DummyClassifier.fit

    def fails_once(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("no luck")
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(DummyClassifier, "fit", fails_once)
    done = run("evaluate", iris, "-t", "species", "-l", "dummy", "--jobs", "1")
    assert done.exit_code == 3
    assert "H202" in done.stdout
    assert "no luck" in " ".join(done.stdout.split())
    assert done.stderr.startswith("Incomplete: ")


def test_nothing_that_fits_exits_with_3(iris: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.dummy import DummyClassifier

    def fails(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise RuntimeError("never")

    monkeypatch.setattr(DummyClassifier, "fit", fails)
    done = run("evaluate", iris, "-t", "species", "-l", "dummy", "--jobs", "1")
    assert done.exit_code == 3
    assert "RuntimeError: never" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_exits_with_130(iris: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("heldout.api.evaluate.run_question", interrupted)
    done = run("evaluate", iris, "-t", "species", "-q", "--no-journal")
    assert done.exit_code == 130
    assert done.stderr.startswith("Interrupted: there is no result.")
    done = run("evaluate", iris, "-t", "species", "-q")
    assert done.exit_code == 130
    assert done.stderr.startswith("Interrupted. What finished is in .heldout/journal.db. To go on:\n  heldout evaluate")


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([0, 1] * 3, True),
        ([0.0, 1.0, np.nan] * 3, True),
        ([0.5, 1.0] * 9, False),
        ([1, 2, 3] * 10, True),
        (list(range(10)), False),
        (list(range(30)) * 10, False),
        (["a", "b"], True),
        ([True, False], True),
    ],
)
def test_the_kind_of_target_is_seen_and_can_be_said(values: list[Any], classes: bool) -> None:
    target = pd.Series(values, name="y")
    assert target_kind(target, wanted=None)[0] is classes
    if target.dtype.kind in "if":
        assert target_kind(target, wanted=not classes)[0] is not classes


def test_help_names_every_learner_and_every_option_has_a_word() -> None:
    assert LEARNERS.split(", ") == list(CATALOGUE)
    text = run("evaluate", "--help").stdout
    for name in Question.__dataclass_fields__:
        assert name.replace("_", "-") in text.lower()


def test_help_and_version_import_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from heldout.cli.main import main\n"
        "for words in (['--help'], ['evaluate', '--help'], ['explain', '--help'], ['--version']):\n"
        "    main(words, standalone_mode=False)\n"
        "heavy = {'sklearn', 'numpy', 'pandas', 'scipy', 'rich', 'joblib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: ") == 3
    assert f"heldout {ho.__version__}" in done.stdout


def test_the_real_command(iris: str) -> None:
    words = ["evaluate", iris, "--target", "species", "--learner", "dummy", "--test", "loo", "--json", "--jobs", "1"]
    done = subprocess.run([sys.executable, "-m", "heldout", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["about"]["test"] == "leave-one-out"
    wrong = subprocess.run([sys.executable, "-m", "heldout", "evaluat"], capture_output=True, check=False)
    assert wrong.returncode == 2


def test_a_quiet_answer_is_the_headline_alone(iris: str) -> None:
    done = run("evaluate", iris, "-t", "species", "-l", "knn", "--test", "kfold:3", "--jobs", "1", "--quiet")
    (line,) = done.stdout.splitlines()
    assert re.fullmatch(r'accuracy \d+ %   \(95 % interval \d+ to \d+\)   always "versicolor": 40 %', line)
    both = run("compare", iris, "-t", "species", "-l", "knn,dummy", "--test", "kfold:3", "--jobs", "1", "--quiet")
    (line,) = both.stdout.splitlines()
    assert re.fullmatch(r"Best: knn, accuracy \d+ % \(\d+ to \d+\)\. dummy is worse\.", line)


def test_the_fits_of_a_model_that_is_saved_give_the_best_validation_number(iris: str, tmp_path: Path) -> None:
    asked = ("evaluate", iris, "-t", "species", "-l", "knn,dummy", "--test", "kfold:3", "--jobs", "1", "--json")
    found = json.loads(run(*asked).stdout)["estimates"]["best_validation"]
    assert found["value"] is None
    assert "--save model.skops" in found["reason"]
    saved = json.loads(run(*asked, "--save", str(tmp_path / "model.skops")).stdout)["estimates"]["best_validation"]
    assert saved["value"] is not None
