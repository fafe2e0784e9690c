"""`heldout report`: prints a saved result again, or lists all studies of a journal and writes their pages."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import JournalError, OptionError, StoredError
from heldout.cli.output import NEVER, Output, check_page, output_options, page_option, write_page, writing
from heldout.cli.run_options import FOLDER, JOURNAL

if TYPE_CHECKING:
    from heldout.journal import JournalReader

PAGES = f"{FOLDER}/report"  # the default folder of pages
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
@page_option("--html")
@click.option(
    "--csv",
    "table",
    type=click.Choice(TABLES),
    help="One of the result's tables as CSV, and nothing else. Cells that a spreadsheet would take for formulas are "
    "quoted.",
)
@output_options
@click.pass_context
def report(
    ctx: click.Context,
    result: str | None,
    *,
    every: bool,
    out: str | None,
    page: str | None,
    table: str | None,
    output: Output,
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
        for name, value in {"--html": page, "--csv": table, "--fail-on": output.fail_on != NEVER or None}.items():
            if value is not None:
                raise OptionError(f"{name} speaks of one result, and --all of a journal's studies. Give one of them.")
        _report_all(result, out, output)
    elif result is None:
        raise click.UsageError("Missing argument 'RESULT'. Name a saved result, or give --all.")
    elif out is not None:
        raise OptionError("--out belongs to --all. For the page of one result give --html PAGE.")
    else:
        _report_one(ctx, result, page=page, table=table, output=output)


def _report_one(ctx: click.Context, result: str, *, page: str | None, table: str | None, output: Output) -> None:
    """Print one saved result."""
    from heldout.api.result import load
    from heldout.report.words import short_result

    check_page(page, option="--html", read=(result,))
    loaded = load(result)
    if table is not None:
        from heldout.report.csv import table_text

        if table == "predictions":
            _ = loaded.predictions  # raises an error with the reason if they are withheld
        click.echo(table_text(loaded.record.tables[table]), nl=False)
        return
    summary = loaded.summary()
    output.result(summary if output.as_json else {**summary, "next": ""}, kind="result", short=short_result)
    write_page(loaded.report, page, output, option="--html")
    output.end(ctx, summary)


def _report_all(journal: str | None, out: str | None, output: Output) -> None:
    """List a journal's studies and write their pages; with --json, write pages only if --out is given."""
    from heldout.journal import JournalReader
    from heldout.report.study_list import short_studies

    reader = JournalReader(JOURNAL if journal is None else journal)
    index = read_index(reader)
    if out is None and output.as_json:
        output.result(index, kind="studies")
        return
    folder = Path(PAGES if out is None else out)
    _check_folder(folder)
    index = _write_pages(folder, reader, index, output)
    output.result(index, kind="studies", short=short_studies)
    output.remark("report", str(folder / "index.html"))


def read_index(reader: JournalReader) -> dict[str, Any]:
    """Return the list of a journal's studies in their current state."""
    from heldout.engine.live_file import read_live
    from heldout.report.study_list import index_of

    # The progress is read first: what ends between the two reads is then listed as finished.
    live, busy = read_live(reader.path), reader.is_busy
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return index_of(reader.contents(), live, busy=busy, made=made)


def _check_folder(folder: Path) -> None:
    """Create the folder of pages, or raise an error before anything is drawn."""
    from heldout.report.page import check_page_packages

    check_page_packages()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise OptionError(f"--out {folder}: this is a file. Name a folder.") from None
    except OSError as error:
        raise OptionError(f"--out {folder}: it cannot be made: {error.strerror}. Name a folder of your own.") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OptionError(f"--out {folder}: it cannot be written. Name a folder of your own.")


def _write_pages(folder: Path, reader: JournalReader, index: Mapping[str, Any], output: Output) -> dict[str, Any]:
    """Write the page of each study that has one, then the list, which links only to pages that were written."""
    from heldout.report.page import write_text
    from heldout.report.study_list import KEY
    from heldout.report.study_pages import render_index, render_study

    keys = {row.key.hex()[:KEY]: row.key for row in reader.contents().summaries}
    with_page = [study for study in index["studies"] if study["page"] is not None]
    failed: dict[str, str] = {}
    hidden = not (output.progress and output.at_length and sys.stderr.isatty())
    with (
        writing("a page", str(folder), option="--out"),
        click.progressbar(with_page, label="pages", file=sys.stderr, hidden=hidden) as studies,
    ):
        for study in studies:
            try:
                write_text(render_study(reader.summary(keys[study["key"]])), folder / study["page"])
            except (StoredError, JournalError) as error:  # one that cannot be shown is no reason to show none
                failed[study["key"]] = str(error)
        index = {**index, "studies": [_linked(study, failed) for study in index["studies"]]}
        write_text(render_index(index), folder / "index.html")
    return index


def _linked(study: Mapping[str, Any], failed: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the entry of a study without links to pages that could not be drawn."""
    without = {"page": None, "note": failed[study["key"]]} if study["key"] in failed else {}
    return {**study, "part_of": None if study["part_of"] in failed else study["part_of"], **without}
