"""`heldout`: the group of commands, and how each of them ends."""

from __future__ import annotations

from typing import Any

import click

from heldout import __version__
from heldout.base.errors import BackendError, FitFailed, HeldoutError
from heldout.cli.check import check
from heldout.cli.evaluate import evaluate
from heldout.cli.explain import explain
from heldout.cli.options import INCOMPLETE, INTERRUPTED, WRONG_USE
from heldout.cli.running import interrupted_words, interruptible, remember_arguments, way_on
from heldout.report.text import line


class Commands(click.Group):
    """Turns errors that have a name into a line on stderr and an exit code."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        remember_arguments(ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with interruptible():
                return super().invoke(ctx)
        except (FitFailed, BackendError) as error:
            _say(error)
            if isinstance(error, BackendError) and (way := way_on(ctx)) is not None:
                click.echo(way, err=True)
            ctx.exit(INCOMPLETE)
        except HeldoutError as error:
            _say(error)
            ctx.exit(WRONG_USE)
        except KeyboardInterrupt:
            click.echo(interrupted_words(ctx), err=True)
            ctx.exit(INTERRUPTED)


def _say(error: HeldoutError) -> None:
    text = str(error)
    if isinstance(error, FitFailed | BackendError):
        text = text.partition("\n")[0]  # what follows is a traceback
    click.echo(click.style("Error: ", fg="red", bold=True) + line(text), err=True)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="heldout", message="%(prog)s %(version)s")
def main() -> None:
    """Choose a model, and say how good it really is.

    \b
    heldout evaluate data.csv --target price
    heldout evaluate data.csv --target price --learner ridge,forest --test kfold:10
    heldout explain data.csv --target price --learner ridge,forest

    The risk that is reported is measured on rows that no fit and no choice has seen. With several learners, choosing
    between them is part of what is measured.

    Exit codes: 0 good, 2 wrong use, 3 incomplete (a fit that the risk needs failed), 130 interrupted.
    """


main.add_command(check)
main.add_command(evaluate)
main.add_command(explain)

if __name__ == "__main__":
    main(prog_name="heldout")
