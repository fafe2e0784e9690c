"""Arguments and options as other libraries call them are refused, and the error names ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.other_words import ARGUMENTS, our_argument
from heldout.cli.main import main

X, Y = np.arange(60.0).reshape(30, 2) % 7, np.arange(30.0)
CALLS: dict[str, Callable[..., Any]] = {
    "evaluate": lambda **more: ho.evaluate("ridge", X, Y, **more),
    "compare": lambda **more: ho.compare(["ridge", "dummy"], X, Y, **more),
    "explain": lambda **more: ho.explain("ridge", X, Y, **more),
    "Tuned": lambda **more: ho.Tuned(Ridge(), {"alpha": [1.0]}, **more),
    "learner": lambda **more: ho.learner("ridge", X, Y, **more),
}


@pytest.mark.parametrize(
    ("call", "word", "words"),
    [
        ("evaluate", "cv", "test=5 here; Tuned(validation=5) says how parameters are chosen"),
        ("compare", "cv", "test=5 here"),
        ("Tuned", "cv", "It is called validation=5 here"),
        ("learner", "cv", "It is called validation=5 here"),
        ("evaluate", "scoring", "It is called loss=… here"),
        ("evaluate", "n_jobs", "It is called jobs=… here"),
        ("evaluate", "random_state", "It is called seed=… here"),
        ("learner", "seed", "It is called random_state=… here"),
        ("evaluate", "validation", "It is called Tuned(validation=5) here"),
        ("explain", "metric", "It is called loss=… here"),
        ("Tuned", "param_grid", "It is called space=… here"),
        ("evaluate", "tset", "Did you mean 'test'"),
    ],
)
def test_an_argument_that_is_none_is_answered(call: str, word: str, words: str) -> None:
    with pytest.raises(TypeError) as refused:
        CALLS[call](**{word: 5})
    assert isinstance(refused.value, ho.HeldoutError)
    assert str(refused.value).startswith(f"{call} has no argument {word!r}.")
    assert words in str(refused.value)


def test_tuned_is_still_cloned_and_shown_with_its_own_parameters() -> None:
    tuned = clone(CALLS["Tuned"](validation=3))
    assert tuned.get_params(deep=False)["validation"] == 3
    assert "self" not in our_argument("nothing", ["alpha"])


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--cv", "It is called --test 5 here; --validation 5 says how parameters are chosen."),
        ("--scoring", "It is called --loss here."),
        ("--n-jobs", "It is called --jobs here."),
        ("--n_jobs", "It is called --jobs here."),
        ("--random-state", "It is called --seed here."),
        ("--model", "It is called --learner here."),
        ("--test-size", "It is called --test holdout:0.2 here."),
        ("--weight", "It is called --weights here."),
        ("--tset", "--test"),
    ],
)
def test_an_option_that_is_none_is_answered(option: str, words: str) -> None:
    done = CliRunner().invoke(main, ["evaluate", "houses.csv", option, "5"], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert words in done.stderr


def test_what_is_named_exists() -> None:
    """Every word that an error names is an argument of some function or an option of some command."""
    options = {one.name for command in main.commands.values() for one in command.params}
    known = {*options, "sample_weight", "validation", "space", "final", "random_state", "learners", "progress"}
    assert {one.name for ours in ARGUMENTS.values() for one in ours} <= known


@pytest.mark.parametrize("text", ["5", "kfold:5", "kfold:3x2", "holdout:0.2", "loo"])
def test_splits_are_written_alike_in_python_and_on_the_command_line(text: str, tmp_path: Path) -> None:
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=Y + 0.5)
    table.to_csv(tmp_path / "table.csv", index=False)
    words = ["evaluate", str(tmp_path / "table.csv"), "-t", "y", "-l", "linear", "--no-journal", "--quiet"]
    done = CliRunner().invoke(main, [*words, "--test", text])
    assert done.exit_code == 0, done.stderr
    result = ho.evaluate("linear", table, "y", test=text, progress=False)
    same = ho.evaluate("linear", table, "y", test=int(text) if text == "5" else text, progress=False)
    assert result.risk == same.risk
    assert result.summary()["about"]["test"] in ho.explain("linear", table, "y", test=text).__str__()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cv:5", "Write kfold:5."),
        ("stratified", "Write kfold."),
        ("TimeSeriesSplit(5)", "Write forward:5."),
        ("loocv", "Write loo."),
        ("train_test_split:0.25", "Write holdout:0.25."),
        ("nonsense", "Known: forward, holdout"),
    ],
)
def test_other_words_for_splits_are_answered(text: str, words: str) -> None:
    with pytest.raises(ho.HeldoutError) as refused:
        ho.evaluate("linear", X, Y + 0.5, test=text)
    assert words in str(refused.value)


def test_a_tuned_takes_splits_as_text() -> None:
    tuned = ho.Tuned(Ridge(), {"alpha": [1.0, 2.0]}, validation="kfold:3")
    assert len(tuned.fit(X, Y).cv_results_["params"]) == 2
