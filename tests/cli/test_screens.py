"""The first screens, pinned as text at 80 and 120 columns: what people see, with seconds masked.

`make screens` (HELDOUT_SCREENS=1) writes them anew where a change is meant; its difference is part of the commit.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console
from sklearn.datasets import load_breast_cancer

import heldout as ho
from heldout.cli.main import main
from heldout.report.show import as_view

SCREENS = Path(__file__).parent / "screens"
MAKING = os.environ.get("HELDOUT_SCREENS") == "1"
SECONDS = re.compile(r"(?<![\w.])\d[\d.e-]*( min \d+)? s\b")
JARGON = re.compile(r"zero_one|zero-one|corrected t|heuristic|\bcells?\b|\btiers?\b|Pipeline|e\+0\d")


def breast_cancer() -> pd.DataFrame:
    data = load_breast_cancer(as_frame=True)
    return data.data.assign(diagnosis=data.target.map({0: "malignant", 1: "benign"}))


def churn() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2_000, 6)), columns=["calls", "months", "fee", "age", "visits", "data"])
    chance = 1 / (1 + np.exp(3.6 - 1.1 * frame["calls"] + 0.7 * frame["months"]))
    return frame.assign(churned=np.where(rng.random(2_000) < chance, "yes", "no"))


def sick() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(500, 2)), columns=["left", "right"])
    return frame.assign(state=np.where(rng.random(500) < 0.3, "sick", "well"))


def orders() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    size, rooms, age = rng.uniform(40, 220, 600), rng.integers(1, 7, 600), rng.uniform(0, 90, 600)
    district = rng.choice(["north", "south", "harbour"], 600)
    price = 900 * size + 6_000 * rooms - 350 * age + 45_000 * (district == "harbour") + rng.normal(0, 22_000, 600)
    return pd.DataFrame({"size": size, "rooms": rooms, "age": age, "district": district, "price": price.round(-2)})


def grid() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    day = np.arange(730)
    temperature = 10 - 9 * np.cos(day / 58.1) + rng.normal(0, 2, 730)
    load = 5_200 - 60 * temperature + 240 * (day % 7 < 5) + rng.normal(0, 60 + day / 8, 730)
    dates = pd.Timestamp("2021-01-01") + pd.to_timedelta(day, unit="D")
    return pd.DataFrame({"day": dates, "weekday": day % 7, "temperature": temperature, "load": load})


FIVE = "ridge,lasso,knn,tree,forest"
STUDIES: dict[str, tuple[Callable[[], pd.DataFrame], str]] = {
    "breast-cancer": (breast_cancer, "evaluate bc.csv -t diagnosis --learner logistic"),
    "imbalanced": (churn, "evaluate churn.csv -t churned --learner logistic"),
    "noise": (sick, "evaluate t.csv -t state --learner logistic"),
    "regression": (orders, "evaluate orders.csv -t price --learner ridge"),
    "time": (grid, "evaluate grid.csv -t load --time day --learner ridge"),
    "comparison": (orders, f"compare orders.csv -t price --learner {FIVE} --validation holdout:0.3"),
}


@cache
def table(name: str) -> str:
    return STUDIES[name][0]().to_csv(index=False)


def screen(name: str, width: int, *more: str) -> str:
    words = STUDIES[name][1].split()
    Path(words[1]).write_text(table(name), encoding="utf-8")
    ran = CliRunner().invoke(main, [*words, "--jobs", "1", *more], env={"COLUMNS": str(width)}, prog_name="heldout")
    assert ran.exit_code == 0, ran.output
    return SECONDS.sub("… s", ran.stdout)


@pytest.fixture(scope="module", autouse=True)
def _one_folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One working folder for all, so that the journal answers each study once."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("screens"))
    yield
    os.chdir(before)


@pytest.fixture(autouse=True)
def working_folder() -> None:
    """Stay in the folder of the module."""


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", STUDIES)
def test_the_first_screen_is_the_one_that_is_kept(name: str, width: int) -> None:
    shown, kept = screen(name, width), SCREENS / f"{name}-{width}.txt"
    if MAKING:
        kept.write_text(shown, encoding="utf-8")
    assert shown == kept.read_text(encoding="utf-8"), f"make screens, if the change of {kept.name} is meant"
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("name", STUDIES)
def test_five_lines_tell_how_good_against_what_and_how_sure(name: str) -> None:
    text = (SCREENS / f"{name}-80.txt").read_text(encoding="utf-8")
    above = text.partition("\n  score  ")[0] if name != "comparison" else text.partition("\n  learner ")[0]
    first = "\n".join([line for line in above.splitlines() if line][:5])
    assert not JARGON.search(above), JARGON.search(above)
    assert re.match(r"[^\n]*[\d,]+ rows", first)
    if name == "comparison":
        assert re.search(r"Best: \w+, RMSE [\d,]+ \([\d,]+ to [\d,]+\)\.", first)
        assert re.search(r"cannot be told from it|are worse", first)
        return
    assert re.search(r"\n  (accuracy [\d.]+ %|RMSE [\d,]+)   \(95 % interval [\d.,]+ to [\d.,]+\)   always ", first)
    assert re.search(r"\n  (Better|No better|Not shown to be better|Worse) than no model", f"\n{above}")
    assert ("Better than no model" in above) == (name in ("breast-cancer", "regression", "time"))


def test_quiet_is_the_headline_alone() -> None:
    kept = (SCREENS / "regression-80.txt").read_text(encoding="utf-8").splitlines()
    assert screen("regression", 80, "--quiet").splitlines() == [kept[2].strip()]


def test_set_up_plan_and_rules_are_told_only_at_length() -> None:
    short, long = screen("regression", 80), screen("regression", 80, "--verbose")
    for words in ("The plan", "Folds", "left alone, and why", "to learn from", "What the interval promises"):
        assert words not in short
        assert words in long


def colours(summary: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    console.print(as_view("result", summary))
    return console.file.getvalue()


@pytest.fixture(scope="module")
def results() -> dict[str, ho.Result]:
    from sklearn.linear_model import LogisticRegression

    made = {}
    for name, target in (("breast-cancer", "diagnosis"), ("noise", "state")):
        frame = STUDIES[name][0]()
        X = (frame.drop(columns=target) - frame.drop(columns=target).mean()) / frame.drop(columns=target).std()
        learner = LogisticRegression(C=0.1, max_iter=1_000)
        made[name] = ho.evaluate(learner, X, frame[target], jobs=1, progress=False)
    return made


def test_green_is_for_better_yellow_for_warnings_red_for_errors(results: dict[str, ho.Result]) -> None:
    good, noise = ({**results[name].summary(), "findings": []} for name in ("breast-cancer", "noise"))
    green, yellow, red = "\x1b[1;32m", "\x1b[33m", "\x1b[1;31m"
    assert green in colours(good)
    assert green not in colours(noise)
    warned = {**good, "findings": [{"code": "H302", "severity": "warning", "message": "Look here."}]}
    assert green not in colours(warned)
    assert f"{yellow}Look here. (H302)" in colours(warned)
    failed = {**good, "findings": [{"code": "H605", "severity": "error", "message": "This leaks."}]}
    assert f"{red}This leaks. (H605)" in colours(failed)


def test_print_says_what_the_command_says(results: dict[str, ho.Result]) -> None:
    text = str(results["breast-cancer"])
    assert re.search(r'\n  accuracy 9[\d.]+ %   \(95 % interval [\d.]+ to [\d.]+\)   always "benign": 62\.7 %\n', text)
    assert "\n  Better than no model by " in text
    assert text.splitlines()[-1] == ('  next: result.report("study.html") for a page, result.predictor for the model')
    assert max(map(len, text.splitlines())) <= 80
