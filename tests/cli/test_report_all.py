"""`heldout report --all`: a folder of pages from a journal, whole or not at all, and the list as JSON."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.cli.main import main
from heldout.journal import JournalReader, keep_summary
from heldout.report.page import render_page

FIXTURES = Path(__file__).parents[1] / "fixtures"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["report", *words], env={"COLUMNS": "100"}, prog_name="heldout")


@pytest.fixture
def journal(working_folder: Path) -> Path:
    shutil.copyfile(FIXTURES / "journal-4.db", working_folder / "genes.db")
    return working_folder / "genes.db"


def keys(journal: Path) -> list[str]:
    return [row.key.hex()[:12] for row in JournalReader(journal).contents().studies]


def test_every_study_gets_its_page_and_the_list_leads_to_them(journal: Path):
    before = journal.read_bytes()
    done = run("--all", "genes.db", "--out", "pages")
    assert done.exit_code == 0, done.output
    first, second = keys(journal)
    names = ["index.html", *sorted([f"study-{first}.html", f"study-{second}.html"])]
    assert sorted(one.name for one in Path("pages").iterdir()) == names
    index = Path("pages/index.html").read_text()
    assert [f'href="study-{key}.html"' in index for key in (first, second)] == [True, True]
    reader = JournalReader(journal)
    page = render_page(reader.summary(reader.contents().studies[0].key))
    assert Path(f"pages/study-{first}.html").read_text() == page
    assert "SVR" in done.stdout
    assert done.stdout.splitlines()[-1] == "report      pages/index.html"
    assert journal.read_bytes() == before


def test_the_page_from_the_journal_is_that_of_the_result(working_folder: Path):
    X, y = load_diabetes(return_X_y=True)
    learner = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, validation=ho.KFold(3))
    result = ho.evaluate(learner, X, y, test=ho.KFold(4), journal="one.db", jobs=1, progress=False)
    result.report("result.html")
    assert run("--all", "one.db", "--out", "pages").exit_code == 0
    (page,) = Path("pages").glob("study-*.html")
    assert page.read_bytes() == Path("result.html").read_bytes()


def test_the_list_as_json_is_all_that_is_told_and_writes_nothing(journal: Path):
    done = run("--all", "genes.db", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["kind"] == "index"
    assert [one["key"] for one in found["studies"]] == keys(journal)[::-1]
    assert [one["learner"] for one in found["studies"]] == ["Ridge", "SVR"]
    assert all(one["risk"]["loss"] == "squared" for one in found["studies"])
    assert os.listdir() == ["genes.db"]
    with_pages = run("--all", "genes.db", "--json", "--out", "pages")
    assert json.loads(with_pages.stdout)["studies"] == found["studies"]
    assert len(os.listdir("pages")) == 3


def test_without_names_it_is_the_journal_and_the_folder_of_the_working_folder(journal: Path):
    os.mkdir(".heldout")
    journal.rename(".heldout/journal.db")
    done = run("--all", "--quiet")
    assert done.exit_code == 0
    assert Path(".heldout/report/index.html").exists()
    assert [line.split("  ")[1:3] for line in done.stdout.splitlines()] == [
        ["finished", "Ridge"],
        ["finished", "SVR"],
    ]


def test_a_journal_without_summaries_has_a_list_that_says_how_to_get_pages(journal: Path):
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.execute("DELETE FROM summaries")
    before = journal.read_bytes()
    done = run("--all", "genes.db", "--out", "pages")
    assert done.exit_code == 0
    assert os.listdir("pages") == ["index.html"]
    assert Path("pages/index.html").read_text().count("Run the same command again: it answers from the journal") == 2
    assert journal.read_bytes() == before


def test_a_summary_that_cannot_be_shown_costs_its_own_page_alone(journal: Path):
    reader = JournalReader(journal)
    first, second = reader.contents().studies
    keep_summary(journal, first.key, {**reader.summary(first.key), "plan": "</script>none"})
    done = run("--all", "genes.db", "--out", "pages")
    assert done.exit_code == 0
    assert sorted(os.listdir("pages")) == ["index.html", f"study-{second.key.hex()[:12]}.html"]
    index = Path("pages/index.html").read_text()
    assert index.count("The summary of this study cannot be shown") == 1
    assert f"study-{first.key.hex()[:12]}.html" not in index


def test_a_damaged_row_is_named(journal: Path):
    with closing(sqlite3.connect(journal)) as connection:
        connection.execute("UPDATE summaries SET content = zeroblob(50) WHERE id = 1")
        connection.commit()
    done = run("--all", "genes.db", "--out", "pages")
    assert done.exit_code == 0
    assert "Left out, since damaged: summaries/1." in done.stdout
    assert "left out: summaries/1." in Path("pages/index.html").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--all", "nowhere.db"], "There is no journal"),
        (["--all", "table.csv"], "is no journal of heldout"),
        (["--all", "genes.db", "--out", "table.csv"], "--out table.csv: this is a file. Name a folder."),
        (
            ["--all", "genes.db", "--out", "table.csv/pages"],
            "--out table.csv/pages: it cannot be made: Not a directory",
        ),
        (["--all", "genes.db", "--html", "one.html"], "--html speaks of one result"),
        (["--all", "genes.db", "--csv", "folds"], "--csv speaks of one result"),
        (["--all", "genes.db", "--fail-on", "error"], "--fail-on speaks of one result"),
        (["genes.heldout", "--out", "pages"], "--out belongs to --all"),
        ([], "Missing argument 'RESULT'"),
    ],
)
def test_wrong_use_is_told_before_anything_is_written(journal: Path, words: list[str], told: str):
    Path("table.csv").write_text("a,b\n1,2\n")
    done = run(*words)
    assert done.exit_code == 2
    assert told in " ".join(done.stderr.split())
    assert sorted(os.listdir()) == ["genes.db", "table.csv"]


def test_a_folder_that_may_not_be_written_is_refused(journal: Path, monkeypatch: pytest.MonkeyPatch):
    os.mkdir("pages")
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, how: not how & os.W_OK and may(path, how))  # root may write anywhere
    done = run("--all", "genes.db", "--out", "pages")
    assert (done.exit_code, os.listdir("pages")) == (2, [])
    assert "--out pages: it cannot be written." in done.stderr


def test_what_was_there_stays_until_the_new_page_is_whole(journal: Path, monkeypatch: pytest.MonkeyPatch):
    assert run("--all", "genes.db", "--out", "pages").exit_code == 0
    before = {one.name: one.read_bytes() for one in Path("pages").iterdir()}

    def full(self: Path, *given: Any, **named: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = run("--all", "genes.db", "--out", "pages")
    assert done.exit_code == 2
    assert "--out pages: a page was not written: No space left on device." in done.stderr
    assert {one.name: one.read_bytes() for one in Path("pages").iterdir()} == before
