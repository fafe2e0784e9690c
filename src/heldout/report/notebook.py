"""The summary of a result or a comparison as HTML for a notebook: the verdict first, the rest a click away.

A fragment has no script, no address and no `id`, and any text in it is escaped by :mod:`heldout.base.markup`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.base.markup import (
    MOST_CELL,
    MOST_MESSAGE,
    SPACE,
    Html,
    badge,
    code,
    details,
    element,
    facts,
    finding_markup,
    html,
    listed,
    table,
    titled,
    together,
    view,
)
from heldout.base.words import clipped, fit_words, line, number, told
from heldout.planner.plan_markup import plan_markup
from heldout.report.text import is_shown
from heldout.results.choices import choice_words, words_of_choice
from heldout.risk.estimate_markup import OPTIMISTIC, estimate_markup

MOST_FINDINGS = 8
MOST_PAIRS = 45  # all pairs of ten learners
_OF_FOLDS = ("fold", "repeat", "train_rows", "held_rows")  # the columns of folds that are no loss


def result_fragment(summary: Mapping[str, Any]) -> str:
    """A result: verdict, risk, what stands beside it, folds with their choices, findings and the predictor."""
    verdict = summary["verdict"]
    return view(
        _verdict(verdict),
        estimate_markup(summary["risk"]),
        _beside(summary["estimates"], verdict["meanings"]),
        _folds(summary),
        findings_markup(summary["findings"]),
        facts({"predictor": summary["covers"]["sentence"]}),
        details("What the numbers mean", _meanings(summary["estimates"], verdict["meanings"])),
        details("What would make it more certain", listed(verdict["surer"])),
        details("How it was made", _made(summary)),
        details("The plan", plan_markup(summary["plan"])),
        details(f"{len(summary['failures']):,} failed cells", _failures(summary["failures"])),
    )


def comparison_fragment(summary: Mapping[str, Any]) -> str:
    """A comparison: verdict, ranking, differences of pairs, findings, and how they were made."""
    verdict = summary["verdict"]
    return view(
        _verdict(verdict),
        _ranking(summary["ranking"]),
        _pairs(summary["pairs"]),
        findings_markup(summary["findings"]),
        titled("Without a result", table(("learner", "why"), _failed(summary["failures"]))),
        details("Every pair in a sentence", listed([pair["sentence"] for pair in summary["pairs"][:MOST_PAIRS]])),
        details("What would make it more certain", listed(verdict["surer"])),
        details("What the learners chose", _choices_of(summary["learners"])),
        details("How it was made", _compared(summary)),
    )


def tuned_fragment(tuned: Mapping[str, Any]) -> str:
    """A tuned learner that was fitted: the choice, its validation number and what corrects it, and what covers it."""
    of = f"of {tuned['candidates']:,} candidates" if tuned["candidates"] > 1 else "the only candidate"
    mean = f"mean of {tuned['parts']:,} parts" if tuned["parts"] > 1 else "one part"
    return view(
        element(
            "p",
            "Chosen:",
            SPACE,
            element("strong", html(choice_words(tuned["family"], tuned["params"]), MOST_MESSAGE)),
            Html(", "),
            of,
        ),
        element("p", f"{tuned['loss']} {number(tuned['value'])} in validation, {mean}", SPACE, _mark(tuned)),
        _beside(tuned["estimates"], {name: {"label": label} for name, label in tuned["labels"].items()}),
        _corrections_wait() if tuned["optimistic"] and not tuned["estimates"] else "",
        facts(
            {
                "predictor": tuned["covers"],
                "failed": f"{tuned['failed']:,} cells: see failures_" if tuned["failed"] else None,
            }
        ),
    )


def _corrections_wait() -> Html:
    return element("p", "What corrects this number is in estimates_, made when asked for.", css="quiet")


def findings_markup(findings: Sequence[Mapping[str, Any]]) -> Html:
    """Findings by number, the first of them if there are many."""
    lines = [finding_markup(one["code"], one["severity"], one["message"]) for one in findings]
    rest = lines[MOST_FINDINGS:]
    return titled("Findings", *lines[:MOST_FINDINGS], details(f"{len(rest):,} more", *rest))


def _verdict(verdict: Mapping[str, Any]) -> Html:
    """The sentence, and below it those that keep it from being taken for more than it is."""
    below = [verdict.get("against"), verdict["promise"], verdict.get("optimism")]  # a comparison has but the promise
    return together(
        element("p", verdict["sentence"], css="head"),
        *(element("p", sentence) for sentence in below if sentence),
    )


def _beside(estimates: Mapping[str, Any], meanings: Mapping[str, Any]) -> Html:
    rows = [
        (
            together(html(_label(name, meanings), MOST_CELL), SPACE, _mark(one)),
            _value(one),
            _between(one),
            element("span", one["estimand"]),
        )
        for name, one in estimates.items()
        if is_shown(name, one)
    ]
    level = _level(next(iter(estimates.values()))) if rows else ""
    return titled("Other estimates", table(("", "value", level, "estimates"), rows))


def _value(estimate: Mapping[str, Any]) -> Any:
    return estimate["value"] if estimate.get("answer") is None else told(estimate)


def _between(estimate: Mapping[str, Any]) -> str:
    return "none" if estimate["low"] is None else f"{number(estimate['low'])} to {number(estimate['high'])}"


def _level(estimate: Mapping[str, Any]) -> str:
    return f"{100 * estimate['level']:.4g}% interval"


def _mark(estimate: Mapping[str, Any]) -> Html:
    return badge(OPTIMISTIC, "warning") if estimate["optimistic"] else Html("")


def _label(name: str, meanings: Mapping[str, Any]) -> str:
    return str(meanings[name]["label"]) if name in meanings else name


def _folds(summary: Mapping[str, Any]) -> Html:
    """A row a fold, with what was chosen in it."""
    folds, choices = summary["folds"], {choice["fold"]: choice for choice in summary["choices"]}
    if len(folds) < 2 and not choices:
        return Html("")
    losses = [name for name in folds[0] if name not in _OF_FOLDS]
    repeated = any(fold["repeat"] for fold in folds)
    chosen_by = next((name for choice in choices.values() for name in choice if name.startswith("validation_")), None)
    head = ["fold", *(["repeat"] if repeated else []), "trained on", "held out", *losses]
    rows = [
        [
            fold["fold"],
            *([fold["repeat"]] if repeated else []),
            fold["train_rows"],
            fold["held_rows"],
            *(fold[loss] for loss in losses),
            *_chosen(choices, fold["fold"], chosen_by),
        ]
        for fold in folds
    ]
    return titled("Folds", table(head + (["validation", "chosen"] if choices else []), rows))


def _chosen(choices: Mapping[Any, Mapping[str, Any]], fold: Any, chosen_by: str | None) -> list[Any]:
    if not choices:
        return []
    choice = choices.get(fold)
    if choice is None:
        return [None, "–"]
    return [None if chosen_by is None else choice[chosen_by], words_of_choice(choice)]


def _meanings(estimates: Mapping[str, Any], meanings: Mapping[str, Any]) -> Html:
    shown = [name for name, one in estimates.items() if name == "risk" or is_shown(name, one)]
    return facts({line(meanings[name]["label"]): meanings[name]["text"] for name in shown if name in meanings})


def _made(summary: Mapping[str, Any]) -> Html:
    about, seconds = summary["about"], summary["seconds"]
    fits = sum(step["fits"] for step in summary["plan"]["lines"])
    return together(
        facts(
            {
                "learner": about["learner"],
                "test": about["test"],
                "validation": about["validation"],
                "data": f"{about['rows']:,} rows, {about['columns']:,} columns; {_fingerprint(about)}",
                "seed": str(about["seed"]),
                "work": f"{fit_words(fits)} in {seconds['total']:.3g} s",
                "with": _builds(about["environment"]),
            }
        ),
        code(about["call"]),
        code(about["command"]),
    )


def _fingerprint(about: Mapping[str, Any]) -> str:
    return f"fingerprint {about['fingerprint'][:12]}"


def _builds(environment: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in environment.items())


def _failures(failures: Sequence[Mapping[str, Any]]) -> Html:
    rows = [
        (
            one["panel"],
            one["part"],
            one["candidate"],
            one["stage"],
            html(f"{one['error']}: {one['message']}", MOST_MESSAGE),
        )
        for one in failures
    ]
    return table(("panel", "part", "candidate", "stage", "error"), rows)


def _ranking(ranking: Sequence[Mapping[str, Any]]) -> Html:
    rows = [
        (
            one["name"],
            _value(one),
            _between(one),
            html(one["reason"] or "", MOST_MESSAGE),
        )
        for one in ranking
    ]
    head = ("learner", ranking[0]["loss"], _level(ranking[0]), "") if ranking else ()
    note = element("p", "Each interval holds by itself. That two overlap does not mean that there is no difference.")
    return titled("Ranking", table(head, rows, most=MOST_PAIRS), note if rows else "")


def _failed(failures: Mapping[str, Any]) -> list[tuple[Any, Html]]:
    return [(name, html(why, MOST_MESSAGE)) for name, why in failures.items()]


def _pairs(pairs: Sequence[Mapping[str, Any]]) -> Html:
    rows = [
        (
            f"{clipped(line(pair['first']), 38)} − {clipped(line(pair['second']), 38)}",
            pair["difference"],
            _between(pair),
            pair["p"],
            pair["p_holm"],
            _chances(pair),
            pair["verdict"],
        )
        for pair in pairs
    ]
    head = ("pair", "difference", "interval", "p", "Holm p", _chances_head(pairs), "verdict")
    return titled("Differences", table(head, rows, most=MOST_PAIRS))


def _chances(pair: Mapping[str, Any]) -> str:
    chances = (pair["chance_first_better"], pair["chance_equal"], pair["chance_second_better"])
    return " / ".join(f"{one:.3f}" for one in chances if one is not None) or "–"


def _chances_head(pairs: Sequence[Mapping[str, Any]]) -> str:
    equal = any(pair["chance_equal"] is not None for pair in pairs)
    return "better / equal / worse" if equal else "better / worse"


def _choices_of(learners: Mapping[str, Mapping[str, Any]]) -> Html:
    rows = [
        (name, choice["fold"], words_of_choice(choice))
        for name, learner in learners.items()
        for choice in learner["choices"]
    ]
    return table(("learner", "fold", "chosen"), rows, most=MOST_PAIRS)


def _compared(summary: Mapping[str, Any]) -> Html:
    about, made = summary["about"], [pair for pair in summary["pairs"] if pair["method"]]
    ways = dict.fromkeys(f"{one['method']}, {one['guarantee']}; p by {one['p_method']}" for one in made)
    level = f"{100 * summary['level']:.4g}%"
    each = f", each at {100 * made[0]['interval_level']:.4g}%" if len(made) > 1 else ""
    return together(
        facts(
            {
                "intervals": f"{'; '.join(ways)}; they hold together at {level}{each}" if made else None,
                "equal": None if summary["rope"] is None else f"within ±{number(summary['rope'])}",
                "test": f"{line(about['test'])}, the same for all",
                "data": f"{about['rows']:,} rows; {_fingerprint(about)}",
                "seed": str(about["seed"]),
                "with": _builds(about["environment"]),
            }
        ),
        code(about["call"]),
        code(about["command"]),
    )
