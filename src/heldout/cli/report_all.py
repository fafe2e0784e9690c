"""`heldout report --all`: a page for each study of a journal, and one that lists them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import JournalError, OptionError, StoredError
from heldout.cli.output import Talk
from heldout.cli.run_options import FOLDER, JOURNAL

if TYPE_CHECKING:
    from heldout.journal import JournalReader

PAGES = f"{FOLDER}/report"  # where pages go unless said otherwise


def report_all(journal: str | None, out: str | None, talk: Talk) -> None:
    """List a journal's studies, and write their pages; as JSON, only where a folder is named."""
    from heldout.journal import JournalReader
    from heldout.report.study_list import short_studies

    reader = JournalReader(JOURNAL if journal is None else journal)
    index = read_index(reader)
    if out is None and talk.as_json:
        talk.result(index, kind="studies")
        return
    folder = Path(PAGES if out is None else out)
    _check_folder(folder)
    index = _write_pages(folder, reader, index, talk)
    talk.result(index, kind="studies", short=short_studies)
    talk.remark("report", str(folder / "index.html"))


def read_index(reader: JournalReader) -> dict[str, Any]:
    """The studies of a journal as they stand now."""
    from heldout.engine.live_file import read_live
    from heldout.report.study_list import index_of

    # How far the program is comes first: what it ends meanwhile is then seen as finished.
    live, busy = read_live(reader.path), reader.is_busy
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return index_of(reader.contents(), live, busy=busy, made=made)


def _check_folder(folder: Path) -> None:
    """Make the folder of pages, or refuse it before anything is drawn."""
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


def _write_pages(folder: Path, reader: JournalReader, index: Mapping[str, Any], talk: Talk) -> dict[str, Any]:
    """Write the page of each study that has one, then the list, whose links then all lead somewhere."""
    from heldout.report.page import write_text
    from heldout.report.study_list import KEY
    from heldout.report.study_pages import render_index, render_study

    keys = {row.key.hex()[:KEY]: row.key for row in reader.contents().summaries}
    asked = [one for one in index["studies"] if one["page"] is not None]
    unshown: dict[str, str] = {}
    hidden = not (talk.progress and talk.at_length and sys.stderr.isatty())
    try:
        with click.progressbar(asked, label="pages", file=sys.stderr, hidden=hidden) as studies:
            for one in studies:
                try:
                    page = render_study(reader.summary(keys[one["key"]]))
                except (StoredError, JournalError) as error:  # one that cannot be shown is no reason to show none
                    unshown[one["key"]] = str(error)
                else:
                    write_text(page, folder / one["page"])
        told = {**index, "studies": [_without_page(one, unshown) for one in index["studies"]]}
        write_text(render_index(told), folder / "index.html")
    except OSError as error:
        raise StoredError(f"--out {folder}: a page was not written: {error.strerror or error}.") from error
    return told


def _without_page(one: Mapping[str, Any], unshown: Mapping[str, str]) -> Mapping[str, Any]:
    """A study as it is listed where pages could not be drawn: no link leads to one of those."""
    why = unshown.get(one["key"])
    part_of = None if one["part_of"] in unshown else one["part_of"]
    return {**one, "part_of": part_of} if why is None else {**one, "part_of": part_of, "page": None, "note": why}
