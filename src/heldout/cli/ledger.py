"""`heldout ledger`: lists who looked at which test set, and what the next look can still tell."""

from __future__ import annotations

from pathlib import Path

import click

from heldout.base.errors import JournalError
from heldout.cli.help import GroupedCommand
from heldout.cli.options import SHARE
from heldout.cli.output import Output, short_output_options
from heldout.cli.run_options import JOURNAL


@click.command(cls=GroupedCommand, short_help="What has looked at which test set, and what is left of it.")
@click.argument("journal", type=click.Path(), default=JOURNAL, metavar="[JOURNAL]")
@click.option(
    "--level",
    type=SHARE,
    default=0.95,
    show_default=True,
    help="The level of the interval that is left.",
)
@short_output_options
def ledger(journal: str, *, level: float, output: Output) -> None:
    """List the looks at each test set that a journal knows: when, by which learner and loss, and how much was told.

    A learner that is chosen after a look at a test set knows something of it. The width of an honest interval for the
    next look grows with every answer, and is gone once results of single rows were shown: --answer of `heldout
    evaluate` says how much is told. Cross-validation is no look. JOURNAL is .heldout/journal.db unless named.

    \b
    Examples:
      heldout ledger
      heldout ledger genes.db --level 0.9 --json
    """
    from heldout.audit.ledger import JournalLedger, list_test_sets
    from heldout.report.others import short_ledger

    if not Path(journal).exists():
        raise JournalError(
            f"There is no journal {journal!r}. heldout evaluate and compare keep one in the folder they are run in; "
            "name another file if it is elsewhere."
        )
    test_sets = list_test_sets(JournalLedger(journal), level=level)
    summary = {"journal": journal, "level": level, "test_sets": test_sets}
    output.result(summary, kind="ledger", short=short_ledger)
