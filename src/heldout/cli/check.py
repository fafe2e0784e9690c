"""`heldout check`: searches a table for leaks and traps before anything is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import ColumnError, OptionError, SplitError
from heldout.cli.help import GroupedCommand
from heldout.cli.options import FINDINGS, OF_A_FILE, SPLITS, Question, with_options
from heldout.cli.output import FAIL_ON, NEVER, SEVERITIES, as_option, echo_json

if TYPE_CHECKING:
    import pandas as pd


_OF_A_QUESTION = ("groups", "time", "weights", "drop", *OF_A_FILE, "missing_target", "classification", "seed")
_HELP = {
    "time": "When each row was seen: numbers or dates like 2024-01-31.",
    "weights": "How much each row counts.",
    "seed": "Decides which rows are drawn.",
}


@click.command(cls=GroupedCommand, short_help="Leaks and traps in a table; nothing is fitted.")
@click.argument("data", type=click.Path())
@click.option("--target", "-t", required=True, metavar="COLUMN", help="The column to predict.")
@partial(with_options, Question, names=_OF_A_QUESTION, help=_HELP)
@click.option("--test", metavar="SPLITS", help=f"The test parts that are planned: {SPLITS}.")
@click.option(
    "--split",
    metavar="COLUMN",
    help="The column that says which rows are for test (test, true or 1; or all but train): the parts are compared.",
)
@click.option("--ignore", multiple=True, metavar="NUMBERS", help="Findings to leave out, such as H601,H607.")
@click.option(
    "--fail-on",
    type=click.Choice([*SEVERITIES, NEVER]),
    default="warning",
    show_default=True,
    help=FAIL_ON,
)
@click.option("--rows", type=click.IntRange(min=100), default=100_000, show_default=True, help="Look at so many rows.")
@click.option("--quiet", "-q", is_flag=True, help="One line that counts the findings.")
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON, for programs.")
@click.pass_context
def check(ctx: click.Context, /, data: str, *, fail_on: str, quiet: bool, as_json: bool, **asked: Any) -> None:
    """Look for leaks and traps in the table in DATA: what makes a risk look better than it is.

    Copies across splits, identifiers, columns that give the target away, groups and time that nobody declared, test
    rows unlike training rows, gaps that tell the target, scaling before the split. Each finding has a number, says
    what was seen, why it matters and the way out, and can be ignored.

    Exit codes: 0 good, 1 findings of the severity --fail-on or graver, 2 wrong use.

    \b
    Examples:
      heldout check houses.csv --target price
      heldout check visits.csv --target stay --groups patient --time day
      heldout check benchmark.csv -t label --split part --ignore H607,H612 --json
    """
    from heldout.api.check import check as look_at
    from heldout.report.others import count_words
    from heldout.report.show import as_view
    from heldout.report.terminal import show

    frame, head, arguments = _read(data, asked)
    checked = look_at(frame, **arguments)
    summary = checked.summary()
    if as_json:
        echo_json(summary)
    elif quiet:
        click.echo(count_words(summary))
    else:
        show(as_view("check", {**summary, "head": head}))
    if fail_on != NEVER and checked.at_least(fail_on):
        ctx.exit(FINDINGS)


def _read(data: str, asked: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, str], dict[str, Any]]:
    """Return the table, a description of it for the user, and the arguments of `check`."""
    from heldout.cli.question import check_columns
    from heldout.cli.splits import drawn_splits
    from heldout.cli.table import file_options, read_rows, rows_with_target
    from heldout.data.read_table import open_table
    from heldout.data.target_kind import target_kind

    if asked["test"] and asked["split"]:
        raise OptionError("--test and --split both say which rows are for test. Give one of them.")
    frame, file, head = read_rows(open_table(data, **file_options(asked)))
    named = ("target", "groups", "time", "weights", "split")
    roles = {f"--{role}": asked[role] for role in named if asked[role] is not None}
    dropped = list(dict.fromkeys(asked["drop"]))
    check_columns([*roles.items(), *(("--drop", name) for name in dropped)], frame.columns, file)
    frame, notes = rows_with_target(
        frame, asked["target"], used=[*roles.values(), *dropped], drop=asked["missing_target"] == "drop"
    )
    test = _marked(frame[asked["split"]]) if asked["split"] else drawn_splits(asked["test"]) if asked["test"] else None
    frame = frame.drop(columns=[*dropped, *([asked["split"]] if asked["split"] else [])])
    if frame.shape[1] <= len(roles) - bool(asked["split"]):
        raise ColumnError(f"No column of {file!r} is left to look at: all are the target, roles, or dropped.")
    classification, why = target_kind(frame[asked["target"]], wanted=asked["classification"], command=True)
    said = f"{asked['target']}: {why.worded(as_option)}"
    head = {"data": f"{file}: {len(frame):,} rows", **head, **notes, "target": said}
    arguments = {name: asked[name] for name in ("groups", "time", "ignore", "seed")}
    arguments |= {"y": asked["target"], "sample_weight": asked["weights"], "most_rows": asked["rows"]}
    return frame, head, {**arguments, "test": test, "classification": classification}


def _marked(labels: pd.Series[Any]) -> Any:
    """Return a splitter that holds out the rows that a column marks as test rows."""
    from heldout.cli.splits import TESTED, TRAINED
    from heldout.splits import Given

    words = labels.map(lambda label: str(label).strip().lower()).to_numpy(dtype=object)
    distinct = set(words)
    marks = distinct & {*TESTED, "true", "1", "1.0"} or (distinct - set(TRAINED) if distinct & set(TRAINED) else set())
    if not marks or marks == distinct:
        first = ", ".join(repr(str(label)) for label in labels.drop_duplicates().head(5))
        raise SplitError(
            f"--split {labels.name}: its values ({first}) do not say which rows are for test. Mark them by test, true "
            "or 1, and the others by anything else."
        )
    return Given([word in marks for word in words])
