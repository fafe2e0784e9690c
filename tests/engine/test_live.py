"""The file that tells how far a running study is: when it is written, what it says, how it goes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.engine import live_file as module
from heldout.engine import run
from heldout.engine.live_file import live_path, publish_progress, read_live
from heldout.engine.progress import Progress
from heldout.journal.study_journal import JournalUse

SLOW = Path(__file__).parents[1] / "fixtures" / "slow_study.py"
WORDS = {
    "learner_words": "ridge",
    "test": "5-fold",
    "rows": 60,
    "columns": 3,
    "fingerprint": "ab",
    "candidates": 1,
    "name": None,
    "target": "price",
    "source": "orders.csv",
}
HOSTILE = "</script>\u202e[/red]\x1b[31m\n$\\frac{$\ud800"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def use_of(journal: Path, learner: str = "ridge") -> JournalUse:
    return JournalUse(path=str(journal), study=bytes(range(16)), words={**WORDS, "learner_words": learner})


def within(seconds: float, check: Any) -> Any:
    """What `check` gives once it gives something."""
    deadline = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def written(journal: Path, **changes: Any) -> Path:
    facts = {
        "study": "ab" * 16,
        "words": WORDS,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "started": "2026-01-01T00:00:00+00:00",
        **Progress(shown=False).facts(),
        **changes,
    }
    live_path(journal).write_text(json.dumps(facts))
    return live_path(journal)


def start(journal: Path, *words: object, holds: tuple[int, ...] = ()) -> subprocess.Popen[str]:
    """Start a study whose candidates from one of `holds` on wait until `release` lets them go."""
    for number in holds:
        (journal.parent / f"hold-{number}").touch()
    line = [sys.executable, SLOW, journal, *map(str, words)]
    environment = {**os.environ, "HELDOUT_HOLDS": str(journal.parent)}
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def release(journal: Path, number: int) -> None:
    (journal.parent / f"hold-{number}").unlink()


def test_a_running_study_tells_how_far_it_is_and_takes_the_file_away(journal: Path):
    program = start(journal, 61, 0.03, 20, holds=(10, 25))
    first = within(60, lambda: (now := read_live(journal)) and now.done and now)
    assert (first.pid, first.host, first.stopped) == (program.pid, socket.gethostname(), None)
    assert first.words["learner"] == "tuned Sleeper"
    assert (first.words["rows"], first.words["columns"], first.words["candidates"]) == (60, 3, 30)
    assert (first.stage, first.total) == (1, 61)
    assert 0 < first.done < 61
    assert 0 < first.share < 1
    assert first.seconds > 0.7
    assert first.seconds_left is not None
    release(journal, 10)
    last = within(60, lambda: (now := read_live(journal)) and now.done > first.done and now.failed > 0 and now)
    release(journal, 25)
    assert last.share > first.share
    assert last.failure == "ValueError: <img src=x onerror=alert(1)> too much"
    _, errors = program.communicate(timeout=60)
    assert (program.returncode, errors) == (0, "")
    assert not live_path(journal).exists()
    assert not live_path(journal).with_name("study.db.live.part").exists()


def test_a_program_that_is_killed_leaves_word_of_how_far_it_was_and_the_next_one_goes_on(journal: Path):
    program = start(journal, 41, 0.03, holds=(10,))
    within(60, lambda: (now := read_live(journal)) and now.done)
    program.send_signal(signal.SIGKILL)
    program.communicate()
    release(journal, 10)
    left = read_live(journal)
    assert left is not None
    assert left.stopped == (
        f"Its program (process {program.pid}) has ended without a word. The same command goes on from there."
    )
    assert left.seconds == read_live(journal).seconds  # its clock stands
    again = start(journal, 41, 0.03)
    told, _ = again.communicate(timeout=60)
    assert again.returncode == 0
    assert float(told) > 0
    assert read_live(journal) is None


def test_an_interrupted_study_takes_the_file_away(journal: Path):
    program = start(journal, 61, 0.03, holds=(10,))
    within(60, lambda: read_live(journal))
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert not live_path(journal).exists()


def test_a_short_study_writes_nothing(journal: Path, monkeypatch: pytest.MonkeyPatch):
    writings: list[Any] = []
    monkeypatch.setattr(module, "replace_file", lambda *given: writings.append(given))
    monkeypatch.setattr(module, "FIRST_AFTER", 60.0)  # however slow this machine is today
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    ho.evaluate(Ridge(), X, y, test=ho.KFold(3), journal=journal, backend="inline", progress=False)
    assert writings == []
    assert not [one for one in threading.enumerate() if one.name == "heldout-live"]


def test_without_a_journal_nobody_is_told_and_no_thread_begins(monkeypatch):
    monkeypatch.setattr(run, "publish_progress", lambda *given: pytest.fail("somebody is told"))
    ho.evaluate(Ridge(), np.eye(6), np.arange(6.0), test=ho.KFold(3), backend="inline", progress=False)


class Steps:
    """An event whose waits are counted and end at once, and that is set after so many."""

    def __init__(self, times: int) -> None:
        self.waits: list[float] = []
        self._times = times

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return len(self.waits) > self._times


def test_it_is_written_twice_a_second_where_something_changed_and_else_now_and_then(
    journal: Path, monkeypatch: pytest.MonkeyPatch
):
    writings: list[int] = []
    monkeypatch.setattr(module, "replace_file", lambda place, facts: writings.append(facts["done"]))
    steps = Steps(30)
    monkeypatch.setattr(module.time, "monotonic", lambda: sum(steps.waits))
    progress = Progress(shown=False)
    monkeypatch.setattr(
        progress, "facts", lambda: {"stage": 1, "done": min(len(steps.waits), 8), "total": 9, "failed": 0}
    )
    module.write_until_stopped(journal, {}, progress, steps)  # type: ignore[arg-type]
    assert steps.waits == [0.7, *[0.5] * 30]
    assert writings == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8]  # then every five seconds, of the eleven that follow


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_it_goes_however_the_study_ends(journal: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]):
    monkeypatch.setattr(module, "FIRST_AFTER", 0.0)

    def break_off() -> None:
        with publish_progress(use_of(journal), Progress(shown=False)):
            within(60, lambda: read_live(journal))
            raise error

    with pytest.raises(error):
        break_off()
    assert list(journal.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["study.db.live", "study.db.live.part"])
def test_a_file_that_cannot_be_written_costs_the_study_nothing(
    journal: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    (journal.parent / name).mkdir()
    (journal.parent / name / "in the way").touch()
    monkeypatch.setattr(module, "FIRST_AFTER", 0.0)
    tries: list[Any] = []
    original = module.replace_file
    monkeypatch.setattr(module, "replace_file", lambda *given: tries.append(given) or original(*given))
    with publish_progress(use_of(journal), Progress(shown=False)):
        within(60, lambda: tries)
    assert (journal.parent / name / "in the way").exists()
    assert read_live(journal) is None


def test_a_link_that_somebody_put_there_is_not_followed(journal: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "FIRST_AFTER", 0.0)
    victim = journal.parent / "victim"
    victim.write_text("mine")
    for name in ("study.db.live", "study.db.live.part"):
        (journal.parent / name).symlink_to(victim)
    with publish_progress(use_of(journal), Progress(shown=False)):
        within(60, lambda: read_live(journal))
    assert victim.read_text() == "mine"


def test_texts_of_any_kind_are_told_and_long_ones_cut(journal: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "FIRST_AFTER", 0.0)
    with publish_progress(use_of(journal, HOSTILE + "n" * 10_000), Progress(shown=False)):
        found = within(60, lambda: read_live(journal))
        assert live_path(journal).stat().st_size < 2_000
    assert found.words["learner"].startswith(HOSTILE)
    assert len(found.words["learner"]) == 500


def test_a_program_that_is_silent_for_a_minute_counts_as_stopped(journal: Path):
    place = written(journal, seconds=10.0, seconds_left=[100.0, 200.0])
    os.utime(place, (time.time() - 30,) * 2)
    found = read_live(journal)
    assert found is not None
    assert found.stopped is None
    assert 40 <= found.seconds < 45  # it ran on since it said ten
    assert 65 < found.seconds_left[0] <= 70
    assert 165 < found.seconds_left[1] <= 170
    os.utime(place, (time.time() - 185,) * 2)
    found = read_live(journal)
    assert found is not None
    assert found.stopped == (
        f"Nothing was heard of its program (process {os.getpid()} on {socket.gethostname()}) for 3 minutes. If it is "
        "no longer there, the same command goes on from there."
    )
    assert found.seconds == 10.0


def test_the_number_of_a_process_says_nothing_of_another_host(journal: Path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    written(journal, pid=gone.pid)
    assert "has ended without a word" in str(read_live(journal))
    place = written(journal, pid=gone.pid, host="another.host")
    assert read_live(journal).stopped is None
    os.utime(place, (time.time() - 100,) * 2)
    assert "Nothing was heard of its program" in str(read_live(journal).stopped)


@pytest.mark.parametrize(
    "changes",
    [{"pid": "1"}, {"done": None}, {"words": ["a"]}, {"seconds": True}, {"study": 5}, {"failure": {"a": 1}}],
)
def test_values_that_we_would_not_write_are_not_believed(journal: Path, changes: dict[str, Any]):
    written(journal)
    assert read_live(journal) is not None
    written(journal, **changes)
    assert read_live(journal) is None


@pytest.mark.parametrize("pid", [0, -1, 1 << 40])
def test_numbers_that_are_no_process_are_dead_ones(journal: Path, pid: int):
    written(journal, pid=pid)
    assert "has ended without a word" in str(read_live(journal))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '"text"', "[" * 50_000, '{"pid": 1}' + " " * 100_000, "\x00\xff"]
)
def test_files_that_say_something_else_are_left_alone(journal: Path, text: str):
    live_path(journal).write_text(text, encoding="latin-1")
    assert read_live(journal) is None
    assert live_path(journal).read_text(encoding="latin-1") == text
