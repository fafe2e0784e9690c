"""Study files: what they may say, errors with keys and nearest names, round trips, and files from strangers."""

from __future__ import annotations

import json
import string
import tomllib
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from heldout.base.errors import OptionError
from heldout.cli.main import main
from heldout.cli.options import Question, RunOptions, keys_of
from heldout.cli.study_file import read_study, study_text


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "100"}, prog_name="heldout")


@pytest.fixture(autouse=True)
def table(working_folder: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame["zip"] = rng.integers(1, 4, n)
    frame["who"] = [f"w{i}" for i in rng.integers(0, 12, n)]
    frame["day"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), unit="D")).astype(str)
    frame["till"] = (pd.Timestamp("2024-01-03") + pd.to_timedelta(np.arange(n), unit="D")).astype(str)
    frame["w"] = rng.uniform(0.5, 2, n)
    frame["part"] = np.where(np.arange(n) % 4 == 0, "test", "train")
    frame["fold"] = np.arange(n) % 3
    frame["y"] = frame["a"] * 2 + rng.normal(size=n)
    frame["label"] = np.where(frame["y"] > 0, "yes", "no")
    frame.to_csv("table.csv", index=False)
    return working_folder


def study(text: str, name: str = "study.toml") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def answer(*words: str) -> dict[str, Any]:
    done = run(*words, "--json", "--jobs", "1", "--no-journal")
    assert done.exit_code == 0, done.stderr
    summary = json.loads(done.stdout)
    del summary["about"]["command"]  # the line itself, which differs
    return {name: summary[name] for name in ("about", "risk", "estimates", "folds", "choices", "findings")}


NUMBERS = [word for name in ("who", "day", "till", "part", "fold", "label") for word in ("--drop", name)]
QUICK = ["--test", "kfold:2", "--validation", "holdout:0.3"]


@pytest.mark.parametrize(
    "words",
    [
        ["-t", "y", "-l", "ridge,knn", *NUMBERS, *QUICK, "--space", "ridge.alpha=log:0.01:100:3"],
        ["-t", "label", "-l", "tree", "--type", "zip=category", "--space", "tree=fixed", "--drop", "y"],
        ["-t", "y", "-l", "dummy", "--groups", "who", "--weights", "w", "--seed", "7"],
        ["-t", "label", "-l", "tree", *NUMBERS[:-2], "--test", "kfold:2", "--race", "hoeffding", "--race-level", "0.2"],
        ["-t", "y", "-l", "dummy", "--time", "day:till", "--test", "kfold:3", "--buffer", "2d", "--embargo", "1d"],
        ["-t", "label", "-l", "dummy", "--test", "column:part", "--answer", "value", "--strata", "zip"],
        ["-t", "y", "-l", "dummy", "--test", "rows:held.txt", "--regression", "--level", "0.9", "--missing", "NA,?"],
        [
            "-t",
            "y",
            "-l",
            "knn",
            "--loss",
            "absolute",
            "--loss",
            "squared",
            "--choose",
            "one_se",
            "--pool",
            *NUMBERS,
            "--validation",
            "kfold:2",
        ],
    ],
)
def test_a_written_study_gives_the_same_numbers(words: list[str], table: Path) -> None:
    (table / "held.txt").write_text("3\n5 # a comment\n\n8\n")
    (table / "sub").mkdir()
    first = answer("evaluate", "table.csv", *words, "--write-study", "sub/study.toml")
    assert answer("evaluate", "sub/study.toml") == first
    tomllib.loads((table / "sub" / "study.toml").read_text())


def test_the_file_says_what_was_settled_and_stays_beside_its_data(table: Path) -> None:
    done = run("evaluate", "table.csv", "-t", "label", "-l", "dummy", "--write-study", "study.toml", "--jobs", "1")
    assert done.exit_code == 0
    said = tomllib.loads(Path("study.toml").read_text())
    assert said["data"] == "table.csv"
    assert (said["task"], said["test"], said["learner"], said["run"]) == (
        "classification",
        "kfold:5",
        ["dummy"],
        {"jobs": 1},
    )
    assert "validation" not in said  # there is nothing to choose
    assert "heldout evaluate study.toml gives the same numbers" in done.stdout


def test_the_command_line_counts_more_than_the_file() -> None:
    study('data = "table.csv"\ntarget = "y"\nlearner = "dummy"\ntest = "kfold:4"\nseed = 3\n[run]\njobs = 1\n')
    assert answer("evaluate", "study.toml")["about"]["seed"] == 3
    said = answer("evaluate", "study.toml", "--seed", "5", "--test", "kfold:2")
    assert (said["about"]["seed"], len(said["folds"])) == (5, 2)
    assert answer("evaluate", "table.csv", "-t", "y", "-l", "dummy", "--seed", "5", "--test", "kfold:2") == said


def test_other_commands_read_it_too() -> None:
    study(
        'data = "table.csv"\ntarget = "y"\nlearner = ["ridge", "dummy"]\n'
        'drop = ["label", "part", "who", "day", "till"]\n'
    )
    assert json.loads(run("explain", "study.toml", "--json").stdout)["candidates"] == 22
    ranked = run("compare", "study.toml", "--json", "--no-journal", "--jobs", "1")
    assert [one["name"] for one in json.loads(ranked.stdout)["ranking"]] == ["ridge", "dummy"]
    assert "heldout evaluate study.toml --test" in run("advise", "study.toml").stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'data = "table.csv"\n\ntraget = "y"',
            "study.toml: there is no key 'traget' here. Did you mean 'target'",
        ),
        ('data = "table.csv"\ntarget = 3', "study.toml: target is the name of a column, in quotes, not 3 ("),
        ('data = "table.csv"\ntarget = "yy"', "study.toml: target yy: no such column in 'table.csv'."),
        ('data = "table.csv"\ntarget = "y"\ntest = "kfol:3"', "study.toml: test kfol:3: Unknown splits"),
        ('data = "table.csv"\ntarget = "y"\nbuffer = 3', "study.toml: buffer 3 is a distance in time"),
        ('target = "y"\nseed = -1', "study.toml: seed is a whole number from 0"),
        ('target = "y"\nlevel = 2.0', "study.toml: level is a number between 0 and 1"),
        ('target = "y"\nrace_level = 0', "study.toml: race_level is a number between 0 and 1"),
        (
            'data = "table.csv"\ntarget = "y"\nlearner = "dummy"\nrace_level = 0.2',
            "study.toml: race_level is the probability that a race",
        ),
        (
            'target = "y"\n[space]\nridge = 3\n[run]\njbos = 2',
            "there is no key 'run.jbos' here. Did you mean 'jobs'?",
        ),
        ('target = "y"\nspace = 3', "study.toml: space is a table: write [space], and below it ridge.alpha"),
        (
            "[space.ridge]\nalpha = [1, [2]]",
            'study.toml: space.ridge.alpha is written as in ridge.alpha = "log:1e-6:1e2:17"',
        ),
        ("[type]\nzip = 3", 'study.toml: type.zip is written as in zip = "category", not 3'),
        ('target = "y"', "study.toml names no data"),
        ("target = = 3", "study.toml is no TOML: Invalid value (at line 1, column 10)"),
        ("heldout = 2", "study.toml: heldout = 2 is a format that this heldout does not read"),
        ("allow_import = true", "allow_import: a file must not decide that code is run. If you trust it, add"),
        ('[run]\njournal = "/etc/x"', "run.journal: a file must not decide where another is written"),
        ('[run]\ndask = "evil:8786"', "run.dask: a file must not decide where your data go"),
        ('data = "table.csv"\ntarget = "y"\nlearner = "os:system"', "add --allow-import"),
        ('data = "none.csv"\ntarget = "y"', "There is no file 'none.csv'"),
        ("a = " + "[" * 5000, "study.toml"),
        ("a = " + "9" * 5000, "study.toml"),
        ('data = "a\\u0000b.csv"\ntarget = "y"', "Error: "),
    ],
)
def test_what_is_wrong_is_named_with_its_key(text: str, message: str) -> None:
    done = run("evaluate", study(text))
    assert done.exit_code == 2, done.output
    assert message in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.output
    assert not isinstance(done.exception, Exception) or isinstance(done.exception, SystemExit)


def test_no_such_file_no_text_and_too_much_of_it() -> None:
    assert "There is no study file 'none.toml'" in run("evaluate", "none.toml").stderr
    Path("bytes.toml").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text (byte 0)" in run("evaluate", "bytes.toml").stderr
    study("#" * 1_000_001)
    assert "is larger than 1,000,000 bytes" in run("evaluate", "study.toml").stderr
    Path("folder.toml").mkdir()
    assert "cannot be read" in run("evaluate", "folder.toml").stderr


@pytest.mark.parametrize("part", ["a", '"="'])
def test_a_key_of_thousands_of_parts_is_refused_before_it_is_read(part: str) -> None:
    """Python's reader would take memory with the square of the parts."""
    began = perf_counter()
    done = run("explain", study("x = {" + ".".join([part] * 50_000) + " = 1}"))
    assert (done.exit_code, "line 1 has more than 100 dots" in done.stderr) == (2, True)
    assert perf_counter() - began < 5


KEYS = (keys_of(Question), keys_of(RunOptions))
KEYS_AND_WRONG = st.sampled_from([*KEYS[0], "run", "heldout", "nonsense", "data ", "a.b"])
SCALARS = (
    st.text(max_size=12)
    | st.integers()
    | st.floats(allow_nan=True)
    | st.booleans()
    | st.sampled_from(
        ["table.csv", "y", "label", "who", "day", "kfold:3", "loo", "column:part", "rows:/etc/passwd", "all"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(name)} = {toml(one)}" for name, one in value.items()) + "}"
    return str(value)


FUZZ = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@FUZZ
@given(st.dictionaries(KEYS_AND_WRONG, VALUES, max_size=5))
@example({"learner": ["os:system"], "target": "y", "data": "table.csv"})
@example({"space": {"ridge": {"alpha": "log:1:2:99999999999"}}, "target": "y", "data": "table.csv"})
@example({"space": {"ridge": {"__class__": [1]}}, "learner": "ridge", "target": "y", "data": "table.csv"})
@example({"test": "kfold:99999999999999999999", "target": "y", "data": "table.csv", "learner": "dummy"})
@example({"time": ["day", "day"], "target": "y", "data": "table.csv"})
@example({"data": "../../../../etc/passwd", "target": "root"})
@example({"missing": [""], "target": "y", "data": "table.csv"})
def test_any_study_is_planned_or_refused_by_name(said: dict[str, Any]) -> None:
    base = {"data": "table.csv", "target": "y", "learner": "dummy"}
    text = "\n".join(f"{toml(key)} = {toml(value)}" for key, value in {**base, **said}.items())
    try:
        study(text)
    except UnicodeEncodeError:  # a lone surrogate, which no file holds
        return
    done = run("explain", "study.toml", "--quiet")
    assert done.exit_code in (0, 2), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    assert "Traceback" not in done.output


@FUZZ
@given(st.text(alphabet=string.printable + "é\u202e\x1b", max_size=200) | st.binary(max_size=100))
def test_any_bytes_are_refused_by_name(content: str | bytes) -> None:
    Path("study.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("explain", "study.toml")
    assert done.exit_code == 2
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    assert "\x1b" not in done.output


@FUZZ
@given(
    st.dictionaries(
        st.sampled_from(["target", "groups", "strata", "test"]),
        st.text(min_size=1, max_size=8, alphabet=st.characters(exclude_categories=["Cs"])).filter(str.strip),
        max_size=4,
    ),
    st.integers(0, 2**32 - 1),
)
def test_what_is_written_is_read_again(texts: dict[str, str], seed: int) -> None:
    asked = {"data": "table.csv", **texts, "seed": seed, "classification": True, "type": ("a=b=category",)}
    text = study_text(Question(**asked), RunOptions(), keys=KEYS, command="x", folder=Path.cwd())
    Path("study.toml").write_text(text, encoding="utf-8")
    try:
        found = read_study("study.toml", question=KEYS[0], run=KEYS[1]).asked
    except OptionError as error:
        pytest.fail(str(error))
    if texts.get("test", "").partition(":")[0] in ("rows", "splits"):
        return
    assert {name: found[name] for name in ("seed", "classification", "type", *texts)} == {
        name: asked[name] for name in ("seed", "classification", "type", *texts)
    }
