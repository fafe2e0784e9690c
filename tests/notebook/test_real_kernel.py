"""A real kernel runs a notebook's cells, one kernel for all of them; tests read the messages that a front end gets."""

from __future__ import annotations

import re
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="there is no kernel: pip install ipykernel")
nbformat = pytest.importorskip("nbformat", reason="nbformat comes with nbclient")

SLOW = """
import threading, time
import numpy as np
import heldout as ho
from sklearn.linear_model import Ridge

class Slow(Ridge):
    def fit(self, X, y):
        time.sleep(0.06)
        if self.alpha < 0:
            raise ValueError("no such alpha")
        return super().fit(X, y)

X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)
tuned = ho.Tuned(Slow(), {"alpha": [-1.0, 0.1, 1.0]}, validation=ho.KFold(3))
larger = ho.Tuned(Slow(), {"alpha": [-1.0, 0.1, 1.0, 2.0, 3.0, 4.0]}, validation=ho.KFold(3))
inline = {"test": ho.KFold(3), "backend": "inline"}
"""
CELLS = {
    "setup": SLOW,
    "evaluate": "result = ho.evaluate(tuned, X, y, **inline)\nresult",
    "quiet": "_ = ho.evaluate(tuned, X, y, progress=False, **inline)",
    "short": "_ = ho.evaluate(Ridge(), X, y, **inline)",
    "processes": "_ = ho.evaluate(larger, X, y, test=ho.KFold(3), jobs=2, backend='processes')",
    "thread": (
        "thread = threading.Thread(target=lambda: ho.evaluate(tuned, X, y, **inline))\nthread.start()\nthread.join()"
    ),
    "interrupted": """
def stop(event):
    if event.kind == "step done" and event.done > 18:
        raise KeyboardInterrupt

try:
    ho.evaluate(tuned, X, y, options=ho.Options(on_event=stop), **inline)
except KeyboardInterrupt:
    print("stopped")
""",
    "risk": "result.risk",
    "compared": "ho.compare({'ridge': Ridge(), 'none': Ridge(1e9)}, X, y, **inline)",
    "plan": "ho.explain(tuned, X, y, test=ho.KFold(3))",
    "unfitted": "tuned",
    "fitted": "tuned.fit(X, y)",
    "waiting": "'estimates_' in dir(tuned), type(tuned._estimates).__name__",
    "corrected": "_ = tuned.estimates_\ntuned",
    "text": "import sklearn\nwith sklearn.config_context(display='text'):\n    display(tuned)",
}


class Client(nbclient.NotebookClient):  # type: ignore[misc]
    """Keeps what the kernel said about each cell."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.said: dict[int, list[dict[str, Any]]] = {}

    def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        self.said.setdefault(cell_index, []).append({"kind": msg["msg_type"], **msg["content"]})
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def said() -> dict[str, list[dict[str, Any]]]:
    """The messages of each cell, by its name."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    client = Client(nbformat.v4.new_notebook(cells=cells), timeout=60, kernel_name="python3")
    client.execute()
    return {name: client.said.get(place, []) for place, name in enumerate(CELLS)}


def shown(messages: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one for one in messages if one["kind"] == kind]


def data_of(messages: list[dict[str, Any]]) -> dict[str, str]:
    """What a front end shows of the last line of a cell."""
    (result,) = shown(messages, "execute_result")
    return dict(result["data"])


def test_nothing_is_said_on_stderr_and_nothing_fails(said):
    assert len(said) == len(CELLS)
    for name, messages in said.items():
        assert [one for one in messages if one["kind"] == "error"] == [], name
        assert [one["text"] for one in shown(messages, "stream") if one["name"] == "stderr"] == [], name


@pytest.mark.parametrize(("cell", "cells"), [("evaluate", 30), ("processes", 57), ("thread", 30)])
def test_a_long_run_has_a_bar_that_moves_in_place_and_is_gone_at_the_end(said, cell, cells):
    (first,) = shown(said[cell], "display_data")
    updates = shown(said[cell], "update_display_data")
    assert len(updates) >= 2  # at least one that moves it, and the one that takes it down
    assert {one["transient"]["display_id"] for one in (first, *updates)} == {first["transient"]["display_id"]}
    assert first["data"]["text/html"].startswith('<div class="heldout-progress"><progress max="1" value="0.')
    texts = [one["data"]["text/plain"] for one in (first, *updates[:-1])]
    assert all(re.fullmatch(rf"\d+ of {cells} cells(, \d+ failed)?, about .+ left", text) for text in texts)
    assert any(" failed, " in text for text in texts)  # which worker is first to say so is left to chance
    done = [int(one["data"]["text/plain"].split()[0]) for one in (first, *updates[:-1])]
    assert done == sorted(set(done))
    assert updates[-1]["data"] == {"text/html": "", "text/plain": ""}


@pytest.mark.parametrize("cell", ["quiet", "short", "risk", "plan"])
def test_what_is_short_or_asked_to_be_quiet_has_no_bar(said, cell):
    assert shown(said[cell], "display_data") == shown(said[cell], "update_display_data") == []


def test_a_run_that_is_stopped_leaves_no_bar(said):
    assert [one["text"] for one in shown(said["interrupted"], "stream")] == ["stopped\n"]
    updates = shown(said["interrupted"], "update_display_data")
    assert updates[-1]["data"] == {"text/html": "", "text/plain": ""}


def test_a_result_is_shown_with_its_verdict_and_as_text(said):
    data = data_of(said["evaluate"])
    assert data["text/plain"].startswith("<Result squared ")
    assert re.search('<p class="heldout-line">[^<]*RMSE <strong>', data["text/html"])
    assert re.search('<p class="heldout-line">Tuned [^<]*, [^<]*</p>', data["text/html"])
    assert "<svg" in data["text/html"]
    assert "Slow alpha=1" in data["text/html"]
    assert "9 failed cells" in data["text/html"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("risk", "<dd>expected squared risk of the tuned learner trained on 40 rows</dd>"),
        ("compared", '<p class="heldout-line">Best: '),
        ("plan", '<p class="heldout-head">Plan for Slow</p>'),
    ],
)
def test_estimates_comparisons_and_plans_show_themselves(said, cell, words):
    data = data_of(said[cell])
    assert words in data["text/html"]
    assert data["text/plain"]


def test_a_tuned_learner_keeps_its_diagram_and_tells_its_choice_once_fitted(said):
    before, after = (data_of(said[cell])["text/html"] for cell in ("unfitted", "fitted"))
    for html in (before, after):
        assert 'class="sk-top-container' in html
    assert "heldout-view" not in before
    assert "<strong>Slow alpha=1</strong>, of 3 candidates" in after
    assert "best validation number" not in after
    assert "best validation number" in data_of(said["corrected"])["text/html"]
    assert data_of(said["fitted"])["text/plain"].startswith("Tuned(estimator=Slow()")


def test_showing_a_tuned_learner_does_not_make_its_estimates(said):
    assert data_of(said["waiting"]) == {"text/plain": "(True, 'Selection')"}


def test_scikit_learns_own_setting_for_text_is_obeyed(said):
    (one,) = shown(said["text"], "display_data")
    assert list(one["data"]) == ["text/plain"]
