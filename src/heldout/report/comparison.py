"""Turns summaries of comparisons into blocks: on one dataset, against chance, and over several datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout.base.words import line, words_of_choice
from heldout.report.blocks import Block, Cell, Details, Facts, Headline, Note, Number, Table
from heldout.report.result import findings_block, made_by, validation_columns, value_cell
from heldout.report.words import DASH, amount, between, level_words, p_words, row_count

MOST_PAIRS = 45  # all pairs of ten learners
FEW_PAIRS = 6  # up to this many pairs, their sentences are displayed at once
_TESTS, _RANK_TESTS = {"p": "p", "p_holm": "Holm p"}, {"p_nemenyi": "Nemenyi p", "p_permuted": "shuffled p"}
_CHANCES = {"chance_first_better": "better", "chance_equal": "equal", "chance_second_better": "worse"}
ALONE = "Each interval holds by itself: two that overlap do not mean that there is no difference."


def comparison_blocks(summary: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of a comparison: verdict, ranking, differences of pairs, findings and settings."""
    verdict, pairs, ranking = summary["verdict"], summary["pairs"], summary["ranking"]
    sentences = tuple(pair["sentence"] for pair in pairs[:MOST_PAIRS])
    sentences += (f"… {len(pairs) - MOST_PAIRS} more pairs",) if len(pairs) > MOST_PAIRS else ()
    every = Note(items=sentences)
    return [
        Headline(verdict["sentence"]),
        Note(verdict["promise"]),
        every if len(pairs) <= FEW_PAIRS else Note(),
        ranking_table(ranking),
        Note(ALONE) if ranking else Note(),
        pairs_table(pairs),
        p_value_table(pairs),
        failed_table(summary["failures"]),
        findings_block(summary["findings"]),
        comparison_facts(summary),
        Details("Every pair in a sentence", (every,), always=True) if len(pairs) > FEW_PAIRS else Note(),
        Details("What would make it more certain", (Note(items=tuple(verdict["surer"])),)),
        Details(
            "What the learners chose",
            tuple(choices_table(name, learner["choices"]) for name, learner in summary["learners"].items()),
        ),
        Details("How it was made", tuple(made_by({"level": summary["level"], **summary["about"]}))),
    ]


def ranking_table(ranking: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of the learners with their intervals, the best first."""
    rows = tuple(
        (
            place,
            estimate["name"],
            value_cell(estimate),
            Number(estimate["low"], between(estimate)),
            Number(estimate["train_size"], row_count(estimate["train_size"])),
            f"{estimate['method']}, {estimate['guarantee']}"
            if estimate["method"]
            else estimate["reason"] or "no interval",
        )
        for place, estimate in enumerate(ranking, 1)
    )
    loss = ranking[0]["loss"] if ranking else "risk"
    level = f"{level_words(ranking[0]['level'])} interval" if ranking else "interval"
    head = ("place", "learner", loss, level, "training rows", "interval by")
    return Table(title="Ranking", head=head, rows=rows, brief=MOST_PAIRS, key="ranking")


def pairs_table(pairs: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with one row per pair: the difference (first minus second), its interval and the verdict."""
    rows = tuple(
        (pair["first"], pair["second"], pair["difference"], Number(pair["low"], between(pair)), pair["verdict"])
        for pair in pairs
    )
    level = f"{level_words(pairs[0]['interval_level'])} interval" if pairs else "interval"
    head = ("first", "second", "difference", level, "what it shows")
    title = "Differences of all pairs, first less second"
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
    """Return one line per pair: its sentence and what its difference estimates."""
    pairs = summary["pairs"]
    lines = [f"{line(pair['sentence'])} The difference estimates: {line(pair['estimand'])}." for pair in pairs]
    more = [f"… {len(pairs) - MOST_PAIRS} more pairs"] if len(pairs) > MOST_PAIRS else []
    return "\n".join([*lines[:MOST_PAIRS], *more])


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
