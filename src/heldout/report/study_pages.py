"""Renders the list of a journal's studies, and the page of a running study; served pages update themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from heldout.base.errors import StoredError
from heldout.base.words import clipped, line, show_seconds
from heldout.report.html import asset
from heldout.report.page import page_policy, render_page, render_template
from heldout.report.study_list import STATES, subject_words, title_words
from heldout.report.words import moment

_LONGEST = 200  # characters of a text that moves


def render_index(index: Mapping[str, Any], *, served: bool = False) -> str:
    """Return the list of studies. If `served`, it updates itself and links to the server, otherwise to files."""
    pages = {entry["key"]: entry["page"] for entry in index["studies"]}
    values = {
        **index,
        "served": served,
        "live": live_facts(index),
        "name": PurePath(index["journal"]).name,
        "studies": [_row(entry, pages, served=served) for entry in index["studies"]],
        "made": moment(index["made"]),
    }
    return render_template("index.html.j2", values, **_extras(served=served))


def render_live(index: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """Return the page of a study without a report yet; it updates itself while the study runs."""
    values = {"entry": _row(entry, {}, served=True), "live": live_facts(index), "journal": index["journal"]}
    return render_template("live.html.j2", values, **_extras(served=True))


def render_study(summary: Mapping[str, Any]) -> str:
    """Return the report of a stored summary; raise a StoredError if the summary is malformed."""
    from jinja2 import TemplateError

    try:
        return render_page(summary)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TemplateError) as error:
        raise StoredError(
            f"The summary of this study cannot be shown ({type(error).__name__}: {clipped(line(error))}). Run the same "
            "command again: it answers from the journal, and keeps it anew."
        ) from error


def live_facts(index: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a served page updates: the progress of the running program, and the state of each study."""
    running = index["running"]
    studies = {entry["key"]: [entry["state"], entry["page"] is not None] for entry in index["studies"]}
    return {"running": None if running is None else _words(running), "studies": studies, "busy": index["busy"]}


def policy_of(*, served: bool) -> str:
    """Return the content security policy of these pages."""
    return page_policy(**_extras(served=served))


def _row(entry: Mapping[str, Any], pages: Mapping[str, str | None], *, served: bool) -> dict[str, Any]:
    """Return the entry of a study with its title, links and dates; `pages` are the names of files by key."""

    def href(key: str) -> str | None:
        return f"/study/{key}" if served else pages[key]

    return {
        **entry,
        "title": title_words(entry),
        "subject": subject_words(entry) if entry.get("name") else "",
        "href": None if entry["page"] is None else href(entry["key"]),
        "whole": None if entry["part_of"] is None else href(entry["part_of"]),
        "when": moment(entry["ended"] or entry["started"]),
        "begun": moment(entry["started"]),
        "mark": entry["state"] if entry["state"] in STATES else "left",
    }


def _words(running: Mapping[str, Any]) -> dict[str, Any]:
    left, failed, words = running["seconds_left"], running["failed"], running["words"]
    subject = line(words.get("name") or "") or subject_words(words)
    moves = running["stopped"] is None
    return {
        "studies": running["studies"],
        "percent": max(0, min(100, int(100 * running["share"]))),
        "stopped": None if moves else clipped(line(running["stopped"]), _LONGEST),
        "learner": clipped(": ".join(filter(None, [subject, line(words.get("learner") or "")])), _LONGEST),
        "cells": f"{running['done']:,} of {max(running['total'], running['done']):,} cells",
        "stage": f"stage {running['stage']:,}",
        "seconds": f"{show_seconds(running['seconds'])} so far",
        "left": f"about {show_seconds(left)} left" if moves and left is not None else "",
        "failed": f"{failed:,} failed" if failed else "",
        "failure": "" if running["failure"] is None else clipped(line(running["failure"]), _LONGEST),
    }


def _extras(*, served: bool) -> dict[str, Any]:
    return {"style": "\n" + asset("index.css"), "script": asset("live.js") if served else "", "connect": served}
