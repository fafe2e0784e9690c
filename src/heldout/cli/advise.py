"""`heldout advise`: recommends a recipe for the rows at hand, with what it promises and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import OptionError, Sentence, SplitError, Splitter
from heldout.base.words import show_seconds
from heldout.cli.help import GroupedCommand
from heldout.cli.options import Question, data_options, question_words
from heldout.cli.output import Output, as_option, shell_line, short_output_options

if TYPE_CHECKING:
    from heldout.api.advise import Advice
    from heldout.cli.question import PreparedQuestion
    from heldout.results.study_record import Question as PosedQuestion
    from heldout.risk.recipe import Recipe

# What a table itself tells: options, and the arguments of `heldout.advise` that they set.
_KNOWN = {"rows": "n", "candidates": "candidates", "columns": "columns", "group_count": "groups", "in_time": "time"}
_CLOSED_FORM = {"linear", "ridge"}


@click.command(cls=GroupedCommand, short_help="Which recipe suits these rows, what it promises and what it costs.")
@data_options
@click.option("--rows", type=click.IntRange(min=1), help="Without DATA: how many rows there are.")
@click.option("--candidates", type=click.IntRange(min=1), help="Without DATA: how many candidates are chosen from.")
@click.option("--columns", type=click.IntRange(min=1), help="Without DATA: how many columns there are.")
@click.option("--group-count", type=click.IntRange(min=1), help="Without DATA: how many groups the rows come in.")
@click.option("--in-time", is_flag=True, help="Without DATA: the rows come in time.")
@click.option("--gap", type=float, help="How much worse than the best candidate the chosen one may be.")
@click.option("--width", type=float, help="How wide the interval of the risk may be.")
@click.option("--error-rate", type=float, help="A guess of the error rate, to plan with.")
@click.option("--sd", type=float, help="A guess of the standard deviation of the loss of a row, to plan with.")
@click.option(
    "--about",
    type=click.Choice(["learner", "predictor"]),
    default="learner",
    show_default=True,
    help="Whether the risk of the learner is asked for, or that of one very predictor.",
)
@click.option(
    "--budget",
    metavar="TIME",
    help="What the study may take, such as 10min or 2h: a fit of each learner is timed, and a cheaper recipe advised "
    "where the first would take longer.",
)
@short_output_options
def advise(question: Question | None, *, level: float, budget: str | None, output: Output, **given: Any) -> None:
    """Recommend how to validate and test on the table in DATA, or on so many rows, and say why.

    Which recipe suits the rows, the roles and the number of candidates; how many rows it takes to choose and to test;
    what the rows at hand promise; how many fits that takes after the planner's rules. Nothing is fitted, except a fit
    of each learner where --budget asks for the time.

    \b
    Examples:
      heldout advise houses.csv --target price --learner ridge,tree
      heldout advise visits.csv -t stay --groups patient -l tree --budget 10min
      heldout advise --rows 10000 --candidates 17 --gap 0.05 --error-rate 0.1
    """
    from heldout.report.others import short_advice

    aims = {name: given[name] for name in ("gap", "width", "error_rate", "sd", "about")}
    known = {name: given[name] for name in _KNOWN if given[name]}
    if question is None:
        if budget is not None:
            raise OptionError("--budget needs DATA, to time a fit. Name a table.")
        summary = _on_numbers(known, {**aims, "level": level})
    else:
        if known:
            raise OptionError(f"--{min(known).replace('_', '-')} is for advice without DATA, which tell it themselves.")
        summary = _on_data(question, aims, budget=None if budget is None else seconds_of(budget))
    output.result(summary, kind="advice", short=short_advice)


def _splits_words(recipe: Recipe) -> list[str]:
    """Return the command-line options for the splits of a recipe."""
    validation = [] if recipe.validation is None else ["--validation", as_option(recipe.validation)]
    return ["--test", as_option(recipe.test), *validation]


def _posed(recipe: Recipe, prepared: PreparedQuestion) -> PosedQuestion:
    """Return the checked question with the splits of a recipe."""
    from heldout.api.tuned import Tuned
    from heldout.splits.parse import parse

    learner = prepared.learner
    if recipe.validation is not None and isinstance(learner, Tuned):
        learner = learner.set_params(validation=parse(as_option(recipe.validation)))
    return replace(prepared, learner=learner).pose(test=parse(as_option(recipe.test)))


def _reasons(recipe: Recipe) -> list[str]:
    return [reason.worded(as_option) if isinstance(reason, Sentence) else reason for reason in recipe.reasons]


def seconds_of(text: str) -> float:
    """Parse a duration to seconds; a plain number means seconds.

    >>> seconds_of("90"), seconds_of("10min"), seconds_of("1h 30min")
    (90.0, 600.0, 5400.0)
    """
    from heldout.splits.strategy import as_distance, nanoseconds, plain_number

    try:
        length = as_distance(text, what="--budget")
        assert isinstance(length, str), "a text stays one"
        plain = plain_number(length)
        seconds = float(plain) if plain is not None else nanoseconds(length) / 1e9
    except SplitError:
        seconds = 0.0
    if not 0 < seconds < 1e12:
        raise OptionError(f"--budget {text}: write a time such as 90s, 10min or 2h.")
    return seconds


def _on_numbers(known: Mapping[str, Any], aims: Mapping[str, Any]) -> dict[str, Any]:
    """Return advice for a number of rows, without data."""
    from heldout.api.advise import advise as advise_on

    advice = advise_on(**{_KNOWN[name]: value for name, value in known.items()}, **aims)
    recipe = advice.made_from
    if recipe is None:
        return {**advice.summary(), "command": None}
    roles = [f"--{role} COLUMN" for role, name in (("groups", "group_count"), ("time", "in_time")) if name in known]
    command = " ".join(["heldout evaluate DATA", *roles, *_splits_words(recipe)])
    return {**advice.summary(), "reasons": _reasons(recipe), "command": command}


def _on_data(question: Question, aims: Mapping[str, Any], *, budget: float | None) -> dict[str, Any]:
    """Return advice on a table and learners; with a budget in seconds, on the first recipe that keeps to it."""
    from heldout.api.evaluate import plan_of_question
    from heldout.cli.question import prepare

    prepared = prepare(question)
    advice = _advice_for(prepared, question, aims)
    recipe = advice.made_from
    assert recipe is not None, "the number of rows is known"
    reasons = _reasons(recipe)
    if budget is None:
        plan = plan_of_question(_posed(recipe, prepared))
        cost = {"cells": plan.cells, "fits": plan.fits, "fits_before": plan.fits_before, "seconds": None}
    else:
        recipe, cost, more = _within_budget(recipe, prepared, budget)
        reasons += more
    data = question.data if question.study is None else question.study.path
    command = shell_line(["heldout", "evaluate", data, *question_words(question), *_splits_words(recipe)])
    return {**advice.summary(), "reasons": reasons, "cost": cost, "command": command, "head": prepared.head}


def _advice_for(prepared: PreparedQuestion, question: Question, aims: Mapping[str, Any]) -> Advice:
    from heldout.api.advise import advise as advise_on
    from heldout.api.learners import as_search
    from heldout.losses import resolve_losses

    frame, classification = prepared.frame, bool(prepared.question.classification)
    loss = resolve_losses(prepared.request.loss, classification=classification)[0]
    bounded = isfinite(loss.low) and isfinite(loss.high)
    roles = [question.target, question.groups, question.weights, question.strata, question.time]
    return advise_on(
        n=len(frame),
        candidates=len(as_search(prepared.learner, seed=question.seed)),
        columns=frame.shape[1] - sum(role is not None for role in roles),
        groups=None if question.groups is None else int(frame[question.groups].nunique()),
        time=question.time is not None,
        closed_form=set(prepared.question.learner) <= _CLOSED_FORM and not classification,
        loss_range=loss.high - loss.low if bounded else None,
        level=question.level,
        **aims,
    )


def _within_budget(
    recipe: Recipe, prepared: PreparedQuestion, budget: float
) -> tuple[Recipe, dict[str, Any], list[str]]:
    """Return the first recipe that keeps to the budget, else the cheapest; its cost; and the reasons."""
    from heldout.api.cost import expected_cost
    from heldout.base.words import fit_words

    reasons: list[str] = []
    recipes = [(recipe, ""), *_cheaper(recipe)]
    for tried, why in recipes:
        cost = expected_cost(_posed(tried, prepared))
        reasons += [why] if why else []
        if cost.seconds <= budget:
            break
        takes = f"{fit_words(cost.fits)}, about {show_seconds(cost.seconds)}"
        last = " Fewer learners or a smaller --space would take less." if tried is recipes[-1][0] else ""
        test = as_option(tried.test)
        reasons.append(f"--test {test} takes {takes}, more than the {show_seconds(budget)} of the budget.{last}")
    return tried, {**asdict(cost), "fits_before": None}, reasons


def _cheaper(recipe: Recipe) -> list[tuple[Recipe, str]]:
    """Return recipes with fewer fits, each with what it gives up."""
    development = None if recipe.validation is None else Splitter("Holdout", 0.25)
    cheaper: list[tuple[Recipe, str]] = []
    if recipe.validation is not None and recipe.validation.name == "KFold":
        if recipe.test.name == "KFold":
            shared = replace(recipe, validation=Splitter("SharedBlocks"))
            cheaper.append((shared, "The blocks of the test serve the choice too: half the fits."))
        why = "One development set inside each training part: a fifth of the fits, a noisier choice."
        cheaper.append((replace(recipe, validation=development), why))
    if recipe.test.name != "Holdout":
        why = "A single test set: one training part instead of several, a wider interval."
        cheaper.append((replace(recipe, test=Splitter("Holdout", 0.2), validation=development), why))
    return cheaper
