"""Familiar scores at the command line: their names, the positive class, and what --json and exit codes say of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import heldout as ho
from heldout.api.learners import tuned_learner
from heldout.cli.main import main

TABLE = ("table.csv", "-t", "label", "-l", "logistic", "--test", "kfold:3", "--jobs", "1")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "80", "NO_COLOR": None}, prog_name="heldout")


def answer(*words: str) -> Any:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def frame(working_folder: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    made = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    score = 2 * made["a"] + rng.normal(size=200)
    made.assign(label=np.where(score > 0, "yes", "no")).to_csv("table.csv", index=False)
    made.assign(label=np.where(score > score.quantile(0.9), "yes", "no")).to_csv("rare.csv", index=False)
    made.assign(y=score).to_csv("numbers.csv", index=False)
    return made


def test_the_losses_asked_for_lead_and_the_first_one_chooses() -> None:
    said = answer("evaluate", *TABLE, "--loss", "f1", "--loss", "AUC", "--positive", "yes")
    names = ["f1", "auc", "accuracy", "balanced_accuracy", "logloss", "brier"]
    assert [one["name"] for one in said["metrics"]] == names
    assert [one["asked"] for one in said["metrics"]] == [True, True, False, False, False, False]
    assert said["headline"]["metric"] == said["about"]["chosen_by"] == said["risk"]["loss"] == "f1"
    assert said["about"]["positive"] == "yes"
    assert "H301" not in {one["code"] for one in said["findings"]}
    data = pd.read_csv("table.csv")
    learner = tuned_learner(
        ["logistic"], data[["a", "b", "c"]], classification=True, loss=["f1", "auc"], random_state=0
    )
    ours = ho.evaluate(learner, data, "label", test=ho.KFold(3), loss=["f1", "auc"], positive="yes", jobs=1)
    assert [one["value"] for one in said["metrics"]] == (pytest.approx(list(ours.metrics["value"])))


def test_without_a_loss_accuracy_and_rmse_lead() -> None:
    said = answer("evaluate", *TABLE)
    assert said["metrics"][0]["name"] == said["headline"]["metric"] == "accuracy"
    assert said["headline"]["verdict"] == said["metrics"][0]["gain"]["verdict"] == "better"
    said = answer("evaluate", "numbers.csv", "-t", "y", "-l", "ridge", "--jobs", "1")
    assert [one["name"] for one in said["metrics"]] == ["rmse", "mae", "r2"]
    assert said["version"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--loss", "f1"), "Use --positive yes or --positive no."),
        (
            ("--loss", "f1", "--positive", "maybe"),
            "--positive maybe is no class of the target: its classes are 'no' and",
        ),
        (("--loss", "rsme"), "There is no loss 'rsme'. Did you mean 'rmse'?"),
        (
            ("--loss", "goodness"),
            "Usual names: accuracy, balanced_accuracy, auc, logloss, brier, f1, precision, recall",
        ),
    ],
    ids=["which class", "no class", "near", "far"],
)
def test_what_cannot_be_is_refused_with_the_way_out(words: tuple[str, ...], message: str) -> None:
    for verb in ("evaluate", "explain"):
        done = run(verb, *TABLE[:-2], *words)
        assert done.exit_code == 2
        assert message in " ".join(done.stderr.split())


def test_a_rare_class_counts_for_fail_on() -> None:
    words = ("evaluate", "rare.csv", *TABLE[1:])
    assert run(*words).exit_code == 0
    done = run(*words, "--fail-on", "warning")
    assert done.exit_code == 1
    assert "H105" in {one["code"] for one in answer(*words)["findings"]}
    assert run(*words, "--loss", "auc", "--fail-on", "warning").exit_code == 0


def test_a_comparison_has_the_scores_of_each_learner() -> None:
    said = answer(
        "compare", *TABLE[:3], "-l", "logistic,dummy", "--test", "kfold:3", "--jobs", "1", "--positive", "yes"
    )
    assert said["verdict"]["best"] == "logistic"
    assert [one["verdict"] for one in said["against_best"]] == ["worse"]
    assert {name: one["metrics"][0]["name"] for name, one in said["learners"].items()} == {
        "logistic": "accuracy",
        "dummy": "accuracy",
    }
    ours, none = (said["learners"][name]["metrics"][0] for name in ("logistic", "dummy"))
    assert ours["no_model"] == pytest.approx(none["value"])
