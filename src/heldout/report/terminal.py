"""The summary of a result for a terminal, with rich: the risk first, then what it rests on.

Every text becomes a `rich.text.Text`, which reads no markup, after :func:`heldout.report.text.safe` has taken out
what a terminal would act on; so names in the data are shown as they are, whatever they hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from heldout.base.words import clipped, fit_words
from heldout.report.text import MOST_OF_FINDING, is_shown, line, no_model_words, number, optimism_of, safe, told
from heldout.results.choices import words_of_choice

MOST_FOLDS = 12  # shown one a line; more are counted
MOST_CHOICES = 8
LABELS = 10  # how wide the names of facts are
_NAMES = {
    "best_validation_bbc": "BBC-CV",
    "best_validation_tt": "Tibshirani",
    "development_chosen": "chosen",
    "development_best": "family",
    "development_gap": "gap",
}
_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def open_console() -> Console:
    """The console of a command: colours on a terminal, plain text anywhere else."""
    return Console(highlight=False, markup=False, emoji=False)


def show(view: RenderableType, console: Console) -> None:
    """Print a view; where no one looks at a terminal, without the blanks that fill its lines up."""
    if console.is_terminal:
        console.print(view)
        return
    with console.capture() as captured:
        console.print(view)
    console.file.write("\n".join(one.rstrip() for one in captured.get().split("\n")))


def facts_view(facts: Mapping[str, str]) -> RenderableType:
    """Facts by name, as above and below a result."""
    return _facts(facts)


def head_view(head: Mapping[str, str], plan: Mapping[str, Any]) -> RenderableType:
    """What was understood of the question, then the plan in a line or two."""
    facts = _facts(head)
    candidates = "1 candidate" if plan["candidates"] == 1 else f"{plan['candidates']:,} candidates"
    fits = fit_words(plan["fits"], plan["fits_before"])
    _add(facts, "plan", f"{candidates}, {plan['cells']:,} cells, {fits}")
    _add(facts, "", f"test {plan['outer']}")
    if plan["inner"]:
        _add(facts, "", f"validation {plan['inner']}")
    return facts


def plan_view(head: Mapping[str, str], plan: str, *, width: int) -> RenderableType:
    """What was understood of the question, then the whole plan."""
    lines = [piece for long in safe(plan).splitlines() for piece in _hung(long, width)]
    return Group(_facts(head), Text(), Text("\n".join(lines)))


def _hung(text: str, width: int) -> list[str]:
    """A line cut to the width, its rest further in."""
    margin = " " * (len(text) - len(text.lstrip()) + 4)
    return wrap(text, width, subsequent_indent=margin, break_on_hyphens=False) or [""]


def one_line(summary: Mapping[str, Any]) -> Text:
    """The risk, its interval, and what it estimates at which training size, on one line.

    >>> words = "expected squared risk of the learner trained on 80 rows"
    >>> risk = {"loss": "squared", "value": 2.0, "low": 1.5, "high": 2.5, "level": 0.95, "estimand": words}
    >>> one_line({"risk": risk}).plain
    'squared 2 (95% interval 1.5 to 2.5); expected squared risk of the learner trained on 80 rows'
    """
    risk = summary["risk"]
    text = Text(f"{line(risk['loss'])} {told(risk)}", no_wrap=True, overflow="ignore")
    if risk["low"] is not None:
        text.append(f" ({_interval(risk)})")
    return text.append(f"; {line(risk['estimand'])}")


def result_view(summary: Mapping[str, Any]) -> Group:
    """The whole result: risk, what stands beside it, folds and choices, findings, and what it rests on."""
    blocks = [
        _risk(summary),
        _folds(summary),
        findings_view(summary["findings"]),
        _foot(summary),
    ]
    shown: list[RenderableType] = []
    for block in blocks:
        if block is not None:
            shown += [Text(), block]
    return Group(*shown)


def _risk(summary: Mapping[str, Any]) -> RenderableType:
    risk = summary["risk"]
    head = Text.assemble((f"{line(risk['loss'])}  ", "bold"), (told(risk), "bold green"))
    facts = _facts()
    if risk["low"] is not None:
        head.append(f"   {_interval(risk)}", style="bold")
    _add(facts, "estimates", risk["estimand"])
    if risk["low"] is not None:
        _add(facts, "interval", f"{risk['method']}, {risk['guarantee']}; from {risk['n']:,} held-out rows")
        if risk["reason"]:
            _add(facts, "but", risk["reason"])
    else:
        _add(facts, "interval", risk["reason"] or "none")
    if (no_model := no_model_words(summary)) is not None:
        _add(facts, "no model", no_model)
    return Group(head, facts, *_beside(summary))


def _beside(summary: Mapping[str, Any]) -> list[RenderableType]:
    """The other losses, and the optimistic number with what corrects and bounds it, each with its meaning."""
    facts = _facts()
    for name, estimate in summary["estimates"].items():
        if not is_shown(name, estimate):
            continue
        label = _NAMES.get(name) or ("optimistic" if estimate["optimistic"] else line(estimate["loss"]))
        if estimate["value"] is None:
            _add(facts, label, f"{number(None)}  {estimate['reason'] or ''}")
            continue
        between = f"   {_interval(estimate)}" if estimate["low"] is not None else ""
        text = Text.assemble((number(estimate["value"]), "yellow" if estimate["optimistic"] else "bold"), between)
        facts.add_row(Text(label), text)
        _add(facts, "", estimate["estimand"])
    if (optimism := optimism_of(summary)) is not None:
        _add(facts, "optimism", optimism)
    return [facts] if facts.row_count else []


def _folds(summary: Mapping[str, Any]) -> RenderableType | None:
    folds, choices, loss = summary["folds"], summary["choices"], summary["risk"]["loss"]
    if len(folds) > MOST_FOLDS:
        return _counted(choices)
    if len(folds) < 2 and not choices:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text("fold"), justify="right")
    table.add_column(Text(line(loss)), justify="right")
    inside = next((name for row in choices for name in row if name.startswith("validation_")), None)
    if choices:
        table.add_column(Text("validation"), justify="right")
        table.add_column(Text("chosen"), overflow="fold")
    for fold, choice in zip(folds, choices or [None] * len(folds), strict=True):
        cells = [str(fold["fold"]), number(fold[loss])]
        if choice is not None:
            cells += [number(choice[inside] if inside else None), words_of_choice(choice)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _counted(choices: list[Mapping[str, Any]]) -> RenderableType | None:
    if not choices:
        return None
    words = Counter(words_of_choice(choice) for choice in choices)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text("folds"), justify="right")
    table.add_column(Text("chosen"), overflow="fold")
    for text, count in words.most_common(MOST_CHOICES):
        table.add_row(Text(f"{count} of {len(choices)}"), Text(text))
    if len(words) > MOST_CHOICES:
        table.add_row(Text(""), Text(f"… {len(words) - MOST_CHOICES} more"))
    return table


def findings_view(findings: list[Mapping[str, Any]]) -> RenderableType | None:
    """Each finding by number and severity; None where there is none."""
    if not findings:
        return None
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for finding in findings:
        style = _STYLES.get(finding["severity"], "")
        text = clipped(line(finding["message"]), MOST_OF_FINDING)
        table.add_row(Text(finding["code"], style=style), Text(finding["severity"], style=style), Text(text))
    return Group(Text("Findings", style="bold"), Padding(table, (0, 0, 0, 2)))


def _foot(summary: Mapping[str, Any]) -> RenderableType:
    about, seconds = summary["about"], summary["seconds"]
    fits = sum(step["fits"] for step in summary["plan"]["lines"])
    facts = _facts()
    _add(facts, "predictor", summary["covers"]["sentence"])
    work = f"{fit_words(fits)} in {seconds['total']:.3g} s; seed {about['seed']}, data {about['fingerprint'][:12]}"
    _add(facts, "work", work)
    return facts


def _facts(facts: Mapping[str, Any] | None = None) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim", min_width=LABELS)
    table.add_column(ratio=1, overflow="fold")
    for label, text in (facts or {}).items():
        _add(table, label, text)
    return table


def _add(facts: Table, label: str, text: Any) -> None:
    facts.add_row(Text(label), Text(line(text)))


def _interval(estimate: Mapping[str, Any]) -> str:
    level = f"{100 * estimate['level']:.4g}%"
    return f"{level} interval {number(estimate['low'])} to {number(estimate['high'])}"
