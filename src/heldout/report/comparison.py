"""Turns summaries of comparisons into blocks: on one dataset, against chance, and over several datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from heldout.base.words import line, shortened, words_of_choice
from heldout.report.blocks import Block, Cell, Details, Facts, Headline, Line, Lines, Note, Number, Table, Text
from heldout.report.first_screen import checked_words, finding_lines, heading, next_line, other_findings
from heldout.report.result import findings_block, made_by, validation_columns
from heldout.report.words import (
    DASH,
    amount,
    between,
    counted,
    ends_words,
    gap_words,
    leading,
    level_words,
    p_words,
    shown,
)

MOST_PAIRS = 45  # all pairs of ten learners
NOTHING = Number(None, "")  # an empty cell of a column of numbers
_TESTS, _RANK_TESTS = {"p": "p", "p_holm": "Holm p"}, {"p_nemenyi": "Nemenyi p", "p_permuted": "shuffled p"}
_CHANCES = {"chance_first_better": "better", "chance_equal": "equal", "chance_second_better": "worse"}
ALONE = "Each interval holds by itself: two that overlap do not mean that there is no difference."


def comparison_blocks(summary: Mapping[str, Any], *, pairs_too: bool = False, at_length: bool = False) -> list[Block]:
    """Return the first screen of a comparison, and the rest behind clicks.

    Text and terminal show the pairs if `pairs_too`, and all of it `at_length`.
    """
    verdict, pairs, headline = summary["verdict"], summary["pairs"], summary["headline"]
    sentences = tuple(pair["sentence"] for pair in pairs[:MOST_PAIRS])
    sentences += (f"… {len(pairs) - MOST_PAIRS} more pairs",) if len(pairs) > MOST_PAIRS else ()
    every = (Note(items=sentences), pairs_table(pairs), p_value_table(pairs), comparison_facts(summary))
    behind: dict[str, Callable[[], Sequence[Block]]] = {
        "Other findings": lambda: (findings_block(other_findings(summary["findings"])),),
        "What would make it more certain": lambda: (Note(items=tuple(verdict["surer"])),),
        "What the learners chose": lambda: tuple(
            choices_table(name, learner["choices"]) for name, learner in summary["learners"].items()
        ),
        "How it was made": lambda: tuple(made_by({"level": summary["level"], **summary["about"]})),
    }
    count = counted(len(summary["ranking"]), "learner")
    (first, *rest), found = (*verdict_lines(summary), checked_words(summary)), finding_lines(summary["findings"])
    return [
        *heading(headline, f"{count}, same {where(summary)}"),
        Lines((Line(first, indent=2, style="strong"), *(Line(text, indent=2) for text in rest if text), *found)),
        leaders_table(summary),
        failed_table(summary["failures"]),
        Facts({**_shared_facts(summary), **(summary.get("head") or {})}),
        next_line(summary.get("next", 'comparison.report("study.html") for a page, comparison.table for all pairs')),
        Details("Every pair", every, always=pairs_too or at_length),
        *(Details(title, within, always=at_length) for title, within in behind.items()),
    ]


def where(summary: Mapping[str, Any]) -> str:
    """Return what all learners were tested on: folds, or test rows."""
    return "test rows" if any(one["procedure"].startswith("one test") for one in _headlines(summary)) else "folds"


def _headlines(summary: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [learner["headline"] for learner in summary["learners"].values()]


def lead_of(summary: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Return the metric of a learner that leads the comparison."""
    return leading(summary["learners"][name]) if name in summary["learners"] else None


def verdict_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return which learner is best, which cannot be told from it, whether the others are worse, and the simplest."""
    verdict, others = summary["verdict"], summary["against_best"]
    best = verdict["best"]
    metric = None if best is None else lead_of(summary, best)
    if metric is None:
        return [line(verdict["sentence"])]
    ends = f" ({ends_words(metric)})" if metric["low"] is not None else ""
    lines = [f"Best: {line(best)}, {metric['label']} {shown(metric['value'], metric)}{ends}."]
    by = {
        way: [one for one in others if one["verdict"] == way]
        for way in ("not shown", "worse", "better", "not compared")
    }
    ties, worse = by["not shown"], by["worse"]
    clauses = []
    if len(ties) == 1:
        differs = ", ".join(filter(None, difference_words(ties[0], metric)))
        clauses = [f"{line(ties[0]['name'])} cannot be told from it{f' ({differs})' if differs else ''}"]
    elif ties:
        clauses = [f"{_named(ties)} cannot be told from it"]
    if worse:
        every = len(worse) + len(ties) == len(others)
        few = f"{'the other' if ties else _named(worse)} is worse"
        clauses += [few if len(worse) == 1 else "the others are worse" if every else f"{_named(worse)} are worse"]
    clauses += [f"{_named(by['better'])} is nevertheless shown to be better"] if by["better"] else []
    clauses += [f"{_named(by['not compared'])} cannot be compared"] if by["not compared"] else []
    text = "; ".join(clauses)
    lines += [f"{'The' if text.startswith('the ') else text[:3]}{text[3:]}."] if clauses else []
    if verdict["simplest"] == best:
        lines += ["It is also the simplest of them."]
    elif verdict["simplest"]:
        lines += [f"Simplest that cannot be told from the best: {line(verdict['simplest'])}."]
    return lines


def _named(others: Sequence[Mapping[str, Any]], most: int = 6) -> str:
    names = [shortened(one["name"], 30) for one in others]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def difference_words(
    other: Mapping[str, Any], metric: Mapping[str, Any], like: Mapping[str, Any] | None = None
) -> tuple[str, str]:
    """Return the difference of a learner to the best and its interval, rounded as that of the learner `like`."""
    if other["difference"] is None:
        return "", ""
    return gap_words({**other, "value": other["difference"]}, metric, sign=True, like=like)


def leaders_table(summary: Mapping[str, Any]) -> Table:
    """Return a table of the learners by the score that leads, the best first, each against the best."""
    others = {one["name"]: one for one in summary["against_best"]}
    best = summary["verdict"]["best"]
    rows: list[tuple[Cell, ...]] = []
    order = [name for name in (best, *others) if name is not None]
    order += [one["name"] for one in summary["ranking"] if one["name"] not in order]
    leads = {name: lead_of(summary, name) for name in order}
    first = next((one for one in leads.values() if one is not None), None)
    nearest = next(iter(summary["against_best"]), None)
    for name in order:
        metric, other = leads[name], others.get(name)
        value, ends = ("", "") if other is None or first is None else difference_words(other, first, nearest)
        rows.append(
            (
                name,
                DASH if metric is None or first is None else Number(metric["value"], shown(metric["value"], first)),
                NOTHING if metric is None else Number(metric["low"], ends_words(metric, like=first) or "none"),
                NOTHING if other is None else Number(other["difference"], value),
                Number(None, f"({ends})" if ends else ""),
                "" if other is None else {"not shown": "undecided"}.get(other["verdict"], other["verdict"]),
            )
        )
    constant = any(line(one["learner"]).endswith("constant answer") for one in _headlines(summary))
    if first is not None and first["no_model"] is not None and not constant:
        rows.append(("no model", Number(first["no_model"], shown(first["no_model"], first)), *[NOTHING] * 3, ""))
    label, level = ("", "interval") if first is None else (first["label"], f"{level_words(first['level'])} interval")
    head = ("learner", label, level, "less the best", "interval", "verdict")
    return Table(title="", label="Ranking", head=head, rows=tuple(rows), brief=MOST_PAIRS, key="ranking")


def _shared_facts(summary: Mapping[str, Any]) -> dict[str, Text | None]:
    """Return what all learners share: how they were tested, and what the intervals hold for."""
    procedures = list(dict.fromkeys(line(one["procedure"]).removeprefix("nested ") for one in _headlines(summary)))
    took = sum(learner["seconds"]["total"] for learner in summary["learners"].values())
    return {
        "tested by": "; ".join(procedures),
        "intervals": "those against the best hold for all pairs together; overlap of the others shows nothing",
        "work": f"{took:.2g} s, seed {summary['about']['seed']}",
    }


def pairs_table(pairs: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with one row per pair: the difference (first minus second), its interval and the verdict."""
    rows = tuple(
        (pair["first"], pair["second"], pair["difference"], Number(pair["low"], between(pair)), pair["verdict"])
        for pair in pairs
    )
    level = f"{level_words(pairs[0]['interval_level'])} interval" if pairs else "interval"
    head = ("first", "second", "difference", level, "what it shows")
    by = f" by {line(pairs[0]['loss'])}" if pairs and pairs[0].get("loss") else ""
    title = f"Differences of all pairs{by}, first less second"
    return Table(title=title, head=head, rows=rows, brief=MOST_PAIRS, most=500, key="pairs")


def p_value_table(pairs: Sequence[Mapping[str, Any]], tests: Mapping[str, str] = _TESTS) -> Table:
    """Return a table with one row per pair: its p-values, and the probabilities of better, equal and worse."""
    chances = [key for key in _CHANCES if any(pair[key] is not None for pair in pairs)]
    rows = tuple(
        (
            pair["first"],
            pair["second"],
            *(Number(pair[key], p_words(pair[key])) for key in tests),
            *(Number(pair[key], DASH if pair[key] is None else f"{pair[key]:.3f}") for key in chances),
        )
        for pair in pairs
    )
    head = ("first", "second", *tests.values(), *(_CHANCES[key] for key in chances))
    title = "Tests of the differences, and the chance that the first is better or worse"
    return Table(title=title, head=head, rows=rows, brief=MOST_PAIRS, most=500, key="tests")


def failed_table(failures: Mapping[str, Any]) -> Table:
    """Return a table of the learners that have no result, with the reasons."""
    rows = tuple((name, str(why)) for name, why in failures.items())
    return Table(title="Learners without a result", head=("learner", "why"), rows=rows, key="failures")


def comparison_facts(summary: Mapping[str, Any]) -> Facts:
    """Return how the intervals were computed, what the differences and estimates estimate, and on which data."""
    about, made = summary["about"], [pair for pair in summary["pairs"] if pair["method"]]
    ways = dict.fromkeys(f"{pair['method']}, {pair['guarantee']}; p by {pair['p_method']}" for pair in made)
    level = level_words(summary["level"])
    together = len(summary["pairs"]) > 1 and bool(made)
    each = f", each at {level_words(made[0]['interval_level'])}" if together else ""
    held = f"they hold together at {level}{each}" if together else f"at {level}"
    equal = f"within ±{amount(summary['rope'])} two learners count as practically equal"
    return Facts(
        {
            "intervals": f"{'; '.join(ways)}; {held}" if made else None,
            "differences": "; ".join(list(dict.fromkeys(str(pair["estimand"]) for pair in made))[:5]),
            "equal": None if summary["rope"] is None else equal,
            "estimates": "; ".join(_estimands(summary["ranking"])),
            "test": f"{about['test']}, the same for all",
            "data": f"{about['rows']:,} rows, {about['fingerprint'][:12]}; seed {about['seed']}",
        }
    )


def _estimands(ranking: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the distinct estimands of a ranking; if they differ, each is preceded by the names of its learners."""
    by_words: dict[str, list[str]] = {}
    for estimate in ranking:
        by_words.setdefault(str(estimate["estimand"]), []).append(str(estimate["name"]))
    return [words if len(by_words) == 1 else f"{', '.join(names)}: {words}" for words, names in by_words.items()]


def choices_table(name: str, choices: Sequence[Mapping[str, Any]], *, room: int = 60_000, key: str = "") -> Table:
    """Return a table with one row per fold: the chosen candidate, its validation losses, ties and failures."""
    inside = validation_columns(choices)
    rows: list[tuple[Cell, ...]] = [
        (
            choice["fold"],
            words_of_choice(choice),
            *(choice[column] for column in inside),
            Number(choice["tied"], f"{choice['tied']:,}" if choice["tied"] > 1 else "–"),
            choice["failed_candidates"],
        )
        for choice in choices
    ]
    head = (
        "fold",
        "chosen",
        *(f"validation {loss}" for loss in inside.values()),
        "tied candidates",
        "failed candidates",
    )
    title = f"What each fold of {name} chose" if name else "What each fold chose"
    return Table(title=title, head=head, rows=tuple(rows), brief=MOST_PAIRS, room=room, key=key)


def short_comparison(summary: Mapping[str, Any]) -> str:
    """Return the verdict on one line."""
    return " ".join(verdict_lines(summary))


def chance_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of a permutation test against chance."""
    about, failed = summary["about"], summary["failed"]
    missing = f", {failed} without a value, which count as no worse" if failed else ""
    return [
        Headline(summary["sentence"]),
        Facts(
            {
                "shuffled": f"{summary['permutations']:,} times: {summary['exchanged']}{missing}",
                "test": about["test"],
                "data": f"{about['rows']:,} rows, {about['fingerprint'][:12]}; seed {about['seed']}",
            }
        ),
    ]


def across_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of a comparison over datasets: sentences, mean ranks, pairs and tests."""
    about, friedman, pairs = summary["about"], summary["friedman"], summary["pairs"]
    ranks = tuple((rank["name"], rank["mean_rank"]) for rank in summary["mean_ranks"])
    level = level_words(about["level"])
    scale = f"none: {about['loss']} of different datasets is not on one scale"
    return [
        Note(items=tuple(pair["sentence"] for pair in pairs[:MOST_PAIRS])),
        Table(title="Mean ranks", head=("learner", "mean rank"), rows=ranks, brief=MOST_PAIRS),
        p_value_table(pairs, _RANK_TESTS),
        Note(title="Left out", items=tuple(map(str, summary["left_out"].values()))),
        Facts(
            {
                "Friedman": f"chi-square {amount(friedman['statistic'])}, p = {amount(friedman['p'])}; "
                f"by shuffled ranks p = {amount(friedman['p_permuted'])}",
                "Nemenyi": f"mean ranks must differ by {amount(summary['critical_distance'])} at {level}",
                "signed rank": None if about["on_one_scale"] else scale,
                "datasets": f"{len(about['datasets'])}, by {about['loss']}; seed {about['seed']}",
            }
        ),
    ]
