from __future__ import annotations

import re
import sys
import time
from types import SimpleNamespace

import pytest

from heldout.engine import progress as module
from heldout.engine.bars import NotebookBar
from heldout.engine.progress import Progress, in_notebook, open_progress
from heldout.kernels.step import Plain, brute_step


class ZMQInteractiveShell:
    """Called as the shell of a kernel is."""


class ShellOfAnotherKernel(ZMQInteractiveShell):
    pass


class TerminalInteractiveShell:
    pass


class Output:
    """Writes down what is shown in it."""

    def __init__(self):
        self.shown = []

    def display(self, bundle, *, raw, display_id):
        assert raw
        assert display_id is True
        self.shown.append(("display", bundle))
        return self

    def update(self, bundle, *, raw):
        assert raw
        self.shown.append(("update", bundle))


def run_under(shell, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


@pytest.fixture
def output(monkeypatch):
    made = Output()
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=made.display))
    run_under(ZMQInteractiveShell(), monkeypatch)
    return made


def within(check):
    """Wait until something is so, as long as a slow machine may take."""
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("shell", "notebook"),
    [
        (ZMQInteractiveShell(), True),
        (ShellOfAnotherKernel(), True),
        (TerminalInteractiveShell(), False),
        (None, False),
    ],
)
def test_a_notebook_is_known_by_its_shell(shell, notebook, monkeypatch):
    run_under(shell, monkeypatch)
    assert in_notebook() is notebook
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert open_progress("auto").shown is notebook


def test_without_ipython_there_is_no_notebook(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    assert not in_notebook()


def test_the_real_ipython_without_a_kernel_is_no_notebook():
    pytest.importorskip("ipykernel.zmqshell")
    assert "IPython" in sys.modules
    assert not in_notebook()


def test_the_real_shell_of_a_kernel_has_the_name_that_is_looked_for():
    shell = pytest.importorskip("ipykernel.zmqshell").ZMQInteractiveShell
    assert shell.__name__ == module.KERNEL_SHELL


def test_the_bar_is_drawn_in_place_and_leaves_nothing(output):
    bar = NotebookBar()
    assert output.shown == []
    bar.draw(0.1, "1 of 10 fits", "", "0:02, about 3 to 9 s left")
    bar.draw(0.3, "3 of 10 fits", "2 failed", "0:03, about 2 to 4 s left")
    bar.stop()
    bar.stop()
    kinds = [kind for kind, _ in output.shown]
    words = [bundle["text/plain"] for _, bundle in output.shown]
    assert kinds == ["display", "update", "update"]
    assert words == ["1 of 10 fits; 0:02, about 3 to 9 s left", "3 of 10 fits; 2 failed; 0:03, about 2 to 4 s left", ""]
    assert output.shown[-1][1] == {"text/html": "", "text/plain": ""}
    assert output.shown[1][1]["text/html"] == (
        '<div class="heldout-progress"><progress max="1" value="0.3000" '
        'style="width:20em;max-width:40%;vertical-align:middle"></progress> '
        "3 of 10 fits; 2 failed; 0:03, about 2 to 4 s left</div>"
    )


def test_a_bar_that_showed_nothing_has_nothing_to_take_down(output):
    NotebookBar().stop()
    assert output.shown == []


def test_progress_draws_it_under_a_kernel(output, monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", 0.0)
    monkeypatch.setattr(module, "EVERY", 0.001)
    step = brute_step((0,), Plain("test", "test", "outer", range(4)))
    with Progress(shown=True) as progress:
        progress.expect([step, step])
        progress.advance(step)
        within(lambda: output.shown and 'value="0.5000"' in output.shown[-1][1]["text/html"])
    *_, (_, drawn), (_, last) = output.shown
    assert re.match("4 of 8 fits; 0:0., ", drawn["text/plain"])
    assert last == {"text/html": "", "text/plain": ""}


def test_the_bar_is_taken_down_when_a_study_breaks(output, monkeypatch):
    monkeypatch.setattr(module, "SHOW_AFTER", 0.0)

    def break_off():
        with Progress(shown=True):
            within(lambda: output.shown)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert output.shown[-1] == ("update", {"text/html": "", "text/plain": ""})
