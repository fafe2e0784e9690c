"""Writes the reference of the command from its help texts: ``python -m heldout.cli.reference > docs/cli.md``."""

from __future__ import annotations

import re
from inspect import cleandoc

import click

_NUMBER = re.compile("(INTEGER|FLOAT)( RANGE)?")
_HEAD = """\
# The command

Made from the commands' own help by `python -m heldout.cli.reference`; every example below is run by a test.
"""


def reference() -> str:
    """Describe all commands in Markdown: what they do, their examples, their options."""
    from heldout.cli.main import main

    ctx = click.Context(main, info_name="heldout")
    sections = [_HEAD, *_words(main)]
    for name in main.list_commands(ctx):
        command = main.get_command(ctx, name)
        assert command is not None, "it was just listed"
        sections += [f"## heldout {name}\n", *_words(command), _options(command, click.Context(command, parent=ctx))]
    return "\n".join(sections).rstrip() + "\n"


def examples_of(command: click.Command) -> list[str]:
    """List the command lines that a help text shows.

    >>> from heldout.cli.report import report
    >>> examples_of(report)[0]
    'heldout report result.heldout'
    """
    _, _, after = cleandoc(command.help or "").partition("Examples:\n")
    block = after.partition("\n\n")[0]
    return [line.strip() for line in block.splitlines() if line.strip().startswith("heldout ")]


def _words(command: click.Command) -> list[str]:
    """Return the paragraphs of a help text, the examples as code."""
    paragraphs = []
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        text = paragraph.replace("\b\n", "").strip()
        if text.startswith("Examples:"):
            paragraphs.append("\n".join(["```", *examples_of(command), "```"]) + "\n")
        elif text:
            paragraphs.append(" ".join(text.split()) + "\n")
    return paragraphs


def _options(command: click.Command, ctx: click.Context) -> str:
    rows = [_row(param, ctx) for param in command.params if isinstance(param, click.Option) and not param.hidden]
    arguments = " ".join(param.make_metavar(ctx) for param in command.params if isinstance(param, click.Argument))
    usage = f"`heldout {command.name} {arguments}{' [OPTIONS]' if rows else ''}`\n".replace(" ` ", "`")
    return "\n".join([usage, "| option | |", "| --- | --- |", *rows, ""]) if rows else usage


def _row(option: click.Option, ctx: click.Context) -> str:
    names = [f"`{name}`" for name in (*option.opts, *option.secondary_opts)]
    value = "" if option.is_flag else f" {_NUMBER.sub('NUMBER', option.make_metavar(ctx))}"
    default = f" Default: {option.default}." if option.show_default and option.default is not None else ""
    return f"| {', '.join(names)}{_cell(value)} | {_cell(option.help or '')}{default} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    click.echo(reference(), nl=False)
