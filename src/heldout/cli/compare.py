"""`heldout compare`: tells which of several learners is better, on the same splits."""

from __future__ import annotations

import click

from heldout.base.words import line
from heldout.cli.evaluate import files_read
from heldout.cli.options import INCOMPLETE, Question, contender_options
from heldout.cli.output import Output, check_page, output_options, page_option, write_page
from heldout.cli.run_options import RunSettings, command_line, run_options


@click.command(short_help="Which of several learners is better, on the same splits.")
@contender_options
@click.option(
    "--rope",
    type=click.FloatRange(0),
    metavar="DIFFERENCE",
    help="Risks that differ by less are practically equal. In the unit of the loss.",
)
@click.option("--pairs", is_flag=True, help="Show every pair of learners, with its interval and its test.")
@run_options
@page_option()
@output_options
@click.pass_context
def compare(
    ctx: click.Context,
    question: Question,
    *,
    rope: float | None,
    pairs: bool,
    settings: RunSettings,
    page: str | None,
    output: Output,
) -> None:
    """Compare learners on the table in DATA, pair by pair and on the same test splits, and say what that shows.

    Each learner is tuned inside the training parts, as `heldout evaluate` tunes it. The intervals of all differences
    hold together at --level.

    Exit codes: 0 good, 1 findings of the severity --fail-on or graver, 2 wrong use, 3 incomplete (a learner has no
    result), 130 interrupted.

    \b
    Examples:
      heldout compare houses.csv --target price --learner ridge,tree,dummy
      heldout compare iris.csv --target species --learner logistic --learner knn+tree --rope 0.01
      heldout compare visits.csv --target stay --groups patient --learner ridge,knn --json
      heldout compare houses.csv --target price --learner ridge,tree --report comparison.html
    """
    from heldout.api.call_text import asked_by
    from heldout.api.compare import compare as compare_all
    from heldout.cli.question import prepare_several
    from heldout.report.comparison import short_comparison

    check_page(page, read=files_read(question))
    prepared = prepare_several(question)
    request = prepared.request
    if output.verbose:
        output.show("head", {"head": {**prepared.head, **settings.words()}})
    with asked_by(command_line(ctx)):
        comparison = compare_all(
            prepared.learner,
            prepared.frame,
            prepared.question.target,
            test=request.test,
            **request.roles,
            loss=request.loss,
            positive=request.positive,
            level=request.level,
            seed=request.seed,
            rope=rope,
            name=request.name,
            **settings.arguments(output),
            options=settings.options(prepared.options),
        )
    summary = comparison.summary()
    pointed = ", ".join(["--pairs for every pair"] * (not pairs) + ["--report page.html for a page"] * (page is None))
    shown = summary if output.as_json else {**summary, "head": prepared.noted | settings.words(), "next": pointed}
    output.result(shown, kind="comparison with pairs" if pairs else "comparison", short=short_comparison)
    write_page(comparison.report, page, output)
    missing = {name: risk.reason for name, risk in comparison.ranking.items() if risk.value is None}
    missing |= dict(comparison.failures)
    for name, why in missing.items():
        click.echo(f"Incomplete: {line(name)}: {line(why)}", err=True)
    if missing:
        ctx.exit(INCOMPLETE)
    output.end(ctx, summary)
