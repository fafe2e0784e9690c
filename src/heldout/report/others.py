"""Turns checks of data, advice, drawn splits, ledgers and single findings into blocks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.words import fit_words, line, show_seconds
from heldout.report.blocks import Block, Cell, Code, Facts, Findings, Headline, Note, Number, Remark, Span, Table, Text
from heldout.report.words import amount, counted, gravest_first, level_words, severity_words

MOST_PARTS = 20  # parts of splits that are listed one by one

_COLUMNS = {
    "part": "part",
    "train_rows": "trains on",
    "held_rows": "holds out",
    "unused_rows": "unused",
    "buffer_rows": "by buffer",
    "train_groups": "groups trained on",
    "held_groups": "held out",
    "held_from": "held out from",
    "held_to": "to",
}


def finding_blocks(finding: Mapping[str, Any]) -> list[Block]:
    """Return the block of a single finding."""
    return [Findings(((finding["code"], finding["severity"], finding["message"], {}),), title="")]


def sentence_blocks(values: Mapping[str, Any]) -> list[Block]:
    """Return the block of a single sentence."""
    return [Note(values["sentence"])]


def check_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the findings of `check` by severity, each with its reason and remedy, then what no check detects."""
    findings = tuple(
        (finding["code"], finding["severity"], finding["seen"], {"why": finding["why"], "way out": finding["way_out"]})
        for finding in gravest_first(summary["findings"])
    )
    unseen = f"Not seen by any check: {'. '.join(summary['not_seen'])}."
    return [Headline(count_words(summary)), Findings(findings, brief=20, title=""), Note(Span(unseen, "quiet"))]


def count_words(summary: Mapping[str, Any]) -> str:
    """Return the number of findings of each severity, and of the rows and columns that were checked.

    >>> counts = {"info": 1, "warning": 2, "error": 0}
    >>> facts = {"counts": counts, "rows": 10, "rows_looked_at": 10, "columns": 3, "ignored": ["H601"]}
    >>> count_words(facts)
    '2 warnings, 1 info in 10 rows and 3 columns; ignored: H601'
    """
    found = ", ".join(severity_words(summary["counts"]).values()) or "Nothing found"
    rows, looked = summary["rows"], summary["rows_looked_at"]
    of_rows = counted(rows, "row") if looked == rows else f"{looked:,} rows drawn at random from {rows:,}"
    ignored = f"; ignored: {', '.join(summary['ignored'])}" if summary["ignored"] else ""
    return f"{found} in {of_rows} and {counted(summary['columns'], 'column')}{ignored}"


def advice_blocks(advice: Mapping[str, Any]) -> list[Block]:
    """Return the recommended call with its reasons, then the rows that are needed and the attainable precision.

    The command line adds its own command (`command`), which replaces the call, and the `cost`.
    """
    if advice["recipe"] is None:
        way = "name a table, or --rows." if "command" in advice else "pass n=…"
        recipe: list[Block] = [Headline(f"No recipe without the number of rows: {way}")]
    else:
        sizes, each = advice["sizes"], ", in each part" if advice["k"] else ""
        dev = f", {sizes['dev']:,} to choose" if sizes["dev"] else ""
        rows = f"{sizes['train']:,} to train{dev}, {sizes['test']:,} to test{each}"
        candidates = counted(advice["candidates"], "candidate")
        recipe = [
            Headline((Span(line(advice["recipe"]), "good"), f"   for {advice['n']:,} rows and {candidates}")),
            Code(over_lines(advice["command"]) if advice.get("command") else advice["call"]),
            Facts({"rows": rows, "cost": advice.get("cost") and _cost_words(advice["cost"])}),
            Note(items=tuple(advice["reasons"])),
        ]
    needs = Note(title=f"Rows needed, at {level_words(advice['level'])}", items=tuple(_needed(advice)))
    return [*recipe, needs, _promises(advice)]


def short_advice(advice: Mapping[str, Any]) -> str:
    """Return the command alone, or the rows that are needed if there is no command."""
    return advice["command"] or "\n".join(_needed(advice))


def _needed(advice: Mapping[str, Any]) -> list[str]:
    rows, needs = advice["test_rows"], []
    if advice["dev_rows"] is not None:
        best = counted(advice["candidates"], "candidate")
        needs.append(
            f"choose within {amount(advice['gap'])} of the best of {best}: {advice['dev_rows']:,} development rows"
        )
    if advice["width"] is not None:
        ways = (("bound", "whatever the losses"), ("normal", "by normal planning"))
        words = [f"{rows[by]:,} test rows {how}" for by, how in ways if rows[by] is not None]
        needs.append(f"an interval {amount(advice['width'])} wide: {', '.join(words)}")
    return needs


def _promises(advice: Mapping[str, Any]) -> Note:
    gap, width = advice["bounds"]["dev_gap"], advice["bounds"]["test_width"]
    promises = []
    if gap is not None:
        promises.append(f"choosing on {advice['sizes']['dev']:,} rows once: within {amount(gap)} of the best candidate")
    if width is not None:
        promises.append(f"testing on {advice['sizes']['test']:,} rows once: an interval at most {amount(width)} wide")
    return Note(title="What the rows at hand promise", items=tuple(promises))


def over_lines(command: str, most: int = 76) -> str:
    """Return a command line broken before options, so that it can be copied as it stands.

    >>> over_lines("heldout evaluate a.csv --target y --test kfold:5", 32).splitlines()
    ['heldout evaluate a.csv \\\\', '  --target y --test kfold:5']
    """
    first, *options = command.split(" --")
    lines = [first]
    for option in options:
        if len(lines[-1]) + len(option) + 7 <= most:
            lines[-1] += f" --{option}"
        else:
            lines.append(f"  --{option}")
    return " \\\n".join(lines)


def _cost_words(cost: Mapping[str, Any]) -> str:
    time = f", about {show_seconds(cost['seconds'])} on this machine" if cost["seconds"] is not None else ""
    return f"{cost['cells']:,} cells, {fit_words(cost['fits'], cost['fits_before'])}{time}"


def splits_blocks(splits: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of drawn splits: their description and the sizes of the first parts."""
    rows = zip(itertools.count(), splits["train_rows"], splits["held_rows"], strict=False)
    return [
        Headline(splits["words"]),
        Table(title="", head=("part", "trains on", "holds out"), rows=tuple(rows)),
        Facts({"fingerprint": splits["fingerprint"][:12], "of data": splits["task_fingerprint"][:12]}),
    ]


def splits_summary_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return a table with one row per part, then training size, buffers and class shares as a line each."""
    parts, totals = summary["parts"], summary["totals"]
    buffered = totals["buffer_mean"] > 0
    names = [name for name in _COLUMNS if name in parts and (buffered or name != "buffer_rows")]
    table = Table(
        title="",
        head=tuple(_COLUMNS[name] for name in names),
        rows=tuple(zip(*(map(_split_cell, list(parts[name])) for name in names), strict=True)),
        brief=MOST_PARTS,
    )
    thrown = f"buffers throw away {_mean(totals['buffer_mean'])} rows a part on average"
    remarks: tuple[Remark, ...] = tuple(("H101", "warning", note, {}) for note in totals.get("notes", ()))
    return [
        Headline(f"{summary['words']}: {counted(totals['parts'], 'part')} of {totals['rows']:,} rows"),
        table,
        Note(_training_words(totals)),
        Note(thrown if buffered else ""),
        Note(_share_words(totals) if "strata" in totals else ""),
        Findings(remarks),
    ]


def _split_cell(value: Any) -> Cell:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "M":
        return str(value.astype("datetime64[s]")).removesuffix("T00:00:00")
    if isinstance(value, float) or kind == "f":
        return Number(float(value), f"{value:g}")
    return int(value) if kind in "iu" and kind else str(value)


def _training_words(totals: Mapping[str, Any]) -> str:
    least, most = totals["train_least"], totals["train_most"]
    size = f"{least:,}" if least == most else f"{least:,} to {most:,}, {_mean(totals['train_mean'])} on average"
    words = f"training size {size}, {totals['train_share']:.1%} of the rows"
    if totals["effective_mean"] < totals["train_mean"] * (1 - 1e-9):
        words += f"; by their weights they count as {_mean(totals['effective_mean'])}"
    return words


def _share_words(totals: Mapping[str, Any]) -> str:
    count, word = totals["strata_count"], totals["strata"]
    if totals.get("shares_untold"):
        return f"{count:,} {word}: too many to tell their shares in each of {totals['parts']:,} parts"
    held, train = totals["held_deviation"], totals["train_deviation"]
    where = "" if abs(held["points"]) < 0.05 else f" (the farthest: {held['of']} in part {held['part']})"
    return (
        f"{count:,} {word}: held-out shares are those of all rows to within {abs(held['points']):.1f} points{where}, "
        f"training shares to within {abs(train['points']):.1f}"
    )


def _mean(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def ledger_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return each test set with its looks, the oldest first, and the interval width left for the next look."""
    if not summary["test_sets"]:
        return [Note(f"No test set was looked at, by {summary['journal']}. Cross-validation is no look.")]
    blocks: list[Block] = []
    for test_set in summary["test_sets"]:
        name: tuple[Text, ...] = (Span(f"test set {test_set['rows_key'][:8]}", "strong"), f"  {_looks_of(test_set)}")
        blocks += [Headline(name), _looks(test_set["looks"]), Note(width_words(test_set, summary["level"]))]  # type: ignore[arg-type]
    return blocks


def short_ledger(summary: Mapping[str, Any]) -> str:
    """Return one line per test set.

    >>> one = {"rows_key": "ab" * 16, "rows": 50, "next_width": 0.4, "looks": [{}]}
    >>> short_ledger({"level": 0.95, "test_sets": [one]})
    'abababab  50 rows, 1 look  next look: an interval up to 0.4 wide at 95 %, for a loss from 0 to 1'
    """
    return "\n".join(
        f"{test_set['rows_key'][:8]}  {_looks_of(test_set)}  {width_words(test_set, summary['level'])}"
        for test_set in summary["test_sets"]
    )


def width_words(test_set: Mapping[str, Any], level: float) -> str:
    """Return a sentence on how precise an interval the next look at a test set can give."""
    if test_set["next_width"] is None:
        return "next look: no bound covers a learner chosen after these. Test on fresh rows"
    if test_set["next_width"] >= 1:
        return "next look: these rows are used up, the interval would tell nothing. Test on fresh rows"
    width = amount(test_set["next_width"])
    return f"next look: an interval up to {width} wide at {level_words(level)}, for a loss from 0 to 1"


def _looks_of(test_set: Mapping[str, Any]) -> str:
    return f"{test_set['rows']:,} rows, {counted(len(test_set['looks']), 'look')}"


def _looks(looks: Sequence[Mapping[str, Any]]) -> Table:
    rows = tuple(
        (
            look["when"].replace("T", " ").removesuffix("+00:00"),
            look["learner"],
            look["loss"],
            look["answer"] + (f": {look['told']}" if look.get("told") else ""),
        )
        for look in looks
    )
    return Table(title="", head=("when", "learner", "loss", "told"), rows=rows, brief=10_000)
