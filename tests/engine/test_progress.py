from __future__ import annotations

import logging
import re
import threading
import time
import warnings
from dataclasses import FrozenInstanceError, replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.base.errors import OptionError
from heldout.base.events import CellFailed, StagePlanned, StepDone, StudyFinished, StudyStarted
from heldout.engine import progress as module
from heldout.engine.progress import Progress, Watch, open_progress
from heldout.engine.stream_source import Meter
from heldout.kernels.step import Plain, brute_step
from heldout.study.answers import Answer, Failure


class Bar:
    """Writes down what a bar is told."""

    def __init__(self):
        self.told = []

    def draw(self, share, sentence, failed, times):
        self.told.append((share, sentence, failed, times))

    def stop(self):
        self.told.append("stop")


@pytest.fixture
def bar(monkeypatch):
    made = Bar()
    monkeypatch.setattr("heldout.engine.bars.TerminalBar", lambda: made)
    monkeypatch.setattr(module, "EVERY", 0.001)
    return made


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", 0.0)


@pytest.fixture
def clock(monkeypatch):
    times = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "monotonic", lambda: times.now)
    return times


def within(check):
    """Wait until something is so, as long as a slow machine may take."""
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return True


def step_of(cells, kernel="brute"):
    return replace(brute_step((0,), Plain("test", "test", "outer", range(cells))), kernel=kernel)


def failed(times):
    failure = Failure(kind="ValueError", message="no", traceback="", stage="fit")
    return [Answer.of_cell("test", (0, part), [np.nan], failures={(0, part): failure}) for part in range(times)]


def took(seconds, cells=1):
    losses = np.zeros((1, cells, 1))
    return [Answer(panel="test", candidates=(0,), parts=range(cells), losses=losses, fit_seconds=seconds / cells)]


def watched(**kinds):
    """A study whose steps have the work of their cells, and the family of their kernel."""
    return Watch(expected=lambda steps: float(sum(step.cells for step in steps)), **kinds)


def test_a_run_of_less_than_a_second_shows_nothing(bar):
    assert module.SHOW_AFTER == 1.0
    with Progress(shown=True) as progress:
        progress.expect([step_of(10)])
        progress.advance(step_of(10))
    assert bar.told == []
    assert (progress.total, progress.done) == (10, 10)


def test_a_long_run_shows_where_it_is_and_what_failed(bar, at_once):
    with Progress(shown=True) as progress:
        progress.begin(Watch(place=lambda step: "fold 3 of 5", best=lambda: "best so far 0.98 (optimistic)"))
        progress.expect([step_of(6)], waiting=4)
        progress.advance(step_of(4))
        within(lambda: any(share == 0.4 for share, *_ in bar.told))
        progress.advance(step_of(2), failed(2))
        within(lambda: bar.told[-1][0] == 0.6)
    *drawn, last = bar.told
    assert last == "stop"
    assert {(share, failures) for share, _, failures, _ in drawn if share} == {(0.4, ""), (0.6, "2 failed")}
    assert drawn[-1][1] == "fold 3 of 5, 6 of 10 fits, best so far 0.98 (optimistic)"


def test_the_bar_moves_while_one_fit_runs(bar, at_once):
    with Progress(shown=True) as progress:
        progress.begin(Watch())
        progress.expect([step_of(1)])
        within(lambda: len(bar.told) > 3)
    assert {told[:2] for told in bar.told[:-1]} <= {(0.0, "planning"), (0.0, "0 of 1 fits")}
    assert bar.told[-2][1:] == ("0 of 1 fits", "", "0:00, time left not known yet")


def test_what_is_not_shown_still_counts(bar, at_once):
    with Progress(shown=False) as progress:
        progress.advance(step_of(4), failed(1))
    assert bar.told == []
    assert (progress.done, progress.failed) == (4, 1)


def test_the_bar_is_taken_down_when_a_study_breaks(bar, at_once):
    def break_off():
        with Progress(shown=True) as progress:
            progress.advance(step_of(1))
            within(lambda: bar.told)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert bar.told[-1] == "stop"
    assert not [one for one in threading.enumerate() if one.name == "heldout-progress"]


def test_a_terminal_that_went_away_ends_no_study(monkeypatch, at_once):
    drawn = []

    class Gone(Bar):
        def draw(self, *given):
            drawn.append(given)
            raise BrokenPipeError

    monkeypatch.setattr("heldout.engine.bars.TerminalBar", Gone)
    with Progress(shown=True) as progress:
        within(lambda: drawn)
        progress.advance(step_of(1))
    assert progress.done == 1
    assert len(drawn) == 1


def test_the_real_bar_draws_on_stderr(at_once, capsys):
    with Progress(shown=True) as progress:
        progress.expect([step_of(5)])
        progress.advance(step_of(5), failed(1))
    assert capsys.readouterr().out == ""


def test_time_left_is_of_the_family_that_is_left_and_not_of_the_count(clock):
    progress = Progress(shown=False)
    progress.begin(watched())
    progress.expect([*[step_of(1, "quick") for _ in range(9)], *[step_of(1, "slow") for _ in range(9)]])
    for _ in range(9):
        clock.now += 0.1
        progress.advance(step_of(1, "quick"), took(0.1))
    assert progress.seconds_left() is None  # nobody knows how slow the others are
    clock.now += 10.0
    progress.advance(step_of(1, "slow"), took(10.0))
    assert progress.seconds_left() == (pytest.approx(80 / 3), pytest.approx(80 * 3))
    for _ in range(4):
        clock.now += 10.0
        progress.advance(step_of(1, "slow"), took(10.0))
    low, high = progress.seconds_left()
    assert low < 40.0 < high
    assert high / low < 4.0  # the more is measured, the narrower


def test_there_is_no_upper_bound_while_another_learner_is_still_to_come(clock):
    progress = Progress(shown=False)
    turns = progress.in_turn({"first": 4, "second": 4}, lambda cells: cells)
    next(turns)
    progress.begin(watched(), 4)
    progress.expect([step_of(1) for _ in range(4)])
    clock.now += 100.0
    progress.advance(step_of(1), took(100.0))
    assert progress.seconds_left() == (pytest.approx(100.0), None)
    assert progress.times() == "1:40, more than 2 min left"
    assert (progress.share, progress.sentence()) == (1 / 8, "first (1 of 2), 1 of 8 fits")
    for _ in range(3):
        progress.advance(step_of(1), took(100.0))
    assert progress.times() == "1:40, time left not known yet"
    next(turns)
    progress.begin(watched(), 4)
    progress.expect([step_of(1) for _ in range(4)])
    assert progress.seconds_left() is None
    clock.now += 1.0
    progress.advance(step_of(1), took(1.0))
    assert progress.times() == "1:41, about 1 to 9 s left"
    assert (progress.share, progress.sentence()) == (5 / 8, "second (2 of 2), 5 of 8 fits")


def test_time_left_follows_the_cost_model_within_a_family(clock):
    progress = Progress(shown=False)
    progress.begin(Watch(expected=lambda steps: sum(9.0 if step.cells == 1 else 1.0 for step in steps)))
    progress.expect([step_of(1), step_of(2)])
    clock.now += 10.0
    progress.advance(step_of(2))  # two of three cells, but a tenth of the work
    low, high = progress.seconds_left()
    assert (low * high) ** 0.5 == pytest.approx(90.0)


def test_workers_beside_each_other_take_less_time_together(clock):
    progress = Progress(shown=False)
    progress.begin(watched())
    progress.expect([step_of(1) for _ in range(8)])
    for _ in range(4):
        clock.now += 1.0
        progress.advance(step_of(1), took(4.0))  # four at a time
    low, high = progress.seconds_left()
    assert low < 4.0 < high < 8.0


def test_time_left_goes_by_without_a_step_and_grows_where_one_takes_too_long(clock):
    progress = Progress(shown=False)
    progress.begin(watched())
    progress.expect([step_of(1), step_of(1)])
    clock.now += 10.0
    progress.advance(step_of(1), took(10.0))
    assert progress.seconds_left() == (pytest.approx(10 / 3), pytest.approx(30.0))
    clock.now += 3.0
    assert progress.seconds_left() == (pytest.approx(1 / 3), pytest.approx(27.0))
    clock.now += 47.0  # longer than all that was expected
    assert progress.seconds_left() == (0.0, pytest.approx(50.0))
    clock.now += 50.0
    assert progress.times() == "1:50, up to 2 min left"


def test_what_was_known_before_says_nothing_about_the_pace(clock):
    progress = Progress(shown=False)
    progress.begin(Watch())
    progress.expect([step_of(100)])
    progress.recall([step_of(100)], [step_of(20)])
    assert (progress.done, progress.seconds_left()) == (80, None)
    clock.now += 10.0
    progress.advance(step_of(10))
    low, high = progress.seconds_left()
    assert (low * high) ** 0.5 == pytest.approx(10.0)


def test_rounds_are_told_in_their_own_words(clock):
    progress = Progress(shown=False)
    turns = progress.in_turn({"": 10}, lambda cells: cells)
    next(turns)
    progress.begin(Watch(), 10)
    meter = Meter(progress, rows=1000, passes=2)
    clock.now += 5.0
    meter(500)
    assert (progress.share, progress.sentence()) == (0.25, "reading the data")
    low, high = progress.seconds_left()
    assert low < 15.0 < high < 30.0
    progress.begin(Watch())
    progress.expect_rounds(200, "{done:,} of {total:,} shuffled targets")
    progress.end_round(failed=True)
    assert (progress.counts(), progress.sentence()) == ((1, 200, 1), "1 of 200 shuffled targets")


def test_without_a_bar_the_log_has_a_line(monkeypatch, caplog):
    monkeypatch.setattr(module, "LOG_EVERY", 0.01)
    with caplog.at_level(logging.INFO, "heldout"), Progress(shown=False) as progress:
        progress.expect([step_of(10)])
        progress.advance(step_of(5), failed(1))
        told = len(caplog.records)  # a slow machine may have told of the beginning already
        within(lambda: len(caplog.records) >= told + 2)
    assert re.fullmatch(r"5 of 10 fits; 1 failed; 0:00, (about|up to) .* left", caplog.records[-1].message)


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
