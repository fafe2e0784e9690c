"""What the shell offers while a command is typed. Nothing heavy is imported for it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

_SPLITS = ("kfold:5", "kfold:10", "loo", "holdout:0.2", "resample:20:0.2", "forward:5", "column:", "rows:", "splits:")
_LONGEST_HEADER = 1 << 20
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def complete_columns(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The columns of the table that was named, where it is a plain text file."""
    # Where the option that is completed has no value yet, click leaves what came before it unread.
    data = ctx.params.get("data") or next(iter(ctx.args), None)
    return [CompletionItem(name) for name in columns_of(data) if name.startswith(incomplete)]


def complete_learners(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of the catalogue, after the last comma."""
    from heldout.cli.options import LEARNERS

    before, comma, word = incomplete.rpartition(",")
    names = ["all", *LEARNERS.split(", ")]
    return [CompletionItem(before + comma + name) for name in names if name.startswith(word)]


def complete_splits(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The usual splits."""
    known = _SPLITS if param.name == "test" else (*_SPLITS, "shared")
    return [CompletionItem(text) for text in known if text.startswith(incomplete)]


def columns_of(data: Any) -> list[str]:
    """The names in the first line of a text file; nothing of any other file."""
    try:
        place = Path(data)
        with place.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(_LONGEST_HEADER)
        return next(csv.reader([first], delimiter=_DELIMITERS[place.suffix.lower()]), [])
    except (KeyError, OSError, TypeError, ValueError, csv.Error):  # no such file, or none that can be looked into
        return []
