"""`heldout advise`: which recipe suits the rows at hand, what it promises and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from heldout.base.amounts import show_seconds
from heldout.base.errors import OptionError, Sentence, SplitError
from heldout.cli.options import Question, data_options, question_words
from heldout.cli.output import Output, as_option, shell_line, short_output_options

if TYPE_CHECKING:
    from heldout.api.advise import Advice
    from heldout.cli.question import PreparedQuestion

# What a table tells by itself, by its option and by the argument of `heldout.advise`.
_KNOWN = {"rows": "n", "candidates": "candidates", "columns": "columns", "group_count": "groups", "in_time": "time"}
_CLOSED_FORM = {"linear", "ridge"}


@click.command(short_help="Which recipe suits these rows, what it promises and what it costs.")
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
      heldout advise visits.csv --target stay --groups patient --learner tree --budget 10min
      heldout advise --rows 10000 --candidates 17 --gap 0.05 --width 0.1 --error-rate 0.1
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipe:
    """The splits of a recipe as the command line writes them, and why it is cheaper than the one before."""

    test: str
    validation: str | None
    why: str = ""

    @property
    def words(self) -> list[str]:
        """The options that ask for it."""
        return ["--test", self.test, *(["--validation", self.validation] if self.validation else [])]

    def arguments(self, prepared: PreparedQuestion) -> tuple[Any, dict[str, Any]]:
        """The learner and what the verbs of the library take by name, with the splits of this recipe."""
        from heldout.api.tuned import Tuned
        from heldout.splits.parse import parse

        learner = prepared.learner
        if self.validation is not None and isinstance(learner, Tuned):
            learner = learner.set_params(validation=parse(self.validation))
        return learner, {**prepared.arguments, "test": parse(self.test)}


def _recipe_of(advice: Advice) -> tuple[_Recipe, list[str]]:
    """The recipe that is advised, and the reasons for it, in the words of the command line."""
    recipe = advice.made_from
    assert recipe is not None, "the number of rows is known"
    validation = None if recipe.validation is None else as_option(recipe.validation)
    reasons = [one.worded(as_option) if isinstance(one, Sentence) else one for one in recipe.reasons]
    return _Recipe(test=as_option(recipe.test), validation=validation), reasons


def seconds_of(text: str) -> float:
    """A length of time in seconds; a number alone is seconds.

    >>> seconds_of("90"), seconds_of("10min"), seconds_of("1h 30min")
    (90.0, 600.0, 5400.0)
    """
    from heldout.splits.distances import as_distance, nanoseconds, plain_number

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
    """Advice on so many rows."""
    from heldout.api.advise import advise as advise_on

    advice = advise_on(**{_KNOWN[name]: value for name, value in known.items()}, **aims)
    if advice.made_from is None:
        return {**advice.summary(), "command": None}
    recipe, reasons = _recipe_of(advice)
    return {**advice.summary(), "reasons": reasons, "command": " ".join(["heldout evaluate DATA", *recipe.words])}


def _on_data(question: Question, aims: Mapping[str, Any], *, budget: float | None) -> dict[str, Any]:
    """Advice on a table and learners; where a budget is given, the first recipe that keeps to it."""
    from heldout.api.evaluate import explain
    from heldout.cli.question import prepare

    prepared = prepare(question)
    advice = _advice_for(prepared, question, aims)
    recipe, reasons = _recipe_of(advice)
    if budget is None:
        learner, arguments = recipe.arguments(prepared)
        account = explain(learner, prepared.frame, **arguments)
        cost = {"cells": account.cells, "fits": account.fits, "fits_before": account.fits_before, "seconds": None}
    else:
        recipe, cost, more = _within_budget(recipe, prepared, budget)
        reasons += more
    data = question.data if question.study is None else question.study.path
    command = shell_line(["heldout", "evaluate", data, *question_words(question), *recipe.words])
    return {**advice.summary(), "reasons": reasons, "cost": cost, "command": command, "head": prepared.head}


def _advice_for(prepared: PreparedQuestion, question: Question, aims: Mapping[str, Any]) -> Advice:
    from heldout.api.advise import advise as advise_on
    from heldout.api.learners import as_search
    from heldout.losses import resolve_losses

    frame, classification = prepared.frame, bool(prepared.settled["classification"])
    loss = resolve_losses(prepared.loss, classification=classification)[0]
    bounded = isfinite(loss.low) and isfinite(loss.high)
    roles = [question.target, question.groups, question.weights, question.strata, question.time]
    return advise_on(
        n=len(frame),
        candidates=len(as_search(prepared.learner, seed=question.seed)),
        columns=frame.shape[1] - sum(role is not None for role in roles),
        groups=None if question.groups is None else int(frame[question.groups].nunique()),
        time=question.time is not None,
        closed_form=set(prepared.settled["learner"]) <= _CLOSED_FORM and not classification,
        loss_range=loss.high - loss.low if bounded else None,
        level=question.level,
        **aims,
    )


def _within_budget(
    recipe: _Recipe, prepared: PreparedQuestion, budget: float
) -> tuple[_Recipe, dict[str, Any], list[str]]:
    """The first of ever cheaper recipes that keeps to the budget; the cheapest where none does."""
    from heldout.api.cost import expected_cost
    from heldout.base.words import fit_words

    reasons: list[str] = []
    recipes = [recipe, *_cheaper(recipe)]
    for tried in recipes:
        learner, arguments = tried.arguments(prepared)
        cost = expected_cost(learner, prepared.frame, **arguments)
        reasons += [tried.why] if tried.why else []
        if cost.seconds <= budget:
            break
        about = f"{fit_words(cost.fits)}, about {show_seconds(cost.seconds)}"
        last = " Fewer learners or a smaller --space would take less." if tried is recipes[-1] else ""
        reasons.append(f"--test {tried.test} takes {about}, more than the {show_seconds(budget)} of the budget.{last}")
    return tried, {**asdict(cost), "fits_before": None}, reasons


def _cheaper(recipe: _Recipe) -> list[_Recipe]:
    """Recipes that take fewer fits, each with what it gives up."""
    found: list[_Recipe] = []
    chosen_by_folds = recipe.validation is not None and recipe.validation.startswith("kfold")
    if chosen_by_folds and recipe.test.startswith("kfold"):
        why = "The blocks of the test serve the choice too: half the fits."
        found.append(replace(recipe, validation="shared", why=why))
    if chosen_by_folds:
        why = "One development set inside each training part: a fifth of the fits, a noisier choice."
        found.append(replace(recipe, validation="holdout:0.25", why=why))
    if not recipe.test.startswith("holdout"):
        validation = None if recipe.validation is None else "holdout:0.25"
        why = "A single test set: one training part instead of several, a wider interval."
        found.append(_Recipe(test="holdout:0.2", validation=validation, why=why))
    return found
