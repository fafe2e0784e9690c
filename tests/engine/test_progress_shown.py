"""Progress as users see it: one bar for a whole call, the same numbers in the file that `heldout serve` reads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.engine import live_file, progress
from heldout.engine.live_file import read_live

X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40.0)
TUNED = ho.Tuned(
    {"tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}), "mean": (DummyRegressor(), {})},
    validation=ho.KFold(2),
)


class Bar:
    """Writes down what each bar is told."""

    made: list[Bar]

    def __init__(self) -> None:
        self.told: list[tuple[float, str, str, str]] = []
        Bar.made.append(self)

    def draw(self, *given: Any) -> None:
        self.told.append(given)

    def stop(self) -> None:
        pass


@pytest.fixture(autouse=True)
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    monkeypatch.setattr("heldout.engine.bars.TerminalBar", Bar)
    monkeypatch.setattr(progress, "SHOW_AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.001)
    Bar.made = []
    return Bar.made


def within(check: Callable[[], Any]) -> Any:
    """What `check` gives once it gives something, as long as a slow machine may take."""
    deadline = time.monotonic() + 60
    while not (found := check()):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return found


def drawn_after_each_step(bars: list[Bar]) -> ho.Options:
    """The study waits after each step until the bar was drawn again, twice since one drawing may have begun before."""

    def wait(event: Any) -> None:
        if event.kind == "step done":
            seen = sum(len(bar.told) for bar in bars)
            within(lambda: sum(len(bar.told) for bar in bars) >= seen + 2)

    return ho.Options(on_event=wait)


def counts(bar: Bar) -> list[tuple[int, int]]:
    found = [re.search(r"([\d,]+) of ([\d,]+) fits", sentence) for _, sentence, *_ in bar.told]
    return list(dict.fromkeys((int(one[1]), int(one[2])) for one in found if one))


def test_a_nested_study_says_which_family_and_fold_and_how_good_it_is_so_far(bars: list[Bar]) -> None:
    result = ho.evaluate(
        TUNED, X, y, test=ho.KFold(4), progress=True, backend="inline", options=drawn_after_each_step(bars)
    )
    (bar,) = bars
    assert {total for _, total in counts(bar)} == {4 * 2 * 3 + 4} == {result.plan.fits_before}
    assert counts(bar)[-1] == (28, 28)
    assert [done for done, _ in counts(bar)] == sorted(done for done, _ in counts(bar))
    sentences = [sentence for _, sentence, *_ in bar.told]
    places = {found[0] for one in sentences if (found := re.match(r"(tree|mean), fold \d of 4", one))}
    assert places >= {f"{family}, fold {fold} of 4" for family in ("tree", "mean") for fold in (1, 2, 3, 4)}
    best = f"best so far {np.sqrt(np.mean(result.choices['validation_squared'])):.3g} (optimistic)"
    assert sentences[-1].endswith(best)


def test_classes_are_told_by_their_accuracy(bars: list[Bar]) -> None:
    learner = ho.Tuned(DummyClassifier(), {"strategy": ["prior", "uniform"]}, validation=ho.KFold(2))
    target = np.array(["no"] * 30 + ["yes"] * 10)
    options = drawn_after_each_step(bars)
    ho.evaluate(learner, X, target, test=ho.KFold(2), progress=True, backend="inline", options=options)
    assert bars[0].told[-1][1].endswith("best so far 0.75 (optimistic)")


def test_a_comparison_has_one_bar_for_all_its_learners(bars: list[Bar]) -> None:
    learners = {"both": TUNED, "tree": DecisionTreeRegressor(), "mean": DummyRegressor()}
    ho.compare(learners, X, y, test=ho.KFold(4), progress=True, backend="inline", options=drawn_after_each_step(bars))
    (bar,) = bars
    assert {total for _, total in counts(bar)} == {28 + 4 + 4}
    assert counts(bar)[-1] == (36, 36)
    sentences = [sentence for _, sentence, *_ in bar.told]
    assert any(one.startswith("both (1 of 3), tree, fold 2 of 4, ") for one in sentences)
    assert any(one.startswith("mean (3 of 3), fold 4 of 4, 36 of 36 fits") for one in sentences)
    shares = [share for share, *_ in bar.told]
    assert shares == sorted(shares)


def test_a_learner_that_fails_leaves_the_numbers_right(bars: list[Bar]) -> None:
    learners = {"none": Ridge(alpha=-1.0), "mean": DummyRegressor(), "tree": DecisionTreeRegressor()}
    options = drawn_after_each_step(bars)
    found = ho.compare(learners, X, y, test=ho.KFold(4), progress=True, backend="inline", options=options)
    assert set(found.failures) == {"none"}
    assert counts(bars[0])[-1] == (12, 12)
    assert bars[0].told[-1][2] == "4 failed"


def test_learners_on_several_data_sets_share_one_bar(bars: list[Bar]) -> None:
    data = {"first": (X, y), "second": (X, -y)}
    learners = {"tree": DecisionTreeRegressor(), "mean": DummyRegressor()}
    options = drawn_after_each_step(bars)
    ho.compare_across(learners, data, test=ho.KFold(4), progress=True, backend="inline", options=options)
    (bar,) = bars
    assert {total for _, total in counts(bar)} == {16}
    assert any(sentence.startswith("second (2 of 2), mean (2 of 2), fold ") for _, sentence, *_ in bar.told)


def test_the_fits_behind_an_interval_are_in_the_total(bars: list[Bar]) -> None:
    options = drawn_after_each_step(bars)
    options = ho.Options(on_event=options.on_event, interval="bht")
    result = ho.evaluate(
        DecisionTreeRegressor(), X, y, test=ho.KFold(4), progress=True, backend="inline", options=options
    )
    (bar,) = bars
    (total,) = {total for _, total in counts(bar)}
    assert counts(bar)[-1] == (total, total)
    assert total > 4
    assert "Bates" in result.risk.method


def test_the_terminal_and_serve_say_the_same(bars: list[Bar], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_file, "FIRST_AFTER", 0.0)
    monkeypatch.setattr(live_file, "EVERY", 0.001)
    agreed: list[str] = []

    def agree(event: Any) -> None:
        def same() -> Any:
            live = read_live(tmp_path / "study.db")
            return live is not None and live.sentence == bars[0].told[-1][1] and live if bars[0].told else None

        if event.kind == "step done" and bars:
            live = within(same)
            assert f"{live.done:,} of {live.total:,} fits" in live.sentence
            agreed.append(live.sentence)

    learners = {"tree": DecisionTreeRegressor(), "mean": DummyRegressor()}
    options, journal = ho.Options(on_event=agree), tmp_path / "study.db"
    ho.compare(learners, X, y, test=ho.KFold(4), progress=True, backend="inline", options=options, journal=journal)
    assert any(one.startswith("mean (2 of 2), ") for one in agreed)


def test_elapsed_counts_from_the_call_and_for_a_command_from_its_start(
    bars: list[Bar], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from heldout.cli.main import main

    options = drawn_after_each_step(bars)
    ho.evaluate(DecisionTreeRegressor(), X, y, test=ho.KFold(4), progress=True, backend="inline", options=options)
    assert bars[0].told[0][3].startswith("0:0")
    real = time.monotonic
    monkeypatch.setattr(progress, "monotonic", lambda: real() + 3600.0)  # as if the table took an hour to read
    monkeypatch.setattr(progress, "open_progress", _always_shown(progress.open_progress))
    names = ["a", "b", "c", "y"]
    table = "\n".join([",".join(names), *(",".join(map(str, row)) for row in np.column_stack([X, y]))])
    (tmp_path / "t.csv").write_text(table)
    words = ["evaluate", str(tmp_path / "t.csv"), "-t", "y", "-l", "tree", "--no-journal", "--jobs", "1"]
    bars.clear()
    monkeypatch.setattr(progress.Progress, "advance", _slowly(progress.Progress.advance, bars))
    assert CliRunner().invoke(main, words).exit_code == 0
    assert bars[0].told[-1][3].startswith("1:00:")


def _always_shown(open_progress: Any) -> Any:
    return lambda asked, **given: open_progress(asked if isinstance(asked, progress.Progress) else True, **given)


def _slowly(advance: Any, bars: list[Bar]) -> Any:
    def wait(*given: Any) -> None:
        advance(*given)
        within(lambda: bars and bars[0].told)

    return wait


HELD = """
import os, sys, time
import numpy as np
from sklearn.dummy import DummyRegressor
import heldout as ho

class Held(DummyRegressor):
    def fit(self, X, y):
        while os.path.exists(sys.argv[1]):
            time.sleep(0.01)
        return super().fit(X, y)

X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40.0)
learner = ho.Tuned(Held(), {"strategy": ["mean", "median"]}, validation=ho.KFold(2))
ho.evaluate(learner, X, y, test=ho.KFold(4), backend="inline")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_a_real_terminal_has_a_bar_that_moves_during_a_long_fit_and_is_gone_at_the_end(tmp_path: Path) -> None:
    import pty

    hold = tmp_path / "hold"
    hold.touch()
    parent, child = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "LINES": "24", "TERM": "xterm"}
    program = subprocess.Popen(
        [sys.executable, "-c", HELD, str(hold)], stdin=child, stdout=child, stderr=child, env=environment
    )
    os.close(child)
    said = b""
    deadline = time.monotonic() + 120
    while len(set(re.findall(rb"0%  (\d:\d\d), time left not known yet", said))) < 2:  # the clock moved in one fit
        assert time.monotonic() < deadline
        said += os.read(parent, 65536)
    hold.unlink()
    try:
        while more := os.read(parent, 65536):
            said += more
    except OSError:  # how Linux says that nobody holds the other end any more
        pass
    assert program.wait(timeout=120) == 0
    text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"\n", said).decode()
    assert "0 of 20 fits" in text
    assert max(map(len, text.splitlines())) <= 80
    assert said.rstrip().endswith(b"\x1b[2K")  # the last thing is that its lines are erased
