"""The list of a journal's studies: what each entry says, in which order, and which studies are counted alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from heldout.engine.live_file import ProgressSnapshot
from heldout.journal.reader import Contents, StudyRow, SummaryRow
from heldout.report.show import as_view
from heldout.report.study_list import SHOWN_VERSION, index_of, short_studies

HOSTILE = "[/red]</script><img src=x onerror=alert(1)>\u202e\x1b[31m\n" + "n" * 10_000
MADE = "2026-01-09T00:00:00+00:00"


def study(number: int, **changes: Any) -> StudyRow:
    words = {
        "learner": ["Ridge()"],
        "learner_words": "tuned ridge",
        "target": "price",
        "source": "orders.csv",
        "candidates": 3,
        "test": "5-fold, shuffled",
        "rows": 60,
        "columns": 3,
        "beside": False,
    }
    words |= {"fingerprint": "ab" * 16} | changes.pop("words", {})
    made: dict[str, Any] = {
        "number": number,
        "key": bytes([number]) * 16,
        "state": "finished",
        "started": f"2026-01-0{number}T10:00:00+00:00",
        "ended": f"2026-01-0{number}T11:00:00+00:00",
        "seconds": 2.5,
    }
    return StudyRow(**{**made, "words": words, **changes})


def summary(number: int, **changes: Any) -> SummaryRow:
    risk = {"loss": "squared", "value": 0.25, "low": 0.1, "high": "inf", "level": 0.95, "method": "corrected t"}
    head = {"kind": "result", "version": SHOWN_VERSION, "learner": "Ridge", "risk": {**risk, "guarantee": "heuristic"}}
    head |= {"findings": {"warning": 2}, "studies": [], "kept": "2026-01-08T00:00:00+00:00"}
    return SummaryRow(key=bytes([number]) * 16, mark=b"mark", head={**head, **changes})


def live(number: int, **changes: Any) -> ProgressSnapshot:
    made: dict[str, Any] = {"study": (bytes([number]) * 16).hex(), "words": {"learner": "Ridge()"}, "pid": 7}
    made |= {"host": "here", "started": MADE, "stage": 1, "done": 13, "total": 40, "failed": 2, "share": 0.325}
    return ProgressSnapshot(**{**made, "seconds": 5.0, "seconds_left": 10.0, "failure": "ValueError: no", **changes})


def index(
    studies: list[StudyRow], kept: Sequence[SummaryRow] = (), told: ProgressSnapshot | None = None, **changes: Any
) -> Any:
    contents = Contents(path=Path("/data/j.db"), format=2, studies=tuple(studies), summaries=tuple(kept), **changes)
    return index_of(contents, told, busy=told is not None and told.stopped is None, made=MADE)


def test_a_study_tells_what_it_asked_and_what_it_found():
    found = index([study(1)], [summary(1)])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    (one,) = found["studies"]
    assert one == {
        "key": "010101010101",
        "kind": "result",
        "state": "finished",
        "learner": "tuned ridge",
        "name": None,
        "target": "price",
        "source": "orders.csv",
        "candidates": 3,
        "test": "5-fold, shuffled",
        "rows": 60,
        "columns": 3,
        "fingerprint": "ab" * 16,
        "best": None,
        "risk": {
            "value": 0.25,
            "low": 0.1,
            "high": "inf",
            "level": 0.95,
            "loss": "squared",
            "method": "corrected t",
            "guarantee": "heuristic",
            "answer": None,
        },
        "findings": {"error": 0, "warning": 2, "info": 0},
        "started": "2026-01-01T10:00:00+00:00",
        "ended": "2026-01-01T11:00:00+00:00",
        "seconds": 2.5,
        "page": "price-010101010101.html",
        "note": "",
        "part_of": None,
    }
    rest = {name: value for name, value in found.items() if name != "studies"}
    assert rest == {
        "version": 1,
        "kind": "index",
        "journal": "/data/j.db",
        "format": 2,
        "made": MADE,
        "beside": 0,
        "damaged": [],
        "busy": False,
        "running": None,
    }


def test_the_newest_is_first_and_of_two_in_one_second_the_later():
    same = {"ended": "2026-01-05T11:00:00+00:00"}
    rows = [study(3, **same), study(1), study(4, **same), study(2, state="unfinished", ended=None)]
    assert [one["key"][:2] for one in index(rows)["studies"]] == ["04", "03", "02", "01"]


def test_without_a_summary_the_way_to_one_is_told():
    (one,) = index([study(1)])["studies"]
    assert (one["page"], one["risk"], one["findings"]) == (None, None, None)
    assert one["note"] == (
        "No summary is kept. Run the same command again: it answers from the journal at once, and keeps it."
    )
    (other,) = index([study(1)], [summary(1, version=SHOWN_VERSION + 1)])["studies"]
    assert other["page"] is None
    assert other["note"].startswith("Its summary was kept by another version of heldout.")


@pytest.mark.parametrize(
    ("state", "note"),
    [
        ("unfinished", "Not finished. The same command goes on from there."),
        ("left", "Left: it was begun anew with other data, code or libraries."),
        ("nonsense", ""),
    ],
)
def test_a_study_that_did_not_end_says_so(state: str, note: str):
    (one,) = index([study(1, state=state, ended=None)])["studies"]
    assert (one["state"], one["note"], one["page"]) == (state, note, None)


def test_the_study_that_runs_is_running_and_the_others_are_not():
    rows = [study(1, state="unfinished"), study(2, state="unfinished")]
    found = index(rows, told=live(2))
    assert [(one["key"][:2], one["state"], one["note"]) for one in found["studies"]] == [
        ("02", "running", ""),
        (
            "01",
            "unfinished",
            "Not finished. A program is at work on this journal; if not on this, the same command goes on.",
        ),
    ]
    assert found["running"]["studies"] == ["020202020202"]
    assert (found["running"]["done"], found["running"]["total"], found["busy"]) == (13, 40, True)


def test_one_that_was_stopped_is_unfinished_and_tells_how_far_it_was():
    found = index([study(1, state="unfinished")], told=live(1, stopped="Its program has ended."))
    assert (found["studies"][0]["state"], found["studies"][0]["note"]) == ("unfinished", "Its program has ended.")
    assert found["running"]["studies"] == ["010101010101"]


def test_what_is_asked_beside_a_study_is_counted_and_while_it_runs_the_study_does():
    interval = study(2, words={"test": None, "beside": True}, state="unfinished")
    curve = study(3, words={"test": "5-fold, shuffled, at 4 smaller training sizes", "beside": True})
    other = study(4, state="unfinished", words={"fingerprint": "cd"})
    rows = [study(1, state="unfinished"), interval, curve, other]
    found = index(rows, told=live(2))
    assert [(one["key"][:2], one["state"]) for one in found["studies"]] == [("04", "unfinished"), ("01", "running")]
    assert found["beside"] == 2
    assert found["running"]["studies"] == ["010101010101", "020202020202"]


def test_a_comparison_is_listed_and_its_studies_lead_to_it():
    keys = [(bytes([number]) * 16).hex() for number in (1, 2)]
    head = {"kind": "comparison", "learner": "small, large", "best": "small", "studies": keys}
    found = index([study(1), study(2)], [summary(1), summary(9, **head)])
    first, *rest = found["studies"]
    assert (first["kind"], first["learner"], first["best"]) == ("comparison", "small, large", "small")
    assert (first["page"], first["ended"]) == ("study-090909090909.html", "2026-01-08T00:00:00+00:00")
    assert [one["part_of"] for one in rest] == ["090909090909", "090909090909"]
    assert first["part_of"] is None
    later = index([study(1), study(2)], [summary(9, **head, version=SHOWN_VERSION + 1)])
    assert [(one["part_of"], one["page"]) for one in later["studies"]] == [(None, None)] * 3


def test_a_text_in_place_of_a_number_is_no_number():
    risk = {"loss": "squared", "value": HOSTILE, "low": None, "high": "-inf", "level": 0.95}
    (one,) = index([study(1)], [summary(1, risk=risk)])["studies"]
    assert (one["risk"]["value"], one["risk"]["high"]) == (None, "-inf")


def test_rows_that_cannot_be_read_are_named():
    assert index([], damaged=("studies/3", "summaries/1"))["damaged"] == ["studies/3", "summaries/1"]


def shown(found: dict[str, Any], width: int = 100) -> str:
    console = Console(width=width, markup=False, highlight=False, file=StringIO())
    console.print(as_view("studies", found))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_terminal_shows_a_line_a_study():
    rows = [study(1), study(2, state="unfinished", ended=None)]
    text = shown(index(rows, [summary(1)], damaged=("studies/3",)))
    assert "2026-01-02 10:00  unfinished  price from orders.csv  tuned ridge  –" in text
    assert "2026-01-01 11:00  finished    price from orders.csv  tuned ridge  squared 0.25 (0.1 to ∞)" in text
    assert "Left out, since damaged: studies/3." in text
    assert short_studies(index(rows, [summary(1)])).splitlines() == [
        "020202020202  unfinished  price from orders.csv  tuned ridge  –",
        "010101010101  finished  price from orders.csv  tuned ridge  squared 0.25 (0.1 to ∞)",
    ]
    assert "No study is in /data/j.db." in shown(index([]))


def test_no_text_acts_on_a_terminal_or_stretches_it():
    hostile = study(1, words={"learner_words": HOSTILE, "name": HOSTILE, "test": HOSTILE}, state=HOSTILE[:20])
    risk = {"loss": HOSTILE, "value": 0.5, "low": None, "high": None, "level": None}
    found = index([hostile], [summary(1, risk=risk, kind="result")])
    found["studies"][0]["test"] = found["studies"][0]["test"][:60]
    text = shown(found)
    assert "[/red]" in text
    assert not {"\x1b", "\u202e"} & set(text)
    assert max(map(len, text.splitlines())) <= 100
    assert len(short_studies(found).splitlines()) == 1


def test_a_key_is_shown_by_its_beginning_alone():
    row = replace(study(1), key=bytes(range(16)))
    assert index([row])["studies"][0]["key"] == "000102030405"
