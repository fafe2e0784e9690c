"""The command in rough hands: empty words, absurd sizes, names that act on terminals, files that would be lost."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from heldout.base.errors import did_you_mean
from heldout.cli.main import main
from heldout.cli.output import shell_line

HOUSES = ("houses.csv", "--target", "price")
NASTY = "red\x1b[31m\u202e's\n\\.csv"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "80"}, prog_name="heldout")


def error_of(*words: str) -> str:
    done = run(*words)
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("Error: ")
    return done.stderr


@pytest.fixture(autouse=True)
def houses(working_folder: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"area": rng.normal(size=40), "town": rng.choice(["a", "b"], 40)})
    table["price"] = table["area"] + rng.normal(size=40)
    table.to_csv("houses.csv", index=False)
    return table


@pytest.mark.parametrize("command", ["evaluate", "check"])
@pytest.mark.parametrize("option", ["--target", "--groups", "--weights"])
def test_an_empty_name_of_a_column_is_refused(command: str, option: str) -> None:
    told = error_of(command, *HOUSES, option, "")
    assert f"{option} : no such column in 'houses.csv'. Known: area, price, town." in told


def test_an_empty_learner_is_not_the_default_one() -> None:
    assert "--learner names no learner" in error_of("evaluate", *HOUSES, "--learner", ",")


@pytest.mark.parametrize("words", ["kfold:5x99999999999", "resample:1000000000:0.2"])
@pytest.mark.parametrize("option", ["--test", "--validation"])
def test_draws_without_number_are_refused_with_their_count(option: str, words: str) -> None:
    told = error_of("explain", *HOUSES, option, words)
    assert f"{option} {words}: these are " in told
    assert "at most 100,000" in told


def test_the_table_is_never_written_over(houses: pd.DataFrame) -> None:
    before = Path("houses.csv").read_bytes()
    os.link("houses.csv", "alias.heldout")
    assert "this file is read, and would be lost" in error_of("evaluate", *HOUSES, "--save", "houses.csv")
    assert "this file is read, and would be lost" in error_of("evaluate", *HOUSES, "--save", "alias.heldout")
    assert "a result is no table" in error_of("evaluate", *HOUSES, "--save", "other.csv.gz")
    assert "--out houses.csv: this file is read" in error_of("predict", "m.skops", "houses.csv", "--out", "houses.csv")
    assert Path("houses.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["--save", "a.heldout", "--save", "./a.heldout"], "--save ./a.heldout: --save writes"),
        (["--save", "a.toml", "--write-study", "a.toml"], "--write-study a.toml: --save writes"),
    ],
)
def test_two_outputs_never_share_a_file(houses: pd.DataFrame, words: list[str], name: str) -> None:
    houses.to_csv("houses.csv", index=False)
    done = run("evaluate", "houses.csv", "--target", "price", "--learner", "ridge", *words)
    assert done.exit_code == 2
    assert name in done.stderr


def test_a_number_of_folds_is_no_file_that_is_read(houses: pd.DataFrame) -> None:
    houses.to_csv("houses.csv", index=False)
    Path("3").write_text("an older result", encoding="utf-8")
    done = run("evaluate", "houses.csv", "--target", "price", "--learner", "ridge", "--test", "kfold:3", "--save", "3")
    assert done.exit_code == 0


def test_amounts_with_a_text_among_them_are_no_classes(houses: pd.DataFrame) -> None:
    mixed = houses.assign(price=[*houses["price"][:-1].map(str), "n/k"])
    mixed.to_csv("houses.csv", index=False)
    assert "The target 'price' holds numbers and, in line 41, the text 'n/k'." in error_of("evaluate", *HOUSES)


def test_words_for_the_shell_are_exact_and_harmless() -> None:
    told = shell_line(["printf", "%s", NASTY])
    assert told.isprintable()
    assert subprocess.run(["bash", "-c", told], capture_output=True, check=True).stdout == NASTY.encode()


def test_the_advised_line_asks_the_same_question(houses: pd.DataFrame) -> None:
    name = "my\x1b[31m  table.csv"
    houses.to_csv(name, index=False)
    asked = ["--type", "town=category", "--missing", "NA,?", "--regression", "--seed", "3", "--strata", "town"]
    done = run("advise", name, "--target", "price", *asked, "--quiet")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.strip().isprintable()
    assert "my\\x1b[31m  table.csv" in done.stdout
    words = shlex.split(done.stdout)
    for option, value in (("--type", "town=category"), ("--missing", "NA,?"), ("--seed", "3"), ("--strata", "town")):
        assert words[words.index(option) + 1] == value
    assert "--regression" in words


def test_a_study_file_of_any_name_is_written_whole() -> None:
    study = "a\ntarget = 1\n.toml"
    asked = ["--learner", "ridge", "--space", "ridge.alpha=1", "--no-journal", "--quiet", "--jobs", "1"]
    first = run("evaluate", *HOUSES, *asked, "--write-study", study)
    again = run("evaluate", study, "--no-journal", "--quiet")
    assert (first.exit_code, again.exit_code) == (0, 0), again.stderr
    assert first.stdout == again.stdout


def end_of(*words: str, stdout: int) -> tuple[int, str]:
    """The exit code of a program of its own, and what it says on stderr."""
    line = [sys.executable, "-m", "heldout", *words]
    done = subprocess.run(line, stdout=stdout, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


ANSWERS = [("--help",), ("--version",), ("check", *HOUSES), ("advise", *HOUSES, "--json")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full disk to write to")
@pytest.mark.parametrize("words", ANSWERS, ids=lambda words: words[0])
def test_a_full_disk_behind_stdout_ends_in_a_line(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        code, told = end_of(*words, stdout=full.fileno())
    assert code == 3
    assert told.splitlines() == ["Error: No space left on device. The result could not be told, or not be reached."]


@pytest.mark.parametrize("words", ANSWERS, ids=lambda words: words[0])
def test_a_reader_who_has_had_enough_ends_it_silently(words: tuple[str, ...]) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    try:
        assert end_of(*words, stdout=writes) == (141, "")
    finally:
        os.close(writes)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("https://example.org/a.csv", "is an address, and heldout reads files"),
        ("houses", "There is no file 'houses'. Did you mean 'houses.csv'?"),
        (".", "is a folder"),
    ],
)
def test_what_is_no_table_is_named(name: str, words: str) -> None:
    assert words in error_of("evaluate", name, "--target", "price")


def test_names_of_any_length_and_case_have_a_nearest() -> None:
    assert did_you_mean("PRICE", ["price", "area"]) == "Did you mean 'price'?"
    assert len(did_you_mean("q", ["x" * 10_000, "y" * 10_000])) < 300
    told = did_you_mean("q", [f"column {i}" for i in range(5000)])
    assert len(told) < 2100
    assert told.endswith("… (5,000 in all).")


def test_numbers_beyond_all_floats_are_looked_at_as_names(houses: pd.DataFrame) -> None:
    houses.assign(area=[f"{row}{'9' * 400}" for row in range(40)]).to_csv("houses.csv", index=False)
    assert run("check", *HOUSES, "--fail-on", "never").exit_code == 0


def test_limits_are_called_as_on_the_command_line() -> None:
    told = error_of("evaluate", *HOUSES, "--fit-memory", "much", "--no-journal")
    assert told.startswith("Error: --fit-memory much is not a number of bytes")
    assert "--timeout -1.0 is not a number of seconds" in error_of("evaluate", *HOUSES, "--timeout", "-1")


def test_a_refused_pool_is_called_as_on_the_command_line(houses: pd.DataFrame) -> None:
    houses.assign(price=houses["price"] > houses["price"].median()).to_csv("dear.csv", index=False)
    told = " ".join(error_of("evaluate", "dear.csv", "--target", "price", "--loss", "roc_auc", "--pool").split())
    assert told.startswith("Error: --pool needs a loss of single rows")
    assert told.endswith("Leave --pool out.")
    told = " ".join(error_of("evaluate", *HOUSES, "--interval", "bht", "--pool").split())
    assert "--interval bht (Bates–Hastie–Tibshirani) cannot be had here: --pool asks for another value" in told


def test_numbers_past_64_bits_are_names_and_not_amounts(houses: pd.DataFrame) -> None:
    """As floats they would all be one value."""
    houses.assign(invoice=[10**20 + row for row in range(40)]).to_csv("long.csv", index=False)
    told = run("check", "long.csv", "--target", "price").output
    assert "single value" not in told
    assert "'invoice'" in told
    done = run("explain", "long.csv", "--target", "price")
    assert done.exit_code == 0, done.stderr
    assert "invoice (an identifier" in done.output


def test_a_target_of_texts_that_never_repeat_is_no_target(houses: pd.DataFrame) -> None:
    houses.assign(price=[f"1,{row + 100}.50 kg" for row in range(40)]).to_csv("thousands.csv", index=False)
    for command in ("evaluate", "check"):
        told = " ".join(error_of(command, "thousands.csv", "--target", "price").split())
        assert "The target 'price' is text ('1,100.50 kg'), and no two rows have the same" in told
        assert "If these are amounts, --type price=number says which is no number." in told


def test_an_infinite_target_is_refused_in_one_line(houses: pd.DataFrame) -> None:
    houses.assign(price=[np.inf, *range(39)]).to_csv("endless.csv", index=False)
    assert "The target is infinite in line 2" in error_of("check", "endless.csv", "--target", "price")


def test_a_line_with_too_many_fields_is_named_with_the_way_out() -> None:
    Path("ragged.csv").write_text("price,area\n1,2\n3,4,5\n")
    told = " ".join(error_of("evaluate", "ragged.csv", "--target", "price").split())
    assert "Line 3 of 'ragged.csv' has 3 fields, and the header names 2. Correct that line; a text with ','" in told
