"""The options that say how a study is run: none of them changes a number. And what Ctrl-C means."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from heldout.base.errors import OptionError
from heldout.base.options import Options
from heldout.cli.options import INTERRUPTED, STUDY, dask_backend, is_said
from heldout.cli.output import shell_line

FOLDER = ".heldout"  # in the working folder
JOURNAL = f"{FOLDER}/journal.db"
_ARGUMENTS, _JOURNAL = "heldout.arguments", "heldout.journal"
_SAID_IN_A_FILE = ("jobs", "timeout", "fit_timeout", "fit_memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How the study is run, as written on the command line or in a study file."""

    jobs: int | None
    dask: str | None
    journal: str | None  # None: nothing is kept
    anew: bool
    timeout: float | None
    fit_timeout: float | None
    fit_memory: str | None
    note: str = ""  # why there is no journal, where one was to be

    def arguments(self, options: Options, *, progress: bool) -> dict[str, Any]:
        """What `evaluate` takes of it, beside the options that belong to the question."""
        if progress and not sys.stderr.isatty():
            _log_to_stderr()
        limits: dict[str, Any] = {
            "timeout": self.timeout,
            "fit_timeout": self.fit_timeout,
            "fit_memory": self.fit_memory,
        }
        return {
            "jobs": self.jobs,
            "backend": None if self.dask is None else dask_backend(self.dask),
            "journal": self.journal,
            "progress": "auto" if progress else False,
            "options": replace(options, journal_anew=self.anew, **limits),
        }

    def written(self) -> dict[str, Any]:
        """What of it a study file holds."""
        return {name: getattr(self, name) for name in _SAID_IN_A_FILE}

    def words(self) -> dict[str, str]:
        """For people, where it is not as they would expect: where answers are kept, or why not."""
        if self.note:
            return {"journal": self.note}
        if self.journal is None:
            return {}
        return {"journal": self.journal + (" (--no-journal keeps nothing)" if self.journal == JOURNAL else "")}


_OPTIONS = (
    click.option("--jobs", "-j", type=int, help="Worker processes; -1 for all cores. Default: all, where it pays."),
    click.option(
        "--dask",
        metavar="ADDRESS",
        help="Do the fits on the Dask cluster whose scheduler listens there, as in node-7:8786.",
    ),
    click.option(
        "--journal",
        metavar="FILE",
        type=click.Path(),
        help=f"Keep every finished answer in FILE. The same command goes on from there, or answers at once. "
        f"Default: {JOURNAL}.",
    ),
    click.option("--no-journal", is_flag=True, help="Keep nothing."),
    click.option(
        "--anew", is_flag=True, help="Where the journal holds the study unfinished with other data, begin anew."
    ),
    click.option("--timeout", metavar="SECONDS", type=float, help="End the study by then, with what it has."),
    click.option(
        "--fit-timeout", metavar="SECONDS", type=float, help="End a fit that takes longer; it counts as failed."
    ),
    click.option("--fit-memory", metavar="SIZE", help="End a fit that takes more, such as 2GB; it counts as failed."),
)


def asks_how(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a run, which reach it as one `How`."""

    @wraps(command)
    def with_how(*values: Any, **others: Any) -> Any:
        ctx = click.get_current_context()
        said = {name: others.pop(name) for name in How.__dataclass_fields__ if name != "note"}
        study = ctx.meta.get(STUDY)
        if study is not None:
            said |= {name: value for name, value in study.run.items() if not is_said(ctx, name)}
        how = _with_journal(How(**said), without=others.pop("no_journal"))
        ctx.meta[_JOURNAL] = how.journal
        return command(*values, how=how, **others)

    for option in reversed(_OPTIONS):
        with_how = option(with_how)
    return with_how


def _with_journal(how: How, *, without: bool) -> How:
    """The journal that was asked for, or the one of the working folder."""
    if without and (how.journal is not None or how.anew):
        other = "--journal" if how.journal is not None else "--anew"
        raise OptionError(f"--no-journal and {other} contradict each other. Give one of them.")
    if without or how.journal is not None:
        return how
    try:
        Path(FOLDER).mkdir(exist_ok=True)
        ignored = Path(FOLDER) / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="ascii")
    except OSError as error:
        return replace(how, note=f"none: {FOLDER} cannot be written here ({error.strerror}). Nothing is kept.")
    return replace(how, journal=JOURNAL)


def remember_arguments(ctx: click.Context, arguments: list[str]) -> None:
    """Keep the command line, to be able to say how to go on."""
    ctx.meta[_ARGUMENTS] = list(arguments)


def command_line(ctx: click.Context) -> str:
    """The command line of this run, to be copied."""
    return shell_line(["heldout", *ctx.meta.get(_ARGUMENTS, [])])


def way_on(ctx: click.Context) -> str | None:
    """What is left of a run that ended too soon, and the line to go on; None without a journal."""
    journal = ctx.meta.get(_JOURNAL)
    if journal is None:
        return None
    return f"What finished is in {journal}. To go on:\n  {command_line(ctx)}"


def interrupted_words(ctx: click.Context) -> str:
    """What is left of a run that was interrupted, and the line to go on."""
    way = way_on(ctx)
    if way is None:
        return "Interrupted: there is no result. Without --no-journal the next run could go on from here."
    return f"Interrupted. {way}"


@contextmanager
def interruptible() -> Iterator[None]:
    """The first Ctrl-C ends the study in order; a second one, while that takes its time, ends the program."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def first(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        os.write(2, b"\nStopping. Ctrl-C again to stop at once.\n")
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _log_to_stderr() -> None:
    log = logging.getLogger("heldout")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
    log.setLevel(logging.INFO)
