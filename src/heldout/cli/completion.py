"""`heldout completion`, and the completion of options and values in a shell. No heavy library is imported for it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

# The catalogue itself imports scikit-learn, which --help must not.
LEARNERS = (
    "linear, ridge, lasso, elastic_net, logistic, lda, bayes, knn, tree, forest, extra_trees, boosting, svm, dummy, "
    "lightgbm, xgboost, catboost"
)
_SPLITS = ("kfold:5", "kfold:10", "loo", "holdout:0.2", "resample:20:0.2", "forward:5", "column:", "rows:", "splits:")
_LONGEST_HEADER = 1 << 20
_TEXTS = (".csv", ".tsv", ".txt")
_WHERE = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/heldout.fish",
}


@click.command(short_help="The script that completes commands in your shell.")
@click.argument("shell", type=click.Choice(list(_WHERE)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script by which a shell completes commands, options, names of learners and columns of the table.

    \b
    Examples:
      heldout completion bash >> ~/.bashrc
      heldout completion zsh >> ~/.zshrc
      heldout completion fish > ~/.config/fish/completions/heldout.fish
    """
    shape = get_completion_class(shell)
    assert shape is not None, "click knows these shells"
    made = shape(ctx.find_root().command, {}, "heldout", "_HELDOUT_COMPLETE")
    click.echo(f"# Completion of heldout for {shell}; it belongs into {_WHERE[shell]}")
    click.echo(shape.source_template % made.source_vars())


def complete_columns(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete column names of the table on the command line, if it is a text file."""
    # Where the option that is completed has no value yet, click leaves what came before it unread.
    data = ctx.params.get("data") or next(iter(ctx.args), None)
    return [CompletionItem(name) for name in _columns_of(data) if name.startswith(incomplete)]


def complete_learners(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a learner after the last comma."""
    before, comma, word = incomplete.rpartition(",")
    names = ["all", "auto", *LEARNERS.split(", ")]
    return [CompletionItem(before + comma + name) for name in names if name.startswith(word)]


def complete_splits(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete common splits."""
    known = _SPLITS if param.name == "test" else (*_SPLITS, "shared")
    return [CompletionItem(text) for text in known if text.startswith(incomplete)]


def _columns_of(data: Any) -> list[str]:
    """Return the column names in the first line of a text file, by the separator that finds most; empty for others."""
    try:
        place = Path(data)
        if place.suffix.lower() not in _TEXTS:
            return []
        with place.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(_LONGEST_HEADER)
        return max((next(csv.reader([first], delimiter=one), []) for one in ",;\t|"), key=len)
    except (OSError, TypeError, ValueError, csv.Error):  # no such file, or none that can be looked into
        return []
