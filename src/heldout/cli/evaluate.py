"""`heldout evaluate`: the risk of a learner, or of the choice between several."""

from __future__ import annotations

import click

from heldout.cli.options import INCOMPLETE, Question, asks_question
from heldout.cli.running import How, asks_how
from heldout.report.text import line


@click.command(short_help="The risk of a learner, or of the choice between several.")
@asks_question
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The level of the intervals.",
)
@asks_how
@click.option("--save", metavar="FILE", type=click.Path(), help="Write the whole result, for heldout.load to read.")
@click.option("--quiet", "-q", is_flag=True, help="The risk alone, on one line.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON, and nothing else.")
@click.option("--progress/--no-progress", default=True, help="A bar on a terminal, for runs that last.")
@click.pass_context
def evaluate(
    ctx: click.Context,
    question: Question,
    *,
    level: float,
    how: How,
    save: str | None,
    quiet: bool,
    as_json: bool,
    progress: bool,
) -> None:
    """Estimate the risk of a learner on the table in DATA (.csv, .tsv or .parquet).

    Numbers are filled in and scaled as the learner needs, text becomes categories, dates become days: all of it
    inside the folds. Parameters are chosen on validation rows within each training part, from a default space. With
    several learners, choosing between them is part of what is measured, so the risk has no winner's curse.

    \b
    Examples:
      heldout evaluate houses.csv --target price
      heldout evaluate iris.csv --target species --learner logistic,knn --loss zero_one --loss log
      heldout evaluate visits.csv --target stay --groups patient --learner forest --test kfold:10
      heldout evaluate sales.csv --target amount --time day --learner ridge,boosting --json
      heldout evaluate genes.csv --target grade --learner svm,forest --journal genes.db --fit-timeout 600
    """
    from heldout.api.evaluate import evaluate as risk_of
    from heldout.api.explain import explain as plan_of
    from heldout.cli.output import check_writable, echo_json, plan_facts, save_result
    from heldout.cli.question import pose
    from heldout.report.terminal import head_view, one_line, open_console, result_view, show

    check_writable(save)
    posed = pose(question)
    talks = not (quiet or as_json)
    console = open_console()
    if talks:
        account = plan_of(posed.learner, posed.frame, **posed.asked)
        show(head_view(posed.head, plan_facts(account)), console)
    running = how.arguments(progress=progress and not quiet)
    result = risk_of(posed.learner, posed.frame, level=level, **running, **posed.asked)
    summary = result.summary()
    if as_json:
        echo_json(summary)
    else:
        show(one_line(summary) if quiet else result_view(summary), console)
    if save is not None:
        save_result(result.save, save)
        if talks:
            click.echo(f"saved       {save}  (heldout.load reads it)")
    if result.risk.value is None:
        click.echo(f"Incomplete: {line(result.risk.reason)}", err=True)
        ctx.exit(INCOMPLETE)
