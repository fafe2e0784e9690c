"""`heldout explain`: the plan of a study, with nothing fitted."""

from __future__ import annotations

import click

from heldout.cli.options import Question, asks_question
from heldout.cli.output import Talk, asks_short_talk


@click.command(short_help="The plan of a study and its cost; nothing is fitted.")
@asks_question
@asks_short_talk
def explain(question: Question, *, talk: Talk) -> None:
    """Show the plan of a study on the table in DATA, or in the study file DATA, and what it costs; fit nothing.

    It takes the question that `heldout evaluate` takes, and refuses what that refuses.

    \b
    Examples:
      heldout explain houses.csv --target price --learner ridge,knn --validation shared
      heldout explain study.toml --json
    """
    from heldout.api.evaluate import explain as plan_of
    from heldout.cli.output import echo_json, plan_facts
    from heldout.cli.question import pose
    from heldout.report.plan import plan_view, short_plan_view

    posed = pose(question)
    account = plan_of(posed.learner, posed.frame, options=posed.options, **posed.asked)
    facts = plan_facts(account)
    if talk.as_json:
        echo_json(facts)
    elif talk.quiet:
        talk.show(short_plan_view(facts))
    else:
        talk.show(plan_view(facts, posed.head))
