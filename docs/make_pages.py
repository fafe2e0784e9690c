"""Makes the pages of docs that come from the code, the command's reference and the table of learners.

Run ``python docs/make_pages.py``; tests say when a page is out of date.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
import numpy as np

from heldout.catalogue.entries import CATALOGUE, Entry
from heldout.catalogue.preparation import CODED, MEASURED, NOTHING, SCALED, UNSCALED, Table
from heldout.cli.help import grouped, value_words
from heldout.cli.main import main
from heldout.task.column_kinds import NUMBERS, ONE

_HEAD = """\
# The command

Made from the commands' own help by `python docs/make_pages.py`; every example below is run by a test.
"""


def reference() -> str:
    """Describe all commands in Markdown: what they do, their examples, their options."""
    ctx = click.Context(main, info_name="heldout")
    sections = [_HEAD, *_words(main)]
    for name in main.list_commands(ctx):
        command = main.get_command(ctx, name)
        assert command is not None, "it was just listed"
        sections += [f"## heldout {name}\n", *_words(command), _options(command, click.Context(command, parent=ctx))]
    return "\n".join(sections).rstrip() + "\n"


def examples_of(command: click.Command) -> list[str]:
    """List the command lines that a help text shows."""
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
    groups = grouped(command.params)
    head = "\n| option | |\n| --- | --- |\n"
    tables = [
        (f"\n**{name}**\n" if len(groups) > 1 else "") + head + "\n".join(_row(option, ctx) for option in options)
        for name, options in groups.items()
        if options
    ]
    arguments = " ".join(param.make_metavar(ctx) for param in command.params if isinstance(param, click.Argument))
    usage = f"`heldout {command.name} {arguments}{' [OPTIONS]' if tables else ''}`\n".replace(" ` ", "`")
    return "".join([usage, "\n".join(tables), "\n"]) if tables else usage


def _row(option: click.Option, ctx: click.Context) -> str:
    names = [f"`{name}`" for name in (*option.opts, *option.secondary_opts)]
    value = "" if option.is_flag else f" {value_words(option.make_metavar(ctx))}"
    default = f" Default: {option.default}." if option.show_default and option.default is not None else ""
    return f"| {', '.join(names)}{_cell(value)} | {_cell(option.help or '')}{default} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


BEGIN, END = "<!-- made from the catalogue: begin -->", "<!-- made from the catalogue: end -->"
_PREPARED = {
    SCALED: "scaled",
    MEASURED: "scaled, texts in few columns",
    UNSCALED: "filled in",
    CODED: "as they are, categories coded",
    NOTHING: "–",
}


def learner_table() -> str:
    """Write a row a learner: what it is for, its columns, and the space that is searched on a table of 500 rows."""
    head = ["| name | what it is | for | columns | searched |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *map(_learner_row, CATALOGUE.values())])


def with_learners(page: str) -> str:
    """Replace the table between the two marks of a page."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"The page has no {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n{learner_table()}\n{END}{after}"


def _learner_row(entry: Entry) -> str:
    kinds = [word for word, there in (("classes", entry.classifier), ("numbers", entry.regressor)) if there]
    words = [f"`{entry.name}`", entry.words, " and ".join(kinds), _PREPARED[entry.preparation], _searched(entry)]
    return f"| {' | '.join(words)} |"


def _searched(entry: Entry) -> str:
    """Write the values of each parameter, for classes and for numbers where these differ."""
    spaces = {
        word: "; ".join(_parameters(entry.space(_example(classes=classes))))
        for word, classes, make in (("classes", 2, entry.classifier), ("numbers", 0, entry.regressor))
        if make is not None
    }
    if len(set(spaces.values())) == 1:
        return next(iter(spaces.values())) or "–"
    return "<br>".join(f"{word}: {space}" for word, space in spaces.items())


def _example(*, classes: int) -> Table:
    names = [f"x{number}" for number in range(10)]
    kinds = {kind: names if kind == NUMBERS else [] for kind in ONE}
    return Table(rows=500, kinds=kinds, plain=True, classes=classes)


def _parameters(space: dict[str, Any]) -> Iterator[str]:
    for name, values in space.items():
        if isinstance(values, np.ndarray):
            yield f"`{name}` {values[0]:.0e} … {values[-1]:.0e}, {len(values)} values, even on the log scale"
        else:
            yield f"`{name}` {', '.join(f'{v:.4g}' if isinstance(v, float) else str(v) for v in values)}"


if __name__ == "__main__":
    DOCS = Path(__file__).parent
    (DOCS / "cli.md").write_text(reference(), encoding="utf-8")
    learners = (DOCS / "learners.md").read_text(encoding="utf-8")
    (DOCS / "learners.md").write_text(with_learners(learners), encoding="utf-8")
