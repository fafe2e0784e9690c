"""`heldout compare`: which of several learners is better, on the same splits."""

from __future__ import annotations

import click

from heldout.base.words import line
from heldout.cli.options import INCOMPLETE, Question, asks_contenders
from heldout.cli.output import Talk, asks_page, asks_talk, check_page, write_report
from heldout.cli.run_options import How, asks_how, command_line


@click.command(short_help="Which of several learners is better, on the same splits.")
@asks_contenders
@click.option(
    "--rope",
    type=click.FloatRange(0),
    metavar="DIFFERENCE",
    help="Risks that differ by less are practically equal. In the unit of the loss.",
)
@asks_how
@asks_page
@asks_talk
@click.pass_context
def compare(
    ctx: click.Context, question: Question, *, rope: float | None, how: How, page: str | None, talk: Talk
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
    from heldout.cli.output import files_of
    from heldout.cli.question import pose_several
    from heldout.report.comparison import short_comparison

    check_page(page, read=files_of(question))
    posed = pose_several(question)
    if talk.at_length:
        from heldout.report.blocks import Facts
        from heldout.report.terminal import terminal_view

        talk.show(terminal_view([Facts({**posed.head, **how.words()})]))
    running = how.arguments(posed.options, progress=talk.progress)
    asked = {**posed.asked, "level": question.level, "rope": rope}
    with asked_by(command_line(ctx)):
        comparison = compare_all(posed.learner, posed.frame, asked.pop("y"), **running, **asked)
    summary = comparison.summary()
    talk.result(summary, kind="comparison", short=short_comparison)
    write_report(comparison.report, page, talk)
    missing = {name: one.reason for name, one in comparison.ranking.items() if one.value is None}
    missing |= dict(comparison.failures)
    for name, why in missing.items():
        click.echo(f"Incomplete: {line(name)}: {line(why)}", err=True)
    if missing:
        ctx.exit(INCOMPLETE)
    talk.end(ctx, summary["findings"])
