"""Help texts: every example runs, the reference in the docs is theirs, and showing them imports nothing heavy."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from make_pages import examples_of, reference

from heldout.cli.help import GROUPS, QUESTION
from heldout.cli.main import main
from heldout.cli.options import RunOptions
from heldout.cli.output import Output

REFERENCE = Path(__file__).parents[2] / "docs" / "cli.md"
COMMANDS = sorted(main.commands)
EXAMPLES = [line for command in (main, *main.commands.values()) for line in examples_of(command)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples name, small."""
    folder = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    n = 48
    frame = pd.DataFrame(rng.normal(size=(n, 2)).round(3), columns=["size", "age"])
    price = (frame["size"] * 3 + rng.normal(size=n)).round(3)
    kind = np.where(price > 0, "yes", "no")
    day = (pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n) * 9, unit="D")).astype(str)
    made = {
        "houses.csv": frame.assign(price=price),
        "iris.csv": frame.assign(species=kind),
        "visits.csv": frame.assign(stay=price, patient=[f"p{i % 12}" for i in range(n)], day=np.arange(n)),
        "sales.csv": frame.assign(amount=price, day=day),
        "benchmark.csv": frame.assign(label=kind, part=np.where(np.arange(n) % 3 == 0, "test", "train")),
        "genes.csv": frame.assign(grade=kind),
        "new.csv": frame.assign(customer="c"),
    }
    for name, one in made.items():
        one.to_csv(folder / name, index=False)
    (folder / "study.toml").write_text('data = "houses.csv"\ntarget = "price"\nlearner = "tree"\n')
    return folder


@pytest.fixture
def in_order(tables: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What earlier examples leave behind, for those that are run without them."""
    monkeypatch.chdir(tables)
    run = CliRunner().invoke
    if not Path("result.heldout").exists():
        words = ["evaluate", "iris.csv", "-t", "species", "-l", "dummy", "--test", "holdout:0.3", "--jobs", "1"]
        assert run(main, [*words, "--save", "result.heldout", "--save", "iris.skops", "--no-journal"]).exit_code == 0
        assert run(main, [*words, "--journal", "genes.db"]).exit_code == 0
        assert run(main, words).exit_code == 0
    shutil.copy("iris.skops", "model.skops")  # another example leaves one of its own there
    return tables


def test_every_command_has_an_example_and_a_word_for_every_option() -> None:
    for name in COMMANDS:
        command = main.commands[name]
        assert any(line.startswith(f"heldout {name}") for line in examples_of(command)), name
        assert all(param.help for param in command.params if isinstance(param, click.Option)), name


@pytest.mark.parametrize("line", list(dict.fromkeys(EXAMPLES)))
def test_the_example_runs(line: str, in_order: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)  # it would serve until Ctrl-C
    words = shlex.split(line.partition(" >")[0], comments=True)[1:]
    done = CliRunner().invoke(main, words, prog_name="heldout")
    assert done.exit_code in (0, 1), done.output  # check has its findings
    assert done.exception is None or isinstance(done.exception, SystemExit)
    if done.exit_code == 1:
        assert words[0] == "check" or "--fail-on" in words, done.output
    assert done.stdout


def test_the_reference_is_what_the_commands_say() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == reference(), "python docs/make_pages.py"


def test_help_of_any_command_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from heldout.cli.main import main\n"
        "for name in sorted(main.commands):\n"
        "    main([name, '--help'], standalone_mode=False)\n"
        "main(['--help'], standalone_mode=False)\n"
        "main(['completion', 'zsh'], standalone_mode=False)\n"
        "heavy = {'sklearn', 'numpy', 'pandas', 'scipy', 'rich', 'joblib', 'skops'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: ") == len(COMMANDS) + 1


@pytest.mark.parametrize("columns", [80, 60])
def test_help_fits_a_terminal_and_breaks_no_word(columns: int) -> None:
    for name in ("", *COMMANDS):
        text = CliRunner().invoke(main, [*name.split(), "--help"], terminal_width=columns).output
        long = [line for line in text.splitlines() if len(line) > 80]
        assert not long, (name, long)
        words = {word for param in _options(name) for word in (param.help or "").split()}
        assert words <= set(text.split()), (name, words - set(text.split()))


def test_options_of_a_question_are_shown_in_groups() -> None:
    for name in ("evaluate", "compare", "explain", "advise", "check"):
        text = CliRunner().invoke(main, [name, "--help"], terminal_width=80).output
        heads = [line[:-1] for line in text.splitlines() if re.fullmatch("[A-Z][a-z]+:", line)]
        runs = name in ("evaluate", "compare", "explain")
        assert heads == [head for head in (QUESTION, *GROUPS) if head != "Running" or runs]
    text = CliRunner().invoke(main, ["evaluate", "--help"], terminal_width=80).output
    shown = {head: text.partition(f"\n{head}:\n")[2].partition("\n\n")[0] for head in (QUESTION, *GROUPS)}
    assert "--target" in shown[QUESTION]
    assert "--validation SPLITS" in shown["Splits"]
    assert "--jobs NUMBER" in shown["Running"]
    assert "--json" in shown["Output"]
    assert "--help" in shown["Output"]


def test_every_option_of_a_run_and_of_the_output_has_its_group_and_no_group_names_another() -> None:
    options = [param for name in COMMANDS for param in _options(name)]
    assert {spec.name for spec in fields(RunOptions)} <= set(GROUPS["Running"])
    assert {spec.name for spec in fields(Output)} - {"progress"} <= set(GROUPS["Output"])
    assert {name for names in GROUPS.values() for name in names} <= {"help", *(param.name for param in options)}


def _options(name: str) -> list[click.Option]:
    command = main.commands[name] if name else main
    return [param for param in command.params if isinstance(param, click.Option)]


def test_numbers_are_called_so() -> None:
    text = CliRunner().invoke(main, ["advise", "--help"]).output
    assert "FLOAT" not in text
    assert "INTEGER" not in text
