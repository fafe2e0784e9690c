"""The option --report: a page for colleagues beside what the command says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import StoredError
from heldout.cli.output import check_writable

if TYPE_CHECKING:
    from heldout.cli.talk import Talk

asks_page = click.option(
    "--report",
    "page",
    metavar="PAGE",
    type=click.Path(),
    help="Write a page for colleagues: one HTML file that opens offline, with figures.",
)


def check_page(page: str | None, *, option: str = "--report", read: tuple[str, ...] = ()) -> None:
    """Refuse a page that cannot be made or written, before anything is computed for it."""
    if page is None:
        return
    from heldout.report.page import check_page_packages

    check_writable(page, read=read, option=option)
    check_page_packages()


def write_report(write: Callable[[str], Any], page: str | None, talk: Talk, *, option: str = "--report") -> None:
    """Write the page where one was asked for, and say where it is."""
    if page is None:
        return
    try:
        write(page)
    except OSError as error:
        raise StoredError(f"{option} {page}: the page was not written: {error.strerror or error}.") from error
    talk.remark("report", page)
