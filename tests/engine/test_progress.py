from __future__ import annotations

import pytest

from heldout.base.errors import OptionError
from heldout.engine import progress as module
from heldout.engine.progress import Progress, open_progress


class Bar:
    """Writes down what a bar is told."""

    def __init__(self):
        self.told = []

    def start(self):
        self.told.append("start")

    def stop(self):
        self.told.append("stop")

    def add_task(self, name, total, failed):
        self.told.append(("add", total))
        return 0

    def update(self, line, **values):
        self.told.append(values)


@pytest.fixture
def bar(monkeypatch):
    made = Bar()
    monkeypatch.setattr(module, "_rich_bar", lambda: made)
    return made


def test_a_short_run_shows_nothing(bar):
    with Progress(shown=True) as progress:
        progress.expect(10)
        progress.advance(10, 0)
    assert bar.told == []
    assert (progress.total, progress.done) == (10, 10)


def test_a_long_run_shows_fits_and_failures(bar, monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", -1.0)
    with Progress(shown=True) as progress:
        progress.expect(10)
        progress.advance(4, 0)
        progress.advance(2, 3)
    assert bar.told[:2] == ["start", ("add", 10)]
    assert bar.told[-1] == "stop"
    assert [update["completed"] for update in bar.told[2:-1]] == [4, 6]
    assert "3 failed" in bar.told[-2]["failed"]
    assert bar.told[2]["failed"] == ""


def test_what_is_not_shown_still_counts(bar, monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", -1.0)
    with Progress(shown=False) as progress:
        progress.advance(4, 1)
    assert bar.told == []
    assert (progress.done, progress.failed) == (4, 1)


def test_the_bar_is_taken_down_when_a_study_breaks(bar, monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", -1.0)

    def break_off():
        with Progress(shown=True) as progress:
            progress.advance(1, 0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert bar.told[-1] == "stop"


def test_the_real_bar_draws_on_stderr(monkeypatch, capsys):
    monkeypatch.setattr(module, "SHOW_AFTER", -1.0)
    with Progress(shown=True) as progress:
        progress.expect(5)
        progress.advance(5, 1)
    assert capsys.readouterr().out == ""


def shows(progress):
    return open_progress(progress)._shown


def test_auto_shows_a_bar_only_to_people(monkeypatch):
    assert shows(True)
    assert not shows(False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert shows("auto")
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert not shows("auto")


@pytest.mark.parametrize("progress", ["on", 1, None])
def test_anything_else_is_refused(progress):
    with pytest.raises(OptionError, match='is "auto", True or False'):
        open_progress(progress)
