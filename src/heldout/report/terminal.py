"""The summary of a result for a terminal, with rich: the risk first, then what it rests on.

Every text becomes a `rich.text.Text`, which reads no markup, after :func:`heldout.report.text.safe` has taken out
what a terminal would act on; so names in the data are shown as they are, whatever they hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from heldout.report.text import number, safe

MOST_FOLDS = 12  # shown one a line; more are counted
MOST_CHOICES = 8
_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def open_console() -> Console:
    """The console of a command: colours on a terminal, plain text anywhere else."""
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False)


def head_text(head: Iterable[str], names: Iterable[str], plan: Mapping[str, Any]) -> Text:
    """What was understood of the data, and the plan in two lines."""
    saved = plan["fits_before"] - plan["fits"]
    fits = f"{plan['fits']:,} fits" + (f" instead of {plan['fits_before']:,}" if saved > 0 else "")
    count = plan["candidates"]
    who = f"{', '.join(names)}: " + ("1 candidate" if count == 1 else f"{count:,} candidates")
    splits = f"test {plan['outer']}" + (f"; validation {plan['inner']}" if plan["inner"] else "")
    lines = [*head, f"plan: {who}, {plan['cells']:,} cells, {fits}", f"      {splits}"]
    return Text("\n".join(_line(line) for line in lines), style="dim")


def plan_text(head: Iterable[str], plan: str) -> Text:
    """What was understood of the data, and the whole plan."""
    text = Text("\n".join(_line(line) for line in head), style="dim")
    return Text.assemble(text, "\n\n", "\n".join(safe(line) for line in plan.splitlines()))


def one_line(summary: Mapping[str, Any]) -> Text:
    """The risk and its interval on one line.

    >>> risk = {"loss": "squared", "value": 2.0, "low": 1.5, "high": 2.5, "level": 0.95}
    >>> one_line({"risk": risk}).plain
    'squared 2 (95% interval 1.5 to 2.5)'
    """
    risk = summary["risk"]
    text = Text(f"{_line(risk['loss'])} {number(risk['value'])}", no_wrap=True, overflow="ignore")
    return text.append(f" ({_interval(risk)})") if risk["low"] is not None else text


def result_view(summary: Mapping[str, Any]) -> Group:
    """The whole result: risk, what stands beside it, folds and choices, findings, and what it rests on."""
    blocks = [
        _risk(summary),
        _folds(summary),
        _findings(summary["findings"]),
        _foot(summary),
    ]
    shown: list[RenderableType] = []
    for block in blocks:
        if block is not None:
            shown += [Text(), block]
    return Group(*shown)


def _risk(summary: Mapping[str, Any]) -> RenderableType:
    risk = summary["risk"]
    head = Text.assemble((f"{_line(risk['loss'])}  ", "bold"), (number(risk["value"]), "bold green"))
    facts = _facts()
    if risk["low"] is not None:
        head.append(f"   {_interval(risk)}", style="bold")
    _add(facts, "estimates", risk["estimand"])
    if risk["low"] is not None:
        _add(facts, "interval", f"{risk['method']}, {risk['guarantee']}; from {risk['n']:,} held-out rows")
    else:
        _add(facts, "interval", f"none: {risk['reason']}" if risk["reason"] else "none")
    return Group(head, facts, *_beside(summary["estimates"]))


def _beside(estimates: Mapping[str, Any]) -> list[RenderableType]:
    """The other losses, and the optimistic number with its meaning."""
    facts = _facts()
    for name, estimate in estimates.items():
        if name in ("risk", "fold_predictors"):
            continue
        label = "optimistic" if estimate["optimistic"] else _line(estimate["loss"])
        between = f"   {_interval(estimate)}" if estimate["low"] is not None else ""
        text = Text.assemble((number(estimate["value"]), "yellow" if estimate["optimistic"] else "bold"), between)
        facts.add_row(Text(label), text)
        _add(facts, "", estimate["estimand"])
    return [facts] if facts.row_count else []


def _folds(summary: Mapping[str, Any]) -> RenderableType | None:
    folds, choices, loss = summary["folds"], summary["choices"], summary["risk"]["loss"]
    if len(folds) > MOST_FOLDS:
        return _counted(choices)
    if len(folds) < 2 and not choices:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text("fold"), justify="right")
    table.add_column(Text(_line(loss)), justify="right")
    inside = next((name for row in choices for name in row if name.startswith("validation_")), None)
    if choices:
        table.add_column(Text("validation"), justify="right")
        table.add_column(Text("chosen"), overflow="fold")
    for fold, choice in zip(folds, choices or [None] * len(folds), strict=True):
        cells = [str(fold["fold"] + 1), number(fold[loss])]
        if choice is not None:
            cells += [number(choice[inside] if inside else None), _choice_words(choice)]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _counted(choices: list[Mapping[str, Any]]) -> RenderableType | None:
    if not choices:
        return None
    words = Counter(_choice_words(choice) for choice in choices)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text("folds"), justify="right")
    table.add_column(Text("chosen"), overflow="fold")
    for text, count in words.most_common(MOST_CHOICES):
        table.add_row(Text(f"{count} of {len(choices)}"), Text(text))
    if len(words) > MOST_CHOICES:
        table.add_row(Text(""), Text(f"… {len(words) - MOST_CHOICES} more"))
    return table


def _choice_words(choice: Mapping[str, Any]) -> str:
    if choice["candidate"] < 0:
        return "nothing: every candidate failed"
    params = {
        name.removeprefix("param_"): v for name, v in choice.items() if name.startswith("param_") and v is not None
    }
    short = [name.rpartition("__")[2] for name in params]
    names = short if len(set(short)) == len(short) else list(params)
    words = ", ".join(
        f"{name}={number(value) if isinstance(value, float) else value}"
        for name, value in zip(names, params.values(), strict=True)
    )
    return _line(f"{choice['family']}  {words}")


def _findings(findings: list[Mapping[str, Any]]) -> RenderableType | None:
    if not findings:
        return None
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for finding in findings:
        style = _STYLES.get(finding["severity"], "")
        text = _clipped(finding["message"])
        table.add_row(Text(finding["code"], style=style), Text(finding["severity"], style=style), Text(text))
    return Group(Text("Findings", style="bold"), Padding(table, (0, 0, 0, 2)))


def _foot(summary: Mapping[str, Any]) -> RenderableType:
    about, seconds = summary["about"], summary["seconds"]
    fits = sum(line["fits"] for line in summary["plan"]["lines"])
    facts = _facts()
    _add(facts, "predictor", summary["covers"]["sentence"])
    _add(
        facts,
        "splits",
        f"test {about['test']}" + (f"; validation {about['validation']}" if about["validation"] else ""),
    )
    work = f"{fits:,} fits in {seconds['total']:.3g} s; seed {about['seed']}, data {about['fingerprint'][:12]}"
    _add(facts, "work", work)
    return facts


def _facts() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=True)
    table.add_column(no_wrap=True, style="dim", min_width=10)
    table.add_column(ratio=1, overflow="fold")
    return table


def _add(facts: Table, label: str, text: Any) -> None:
    facts.add_row(Text(label), Text(_line(text)))


def _interval(estimate: Mapping[str, Any]) -> str:
    level = f"{100 * estimate['level']:.4g}%"
    return f"{level} interval {number(estimate['low'])} to {number(estimate['high'])}"


def _line(text: Any) -> str:
    """Any text as one line that is safe to show."""
    return " ".join(safe(text).splitlines()).replace("\t", " ")


def _clipped(text: Any, most: int = 300) -> str:
    line = " ".join(_line(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"
