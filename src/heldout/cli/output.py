"""Prints results for people and for programs, and checks the files that a command writes."""

from __future__ import annotations

import atexit
import gc
import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import Argument, OptionError, Splitter, StoredError
from heldout.base.words import line
from heldout.cli.options import FINDINGS, INCOMPLETE, Command, option, with_options

if TYPE_CHECKING:
    from heldout.planner.account import Account

_USUAL, _LOADING = gc.get_threshold(), 1_000_000  # objects between two searches for garbage
LABELS = 12  # the width of labels, in characters
SEVERITIES = ("info", "warning", "error")
NEVER = "never"
FAIL_ON = "The severity from which on a finding ends the command with exit code 1."


def collect_later() -> None:
    """Look for garbage rarely until `loaded`, and not at all when Python ends.

    Libraries make some 500,000 objects that stay; looking through them takes a quarter of the time of a small study.
    """
    gc.set_threshold(_LOADING)
    atexit.register(gc.freeze)


def loaded() -> None:
    """Collect garbage as usual again after `collect_later`, but not among the objects that exist by now."""
    if gc.get_threshold()[0] == _LOADING:
        gc.freeze()
        gc.set_threshold(*_USUAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Holds what the user wants to read, and which findings fail the command."""

    quiet: bool = option(
        "The answer alone, on one line where it fits.", flags=("--quiet", "-q"), default=False, is_flag=True
    )
    verbose: bool = option(
        "The whole plan, and what the journal did.", flags=("--verbose", "-v"), default=False, is_flag=True
    )
    as_json: bool = option("The answer as JSON, and nothing else.", flags=("--json",), default=False, is_flag=True)
    progress: bool = option(
        "A bar on a terminal, for runs that last.", flags=("--progress/--no-progress",), default=True
    )
    fail_on: str = option(FAIL_ON, default=NEVER, show_default=True, type=click.Choice([*SEVERITIES, NEVER]))

    @property
    def at_length(self) -> bool:
        """Whether the user reads more than one line: neither --quiet nor --json is given."""
        return not (self.quiet or self.as_json)

    def show(self, kind: str, values: Mapping[str, Any]) -> None:
        """Print values in full. `kind` is a key of `BLOCKS` in :mod:`heldout.report.show`."""
        from heldout.report.show import as_view
        from heldout.report.terminal import show

        show(as_view(kind, values))

    def remark(self, label: str, text: str) -> None:
        """Print a line beside the result. It is not cut to the width, since users copy file names from it."""
        if self.at_length:
            click.echo(f"{label:<{LABELS}}{line(text)}")

    def result(self, summary: Mapping[str, Any], *, kind: str, short: Callable[[Any], str] | None = None) -> None:
        """Print a result as JSON, on one line or in full; `kind` is a key of `BLOCKS` of :mod:`heldout.report.show`."""
        if self.as_json:
            echo_json(summary)
        elif self.quiet and short is not None:
            click.echo(short(summary))  # not cut to the width: programs read lines
        else:
            if self.verbose and kind.startswith(("result", "comparison")):
                click.echo()  # above these, the command printed what it understood
                kind = f"whole {kind.split()[0]}"
            self.show(kind, summary)

    def end(self, ctx: click.Context, summary: Mapping[str, Any]) -> None:
        """Exit with 3 if the risk of a result is missing, or with 1 if a finding is as severe as --fail-on."""
        risk = summary.get("risk")
        if risk is not None and risk["value"] is None and risk["answer"] is None:
            click.echo(f"Incomplete: {line(risk['reason'])}", err=True)
            ctx.exit(INCOMPLETE)
        if self.fail_on == NEVER:
            return
        grave = SEVERITIES[SEVERITIES.index(self.fail_on) :]
        found = summary["findings"]
        numbers = dict.fromkeys(finding["code"] for finding in found if finding["severity"] in grave)
        if numbers:
            click.echo(f"Findings: {', '.join(numbers)} (--fail-on {self.fail_on})", err=True)
            ctx.exit(FINDINGS)


def output_options(command: Command, *, names: Any = None) -> Command:
    """Add the output options, or those in `names`, to a command, which receives them as one `Output`."""

    @wraps(command)
    def with_output(*values: Any, **others: Any) -> Any:
        given = {name: others.pop(name) for name in Output.__dataclass_fields__ if name in others}
        refuse_both({f"--{name.removeprefix('as_')}": given[name] for name in ("quiet", "verbose", "as_json")})
        given["progress"] = given.get("progress", False) and not given["quiet"]
        return command(*values, output=Output(**given), **others)

    return with_options(Output, with_output, names=names)


short_output_options = partial(output_options, names=("quiet", "verbose", "as_json"))  # of commands that answer at once


def refuse_both(given: Mapping[str, Any]) -> None:
    """Raise an error if more than one of several exclusive options is given."""
    names = [option for option, value in given.items() if value]
    if len(names) > 1:
        raise OptionError(f"{' and '.join(names)} contradict each other. Give one of them.")


def page_option(flag: str = "--report") -> Callable[[Command], Command]:
    """Return a decorator that adds the option for the file of a report page."""
    words = "Write a page for colleagues: one HTML file that opens offline, with figures."
    return click.option(flag, "page", metavar="PAGE", type=click.Path(), help=words)


def echo_json(facts: Mapping[str, Any]) -> None:
    """Print plain values as ASCII JSON, without control characters."""
    click.echo(json.dumps(facts, indent=2, ensure_ascii=True, allow_nan=False))


def plan_facts(account: Account) -> dict[str, Any]:
    """Return the plan as plain values, with its totals."""
    totals = {"cells": account.cells, "fits": account.fits, "fits_before": account.fits_before}
    return {**asdict(account), **totals}


def check_writable(path: str | None, *, read: Sequence[str] = (), option: str = "--save") -> None:
    """Raise an error for a file that cannot be written or is itself read, before anything is computed for it."""
    if path is None:
        return
    place = Path(path)
    folder = place.absolute().parent
    if not folder.is_dir():
        raise OptionError(f"{option} {path}: there is no folder {str(folder)!r}. Make it first.")
    if place.is_dir():
        raise OptionError(f"{option} {path}: this is a folder. Name a file in it.")
    if place.exists() and any(Path(other).exists() and place.samefile(other) for other in read):
        raise OptionError(f"{option} {path}: this file is read, and would be lost. Name another one.")
    if not os.access(folder, os.W_OK) or (place.exists() and not os.access(place, os.W_OK)):
        raise OptionError(f"{option} {path}: it cannot be written there. Name a file in a folder of your own.")


@contextmanager
def writing(what: str, path: str, *, option: str = "--save") -> Iterator[None]:
    """Turn an OSError of the body into a StoredError that names the option, the file and the reason."""
    try:
        yield
    except OSError as error:
        raise StoredError(f"{option} {path}: {what} was not written: {error.strerror or error}.") from error


def check_page(page: str | None, *, option: str = "--report", read: tuple[str, ...] = ()) -> None:
    """Raise an error for a page that cannot be made or written, before anything is computed for it."""
    if page is None:
        return
    from heldout.report.page import check_page_packages

    check_writable(page, read=read, option=option)
    check_page_packages()


def write_page(write: Callable[[str], Any], page: str | None, output: Output, *, option: str = "--report") -> None:
    """Write the page if one was requested, and print its path."""
    if page is not None:
        with writing("the page", page, option=option):
            write(page)
        output.remark("report", page)


_OPTIONS = {"sample_weight": "weights", "journal_anew": "anew"}  # options whose names differ from their arguments
_ONLY_IN_PYTHON = ("journal_detail", "backend")
_SPLITTERS = {"LeaveOneOut": "loo", "SharedBlocks": "shared", "Given": "rows"}


def as_option(part: Argument | Splitter) -> str:
    """Return an argument or a splitter of a message in the form of the command line.

    >>> as_option(Argument("pool", False)), as_option(Argument("validation", Splitter("KFold", 5)))
    ('--no-pool', '--validation kfold:5')
    """
    if isinstance(part, Splitter):
        name = _SPLITTERS.get(part.name, part.name.lower())
        also = "" if part.also is None else f" {as_option(part.also)}"
        return f"{name}:{part.size}{also}" if part.size else name
    if part.name in _ONLY_IN_PYTHON:
        return f"{part} in Python"
    if part.name == "classification":
        return "--classification" if part.value else "--regression"
    option = _OPTIONS.get(part.name, part.name).replace("_", "-")
    if part.value is None or part.value is False:
        return f"--no-{option}"
    if part.value is ... or part.value is True:
        return f"--{option}"
    return f"--{option} {as_option(part.value) if isinstance(part.value, Splitter) else part.value}"


def shell_line(words: Sequence[str]) -> str:
    r"""Return words as a command line to copy, quoted for the shell and without control characters.

    >>> shell_line(["heldout", "check", "my table.csv"])
    "heldout check 'my table.csv'"
    >>> print(shell_line(["heldout", "check", "red\x1b[31m's.csv"]))
    heldout check $'red\x1b[31m\'s.csv'
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    """Return a word in $'…' quotes with its unprintable characters as escapes."""
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    escaped = "".join(
        char if char.isprintable() else "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
        for char in plain
    )
    return f"$'{escaped}'"
