"""Options of how a study is run: journal, limits, Ctrl-C, and the command line that resumes after an interruption."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from heldout.cli.options import INTERRUPTED, STUDY, Command, RunOptions, is_given, with_options
from heldout.cli.output import Output, refuse_both, shell_line

if TYPE_CHECKING:
    from heldout.base.options import Options

FOLDER = ".heldout"  # in the working folder
JOURNAL = f"{FOLDER}/journal.db"
_ARGUMENTS, _JOURNAL = "heldout.arguments", "heldout.journal"  # keys in click's context
_LIMITS = ("timeout", "fit_timeout", "fit_memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(RunOptions):
    """Holds how a study is run, with its journal chosen."""

    note: str = ""  # why there is no journal although one was wanted
    started: float = field(default_factory=monotonic)  # when the command began

    def options(self, options: Options) -> Options:
        """Return the question's options with the limits of the run."""
        return replace(options, journal_anew=self.anew, **{name: getattr(self, name) for name in _LIMITS})

    def arguments(self, output: Output) -> dict[str, Any]:
        """Return the arguments of the library that say how a study is run."""
        from heldout.engine.progress import open_progress

        if output.progress and not sys.stderr.isatty():
            _log_to_stderr()
        return {
            "jobs": self.jobs,
            "backend": None if self.dask is None else dask_backend(self.dask),
            "journal": self.journal,
            "progress": open_progress("auto" if output.progress else False, started=self.started),
        }

    def words(self) -> dict[str, str]:
        """Return where answers are kept, or why they are not; empty if the user turned the journal off."""
        if self.note:
            return {"journal": self.note}
        if self.journal is None:
            return {}
        return {"journal": self.journal + (" (--no-journal keeps nothing)" if self.journal == JOURNAL else "")}


def run_options(command: Command) -> Command:
    """Add the options of a run to a command, which gets `RunSettings`; the command line overrides the study file."""

    @wraps(command)
    def with_settings(*values: Any, **others: Any) -> Any:
        ctx = click.get_current_context()
        given = {spec.name: others.pop(spec.name) for spec in fields(RunOptions)}
        study = ctx.meta.get(STUDY)
        if study is not None:
            given |= {name: value for name, value in study.run.items() if not is_given(ctx, name)}
        settings = _with_journal(RunSettings(**given))
        ctx.meta[_JOURNAL] = settings.journal
        return command(*values, settings=settings, **others)

    return with_options(RunOptions, with_settings)


def _with_journal(settings: RunSettings) -> RunSettings:
    """Set the journal: the one that was requested, or the one of the working folder."""
    if settings.no_journal:
        refuse_both({"--no-journal": True, "--journal": settings.journal, "--anew": settings.anew})
    if settings.no_journal or settings.journal is not None:
        return settings
    try:
        Path(FOLDER).mkdir(exist_ok=True)
        ignored = Path(FOLDER) / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="ascii")
    except OSError as error:
        note = f"none: {FOLDER} cannot be written here ({error.strerror}). Nothing is kept."
        return replace(settings, note=note)
    return replace(settings, journal=JOURNAL)


def dask_backend(address: str) -> str:
    """Return the ``backend=`` value for a scheduler's address from the command line.

    >>> dask_backend("node-7:8786"), dask_backend("tcp://node-7:8786")
    ('dask://node-7:8786', 'dask://node-7:8786')
    """
    return "dask://" + address.removeprefix("dask://").removeprefix("tcp://")


def remember_arguments(ctx: click.Context, arguments: list[str]) -> None:
    """Store the command line, so that it can be printed for resuming."""
    ctx.meta[_ARGUMENTS] = list(arguments)


def command_line(ctx: click.Context) -> str:
    """Return the command line of this run, quoted for a shell."""
    return shell_line(["heldout", *ctx.meta.get(_ARGUMENTS, [])])


def how_to_go_on(ctx: click.Context) -> str | None:
    """Return a message on where finished answers are and the command that resumes; None without a journal."""
    journal = ctx.meta.get(_JOURNAL)
    if journal is None:
        return None
    return f"What finished is in {journal}. To go on:\n  {command_line(ctx)}"


def interrupted_words(ctx: click.Context) -> str:
    """Return the message for an interrupted run: where its answers are, and the command that resumes it."""
    way = how_to_go_on(ctx)
    if way is None:
        return "Interrupted: there is no result. Without --no-journal the next run could go on from here."
    return f"Interrupted. {way}"


@contextmanager
def interruptible() -> Iterator[None]:
    """Stop the study cleanly at the first Ctrl-C, and end the process at once at a second one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before, is_first = signal.getsignal(signal.SIGINT), True

    def first(number: int, frame: Any) -> None:
        nonlocal is_first
        is_first = False
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        # Python restores the default handlers when it exits; a Ctrl-C would then change the exit code.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        # A bar is drawn over its two lines until the study has ended: this one stays above it.
        os.write(2, b"\nStopping. Ctrl-C again to stop at once.\n" + b"\n" * os.isatty(2))
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        if is_first:
            signal.signal(signal.SIGINT, before)


def _log_to_stderr() -> None:
    log = logging.getLogger("heldout")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
    log.setLevel(logging.INFO)
