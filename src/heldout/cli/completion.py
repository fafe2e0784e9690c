"""`heldout completion`: what a shell needs to complete commands, options, learners and columns."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

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
