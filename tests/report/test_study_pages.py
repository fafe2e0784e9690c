"""The page of a journal's studies, and that of one that runs: what they show and where they lead."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from typing import Any

import pytest

from heldout.base.errors import StoredError
from heldout.report.html import asset
from heldout.report.page import render_page
from heldout.report.study_pages import live_facts, policy_of, render_index, render_live, render_study

HOSTILE = (
    "</script></style><img src=x onerror=window.__pwned=1>\"'`&amp;[/red]\u202e\x1b[2J\x00\n{{7*7}}" + "n" * 10_000
)


def words(text: str) -> set[str]:
    return set(text.split())


TAGS = words(
    "html head meta title link style body a header div p span button main section h1 h2 table caption thead tbody tr "
    "th td bdi footer script progress"
)
ATTRIBUTES = words(
    "aria-label aria-labelledby aria-valuetext charset class content data-live data-more data-name data-sort "
    "data-studies data-study data-theme-toggle data-tip data-value dir hidden href http-equiv id lang max name rel "
    "role scope tabindex type value"
)


def entry(number: int, **changes: Any) -> dict[str, Any]:
    key = f"{number:02x}" * 6
    risk = {"value": 0.25, "low": 0.125, "high": "inf", "level": 0.95, "loss": "squared", "answer": None}
    made: dict[str, Any] = {"key": key, "kind": "result", "state": "finished", "learner": "ridge", "candidates": 3}
    made |= {"name": None, "target": "price", "source": "orders.csv"}
    made |= {"test": "5-fold", "rows": 1234, "columns": 3, "fingerprint": "abcdef0123456789", "best": None}
    made |= {"risk": {**risk, "method": "t", "guarantee": "exact"}, "findings": {"error": 0, "warning": 2, "info": 1}}
    made |= {"started": "2026-01-02T10:00:00+00:00", "ended": "2026-01-02T11:30:00+00:00", "seconds": 90.0}
    return {**made, "page": f"study-{key}.html", "note": "", "part_of": None, **changes}


def running(*studies: str, **changes: Any) -> dict[str, Any]:
    made = {"studies": list(studies), "words": {"learner": "Ridge()"}, "stage": 2, "done": 13, "total": 1040}
    made |= {"failed": 2, "share": 0.329, "seconds": 65.0, "seconds_left": 10.0, "failure": "ValueError: no"}
    return {**made, "stopped": None, **changes}


def index(*studies: dict[str, Any], **changes: Any) -> dict[str, Any]:
    made = {"journal": "/data/my journal.db", "format": 2, "made": "2026-01-09T08:07:06+00:00", "beside": 0}
    return {**made, "damaged": [], "busy": False, "running": None, "studies": list(studies), **changes}


def without_page(number: int, **changes: Any) -> dict[str, Any]:
    return entry(number, page=None, risk=None, findings=None, **changes)


def rows_of(page: str) -> list[str]:
    """The text of each row of the table, its cells kept apart."""
    body = page[page.index("<tbody>") : page.index("</tbody>")]
    return [" | ".join(re.sub(r"<[^>]*>", " ", row).split()) for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)]


def test_a_row_holds_what_the_list_says_and_leads_to_its_page(seen: Any):
    page = render_index(index(entry(1), without_page(2, note="No summary is kept.", seconds=None, state="left")))
    first, second = rows_of(page)
    assert first.replace(" |", "") == (
        "price from orders.csv ridge finished 0.25 squared 0.125 to ∞ 95 % 5-fold 1,234 × 3 orders.csv "
        "2026-01-02 11:30 1 min 30 s 2 warnings 1 info"
    )
    assert second.replace(" |", "").startswith("price from orders.csv No summary is kept. ridge left – – 5-fold")
    links = [one["href"] for one in seen(page).of("a")]
    assert links == ["#main", "study-010101010101.html"]
    assert "2 studies in <bdi>my journal.db</bdi>" in page
    assert "read 2026-01-09 08:07 UTC" in page


def test_cells_sort_by_their_numbers(seen: Any):
    page = render_index(index(entry(1)))
    values = [one.get("data-value") for one in seen(page).of("td")]
    assert values == [None, None, "0.25", "0.125", None, "1234", None, "90", None]
    assert len([one for one in seen(page).of("th") if "data-sort" in one]) == 10


def test_a_served_list_leads_to_the_server_and_has_the_script_that_moves_it(seen: Any):
    compared = entry(2, kind="comparison", learner="a, b", best="a")
    page = render_index(index(entry(1, part_of="020202020202"), compared), served=True)
    links = [one["href"] for one in seen(page).of("a")]
    assert links == ["#main", "/", "/study/010101010101", "/study/020202020202", "/study/020202020202", "/"]
    assert "Comparison: <bdi>a, b</bdi>" in page
    assert "Best: <bdi>a</bdi>" in page
    assert asset("live.js") in page
    (panel,) = [one for one in seen(page).of("section") if one.get("id") == "running"]
    assert "hidden" in panel
    static = render_index(index(entry(1)))
    assert asset("live.js") not in static
    assert 'id="running"' not in static


def test_what_cannot_be_read_and_what_was_asked_beside_is_told():
    page = render_index(index(entry(1), beside=2, damaged=["studies/3"]))
    assert "2 were asked beside these" in page
    assert "1 row of the journal cannot be read and is left out: studies/3." in page
    assert "No study is in this journal yet." in render_index(index())


def test_a_study_that_runs_shows_how_far_it_is(seen: Any):
    one = without_page(1, state="running", ended=None, seconds=None)
    page = render_live(index(one, running=running("010101010101")), one)
    (bar,) = seen(page).of("progress")
    assert (bar["max"], bar["value"], bar["aria-valuetext"]) == ("100", "32", "32%, 13 of 1,040 cells")
    text = " ".join(seen(page).text.split())
    assert "32% 13 of 1,040 cells stage 2 1 min 5 s so far about 10 s left 2 failed ValueError: no" in text
    assert "begun 2026-01-02 10:00 UTC" in text
    (panel,) = [one for one in seen(page).of("section") if one.get("id") == "running"]
    assert (panel["data-study"], panel["data-studies"]) == ("010101010101", '["010101010101"]')
    assert "hidden" not in panel


def test_one_that_was_stopped_says_so_and_promises_no_time():
    one = without_page(1, state="unfinished", ended=None, note="Its program has ended.")
    page = render_live(index(one, running=running("010101010101", stopped="Its program has ended.")), one)
    assert page.count("Its program has ended.") == 1 + asset("live.js").count("Its program has ended.")
    assert "left</span>" not in page


def test_another_study_that_runs_is_not_shown_as_this_one(seen: Any):
    one = without_page(1, state="unfinished", note="Not finished.")
    page = render_live(index(one, running=running("020202020202")), one)
    (panel,) = [one for one in seen(page).of("section") if one.get("id") == "running"]
    assert "hidden" in panel
    assert "Not finished." in page
    assert "13 of 1,040" not in page


def test_what_moves_is_words_alone():
    facts = live_facts(index(entry(1), without_page(2, state="running"), running=running("020202020202"), busy=True))
    assert facts == {
        "running": {
            "studies": ["020202020202"],
            "percent": 32,
            "stopped": None,
            "learner": "Ridge()",
            "cells": "13 of 1,040 cells",
            "stage": "stage 2",
            "seconds": "1 min 5 s so far",
            "left": "about 10 s left",
            "failed": "2 failed",
            "failure": "ValueError: no",
        },
        "studies": {"010101010101": ["finished", True], "020202020202": ["running", False]},
        "busy": True,
    }
    assert live_facts(index())["running"] is None


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.999, 1.0, 7.0])
def test_a_share_is_a_number_from_0_to_100(share: float):
    assert 0 <= live_facts(index(running=running(share=share)))["running"]["percent"] <= 100


def hostile_pages() -> dict[str, str]:
    texts = dict.fromkeys(
        ("name", "target", "source", "learner", "test", "fingerprint", "best", "note", "kind", "started", "ended"),
        HOSTILE,
    )
    risk = {"value": None, "low": "-inf", "high": None, "level": None, "loss": HOSTILE, "answer": HOSTILE}
    one = entry(1, **texts, state=HOSTILE, risk=risk)
    other = without_page(2, **texts, state="running")
    told = running("020202020202", words={"learner": HOSTILE, "name": HOSTILE}, failure=HOSTILE, stopped=HOSTILE)
    whole = index(one, other, running=told, journal=f"/data/{HOSTILE}", damaged=[HOSTILE[:50]])
    return {
        "list": render_index(whole),
        "served": render_index(whole, served=True),
        "study": render_live(whole, other),
        "other study": render_live(whole, one),
    }


@pytest.mark.parametrize("kind", ["list", "served", "study", "other study"])
def test_no_text_becomes_anything_but_text(seen: Any, kind: str):
    page = hostile_pages()[kind]
    for tag, attributes in seen(page).elements:
        assert tag in TAGS, tag
        assert set(attributes) <= ATTRIBUTES, (tag, attributes)
        if "href" in attributes and tag == "a":
            assert re.fullmatch(r"#main|/|/study/[0-9a-f]{12}|study-[0-9a-f]{12}\.html", attributes["href"])
    assert not {"\u202e", "\x1b", "\x00"} & set(page)
    assert "49" not in re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    assert len(page) < 80_000


@pytest.mark.parametrize("kind", ["list", "served", "study"])
def test_the_policy_names_every_style_and_script_and_nothing_else(kind: str):
    page = hostile_pages()[kind]
    policy = policy_of(served=kind != "list")
    assert f'content="{policy.replace(chr(39), "&#39;")}"' in page
    for name in ("style", "script"):
        found = [hashed(text) for text in re.findall(rf"<{name}>(.*?)</{name}>", page, flags=re.DOTALL)]
        (rule,) = re.findall(rf"{name}-src ([^;]*)", policy)
        assert rule.split() == found
    assert ("connect-src 'self'" in policy) == (kind != "list")


def hashed(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_same_list_gives_the_same_bytes():
    assert render_index(index(entry(1))) == render_index(json.loads(json.dumps(index(entry(1)))))


def test_a_summary_that_is_none_of_ours_is_refused_in_words(make_result: Any):
    summary = make_result()
    assert render_study(summary) == render_page(summary)
    for broken in ({}, {**summary, "version": 9}, {**summary, "risk": None}, {**summary, "about": {}}):
        with pytest.raises(StoredError, match=r"cannot be shown .* Run the same command again"):
            render_study(broken)
