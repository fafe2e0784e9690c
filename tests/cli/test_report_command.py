"""Pages and tables from the command: --report, report --html, report --csv."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import heldout as ho
from heldout.base.words import safe
from heldout.cli.main import main

HOSTILE = "</script><img src=x onerror=alert(1)>[/red]\u202e"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words), env={"COLUMNS": "80"}, prog_name="heldout")


@pytest.fixture(autouse=True)
def table(working_folder: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame["y"] = frame["a"] + rng.normal(size=60)
    frame["label"] = np.where(frame["y"] > 0, HOSTILE, "=1+1")
    frame[["a", "b", "y"]].to_csv("numbers.csv", index=False)
    frame[["a", "b", "label"]].to_csv("classes.csv", index=False)
    return frame


def attributes_of(page: str) -> set[str]:
    names: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            names.update(name for name, _ in attrs)

    Reader().feed(page)
    return names


QUICK = ("--test", "kfold:3", "--validation", "holdout:0.3", "--jobs", "1")


def test_evaluate_writes_a_page_that_names_its_command():
    done = run("evaluate", "numbers.csv", "-t", "y", "-l", "ridge", *QUICK, "--report", "study.html")
    assert done.exit_code == 0, done.stderr
    assert "report      study.html" in done.stdout
    page = Path("study.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    words = "heldout evaluate numbers.csv -t y -l ridge --test kfold:3"
    assert words in page


def test_compare_writes_a_page():
    done = run("compare", "numbers.csv", "-t", "y", "-l", "ridge,dummy", *QUICK, "--report", "both.html")
    assert done.exit_code == 0, done.stderr
    page = Path("both.html").read_text(encoding="utf-8")
    assert "ridge" in page
    assert "heldout compare numbers.csv" in page


def test_a_saved_result_makes_the_same_page_but_for_the_time_it_took():
    words = ("evaluate", "classes.csv", "-t", "label", "-l", "bayes", *QUICK)
    assert run(*words, "--report", "one.html", "--save", "result.heldout").exit_code == 0
    assert run("report", "result.heldout", "--html", "two.html").exit_code == 0
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_a_page_that_cannot_be_written_is_refused_before_any_fit():
    done = run("evaluate", "numbers.csv", "-t", "y", *QUICK, "--report", "nowhere/study.html")
    assert done.exit_code == 2
    assert "--report nowhere/study.html: there is no folder" in done.stderr
    assert not Path(".heldout/journal.db").exists()
    done = run("evaluate", "numbers.csv", "-t", "y", *QUICK, "--report", "numbers.csv")
    assert done.exit_code == 2
    assert "would be lost" in done.stderr


def test_save_points_to_report_for_pages():
    done = run("evaluate", "numbers.csv", "-t", "y", *QUICK, "--save", "study.html")
    assert done.exit_code == 2
    assert "--report study.html" in done.stderr


def test_without_the_extra_the_way_to_it_is_told():
    code = (
        "import sys, importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'jinja2' else real(name, *a)\n"
        "from heldout.cli.main import main\n"
        "main(['evaluate', 'numbers.csv', '-t', 'y', '--report', 'study.html'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'heldout[report]'" in done.stderr


@pytest.mark.parametrize("name", ["folds", "choices", "candidates", "predictions", "failures", "warnings"])
def test_tables_are_csv_that_reads_back(name):
    words = ("evaluate", "classes.csv", "-t", "label", "-l", "bayes", *QUICK)
    assert run(*words, "--save", "result.heldout").exit_code == 0
    done = run("report", "result.heldout", "--csv", name)
    assert done.exit_code == 0, done.stderr
    columns = ho.load("result.heldout").record.tables[name]
    head, *rows = csv.reader(io.StringIO(done.stdout))
    assert head == [safe(name) for name in columns]  # classes are in the names of columns of probabilities
    assert len(rows) == len(next(iter(columns.values())))


def test_hostile_classes_act_on_nothing():
    words = ("evaluate", "classes.csv", "-t", "label", "-l", "bayes", "--loss", "zero_one", "--loss", "log", *QUICK)
    done = run(*words, "--save", "result.heldout", "--report", "study.html")
    assert done.exit_code == 0, done.stderr
    assert "\u202e" not in done.stdout
    page = Path("study.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert page.count("</script>") == page.count("<script")
    assert "\u202e" not in page
    assert not {name for name in attributes_of(page) if name.startswith("on")}
    text = run("report", "result.heldout", "--csv", "predictions").stdout
    cells = {cell for row in csv.reader(io.StringIO(text)) for cell in row}
    assert "'=1+1" in cells
    assert not any(cell.startswith("=") for cell in cells)
    assert "\u202e" not in text
