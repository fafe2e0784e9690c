"""Lists the studies of a journal, as plain values and as blocks: their state, their risk and their page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from heldout.base.words import clipped, line
from heldout.engine.live_file import ProgressSnapshot
from heldout.journal import NAMES
from heldout.journal.reader import Contents, StudyRow, SummaryRow
from heldout.report.blocks import Block, Note, Span, Style, Table, is_infinite
from heldout.report.words import GRAVE_FIRST, between, estimate_words, moment

VERSION = 1
SHOWN_VERSION = 3  # of the summaries that pages are made from
KEY = 12  # hexadecimal digits of a study's key that are displayed
FINISHED, RUNNING, UNFINISHED, LEFT = "finished", "running", "unfinished", "left"
STATES = (FINISHED, RUNNING, UNFINISHED, LEFT)
_LONGEST = 500  # characters of a text
_OF_RISK = ("loss", "method", "guarantee", "answer")
_LEARNER = 60  # characters of a learner in a list
_TITLE = 60  # characters of a title
_SHORT = 40  # characters of a title in the name of a file
_STYLES: dict[str, Style] = {RUNNING: "info", UNFINISHED: "warning", LEFT: "quiet"}

_NO_SUMMARY = "No summary is kept. Run the same command again: it answers from the journal at once, and keeps it."
_OTHER_SUMMARY = "Its summary was kept by another version of heldout. Run the same command again to keep it anew."
_LEFT = "Left: it was begun anew with other data, code or libraries."
_UNFINISHED = "Not finished. The same command goes on from there."
_MAYBE_UNFINISHED = "Not finished. A program is at work on this journal; if not on this, the same command goes on."


def index_of(contents: Contents, live: ProgressSnapshot | None, *, busy: bool, made: str) -> dict[str, Any]:
    """Return every study of a journal, the newest first, as JSON values. `busy`: a program has the journal open.

    Extra studies (the fits behind an interval, a learning curve) are described in the report of the study they serve;
    here they are only counted.
    """
    kept = {row.key: row for row in contents.summaries}
    listed = [row for row in contents.studies if row.key in kept or not row.words.get("beside")]
    busy_with = _busy_with(listed, contents, live)
    running = busy_with if live is not None and live.stopped is None else set()
    whole = [row for row in contents.summaries if _has_page(row.head)]
    parts = {study: row.key.hex()[:KEY] for row in whole for study in row.head["studies"]}
    entries = [_entry(row, kept.get(row.key), running=running) for row in listed]
    studies = {row.key for row in contents.studies}
    entries += [_entry_of_summary(row) for row in contents.summaries if row.key not in studies]
    for entry in entries:
        if entry["state"] == UNFINISHED:
            entry["note"] = _unfinished_note(entry["whole_key"], live, busy=busy)
        entry["part_of"] = parts.get(entry.pop("whole_key"))
    entries.reverse()  # the sort is stable: of entries of the same second, the latest comes first
    entries.sort(key=lambda entry: entry["ended"] or entry["started"] or "", reverse=True)
    return {
        "version": VERSION,
        "kind": "index",
        "journal": str(contents.path),
        "format": contents.format,
        "made": made,
        "studies": entries,
        "beside": len(contents.studies) - len(listed),
        "damaged": list(contents.damaged),
        "busy": busy,
        "running": None
        if live is None
        else {**live.as_dict(), "studies": sorted(key.hex()[:KEY] for key in busy_with)},
    }


def page_name(key: str, called: str | None = None) -> str:
    """Return the name of the file that holds a study's page, after what the study is called.

    >>> page_name("0123456789ab", "Churn 2026"), page_name("0123456789ab")
    ('churn-2026-0123456789ab.html', 'study-0123456789ab.html')
    """
    words = re.findall("[a-z0-9]+", (called or "").lower())
    return f"{'-'.join(words)[:_SHORT] or 'study'}-{key}.html"


def subject_words(entry: Mapping[str, Any]) -> str:
    """Return what a study predicts and from which file, as far as that is known.

    >>> subject_words({"target": "price", "source": "orders.csv"})
    'price from orders.csv'
    """
    return " from ".join(line(entry[name]) for name in ("target", "source") if entry.get(name))


def title_words(entry: Mapping[str, Any]) -> str:
    """Return what a study is called: its name, or what it predicts, or its learner."""
    return clipped(line(entry.get("name") or "") or subject_words(entry) or learner_words(entry), _TITLE)


def _busy_with(listed: Iterable[StudyRow], contents: Contents, live: ProgressSnapshot | None) -> set[bytes]:
    """Return the keys of the studies the program works or worked on; an extra study stands for the one it serves."""
    rows = [row for row in contents.studies if live is not None and row.key.hex() == live.study]
    likeness = [_likeness(row) for row in rows if row.words.get("beside")]
    alike = [row for row in listed if row.state == UNFINISHED and _likeness(row) in likeness]
    return {row.key for row in (*rows, *alike)}


def _likeness(row: StudyRow) -> tuple[Any, Any]:
    return row.words.get("fingerprint"), row.words.get("learner")


def _entry(row: StudyRow, kept: SummaryRow | None, *, running: set[bytes]) -> dict[str, Any]:
    words, head = row.words, {} if kept is None else kept.head
    learner = words.get("learner_words") or " or ".join(words.get("families") or words.get("learner") or [])
    state = RUNNING if row.key in running else row.state
    return {
        **_listed(row.key, words, head),
        "state": state,
        "learner": clipped(learner, _LONGEST),
        "candidates": words.get("candidates"),
        "started": row.started,
        "ended": row.ended,
        "seconds": row.seconds,
        "note": _note(state, head),
    }


def _entry_of_summary(row: SummaryRow) -> dict[str, Any]:
    """Return the entry of a comparison, which has no study row, or of a study whose row is damaged."""
    head = row.head
    return {
        **_listed(row.key, head, head),
        "kind": _text(head.get("kind")),
        "learner": _text(head.get("learner")) or "",
        "best": _text(head.get("best")),
        "ended": _text(head.get("kept")),
        "seconds": head.get("seconds"),
        "note": _note(FINISHED, head),
    }


def _listed(key: bytes, asked: Mapping[str, Any], head: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that every entry has: its settings, and the risk and findings if it has a page."""
    short, shown = key.hex()[:KEY], _has_page(head)
    names = {name: _text(head.get(name) or asked.get(name)) for name in NAMES}
    return {
        "whole_key": key.hex(),
        "key": short,
        "kind": "result",
        "state": FINISHED,
        "test": _text(asked.get("test")),
        "rows": asked.get("rows"),
        "columns": asked.get("columns"),
        "fingerprint": _text(asked.get("fingerprint")),
        **names,
        "risk": _risk(head.get("risk")) if shown else None,
        "findings": {severity: head["findings"].get(severity, 0) for severity in GRAVE_FIRST} if shown else None,
        "page": page_name(short, names["name"] or names["target"]) if shown else None,
        **dict.fromkeys(("candidates", "best", "started")),
    }


def _risk(risk: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if risk is None:
        return None
    ends = {name: _end(risk.get(name)) for name in ("value", "low", "high")}
    return {**ends, "level": risk.get("level"), **{name: _text(risk.get(name)) for name in _OF_RISK}}


def _end(value: float | str | None) -> float | str | None:
    """Return a number or infinity ("inf"); None for any other text."""
    return None if isinstance(value, str) and not is_infinite(value) else value


def _text(value: str | None) -> str | None:
    return None if value is None else clipped(value, _LONGEST)


def _note(state: str, head: Mapping[str, Any]) -> str:
    if state == FINISHED:
        return "" if _has_page(head) else _OTHER_SUMMARY if head else _NO_SUMMARY
    return _LEFT if state == LEFT else ""


def _unfinished_note(key: str, live: ProgressSnapshot | None, *, busy: bool) -> str:
    if live is not None and live.stopped is not None and live.study == key:
        return live.stopped
    return _MAYBE_UNFINISHED if busy else _UNFINISHED


def _has_page(head: Mapping[str, Any]) -> bool:
    return head.get("version") == SHOWN_VERSION and head.get("kind") in ("result", "comparison")


def studies_blocks(index: Mapping[str, Any]) -> list[Block]:
    """Return a table with one row per study, the newest first, and the names of damaged ones."""
    if not index["studies"]:
        return [Note(f"No study is in {index['journal']}. heldout evaluate and compare enter theirs.")]
    rows = tuple(
        (
            moment(entry["ended"] or entry["started"]),
            Span(entry["state"], _STYLES.get(entry["state"], "")),
            title_words(entry),
            learner_words(entry),
            risk_words(entry["risk"]),
        )
        for entry in index["studies"]
    )
    table = Table(title="", head=("when", "state", "study", "learner", "risk"), rows=rows, brief=len(rows))
    damaged = index["damaged"]
    return [table, Note(f"Left out, since damaged: {', '.join(damaged)}." if damaged else "")]


def short_studies(index: Mapping[str, Any]) -> str:
    """Return one line per study: its key, state, title, learner and risk."""
    return "\n".join(
        f"{entry['key']}  {line(entry['state'])}  {title_words(entry)}  {learner_words(entry)}  "
        f"{risk_words(entry['risk'])}"
        for entry in index["studies"]
    )


def learner_words(entry: Mapping[str, Any]) -> str:
    """Return the learner of a study; comparisons are prefixed with "comparison: "."""
    return clipped(("comparison: " if entry["kind"] == "comparison" else "") + line(entry["learner"]), _LEARNER)


def risk_words(risk: Mapping[str, Any] | None) -> str:
    """Return the risk with its interval, or a dash if there is none."""
    if risk is None:
        return "–"
    ends = "" if risk["low"] is None else f" ({between(risk)})"
    return f"{line(risk['loss'] or '')} {estimate_words(risk)}{ends}".strip()
