from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from heldout.engine import progress as module
from heldout.engine import progress as progress_module
from heldout.engine.progress import NotebookBar, Progress, in_notebook, open_progress
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


@pytest.fixture
def clock(monkeypatch):
    times = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "monotonic", lambda: times.now)
    return times


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


def told(bar, done, total, sentence):
    bar.update(0, completed=done, total=total, words="", failed="", sentence=sentence)


def test_the_bar_is_drawn_in_place_at_most_five_times_a_second_and_leaves_nothing(output, clock):
    bar = NotebookBar()
    bar.start()
    bar.add_task("cells", total=None, words="", failed="")
    assert output.shown == []
    for tenth in range(1, 11):  # over one second
        clock.now = 100.0 + tenth / 10 + 1e-6
        told(bar, tenth, 10.0, f"{tenth} of 10 cells")
    bar.stop()
    bar.stop()
    kinds = [kind for kind, _ in output.shown]
    words = [bundle["text/plain"] for _, bundle in output.shown]
    assert kinds == ["display", *["update"] * 5]
    assert words == ["1 of 10 cells", *(f"{tenth} of 10 cells" for tenth in (3, 5, 7, 9)), ""]
    assert output.shown[-1][1] == {"text/html": "", "text/plain": ""}
    assert 'value="0.3000"' in output.shown[1][1]["text/html"]


def test_a_bar_that_showed_nothing_has_nothing_to_take_down(output):
    NotebookBar().stop()
    assert output.shown == []


@pytest.mark.parametrize(("done", "total", "share"), [(5.0, 4.0, ' value="1.0000"'), (0.0, 0.0, "")])
def test_the_share_stays_in_the_bar(output, done, total, share):
    told(NotebookBar(), done, total, "3 of 4 cells")
    html = output.shown[0][1]["text/html"]
    assert html == (
        f'<div class="heldout-progress"><progress max="1"{share} '
        'style="width:20em;max-width:40%;vertical-align:middle"></progress> 3 of 4 cells</div>'
    )


def test_progress_draws_it_under_a_kernel(output, monkeypatch):
    monkeypatch.setattr(progress_module, "SHOW_AFTER", -1.0)
    step = brute_step((0,), Plain("test", "test", "outer", range(4)))
    with Progress(shown=True) as progress:
        progress.expect([step, step])
        progress.advance(step)
    (_, first), (_, last) = output.shown
    assert first["text/plain"].startswith("4 of 8 cells, about ")
    assert 'value="0.5000"' in first["text/html"]
    assert last == {"text/html": "", "text/plain": ""}


def test_the_bar_is_taken_down_when_a_study_breaks(output, monkeypatch):
    monkeypatch.setattr(progress_module, "SHOW_AFTER", -1.0)

    def break_off():
        with Progress(shown=True) as progress:
            progress.advance(brute_step((0,), Plain("test", "test", "outer", range(4))))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert output.shown[-1] == ("update", {"text/html": "", "text/plain": ""})
