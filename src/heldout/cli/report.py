"""`heldout report`: a saved result, shown again; or all studies of a journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from heldout.base.errors import OptionError
from heldout.base.words import line
from heldout.cli.options import INCOMPLETE
from heldout.cli.output import NEVER, Talk, asks_talk, check_page, write_report
from heldout.cli.report_all import PAGES, report_all
from heldout.cli.run_options import JOURNAL

if TYPE_CHECKING:
    from heldout.api.result import Result

TABLES = ("folds", "choices", "candidates", "predictions", "failures", "warnings")


@click.command(short_help="A saved result, shown again; or all studies of a journal.")
@click.argument("result", type=click.Path(), required=False, metavar="[RESULT|JOURNAL]")
@click.option(
    "--all", "every", is_flag=True, help=f"List all studies of JOURNAL, and write a page for each. Default: {JOURNAL}."
)
@click.option(
    "--out",
    metavar="FOLDER",
    type=click.Path(),
    help=f"With --all: where the pages go, index.html first. Default: {PAGES}; with --json, nowhere.",
)
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
def report(
    ctx: click.Context,
    result: str | None,
    *,
    every: bool,
    out: str | None,
    page: str | None,
    table: str | None,
    talk: Talk,
) -> None:
    """Show a result that `heldout evaluate --save` wrote. Nothing is computed, and no code in the file runs.

    With --all: the studies of a journal, each with its own page, in a folder that opens offline. A program that is at
    work on the journal is not disturbed.

    Exit codes: 0 good, 1 findings of the severity --fail-on or graver, 2 wrong use, 3 the result is incomplete.

    \b
    Examples:
      heldout report result.heldout
      heldout report result.heldout --quiet --fail-on warning
      heldout report result.heldout --html study.html
      heldout report result.heldout --csv folds
      heldout report --all
      heldout report --all genes.db --out genes-report
    """
    if every:
        _refuse_beside_all(
            {"--html": page, "--csv": table, "--fail-on": None if talk.fail_on == NEVER else talk.fail_on}
        )
        report_all(result, out, talk)
    elif result is None:
        raise click.UsageError("Missing argument 'RESULT'. Name a saved result, or give --all.")
    elif out is not None:
        raise OptionError("--out belongs to --all. For the page of one result give --html PAGE.")
    else:
        report_one(ctx, result, page=page, table=table, talk=talk)


def report_one(ctx: click.Context, result: str, *, page: str | None, table: str | None, talk: Talk) -> None:
    """Show one saved result."""
    from heldout.api.result import load
    from heldout.report.plan import plan_view
    from heldout.report.terminal import one_line

    check_page(page, option="--html", read=(result,))
    loaded = load(result)
    if table is not None:
        click.echo(table_as_text(loaded, table), nl=False)
        return
    summary = loaded.summary()
    talk.result(summary, kind="result", short=one_line)
    if talk.verbose:
        talk.show(plan_view(summary["plan"]))
    write_report(loaded.report, page, talk, option="--html")
    risk = summary["risk"]
    if risk["value"] is None and risk["answer"] is None:
        click.echo(f"Incomplete: {line(risk['reason'])}", err=True)
        ctx.exit(INCOMPLETE)
    talk.end(ctx, summary["findings"])


def _refuse_beside_all(asked: Mapping[str, str | None]) -> None:
    for option, value in asked.items():
        if value is not None:
            raise OptionError(f"{option} speaks of one result, and --all of a journal's studies. Give one of them.")


def table_as_text(result: Result, table: str) -> str:
    """A table of a result as CSV. One that is withheld is refused, as it is in Python."""
    from heldout.report.csv import table_text

    if table == "predictions":
        _ = result.predictions  # says why where there are none
    return table_text(result.record.tables[table])
