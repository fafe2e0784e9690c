"""The list of a journal's studies, as plain values and as blocks: how far each came, what it found, whether it has a
page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heldout.base.words import clipped, line
from heldout.engine.live_file import Live
from heldout.journal.reader import Contents, StudyRow, SummaryRow
from heldout.report.blocks import Block, Note, Span, Style, Table
from heldout.report.words import between, moment, told
from heldout.splits.learning_curve import SMALLER

VERSION = 1
SHOWN_VERSION = 2  # of the summaries that pages are made from
KEY = 12  # digits of a study's key that name it to people
FINISHED, RUNNING, UNFINISHED, LEFT = "finished", "running", "unfinished", "left"
STATES = (FINISHED, RUNNING, UNFINISHED, LEFT)
_LONGEST = 500  # characters of a text
_LEARNER = 60  # characters of a learner in a list
_STYLES: dict[str, Style] = {RUNNING: "info", UNFINISHED: "warning", LEFT: "quiet"}

_NO_SUMMARY = "No summary is kept. Run the same command again: it answers from the journal at once, and keeps it."
_OTHER_SUMMARY = "Its summary was kept by another version of heldout. Run the same command again to keep it anew."
_LEFT = "Left: it was begun anew with other data, code or libraries."
_UNFINISHED = "Not finished. The same command goes on from there."
_MAYBE_UNFINISHED = "Not finished. A program is at work on this journal; if not on this, the same command goes on."


def index_of(contents: Contents, live: Live | None, *, busy: bool, made: str) -> dict[str, Any]:
    """Every study of a journal, the newest first, as values that JSON can hold. `busy`: a program has it open.

    What was asked beside a study (fits behind its interval, its learning curve) is told in that study's report, and
    only counted here.
    """
    kept = {row.key: row for row in contents.summaries}
    own = [row for row in contents.studies if row.key in kept or not is_beside(row)]
    told = _told_of(own, contents, live)
    running = told if live is not None and live.stopped is None else set()
    whole = [row for row in contents.summaries if _has_page(row.head)]
    parts = {study: row.key.hex()[:KEY] for row in whole for study in _texts(row.head.get("studies"))}
    entries = [_entry(row, kept.get(row.key), running=running) for row in own]
    studies = {row.key for row in contents.studies}
    entries += [_entry_of_summary(row) for row in contents.summaries if row.key not in studies]
    for entry in entries:
        if entry["state"] == UNFINISHED:
            entry["note"] = _unfinished_note(entry["whole_key"], live, busy=busy)
        entry["part_of"] = parts.get(entry.pop("whole_key"))
    entries.reverse()  # of those of one second, the last to come in is the first
    entries.sort(key=lambda one: one["ended"] or one["started"] or "", reverse=True)
    return {
        "version": VERSION,
        "kind": "index",
        "journal": str(contents.path),
        "format": contents.format,
        "made": made,
        "studies": entries,
        "beside": len(contents.studies) - len(own),
        "damaged": list(contents.damaged),
        "busy": busy,
        "running": None if live is None else {**live.as_dict(), "studies": sorted(key.hex()[:KEY] for key in told)},
    }


def is_beside(row: StudyRow) -> bool:
    """Whether a study has no test of its own: it was asked for another one's interval or learning curve."""
    test = row.words.get("test")
    return test is None or str(test).endswith(SMALLER)


def page_name(key: str) -> str:
    """The file that a study's page is in."""
    return f"study-{key}.html"


def _told_of(own: Iterable[StudyRow], contents: Contents, live: Live | None) -> set[bytes]:
    """The studies that a program at work is, or was, busy with: what is asked beside a study belongs to it."""
    if live is None:
        return set()
    found = {row.key for row in contents.studies if row.key.hex() == live.study}
    beside = [row for row in contents.studies if row.key in found and is_beside(row)]
    alike = {(row.words.get("fingerprint"), str(row.words.get("learner"))) for row in beside}
    return found | {
        row.key
        for row in own
        if row.state == UNFINISHED and (row.words.get("fingerprint"), str(row.words.get("learner"))) in alike
    }


def _entry(row: StudyRow, kept: SummaryRow | None, *, running: set[bytes]) -> dict[str, Any]:
    words, head = row.words, {} if kept is None else kept.head
    state = RUNNING if row.key in running else row.state
    shown = _has_page(head)
    return {
        "whole_key": row.key.hex(),
        "key": row.key.hex()[:KEY],
        "kind": "result",
        "state": state,
        "learner": _learner(words),
        "candidates": _number(words.get("candidates")),
        "test": _text(words.get("test")),
        "rows": _number(words.get("rows")),
        "columns": _number(words.get("columns")),
        "fingerprint": _text(words.get("fingerprint")),
        "best": None,
        "risk": _risk(head) if shown else None,
        "findings": _findings(head) if shown else None,
        "started": row.started,
        "ended": row.ended,
        "seconds": row.seconds,
        "page": page_name(row.key.hex()[:KEY]) if shown else None,
        "note": _note(state, head),
    }


def _learner(words: Mapping[str, Any]) -> str:
    """The learner as its repr writes it; of families that compete their names."""
    families = _texts(words.get("families"))
    text = " or ".join(families) if len(families) > 1 else ", ".join(_texts(words.get("learner")))
    return clipped(text, _LONGEST)


def _entry_of_summary(row: SummaryRow) -> dict[str, Any]:
    """A comparison, which is no study of its own; or a study whose row is damaged while its summary is not."""
    head, shown = row.head, _has_page(row.head)
    return {
        "whole_key": row.key.hex(),
        "key": row.key.hex()[:KEY],
        "kind": _text(head.get("kind")),
        "state": FINISHED,
        "learner": _text(head.get("learner")) or "",
        "candidates": None,
        "test": _text(head.get("test")),
        "rows": _number(head.get("rows")),
        "columns": _number(head.get("columns")),
        "fingerprint": _text(head.get("fingerprint")),
        "best": _text(head.get("best")),
        "risk": _risk(head) if shown else None,
        "findings": _findings(head) if shown else None,
        "started": None,
        "ended": _text(head.get("kept")),
        "seconds": _number(head.get("seconds")),
        "page": page_name(row.key.hex()[:KEY]) if shown else None,
        "note": "" if shown else _OTHER_SUMMARY,
    }


def _note(state: str, head: Mapping[str, Any]) -> str:
    if state == FINISHED:
        return "" if _has_page(head) else _OTHER_SUMMARY if head else _NO_SUMMARY
    return _LEFT if state == LEFT else ""


def _unfinished_note(key: str, live: Live | None, *, busy: bool) -> str:
    if live is not None and live.stopped is not None and live.study == key:
        return live.stopped
    return _MAYBE_UNFINISHED if busy else _UNFINISHED


def _has_page(head: Mapping[str, Any]) -> bool:
    return head.get("version") == SHOWN_VERSION and head.get("kind") in ("result", "comparison")


# A journal may come from a stranger: whatever it holds, what is shown has the types that we would write.


def _risk(head: Mapping[str, Any]) -> dict[str, Any] | None:
    risk = head.get("risk")
    if not isinstance(risk, dict):
        return None
    ends = {name: _end(risk.get(name)) for name in ("value", "low", "high")}
    words = {name: _text(risk.get(name)) for name in ("loss", "method", "guarantee", "answer")}
    return {**ends, "level": _number(risk.get("level")), **words}


def _findings(head: Mapping[str, Any]) -> dict[str, int]:
    found = head.get("findings")
    counts = found if isinstance(found, dict) else {}
    return {name: int(_number(counts.get(name)) or 0) for name in ("error", "warning", "info")}


def _end(value: Any) -> float | str | None:
    return value if value in ("inf", "-inf") else _number(value)


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return clipped(value, _LONGEST) if isinstance(value, str) else None


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def studies_blocks(index: Mapping[str, Any]) -> list[Block]:
    """A row a study, the newest first, and what could not be read."""
    if not index["studies"]:
        return [Note(f"No study is in {index['journal']}. heldout evaluate and compare enter theirs.")]
    rows = tuple(
        (
            moment(one["ended"] or one["started"]),
            Span(one["state"], _STYLES.get(one["state"], "")),
            learner_words(one),
            risk_words(one["risk"]),
        )
        for one in index["studies"]
    )
    table = Table(title="", head=("when", "state", "learner", "risk"), rows=rows, brief=len(rows))
    damaged = index["damaged"]
    return [table, Note(f"Left out, since damaged: {', '.join(damaged)}." if damaged else "")]


def short_studies(index: Mapping[str, Any]) -> str:
    """A line a study: its key, how far it came, its learner and its risk."""
    return "\n".join(
        f"{one['key']}  {line(one['state'])}  {learner_words(one)}  {risk_words(one['risk'])}"
        for one in index["studies"]
    )


def learner_words(one: Mapping[str, Any]) -> str:
    """The learner of a study; a comparison says that it is one."""
    return clipped(("comparison: " if one["kind"] == "comparison" else "") + line(one["learner"]), _LEARNER)


def risk_words(risk: Mapping[str, Any] | None) -> str:
    """The risk with its interval, or a dash."""
    if risk is None:
        return "–"
    ends = "" if risk["low"] is None else f" ({between(risk)})"
    return f"{line(risk['loss'] or '')} {told(risk)}{ends}".strip()
