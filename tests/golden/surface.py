"""What users can reach: public names and their signatures, the options of commands, exit codes, answers in JSON."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from click.testing import CliRunner
from sklearn.dummy import DummyRegressor

import heldout as ho
from golden.ground import groups_of, numbers, rounded, table_of_all_kinds
from golden.seen import seen_plan, seen_summary
from heldout.__main__ import main

A_DEFAULT = re.compile(r"Default: ([^\s,]+)(?:\.$|\. |, with)")

# Doors between our own rooms: no user calls them, and they may change.
INSIDE = {"facts", "has_splits", "saved", "description", "of", "draw", "draw_untimed", "inner_ok_under_partition"}
INSIDE |= {"seeded"}
INSIDE |= {"stored"}
INSIDE |= {
    "as_search",
    "seed_or",
    "routed_names",
    "model_parts",
    "record",
    "record_so_far",
    "handles",
    "is_complete",
    "made_from",
    "worded",
}
MADE_BY_US = ("Result", "Comparison", "Checked", "DrawnSplits", "SavedModel")  # their constructors are ours


def parameters_of(function: Any) -> Any:
    """Each parameter with its kind and default, as one text; annotations are words and may change."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "no signature"
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    told = str(inspect.Signature(plain))
    return re.sub(r"<(?:function|object|class) [^>]*>", "<…>", told)


def signatures() -> dict[str, Any]:
    """Every public name of heldout: its parameters, its public methods, its public attributes."""
    found: dict[str, Any] = {"__all__": sorted(ho.__all__)}
    for name in ho.__all__:
        thing = getattr(ho, name)
        found[name] = (
            members_of(thing, made_by_us=name in MADE_BY_US) if inspect.isclass(thing) else parameters_of(thing)
        )
    for thing in returned():
        found[f"returned: {type(thing).__name__}"] = members_of(type(thing), made_by_us=True)
    return found


def members_of(kind: type, *, made_by_us: bool) -> dict[str, Any]:
    """What stands after a dot: attributes, and methods with their parameters; and what the class is made from."""
    told: dict[str, Any] = {} if made_by_us else {"()": parameters_of(kind)}
    own = fields(kind) if is_dataclass(kind) else ()
    if own and not made_by_us:
        told["fields"] = [one.name if one.default is MISSING else f"{one.name}={one.default!r}" for one in own]
    for name in sorted({*dir(kind), *(one.name for one in own)} - INSIDE):
        if name.startswith("_"):
            continue
        if name in {one.name for one in own}:
            told[name] = "attribute"
            continue
        value = inspect.getattr_static(kind, name)
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        told[name] = parameters_of(value) if inspect.isfunction(value) else "attribute"
    return told


def returned() -> Iterator[Any]:
    """An object of each type that users are given, and that is not among the public names."""
    X, y = numbers("surface", 40)
    learners = {"none": DummyRegressor(), "median": DummyRegressor(strategy="median")}
    result = ho.evaluate(DummyRegressor(), X, y, test=ho.KFold(2), jobs=1, progress=False)
    comparison = ho.compare(learners, X, y, test=ho.KFold(2), jobs=1, progress=False)
    sets = {str(i): numbers(f"surface {i}", 30) for i in range(3)}
    yield from (result.risk, result.covers, result.plan, result.plan.lines[0], result.plan.passes[0], result.plot)
    yield from (result.splits.summary(), comparison.pairs[0])
    yield ho.advise(n=100)
    yield ho.chance(DummyRegressor(), X, y, permutations=3, test=ho.KFold(2), jobs=1, progress=False)
    yield ho.compare_across(learners, sets, test=ho.KFold(2), jobs=1, progress=False)
    yield ho.check(np.column_stack([X, y]), y).findings[0]


def options_of_commands() -> dict[str, Any]:
    """The arguments and options of every command: names, defaults, choices."""
    assert isinstance(main, click.Group)
    return {name: [option_of(one) for one in command.params] for name, command in sorted(main.commands.items())}


def option_of(parameter: click.Parameter) -> dict[str, Any]:
    told: dict[str, Any] = {"names": sorted([*parameter.opts, *parameter.secondary_opts])}
    default = parameter.to_info_dict()["default"]
    if default is None and (word := A_DEFAULT.search(getattr(parameter, "help", None) or "")):
        default = f"in words: {word.group(1)}"
    if default is not None:
        told["default"] = default if isinstance(default, str | int | float | list) else repr(default)
    if isinstance(parameter.type, click.Choice):
        told["choices"] = sorted(str(one) for one in parameter.type.choices)
    for switch in ("required", "multiple", "is_flag"):
        if getattr(parameter, switch, False):
            told[switch] = True
    return told


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Commands keep their journal in the working folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run(*words: str) -> Any:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "120", "NO_COLOR": "1"}, prog_name="heldout")


def write_tables(folder: Path) -> None:
    """The tables that command lines name."""
    X, y = numbers("commands", 90, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    frame.to_csv(folder / "numbers.csv", index=False)
    label = np.where(y > np.median(y), "yes", "no")
    frame.drop(columns="y").assign(label=label).to_csv(folder / "classes.csv", index=False)
    roles = frame.assign(who=groups_of("commands", 90), day=np.arange(90), w=rounded(np.linspace(0.5, 2, 90)))
    roles.assign(part=np.where(np.arange(90) % 4 == 0, "test", "train")).to_csv(folder / "roles.csv", index=False)
    frame.to_parquet(folder / "numbers.parquet", index=False)
    frame.to_json(folder / "numbers.jsonl.gz", orient="records", lines=True)
    table_of_all_kinds(120, many=60).drop(columns="label").to_csv(folder / "kinds.csv", index=False)
    table_of_all_kinds(120, many=60).drop(columns="price").to_csv(folder / "kinds_of_classes.csv", index=False)
    frame.assign(copy=frame["y"] * 2 + 1).to_csv(folder / "leaky.csv", index=False)
    frame.drop(columns="y").head(7).to_csv(folder / "new.csv", index=False)
    frame.drop(columns=["y", "b"]).head(7).to_csv(folder / "lacking.csv", index=False)
    (folder / "empty.csv").write_text("")
    (folder / "golden_failing.py").write_text(FAILING)
    (folder / "study.toml").write_text(STUDY_FILE)
    (folder / "wrong.toml").write_text(STUDY_FILE.replace("target", "traget"))


FAILING = """
from sklearn.base import BaseEstimator, RegressorMixin


class Failing(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        raise ValueError("this never works")

    def predict(self, X):
        return None
"""

STUDY_FILE = """heldout = 1
data = "numbers.csv"
target = "y"
learner = ["ridge", "tree"]
test = "kfold:3"
validation = "holdout:0.3"
loss = ["absolute", "squared"]

[space]
ridge.alpha = [0.1, 10.0]
tree = "fixed"
"""

QUICK = "--test kfold:2 --no-journal --jobs 1"

# In the order in which they are run, as some read what others wrote; the golden file has the exit code of each.
COMMAND_LINES = (
    "--version",
    "--help",
    "evaluate --help",
    "",
    "evaluat numbers.csv",
    f"evaluate numbers.csv -t y -l dummy {QUICK}",
    f"evaluate numbers.csv -t y -l ridge --space ridge.alpha=1 {QUICK} --save m.skops --save r.heldout --quiet",
    f"evaluate numbers.csv -t y -l dummy {QUICK} --fail-on info",
    f"evaluate leaky.csv -t y -l linear {QUICK} --fail-on never",
    "evaluate numbers.csv -t y -l dummy --test holdout:0.3 --jobs 1",
    "evaluate numbers.csv -t y -l linear --test holdout:0.3 --jobs 1 --fail-on warning",
    "ledger",
    "ledger nothing.db",
    "evaluate missing.csv -t y",
    "evaluate numbers.csv",
    "evaluate numbers.csv -t nothing",
    "evaluate empty.csv -t y",
    f"evaluate numbers.csv -t y -l rigde {QUICK}",
    f"evaluate numbers.csv -t y -l ridge --space ridge.alhpa=1 {QUICK}",
    f"evaluate numbers.csv -t y -l linear --loss nonsense {QUICK}",
    "evaluate numbers.csv -t y -l linear --test kfold:1 --no-journal",
    "evaluate numbers.csv -t y -l linear --level 2 --no-journal",
    f"evaluate numbers.csv -t y -l nothing.here:Nobody {QUICK}",
    f"evaluate numbers.csv -t y -l golden_failing:Failing --allow-import {QUICK}",
    f"compare numbers.csv -t y -l linear,golden_failing:Failing --allow-import {QUICK}",
    f"evaluate study.toml {QUICK.replace('--test kfold:2 ', '')} --quiet",
    "evaluate wrong.toml",
    f"evaluate study.toml {QUICK} --write-study again.toml --quiet",
    f"compare numbers.csv -t y -l linear,dummy {QUICK}",
    f"compare numbers.csv -t y -l linear {QUICK}",
    "explain numbers.csv -t y -l ridge,tree --test kfold:3",
    "advise numbers.csv -t y -l ridge",
    "advise --rows 1000 --candidates 5",
    "check numbers.csv -t y",
    "check leaky.csv -t y",
    "check leaky.csv -t y --fail-on never",
    "predict m.skops new.csv",
    "predict m.skops lacking.csv",
    "predict numbers.csv new.csv",
    "report r.heldout",
    "report r.heldout --fail-on info",
    "report m.skops",
    "report --all --json",
    "completion bash",
    "completion nothing",
)


def exit_codes(folder: Path) -> dict[str, Any]:
    """The exit code of each command line; a traceback is never an answer."""
    write_tables(folder)
    found = {}
    with working_in(folder):
        for line in COMMAND_LINES:
            done = run(*line.split())
            assert "Traceback" not in done.output, done.output
            found[line] = done.exit_code
    return found


JSON_LINES = (
    f"evaluate numbers.csv -t y -l ridge,knn --space knn.n_neighbors=3,9 --space ridge.alpha=0.1,10 {QUICK}",
    f"evaluate classes.csv -t label -l tree --loss zero_one --loss log --choose one_se {QUICK}",
    "evaluate roles.csv -t y -l ridge --groups who --weights w --drop day --drop part --test kfold:3 --no-journal -j 1 "
    "--space ridge.alpha=0.1,10",
    "evaluate roles.csv -t y -l linear --time day --buffer 2 --drop who --drop w --drop part --no-journal -j 1",
    "evaluate roles.csv -t y -l linear --test column:part --drop who --drop w --drop day --no-journal -j 1",
    "evaluate study.toml --no-journal -j 1",
    f"evaluate numbers.parquet -t y -l linear {QUICK}",
    f"evaluate numbers.jsonl.gz -t y -l linear {QUICK}",
    f"evaluate kinds.csv -t price -l ridge,tree --space ridge=fixed --space tree=fixed {QUICK}",
    f"evaluate kinds.csv -t price -l boosting --space boosting=fixed {QUICK}",
    f"evaluate kinds_of_classes.csv -t label -l bayes,xgboost --space bayes=fixed --space xgboost=fixed {QUICK}",
    f"compare numbers.csv -t y -l linear,dummy {QUICK}",
    "explain numbers.csv -t y -l ridge,tree --test kfold:3",
    "advise numbers.csv -t y -l ridge",
    "check leaky.csv -t y",
    "predict m.skops new.csv",
)


def answers_of_commands(folder: Path) -> dict[str, Any]:
    """What commands say with --json, without what must vary."""
    write_tables(folder)
    found = {}
    with working_in(folder):
        run(*f"evaluate numbers.csv -t y -l ridge --space ridge.alpha=1 {QUICK} --save m.skops".split())
        for line in JSON_LINES:
            done = run(*line.split(), "--json")
            assert done.exit_code in (0, 1), done.output
            answer = json.loads(done.stdout)
            found[line] = seen_answer(answer)
    return found


def seen_answer(answer: dict[str, Any]) -> dict[str, Any]:
    if answer.get("kind") in ("result", "comparison"):
        return seen_summary(answer)
    if "passes" in answer:
        return seen_plan(answer)
    return {**answer, "versions": sorted(answer["versions"])} if "versions" in answer else answer
