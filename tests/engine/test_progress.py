from __future__ import annotations

import logging
import time
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.errors import OptionError
from heldout.base.events import CellFailed, StagePlanned, StepDone, StudyFinished, StudyStarted
from heldout.engine import progress as module
from heldout.engine.progress import Progress, open_progress
from heldout.kernels.step import Plain, brute_step
from heldout.study.answers import Answer, Failure


class Bar:
    """Writes down what a bar is told."""

    def __init__(self):
        self.told = []

    def start(self):
        self.told.append("start")

    def stop(self):
        self.told.append("stop")

    def add_task(self, name, total, words, failed):
        self.told.append("add")
        return 0

    def update(self, line, **values):
        self.told.append(values)


@pytest.fixture
def bar(monkeypatch):
    made = Bar()
    monkeypatch.setattr(module, "rich_bar", lambda: made)
    return made


def step_of(cells):
    return brute_step((0,), Plain("test", "test", "outer", range(cells)))


def failed(times):
    failure = Failure(kind="ValueError", message="no", traceback="", stage="fit")
    return [Answer.of_cell("test", (0, part), [np.nan], failures={(0, part): failure}) for part in range(times)]


def test_a_short_run_shows_nothing(bar):
    with Progress(shown=True) as progress:
        progress.expect([step_of(10)])
        progress.advance(step_of(10))
    assert bar.told == []
    assert (progress.total, progress.done) == (10, 10)


def test_a_long_run_shows_cells_and_failures(bar, monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", -1.0)
    with Progress(shown=True) as progress:
        progress.expect([step_of(6)], waiting=4)
        progress.advance(step_of(4))
        progress.advance(step_of(2), failed(2))
    assert bar.told[:2] == ["start", "add"]
    assert bar.told[-1] == "stop"
    updates = bar.told[2:-1]
    assert [update["words"].split()[0] for update in updates] == ["4/10", "6/10"]
    assert [update["completed"] / update["total"] for update in updates] == [0.4, 0.6]
    assert "2 failed" in updates[1]["failed"]
    assert updates[0]["failed"] == ""


def test_what_is_not_shown_still_counts(bar, monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", -1.0)
    with Progress(shown=False) as progress:
        progress.advance(step_of(4), failed(1))
    assert bar.told == []
    assert (progress.done, progress.failed) == (4, 1)


def test_the_bar_is_taken_down_when_a_study_breaks(bar, monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", -1.0)

    def break_off():
        with Progress(shown=True) as progress:
            progress.advance(step_of(1))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert bar.told[-1] == "stop"


def test_the_real_bar_draws_on_stderr(monkeypatch, capsys):
    monkeypatch.setattr(module, "SHOW_AFTER", -1.0)
    with Progress(shown=True) as progress:
        progress.expect([step_of(5)])
        progress.advance(step_of(5), failed(1))
    assert capsys.readouterr().out == ""


def test_time_left_follows_the_cost_model_and_not_the_count(monkeypatch):
    clock = iter([0.0, 10.0])
    monkeypatch.setattr(module, "monotonic", lambda: next(clock))
    progress = Progress(shown=False, expected=lambda steps: sum(9.0 if step.cells == 1 else 1.0 for step in steps))
    progress.expect([step_of(1), step_of(2)])
    progress.advance(step_of(2))  # two of three cells, but a tenth of the work
    assert progress.seconds_left() == pytest.approx(90.0)


def test_what_was_known_before_says_nothing_about_the_pace(monkeypatch):
    clock = iter([0.0, 10.0])
    monkeypatch.setattr(module, "monotonic", lambda: next(clock))
    progress = Progress(shown=False)
    progress.expect([step_of(100)])
    progress.recall([step_of(100)], [step_of(20)])
    assert (progress.done, progress.seconds_left()) == (80, None)
    progress.advance(step_of(10))
    assert progress.seconds_left() == pytest.approx(10.0)


def test_without_a_bar_the_log_has_a_line(monkeypatch, caplog):
    monkeypatch.setattr(module, "LOG_EVERY", 0.01)
    with caplog.at_level(logging.INFO, "heldout"), Progress(shown=False) as progress:
        progress.expect([step_of(10)])
        progress.advance(step_of(5), failed(1))
        deadline = time.monotonic() + 5
        told = len(caplog.records)  # a slow machine may have told of the beginning already
        while len(caplog.records) < told + 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "5 of 10 cells, 1 failed, about" in caplog.records[-1].message


X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40.0)


def test_events_tell_the_story_of_a_study():
    told = []
    learner = ho.Tuned(Ridge(), {"alpha": [1.0, -1.0]}, validation=ho.KFold(2))
    options = ho.Options(on_event=told.append, rules={"ridge": False})
    ho.evaluate(learner, X, y, test=ho.KFold(2), backend="inline", options=options)
    assert told[0] == StudyStarted(rows=40, candidates=2)
    assert [event.stage for event in told if isinstance(event, StagePlanned)] == [1, 2]
    failures = [event for event in told if isinstance(event, CellFailed)]
    assert {event.candidate for event in failures} == {"alpha=-1"}
    assert len(failures) == 4
    steps = [event for event in told if isinstance(event, StepDone)]
    assert [event.done for event in steps] == sorted(event.done for event in steps)
    assert (steps[-1].done, steps[-1].total) == (10, 10)
    assert isinstance(told[-1], StudyFinished)
    assert (told[-1].complete, told[-1].failed) == (True, 4)
    with pytest.raises(FrozenInstanceError):
        told[0].rows = 1


def test_a_listener_that_raises_is_reported_once_and_breaks_nothing():
    calls = []

    def raising(event):
        calls.append(event)
        raise ZeroDivisionError("no")

    expected = ho.evaluate(Ridge(), X, y, test=ho.KFold(3), backend="inline")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ho.evaluate(Ridge(), X, y, test=ho.KFold(3), backend="inline", options=ho.Options(on_event=raising))
    assert [str(one.message).split(" at ")[0] for one in caught] == ["on_event raised ZeroDivisionError: no"]
    assert len(calls) == 1
    assert result.risk == expected.risk


def shows(progress):
    return open_progress(progress).shown


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
