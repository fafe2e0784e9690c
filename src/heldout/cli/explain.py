"""`heldout explain`: the plan of a study, with nothing fitted."""

from __future__ import annotations

import click

from heldout.cli.options import Question, asks_question


@click.command(short_help="The plan of a study and its cost; nothing is fitted.")
@asks_question
@click.option("--json", "as_json", is_flag=True, help="The plan as JSON, for programs.")
def explain(question: Question, as_json: bool) -> None:
    """Show the plan of a study on the table in DATA and what it costs, and fit nothing.

    It takes the question that `heldout evaluate` takes, and refuses what that refuses.

    \b
    Example:
      heldout explain houses.csv --target price --learner ridge,knn --validation shared
    """
    from heldout.api.explain import explain as plan_of
    from heldout.cli.output import echo_json, plan_facts
    from heldout.cli.question import pose
    from heldout.report.terminal import open_console, plan_view, show

    posed = pose(question)
    account = plan_of(posed.learner, posed.frame, **posed.asked)
    if as_json:
        echo_json(plan_facts(account))
        return
    console = open_console()
    show(plan_view(posed.head, str(account), width=console.width), console)
