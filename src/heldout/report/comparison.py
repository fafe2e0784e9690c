"""The summary of a comparison as text: what it shows first, then the numbers it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.report.text import line, number

MOST_SENTENCES = 45  # all pairs of ten learners


def render_comparison(summary: Mapping[str, Any]) -> str:
    """The whole comparison as plain text: sentences, ranking, pairs, and how they were made."""
    blocks = [_sentences(summary["pairs"]), _ranking(summary["ranking"]), _pairs(summary["pairs"])]
    blocks += ["\n".join(f"{f['code']} {f['severity']}: {line(f['message'])}" for f in summary["findings"])]
    blocks += [_foot(summary)]
    return "\n\n".join(block for block in blocks if block)


def _sentences(pairs: Sequence[Mapping[str, Any]]) -> str:
    shown = [line(pair["sentence"]) for pair in pairs[:MOST_SENTENCES]]
    more = [f"… {len(pairs) - MOST_SENTENCES} more pairs"] if len(pairs) > MOST_SENTENCES else []
    return "\n".join([*shown, *more])


def _ranking(ranking: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            line(one["name"]),
            number(one["value"]),
            "" if one["low"] is None else f"{number(one['low'])} to {number(one['high'])}",
            "" if one["value"] is not None else line(one["reason"]),
        )
        for one in ranking
    ]
    level = f"{100 * ranking[0]['level']:.4g}% interval, each by itself"
    return columns((("Ranking", line(ranking[0]["loss"]), level, ""), *rows))


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            f"{line(pair['first'])} − {line(pair['second'])}",
            number(pair["difference"]),
            "–" if pair["low"] is None else f"{number(pair['low'])} to {number(pair['high'])}",
            number(pair["p"]),
            number(pair["p_holm"]),
            _chances(pair),
        )
        for pair in pairs[:MOST_SENTENCES]
    ]
    chances = "better / equal / worse" if any(pair["chance_equal"] is not None for pair in pairs) else "better / worse"
    head = ("Difference", "", "interval", "p", "Holm p", chances if any(row[-1] for row in rows) else "")
    return columns((head, *rows))


def _chances(pair: Mapping[str, Any]) -> str:
    chances = (pair["chance_first_better"], pair["chance_equal"], pair["chance_second_better"])
    return " / ".join(f"{one:.3f}" for one in chances if one is not None)


def _foot(summary: Mapping[str, Any]) -> str:
    about, pairs = summary["about"], summary["pairs"]
    level = f"{100 * summary['level']:.4g}%"
    made = [pair for pair in pairs if pair["method"]]
    lines = []
    if made:
        ways = dict.fromkeys(f"{one['method']}, {one['guarantee']}; p by {one['p_method']}" for one in made)
        each = f"{100 * made[0]['interval_level']:.4g}%"
        held = f"they hold together at {level}, each at {each}" if len(pairs) > 1 else f"at {level}"
        lines.append(f"Intervals   {line('; '.join(ways))}; {held}")
    if summary["rope"] is not None:
        lines.append(f"Equal       within ±{number(summary['rope'])}")
    lines += [f"{head:<12}{text}" for head, text in estimand_lines(summary["ranking"])]
    lines.append(f"Test        {line(about['test'])}, the same for all")
    lines.append(f"Data        {about['rows']:,} rows, {about['fingerprint'][:12]}; seed {about['seed']}")
    return "\n".join(lines)


def estimand_lines(ranking: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What the numbers of a ranking estimate, and at which training size; learners that share it share a line."""
    by_words: dict[str, list[str]] = {}
    for one in ranking:
        by_words.setdefault(line(one["estimand"]), []).append(line(one["name"]))
    heads = ("Estimates", *[""] * (len(by_words) - 1))
    alone = len(by_words) == 1
    return [
        (head, words if alone else f"{', '.join(names)}: {words}")
        for head, (words, names) in zip(heads, by_words.items(), strict=True)
    ]


def render_chance(summary: Mapping[str, Any]) -> str:
    """A test against chance as plain text."""
    about, failed = summary["about"], summary["failed"]
    missing = f", {failed} without a value, which count as no worse" if failed else ""
    return "\n".join(
        [
            line(summary["sentence"]),
            "",
            f"Shuffled    {summary['permutations']:,} times: {line(summary['exchanged'])}{missing}",
            f"Test        {line(about['test'])}",
            f"Data        {about['rows']:,} rows, {about['fingerprint'][:12]}; seed {about['seed']}",
        ]
    )


def render_across(summary: Mapping[str, Any]) -> str:
    """A comparison over datasets as plain text: sentences, ranks, pairs, and how they were made."""
    about, friedman = summary["about"], summary["friedman"]
    ranks = [(line(one["name"]), number(one["mean_rank"]), "") for one in summary["mean_ranks"]]
    pairs = [
        (
            f"{line(pair['first'])}, {line(pair['second'])}",
            number(pair["p_nemenyi"]),
            number(pair["p_permuted"]),
            _chances(pair),
        )
        for pair in summary["pairs"]
    ]
    chances = "better / equal / worse" if about["rope"] is not None else "better / worse"
    foot = [
        f"Friedman    chi-square {number(friedman['statistic'])}, p = {number(friedman['p'])}; "
        f"by shuffled ranks p = {number(friedman['p_permuted'])}",
        f"Nemenyi     mean ranks must differ by {number(summary['critical_distance'])} at {100 * about['level']:.4g}%",
        f"Datasets    {len(about['datasets'])}, by {line(about['loss'])}; seed {about['seed']}",
    ]
    if not about["on_one_scale"]:
        foot.insert(2, f"Signed rank none: {line(about['loss'])} of different datasets is not on one scale")
    blocks = [
        _sentences(summary["pairs"]),
        columns((("Mean rank", "", ""), *ranks)),
        columns((("Pairs", "Nemenyi p", "shuffled p", chances if about["on_one_scale"] else ""), *pairs)),
        "\n".join(f"Left out    {line(why)}" for why in summary["left_out"].values()),
        "\n".join(foot),
    ]
    return "\n\n".join(block for block in blocks if block)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text under a heading, each column as wide as its widest; the first to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for place, row in enumerate(rows):
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:-1], widths[1:-1], strict=True)), row[-1]]
        lines.append(("  " if place else "") + "  ".join(cells).rstrip())
    return "\n".join([lines[0].replace(rows[0][0], rows[0][0] + "  ", 1).rstrip(), *lines[1:]])
