"""`heldout report`: a saved result, shown again."""

from __future__ import annotations

import click

from heldout.cli.options import INCOMPLETE
from heldout.cli.talk import Talk, asks_talk
from heldout.report.text import line


@click.command(short_help="A saved result, shown again.")
@click.argument("result", type=click.Path())
@asks_talk
@click.pass_context
def report(ctx: click.Context, result: str, *, talk: Talk) -> None:
    """Show a result that `heldout evaluate --save` wrote. Nothing is computed, and no code in the file runs.

    Exit codes: 0 good, 1 findings of the severity --fail-on or graver, 2 wrong use, 3 the result is incomplete.

    \b
    Examples:
      heldout report result.heldout
      heldout report result.heldout --quiet --fail-on warning
    """
    from heldout.api.store import load
    from heldout.report.terminal import one_line, plan_view, result_view

    loaded = load(result)
    summary = loaded.summary()
    talk.result(summary, view=result_view, short=one_line)
    if talk.verbose:
        talk.show(plan_view({}, str(loaded.plan), width=talk.console.width))
    risk = summary["risk"]
    if risk["value"] is None and risk["answer"] is None:
        click.echo(f"Incomplete: {line(risk['reason'])}", err=True)
        ctx.exit(INCOMPLETE)
    talk.end(ctx, summary["findings"])
