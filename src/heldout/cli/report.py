"""`heldout report`: a saved result, shown again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from heldout.cli.options import INCOMPLETE
from heldout.cli.paging import check_page, write_report
from heldout.cli.talk import Talk, asks_talk
from heldout.report.text import line

if TYPE_CHECKING:
    from heldout.api.result import Result

TABLES = ("folds", "choices", "candidates", "predictions", "failures", "warnings")


@click.command(short_help="A saved result, shown again.")
@click.argument("result", type=click.Path())
@click.option(
    "--html",
    "page",
    metavar="PAGE",
    type=click.Path(),
    help="Write a page for colleagues: one HTML file that opens offline, with figures.",
)
@click.option(
    "--csv",
    "table",
    type=click.Choice(TABLES),
    help="One of the result's tables as CSV, and nothing else. Cells that a spreadsheet would take for formulas are "
    "quoted.",
)
@asks_talk
@click.pass_context
def report(ctx: click.Context, result: str, *, page: str | None, table: str | None, talk: Talk) -> None:
    """Show a result that `heldout evaluate --save` wrote. Nothing is computed, and no code in the file runs.

    Exit codes: 0 good, 1 findings of the severity --fail-on or graver, 2 wrong use, 3 the result is incomplete.

    \b
    Examples:
      heldout report result.heldout
      heldout report result.heldout --quiet --fail-on warning
      heldout report result.heldout --html study.html
      heldout report result.heldout --csv folds
    """
    from heldout.api.store import load
    from heldout.report.terminal import one_line, plan_view, result_view

    check_page(page, option="--html", read=(result,))
    loaded = load(result)
    if table is not None:
        click.echo(table_as_text(loaded, table), nl=False)
        return
    summary = loaded.summary()
    talk.result(summary, view=result_view, short=one_line)
    if talk.verbose:
        talk.show(plan_view({}, str(loaded.plan), width=talk.console.width))
    write_report(loaded.report, page, talk, option="--html")
    risk = summary["risk"]
    if risk["value"] is None and risk["answer"] is None:
        click.echo(f"Incomplete: {line(risk['reason'])}", err=True)
        ctx.exit(INCOMPLETE)
    talk.end(ctx, summary["findings"])


def table_as_text(result: Result, table: str) -> str:
    """A table of a result as CSV. One that is withheld is refused, as it is in Python."""
    from heldout.report.cells import table_text

    if table == "predictions":
        _ = result.predictions  # says why where there are none
    return table_text(result.facts.tables[table])
