"""What a command says, to people and to programs, and the files it writes."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import Argument, HeldoutError, OptionError, Splitter, StoredError
from heldout.base.words import line
from heldout.cli.options import FINDINGS, Question
from heldout.data.read_table import is_table_name

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from heldout.api.result import Result
    from heldout.planner.account import Account


_LABELS = 12  # as wide as the names of facts above
SEVERITIES = ("info", "warning", "error")
NEVER = "never"


@dataclass(frozen=True, kw_only=True)
class Talk:
    """What the user wants to read."""

    quiet: bool
    verbose: bool
    as_json: bool
    progress: bool
    fail_on: str = NEVER

    @property
    def at_length(self) -> bool:
        """Whether people read along, and want more than a line."""
        return not (self.quiet or self.as_json)

    @cached_property
    def console(self) -> Console:
        from heldout.report.terminal import open_console

        return open_console()

    def show(self, view: RenderableType) -> None:
        """Print a view."""
        from heldout.report.terminal import show

        show(view, self.console)

    def remark(self, label: str, text: str) -> None:
        """A line beside the result, for people; not cut to the width, since names of files are copied from it."""
        if self.at_length:
            click.echo(f"{label:<{_LABELS}}{line(text)}")

    def result(self, summary: Mapping[str, Any], *, kind: str, short: Callable[[Any], str] | None = None) -> None:
        """The result as JSON, on one line, or as people like it. `kind` is one of :mod:`heldout.report.show`."""
        if self.as_json:
            echo_json(summary)
            return
        if self.quiet and short is not None:
            click.echo(short(summary))  # not cut to the width: programs read lines
        else:
            from heldout.report.show import as_view

            if kind in ("result", "comparison"):  # what was understood stands above these
                click.echo()
            self.show(as_view(kind, summary))

    def end(self, ctx: click.Context, findings: Sequence[Mapping[str, Any]]) -> None:
        """Exit with 1 where a finding is as grave as --fail-on says."""
        if self.fail_on == NEVER:
            return
        grave = [one for one in findings if SEVERITIES.index(one["severity"]) >= SEVERITIES.index(self.fail_on)]
        if grave:
            numbers = ", ".join(dict.fromkeys(one["code"] for one in grave))
            click.echo(f"Findings: {numbers} (--fail-on {self.fail_on})", err=True)
            ctx.exit(FINDINGS)


_TALK = (
    click.option("--quiet", "-q", is_flag=True, help="The answer alone, on one line where it fits."),
    click.option("--verbose", "-v", is_flag=True, help="The whole plan, and what the journal did."),
    click.option("--json", "as_json", is_flag=True, help="The answer as JSON, and nothing else."),
)
_RUNNING_TALK = (
    *_TALK,
    click.option("--progress/--no-progress", default=True, help="A bar on a terminal, for runs that last."),
    click.option(
        "--fail-on",
        type=click.Choice([*SEVERITIES, NEVER]),
        default=NEVER,
        show_default=True,
        help="The severity from which on a finding ends the command with exit code 1.",
    ),
)


def asks_talk(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command that runs a study the options of talking, which reach it as one `Talk`."""
    return _asks(command, _RUNNING_TALK)


def asks_short_talk(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command that answers at once."""
    return _asks(command, _TALK)


def _asks(command: Callable[..., Any], options: Sequence[Callable[[Any], Any]]) -> Callable[..., Any]:
    @wraps(command)
    def with_talk(*values: Any, **others: Any) -> Any:
        said = {name: others.pop(name) for name in ("quiet", "verbose", "as_json")}
        if sum(map(bool, said.values())) > 1:
            names = [f"--{name.removeprefix('as_')}" for name, given in said.items() if given]
            raise OptionError(f"{' and '.join(names)} contradict each other. Give one of them.")
        progress = others.pop("progress", False) and not said["quiet"]
        talk = Talk(**said, progress=progress, fail_on=others.pop("fail_on", NEVER))
        return command(*values, talk=talk, **others)

    for option in reversed(options):
        with_talk = option(with_talk)
    return with_talk


def echo_json(facts: Mapping[str, Any]) -> None:
    """Plain values as JSON; no character in it can act on a terminal."""
    click.echo(json.dumps(facts, indent=2, ensure_ascii=True, allow_nan=False))


def plan_facts(account: Account) -> dict[str, Any]:
    """The plan as plain values, with its totals."""
    totals = {"cells": account.cells, "fits": account.fits, "fits_before": account.fits_before}
    return {**asdict(account), **totals}


def check_writable(path: str | None, *, read: Sequence[str] = (), option: str = "--save") -> None:
    """Refuse a file that cannot be written, or that is itself read, before anything is computed for it."""
    if path is None:
        return
    place = Path(path)
    folder = place.absolute().parent
    if not folder.is_dir():
        raise OptionError(f"{option} {path}: there is no folder {str(folder)!r}. Make it first.")
    if place.is_dir():
        raise OptionError(f"{option} {path}: this is a folder. Name a file in it.")
    if place.exists() and any(Path(one).exists() and place.samefile(one) for one in read):
        raise OptionError(f"{option} {path}: this file is read, and would be lost. Name another one.")
    if not os.access(folder, os.W_OK) or (place.exists() and not os.access(place, os.W_OK)):
        raise OptionError(f"{option} {path}: it cannot be written there. Name a file in a folder of your own.")


def save_result(save: Callable[[str], None], path: str) -> None:
    """Save, and say it plainly if the disk refuses."""
    try:
        save(path)
    except OSError as error:
        raise StoredError(f"--save {path}: the result was not written: {error.strerror or error}.") from error


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


MODEL = ".skops"  # the ending of a file that is to hold the model


def check_places(places: tuple[str, ...], *, read: tuple[str, ...] = ()) -> None:
    """Refuse files that cannot be written, before anything is read or computed for them."""
    for place in places:
        check_writable(place, read=read)
        if Path(place).suffix.lower() in (".html", ".htm"):
            raise OptionError(f"--save {place}: a page is written by --report {place}.")
        if is_table_name(place):
            raise OptionError(f"--save {place}: a result is no table. Name it otherwise, such as result.heldout.")
    if len(set(places)) < len(places):
        raise OptionError(f"--save {places[0]} is given twice. Name different files.")


def files_of(question: Question) -> tuple[str, ...]:
    """The files that a question reads."""
    splits = [text.partition(":")[2] for text in (question.test, question.validation) if text]
    study = [] if question.study is None else [question.study.path]
    return (question.data, *study, *filter(None, splits))


def check_learner_saved(learner: Any, places: tuple[str, ...]) -> None:
    """Refuse a learner that no model file may hold, before anything is fitted, where a model is to be saved."""
    if any(_is_model(place) for place in places):
        from heldout.models.file import check_packable

        check_packable(learner)


def make_predictor(places: tuple[str, ...], result: Result) -> None:
    """Make the predictor of a model to be saved before the numbers are shown: its fits give one of them.

    An error is told where the model is saved, after the numbers.
    """
    best = result.estimates.get("best_validation")
    if best is not None and best.value is None and any(_is_model(place) for place in places):
        with suppress(HeldoutError):
            _ = result.predictor


def save_to(places: tuple[str, ...], result: Result, question: Question, talk: Talk) -> None:
    """Write the result, the model, or both, and say what reads them."""
    for place in places:
        if not _is_model(place):
            save_result(result.save, place)
            talk.remark("saved", f"{place}  (heldout report {place} shows it again)")
        elif result.risk.value is None and result.risk.answer is None:
            talk.remark("not saved", f"{place}, since the study is incomplete")
        else:
            _save_model(place, result, question, talk)


def _save_model(place: str, result: Result, question: Question, talk: Talk) -> None:
    from heldout.models.model import save_model

    before = len(result.findings)
    missing = None if question.missing is None else tuple(one.strip() for one in question.missing.split(","))
    try:
        packages = save_model(result, place, target=question.target, missing=missing)
    except OSError as error:
        raise StoredError(f"--save {place}: the model was not written: {error.strerror or error}.") from error
    for finding in result.findings[before:]:  # what is seen only when the predictor is made again
        click.echo(line(finding), err=True)
    trust = f" --trust {','.join(packages)}" if packages else ""
    talk.remark("model", f"{place}  (heldout predict {place} new.csv{trust} asks it)")


def _is_model(place: str) -> bool:
    return Path(place).suffix.lower() == MODEL


_OPTIONS = {"sample_weight": "weights", "journal_anew": "anew"}  # where an option has another name than its argument
_ONLY_IN_PYTHON = ("journal_detail",)
_SPLITTERS = {"LeaveOneOut": "loo", "SharedBlocks": "shared", "Given": "rows"}


def as_option(part: Argument | Splitter) -> str:
    """An argument or a splitter of a message for people at a terminal.

    >>> as_option(Argument("pool", False)), as_option(Argument("validation", Splitter("KFold", 5)))
    ('--no-pool', '--validation kfold:5')
    """
    if isinstance(part, Splitter):
        name = _SPLITTERS.get(part.name, part.name.lower())
        also = "" if part.also is None else f" {as_option(part.also)}"
        return f"{name}:{part.size}{also}" if part.size else name
    if part.name in _ONLY_IN_PYTHON:
        return f"{part} in Python"
    option = _OPTIONS.get(part.name, part.name).replace("_", "-")
    if part.value in (None, False):
        return f"--no-{option}"
    if part.value is ... or part.value is True:
        return f"--{option}"
    return f"--{option} {as_option(part.value) if isinstance(part.value, Splitter) else part.value}"


def shell_line(words: Sequence[str]) -> str:
    r"""A command line to be copied: exact for the shell, and with nothing in it that a terminal would act on.

    >>> shell_line(["heldout", "check", "my table.csv"])
    "heldout check 'my table.csv'"
    >>> print(shell_line(["heldout", "check", "red\x1b[31m's.csv"]))
    heldout check $'red\x1b[31m\'s.csv'
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _spelt(word) for word in words)


def _spelt(word: str) -> str:
    """A word with the bytes of its unprintable characters spelt out, in the quotes of shells for that."""
    plain = word.replace("\\", "\\\\").replace("'", "\\'")
    bytes_of = "".join(
        one if one.isprintable() else "".join(f"\\x{byte:02x}" for byte in one.encode("utf-8", "surrogateescape"))
        for one in plain
    )
    return f"$'{bytes_of}'"
