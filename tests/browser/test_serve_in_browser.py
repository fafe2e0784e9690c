"""`heldout serve` in a real browser: a running study moves, ends with a link, and stops with a word; and the list."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from heldout.cli.main import main
from heldout.journal import JournalReader, comparison_key, keep_summary

FIXTURES = Path(__file__).parents[1] / "fixtures"
SLOW = FIXTURES / "slow_study.py"
NAME = "</script><img src=x onerror=window.__pwned=1>[/red]$\\frac{$" + "z" * 10_000
PATIENT = 60_000  # milliseconds: programs start slowly on a busy machine


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies with reports, and a comparison whose learners have hostile names."""
    path = tmp_path_factory.mktemp("served") / "genes.db"
    shutil.copyfile(FIXTURES / "journal-4.db", path)
    reader = JournalReader(path)
    studies = [row.key for row in reader.contents().studies]
    summary = reader.summary(studies[0])
    ranking = [{**summary["risk"], "name": NAME}, {**summary["risk"], "name": "plain", "value": 9_000.0}]
    keep_summary(path, comparison_key(studies), {**summary, "kind": "comparison", "ranking": ranking}, studies=studies)
    return path


@pytest.fixture(scope="module")
def address(journal: Path) -> Iterator[str]:
    """Where the journal is served."""
    line = [sys.executable, "-m", "heldout", "serve", str(journal), "--port", "0"]
    program = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None
    yield program.stdout.readline().split()[0]
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=30)
    assert (program.returncode, errors) == (0, "")


@pytest.fixture
def tab(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Open an address of the server; afterwards nothing else was asked for, and nothing complained."""
    contexts, heard = [], list[str]()

    def open_tab(path: str = "", *, width: int = 1280, **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENT)
        page.on("request", lambda asked: asked.url.startswith((address, "data:")) or heard.append(asked.url))
        page.on("console", lambda message: heard.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
        page.goto(address + path)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert heard == []


@pytest.fixture
def start(journal: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a study of so many sleeps on the journal that is served."""
    programs = []

    def start_study(fits: int, nap: float, fails_from: int = 1_000_000) -> subprocess.Popen[str]:
        line = [sys.executable, str(SLOW), str(journal), str(fits), str(nap), str(fails_from)]
        programs.append(subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return programs[-1]

    yield start_study
    for program in programs:
        program.kill()
        program.communicate()


def percent(page: Any) -> int:
    return int(page.evaluate("document.querySelector('#running progress').value"))


MOVED = "before => document.querySelector('#running progress').value > before"


def test_a_running_study_moves_and_ends_with_a_link_and_no_page_is_loaded_again(tab: Any, start: Any, journal: Path):
    index = tab()
    assert index.locator("#running").is_hidden()
    before = index.locator("#studies tbody tr").count()
    index.evaluate("window.__same = true")
    program = start(141, 0.04, 60)
    index.locator("#running").wait_for(state="visible")
    assert "tuned Sleeper" in index.locator("#running").inner_text()
    index.locator("[data-more]").wait_for(state="visible")  # a study that the list does not have yet
    listed = tab()
    row = listed.locator("#studies tbody tr").first
    assert listed.locator("#studies tbody tr").count() == before + 1
    assert row.locator(".state").inner_text() == "running"
    assert row.locator("a").count() == 0
    key = row.get_attribute("id").removeprefix("row-")
    study = tab(f"study/{key}")
    study.evaluate("window.__same = true")
    bar = study.get_by_role("progressbar")
    at = percent(study)
    study.wait_for_function(MOVED, arg=at)
    index.wait_for_function(MOVED, arg=at)
    assert re.fullmatch(r"\d+%, \d+ of 141 cells", bar.get_attribute("aria-valuetext"))
    for page in (index, study):
        link = page.get_by_role("link", name="Show its report")
        link.wait_for(state="visible")
        assert percent(page) == 100
        assert page.locator("#running [role=status]").inner_text() == "Finished."
        assert page.evaluate("window.__same")
        assert link.get_attribute("href") == f"/study/{key}"
    assert program.wait(timeout=60) == 0
    listed.wait_for_function("key => document.querySelector(`#row-${key} .state`).textContent === 'finished'", arg=key)
    assert row.locator("a").first.get_attribute("href") == f"/study/{key}"
    study.get_by_role("link", name="Show its report").click()
    study.locator("#verdict").wait_for()
    assert study.locator("h1").inner_text() == "y from 3 columns"
    assert "Tuned Sleeper" in study.locator(".setting").inner_text()
    assert JournalReader(journal).contents().damaged == ()


def test_a_program_that_is_killed_is_told_as_stopped_where_it_was(tab: Any, start: Any):
    page = tab()
    program = start(801, 0.04)
    page.locator("#running").wait_for(state="visible")
    page.wait_for_function(MOVED, arg=0)
    program.kill()
    program.wait()
    news = page.locator("#running [role=status]")
    news.filter(has_text=f"process {program.pid}").wait_for()
    assert "has ended without a word. The same command goes on from there." in news.inner_text()
    assert 0 < percent(page) < 100
    assert page.get_by_role("link", name="Show its report").is_hidden()
    listed = tab()
    assert listed.locator("#studies tbody tr .state").first.inner_text() == "unfinished"


def test_the_list_sorts_by_numbers(tab: Any):
    page = tab()
    heading = page.locator("#studies thead th", has_text="Risk")
    values = "cells => cells.map(cell => cell.dataset.value).filter(value => value !== undefined).map(Number)"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    risks = page.locator("#studies tbody tr td:nth-child(4)").evaluate_all(values)
    assert len(risks) >= 3
    assert risks == sorted(risks)
    heading.get_by_role("button").click()
    assert page.locator("#studies tbody tr td:nth-child(4)").evaluate_all(values) == sorted(risks, reverse=True)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_nothing_stretches_acts_or_shuts_anybody_out(tab: Any, width: int, scheme: str):
    from axe_playwright_python.sync_playwright import Axe

    page = tab(width=width, color_scheme=scheme)
    key = page.locator("#studies tbody tr").first.get_attribute("id").removeprefix("row-")
    for shown in (page, tab(f"study/{key}", width=width, color_scheme=scheme)):
        size = shown.evaluate("[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]")
        assert size[0] <= size[1]
        assert shown.evaluate("window.__pwned") is None
        assert shown.locator("img").count() == 0
        found = Axe().run(shown).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


def test_the_pages_of_report_all_open_from_disk_and_lead_to_each_other(visit: Any, journal: Path, tmp_path: Path):
    done = CliRunner().invoke(main, ["report", "--all", str(journal), "--out", str(tmp_path / "pages")])
    assert done.exit_code == 0, done.output
    page = visit(tmp_path / "pages" / "index.html")
    links = page.locator("#studies tbody th a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert len(links) >= 2
    for link in links:
        assert re.fullmatch(r"study-[0-9a-f]{12}\.html", link)
        assert (tmp_path / "pages" / link).exists()
    report = visit(tmp_path / "pages" / links[-1])
    assert report.locator("#verdict").count() == 1
