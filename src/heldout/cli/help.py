"""Shows the help of commands: options in groups, at 80 columns, with lines that break between words only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import click

# All other options of a command that asks a question are part of that question.
GROUPS = {
    "Splits": ("test", "validation", "choose", "buffer", "embargo", "groups", "time", "strata", "split", "seed"),
    "Running": (
        *("jobs", "dask", "journal", "no_journal", "anew", "timeout", "fit_timeout", "fit_memory"),
        *("precision", "race", "race_level", "progress"),
    ),
    "Output": ("save", "page", "write_study", "quiet", "verbose", "as_json", "fail_on", "help"),
}
QUESTION, ONE_GROUP = "Question", "Options"
FIRST_COLUMN = 24  # characters at most, so that 52 of 80 columns are left for words
_NUMBER = re.compile("(INTEGER|FLOAT)( RANGE)?")
_BRACKETS = re.compile(r"\[[^][]*\]")
_HYPHEN, _SPACE = "\u2011", "\u00a0"  # at which no line is broken


class Words(click.HelpFormatter):
    """Writes help texts without breaking a line at a hyphen or inside brackets."""

    def write_text(self, text: str) -> None:
        super().write_text(_unbroken(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = FIRST_COLUMN, col_spacing: int = 2) -> None:
        super().write_dl([(first, _unbroken(second)) for first, second in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(_HYPHEN, "-").replace(_SPACE, " ")


class HelpContext(click.Context):
    """The context of a command, with our way of writing help."""

    formatter_class = Words


class GroupedCommand(click.Command):
    """A command whose help shows the options of a study in groups."""

    context_class = HelpContext

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = grouped(self.get_params(ctx))
        records = {name: [option.get_help_record(ctx) or ("", "") for option in groups[name]] for name in groups}
        width = min(FIRST_COLUMN, max(len(value_words(names)) for rows in records.values() for names, _ in rows))
        for group, rows in records.items():
            with formatter.section(group):
                formatter.write_dl([(f"{value_words(names):<{width}}", help) for names, help in rows])


def grouped(params: Sequence[click.Parameter]) -> dict[str, list[click.Option]]:
    """Return the options that are shown, by group; those of a command that asks no question are a single group."""
    options = [param for param in params if isinstance(param, click.Option) and not param.hidden]
    if all(option.name != "target" for option in options):
        return {ONE_GROUP: options}
    groups = {name: [option for option in options if _group_of(option) == name] for name in (QUESTION, *GROUPS)}
    return {name: shown for name, shown in groups.items() if shown}


def _group_of(option: click.Option) -> str:
    own = "help" if "--help" in option.opts else option.name
    return next((group for group, names in GROUPS.items() if own in names), QUESTION)


def value_words(text: str) -> str:
    """Return the names of an option with click's words for numbers replaced by a plain one.

    >>> value_words("--seed INTEGER RANGE")
    '--seed NUMBER'
    """
    return _NUMBER.sub("NUMBER", text)


def _unbroken(text: str) -> str:
    """Return the text with hyphens, and spaces in brackets, at which no line is broken; examples stay as they are."""
    return _BRACKETS.sub(lambda found: found[0].replace(" ", _SPACE), text).replace("-", _HYPHEN)
