"""`heldout advise`: which recipe suits the rows at hand, what it promises and what it costs."""

from __future__ import annotations

from typing import Any

import click

from heldout.base.errors import OptionError
from heldout.cli.options import Question, asks_of_data
from heldout.cli.output import Talk, asks_short_talk

_KNOWN = ("rows", "candidates", "columns", "group_count", "in_time")  # what data tell by themselves


@click.command(short_help="Which recipe suits these rows, what it promises and what it costs.")
@asks_of_data
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
@asks_short_talk
def advise(question: Question | None, *, level: float, budget: str | None, talk: Talk, **said: Any) -> None:
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
    from heldout.cli.advising import advise_on_data, advise_on_numbers, seconds_of
    from heldout.report.others import short_advice

    aims = {name: said[name] for name in ("gap", "width", "error_rate", "sd", "about")}
    known = {name: said[name] for name in _KNOWN if said[name]}
    if question is None:
        if budget is not None:
            raise OptionError("--budget needs DATA, to time a fit. Name a table.")
        summary = advise_on_numbers(known, {**aims, "level": level})
    else:
        if known:
            raise OptionError(f"--{min(known).replace('_', '-')} is for advice without DATA, which tell it themselves.")
        summary = advise_on_data(question, aims, budget=None if budget is None else seconds_of(budget))
    talk.result(summary, kind="advice", short=short_advice)
