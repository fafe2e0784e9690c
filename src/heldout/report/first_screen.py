"""Lays out the first screen of a result: what was predicted, how well, against what, how surely, and what is wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout.base.words import NOTHING, choice_words, clipped, line, percent, shortened
from heldout.report.blocks import Block, Cell, Facts, Figure, Headline, Line, Lines, Number, Span, Style, Table, Text
from heldout.report.words import (
    Metric,
    amount,
    class_names,
    counted,
    ends_words,
    grave_of,
    gravest_first,
    headline_parts,
    is_good,
    leading,
    level_words,
    severity_words,
    shown,
    variance_words,
    verdict_words,
)

WIDE = 78  # characters of a line that may not wrap on a terminal of 80 columns
MOST_GRAVE = 4  # findings above the table; the others are counted
MOST_CLASSES = 3
MOST_LISTED = 20  # classes in a summary
MOST_CHOICES = 3
NOTE = 130  # characters of a note, in whole sentences
MESSAGE = 500  # characters of a finding: its way out comes last, and errors of fits can be long
INCOMPLETE = "ask again once that is mended, or with more time; a journal keeps what finished"
IN_PYTHON = 'result.report("study.html") for a page, result.predictor for the model'


def first_screen(summary: Mapping[str, Any], asked: Sequence[Block] = ()) -> list[Block]:
    """Return the blocks that a result begins with; `asked` are those of what the user asked for beside the scores."""
    return [
        *heading(summary["headline"]),
        Lines((*_answer(summary), *finding_lines(summary["findings"]))),
        Figure("strip", summary),
        metrics_table(summary["metrics"]),
        Facts(short_facts(summary)),
        *asked,
        next_line(INCOMPLETE if is_incomplete(summary["risk"]) else summary.get("next", IN_PYTHON)),
    ]


def is_incomplete(risk: Mapping[str, Any]) -> bool:
    """Return whether a fit that the risk needs failed, or was not reached."""
    return risk["value"] is None and risk["answer"] is None


def next_line(words: str) -> Lines:
    """Return the line that says what to do next."""
    return Lines((Line(Span(f"next: {words}", "quiet"), indent=2),) if words else ())


def heading(headline: Mapping[str, Any], more: str = "") -> list[Block]:
    """Return what was predicted from what, and the data in a few words: one line, or two where one is too long.

    `more` is said after the number of rows, in place of the classes or the median.
    """
    study = study_words(headline)
    data = (counted(headline["rows"], "row"), "   ", more) if more else (data_words(headline),)
    if len(study) + 3 + sum(map(len, data)) <= WIDE + 1:
        return [Headline((Span(study, "strong"), "   ", *data))]
    return [Headline((Span(study, "strong"),)), Lines((Line(data, indent=2),))]


def study_words(headline: Mapping[str, Any]) -> str:
    """Return what was predicted from what.

    >>> study_words({"name": "q3", "target": "price", "columns": 12, "source": "orders.csv"})
    'q3: price from 12 columns of orders.csv'
    """
    name = f"{shortened(headline['name'])}: " if headline["name"] else ""
    source = f" of {shortened(headline['source'])}" if headline["source"] else ""
    columns = "the data" if headline["columns"] is None else counted(headline["columns"], "column")
    return f"{name}{shortened(headline['target'] or 'y', 40)} from {columns}{source}"


def data_words(headline: Mapping[str, Any]) -> str:
    """Return the number of rows with the shares of the classes or the median of the target.

    >>> data_words({"rows": 4120, "classes": None, "median": 212000.0})
    '4,120 rows: median 212,000'
    """
    rows, classes = counted(headline["rows"], "row"), headline["classes"]
    if classes:
        shares = [percent(one["share"]) for one in classes]
        if len(classes) <= MOST_CLASSES:
            names = [name if name.isidentifier() else f'"{name}"' for name in class_names(classes)]
            named = (f"{name} {share}" for name, share in zip(names, shares, strict=True))
            return f"{rows}: {', '.join(named)}"
        if len(classes) == MOST_LISTED:
            return f"{rows}: {MOST_LISTED} classes or more, of at most {shares[0]}"
        each = f"of {shares[0]} each" if shares[0] == shares[-1] else f"of {shares[-1]} to {shares[0]}"
        return f"{rows}: {len(classes)} classes {each}"
    return rows if headline["median"] is None else f"{rows}: median {amount(headline['median'])}"


def _answer(summary: Mapping[str, Any]) -> list[Line]:
    """Return how good it is, compared to what, by which learner, and what was checked."""
    label, value, interval, plain = headline_parts(summary)
    good: Style = "good" if is_good(summary) else "strong"
    score: tuple[str | Span, ...] = (f"{label} ", Span(value, good), f"   ({interval})" if interval else "")
    width = len(label) + len(value) + len(interval) + len(plain) + 9
    lines = [Line((*score, f"   {plain}") if plain and width <= WIDE else score, indent=2)]
    lines += [Line(plain, indent=2)] if plain and width > WIDE else []
    verdict = [Span(text, "good" if is_good(summary) else "") for text in verdict_words(summary)]
    texts: list[Cell] = [variance_words(summary), *verdict, learner_words(summary["headline"]), checked_words(summary)]
    return lines + [Line(text, indent=2) for text in texts if text]


def learner_words(headline: Mapping[str, Any]) -> str:
    """Return the learner and how it was tested."""
    words = line(headline["chosen"] or headline["learner"] or "")
    return f"{words[:1].upper()}{words[1:]}, {line(headline['procedure'])}."


def checked_words(summary: Mapping[str, Any]) -> Text:
    """Return what the checks of the data found, and nothing if it is not known whether there were any."""
    checks = summary.get("checks")
    if not checks:
        return ""
    if not checks["ran"]:
        return "The data were not checked for leaks and traps."
    found = ", ".join(severity_words(Counter(one["severity"] for one in summary["findings"])).values())
    head = f"{counted(len(checks['looked']), 'check')} of the data and the set-up: "
    return (head, Span(found, "strong"), ".") if found else f"{head}nothing found."


def other_findings(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the findings that the lines of a first screen leave out."""
    above = grave_of(findings)[:MOST_GRAVE]
    return [finding for finding in gravest_first(findings) if finding not in above]


def finding_lines(findings: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return a line for each of the gravest findings, in its colour, with the number to ignore it by."""
    grave = grave_of(findings)
    lines = [
        Line(
            Span(f"{clipped(line(one['message']), MESSAGE)} ({one['code']})", one["severity"]),
            before="! ",
            indent=2,
            style=one["severity"],
        )
        for one in grave[:MOST_GRAVE]
    ]
    more = len(grave) - MOST_GRAVE
    return lines + ([Line(f"… {counted(more, 'more finding')}.", indent=2)] if more > 0 else [])


def metrics_table(metrics: Sequence[Metric], *, alone: bool = False) -> Table:
    """Return a table of all metrics that have a value, each with its interval and what no model scores.

    A single one has no table, since the headline has its numbers; with `alone` there is no headline.
    """
    rows: list[tuple[Cell, ...]] = [
        (
            metric["label"],
            Number(metric["value"], shown(metric["value"], metric, share=False)),
            Number(metric["low"], ends_words(metric, share=False) or "none"),
            ""
            if metric["no_model"] is None
            else Number(metric["no_model"], shown(metric["no_model"], metric, share=False)),
        )
        for metric in metrics
        if metric["value"] is not None
    ]
    level = level_words(metrics[0]["level"]) if metrics else ""
    kept = tuple(rows) if len(rows) > 1 or alone else ()
    return Table(
        title="", label="Scores", head=("score", "held out", f"{level} interval", "no model"), rows=kept, key="metrics"
    )


def short_facts(summary: Mapping[str, Any]) -> dict[str, Text | None]:
    """Return what the numbers mean, what was chosen, how much the best validation score flatters, and the work."""
    metric, plan, risk = leading(summary), summary["plan"], summary["risk"]
    lead = risk if metric is None else metric
    sure = None if lead["value"] is None else lead["reason"]
    fits = sum(step["fits"] for step in plan["lines"])
    before = fits + sum(rule["fits_before"] - rule["fits_after"] for rule in plan["passes"])
    needed = f"{fits:,} needed" if fits else "none needed (closed form)"
    work = f"{counted(before, 'fit')} asked for, {needed}" if before != fits else counted(fits, "fit")
    head = summary.get("head") or {}
    said = [code for label, code in (("left out", "H110"), ("learner", "H111")) if label in head]
    infos = [one for one in gravest_first(summary["findings"]) if one["severity"] == "info" and one["code"] not in said]
    return {
        "means": risk["estimand"] if metric is None else _means(metric),
        "interval" if lead["low"] is None else "but": sure,
        "no value": no_value_words(summary),
        "chosen": _chosen(summary),
        "optimism": summary["verdict"]["flattery"],
        "note": _note([line(one["message"]) for one in infos], "--verbose" if "next" in summary else "result.findings"),
        **head,
        "work": f"{work}, {summary['seconds']['total']:.2g} s, seed {summary['about']['seed']}",
    }


def _note(notes: Sequence[str], where: str) -> str | None:
    """Return the first whole sentences of the first note, as far as they are short, and where the rest is."""
    if not notes:
        return None
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", notes[0])
    whole = (" ".join(sentences[:most]) for most in range(len(sentences), 0, -1))
    text = next((words for words in whole if len(words) <= NOTE), "")
    if not text:
        return f"{where} shows {counted(len(notes), 'note')}"
    rest = counted(len(notes) - 1, "more note") if len(notes) > 1 else "more" if text != notes[0] else ""
    return f"{text} ({where} shows {rest})" if rest else text


def no_value_words(summary: Mapping[str, Any]) -> str:
    """Return why some metrics have no value; where the leading one has none, it says so itself."""
    reasons: dict[str, list[str]] = {}
    lead = leading(summary)
    for one in summary["metrics"]:
        if one["value"] is None and one["reason"] and lead is not None and lead["value"] is not None:
            reasons.setdefault(line(one["reason"]), []).append(one["label"])
    return "; ".join(f"{', '.join(labels)}: {reason}" for reason, labels in reasons.items())


def _means(metric: Metric) -> str:
    """Return what the leading number estimates, with the familiar name of its score."""
    name = re.escape(line(metric["name"])).replace("_", "[-_ ]")
    return re.sub(rf"(?<!\w){name}( risk)?(?!\w)", lambda _: metric["label"], line(metric["estimand"]), count=1)


def _chosen(summary: Mapping[str, Any]) -> str | None:
    """Return what the folds chose, the commonest first, and what the final model uses."""
    choices, families = summary["choices"], summary["about"]["families"]
    if not choices:
        return None

    def words(choice: Mapping[str, Any]) -> str:
        family = choice["family"] if len(families) > 1 and not once else ""
        return NOTHING if choice["candidate"] < 0 else choice_words(family, choice["params"]) or "the only candidate"

    final = summary["about"].get("final")
    made = [one for one in (*choices, *([final] if final else ())) if one["candidate"] >= 0]
    once = len({one["family"] for one in made}) == 1 and all(one["params"] for one in made)
    name = f"{line(made[0]['family'])} " if once and len(families) > 1 else ""
    counts = Counter(map(words, choices)).most_common()
    if len(choices) == 1:
        return name + counts[0][0]
    most = MOST_CHOICES + (len(counts) == MOST_CHOICES + 1)
    shown = [f"{text} in {counted(n, 'fold') if not at else n}" for at, (text, n) in enumerate(counts[:most])]
    rest = counts[most:]
    shown += [f"{len(rest):,} others in {sum(n for _, n in rest):,}"] if rest else []
    rows = f"all {summary['about']['rows']:,} rows"
    last = f"; final model: {words(final)} on {rows}" if final else ""
    return name + ", ".join(shown) + last
