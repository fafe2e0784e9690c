"""How much a command says, and how it ends: the options --quiet, --verbose, --json and --fail-on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import OptionError
from heldout.base.words import line
from heldout.cli.options import FINDINGS

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

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
            from heldout.cli.output import echo_json

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
