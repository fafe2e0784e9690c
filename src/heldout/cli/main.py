"""`heldout`: collects the commands, and turns errors into exit codes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from heldout import __version__
from heldout.base.errors import BackendError, FitFailed, HeldoutError, Sentence, did_you_mean
from heldout.base.words import line
from heldout.cli.advise import advise
from heldout.cli.check import check
from heldout.cli.compare import compare
from heldout.cli.completion import completion
from heldout.cli.evaluate import evaluate, explain
from heldout.cli.help import HelpContext
from heldout.cli.ledger import ledger
from heldout.cli.options import INCOMPLETE, INTERRUPTED, UNREAD, WRONG_USE
from heldout.cli.output import as_option, collect_later
from heldout.cli.predict import predict
from heldout.cli.report import report
from heldout.cli.run_options import how_to_go_on, interrupted_words, interruptible, remember_arguments
from heldout.cli.serve import serve

_LINE_WITHOUT_END = re.compile(r"(?<![.:;,?!])\n")  # the lines of a message are joined to one


class Commands(click.Group):
    """Turns heldout's own errors into a line on stderr and an exit code, and suggests the nearest command name."""

    context_class = HelpContext

    def main(self, args: Sequence[str] | None = None, *more: Any, **others: Any) -> Any:
        if args is None:  # a program of its own, and no call from Python
            collect_later()
        return super().main(args, *more, **others)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        remember_arguments(ctx, args)
        with _written(ctx):  # --help and --version answer here
            return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0] if args else ""
        if word and not word.startswith("-") and self.get_command(ctx, word) is None:
            ctx.fail(f"There is no command {line(word)!r}. {did_you_mean(word, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with interruptible():  # also while the command to resume is printed
            try:
                with _written(ctx):
                    return super().invoke(ctx)
            except (FitFailed, BackendError) as error:
                text = error.worded(as_option).partition("\n")[0]  # what follows is a traceback
                _fail(ctx, text, INCOMPLETE, may_go_on=isinstance(error, BackendError))
            except HeldoutError as error:
                _fail(ctx, error.worded(as_option), WRONG_USE)
            except click.NoSuchOption as error:
                from heldout.base.other_words import ARGUMENTS, our_argument

                name = error.option_name.lstrip("-").replace("-", "_")
                known = [] if error.ctx is None else [one.name for one in error.ctx.command.params]
                if name not in ARGUMENTS:
                    raise
                word = our_argument(name, ["sample_weight", *known])
                told = word.worded(as_option) if isinstance(word, Sentence) else word
                raise click.UsageError(f"There is no option {error.option_name}. {told}", ctx=error.ctx) from None
            except KeyboardInterrupt:
                click.echo(interrupted_words(ctx), err=True)
                ctx.exit(INTERRUPTED)


@contextmanager
def _written(ctx: click.Context) -> Iterator[None]:
    """Flush what the body printed; if the system refuses, end the command with one line instead of a traceback."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here rather than when Python exits, when an error could no longer be reported
    except BrokenPipeError:  # the reader closed the pipe: this is no error, and there is nobody to report it to
        _say_no_more()
        ctx.exit(UNREAD)
    except OSError as error:  # such as a full disk behind stdout
        where = f"{error.filename!r}: " if error.filename is not None else ""
        _say_no_more()
        text = f"{where}{error.strerror or error}. The result could not be told, or not be reached."
        _fail(ctx, text, INCOMPLETE, may_go_on=True)


def _say_no_more() -> None:
    """Discard further output, since flushing it would fail again."""
    if sys.stdout is not None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until Python ends


def _fail(ctx: click.Context, text: str, code: int, *, may_go_on: bool = False) -> NoReturn:
    """Print an error on one line, and the command that resumes the run if there is one, then exit with `code`."""
    message = line(_LINE_WITHOUT_END.sub(".\n", text))
    click.echo(click.style("Error: ", fg="red", bold=True) + message, err=True)
    if may_go_on and (way := how_to_go_on(ctx)) is not None:
        click.echo(way, err=True)
    ctx.exit(code)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="heldout", message="%(prog)s %(version)s")
def main() -> None:
    """Choose a model, and say how good it really is.

    \b
    Examples:
      heldout check houses.csv --target price
      heldout advise houses.csv --target price --learner ridge,tree
      heldout evaluate houses.csv --target price
      heldout evaluate houses.csv -t price -l ridge,knn --test kfold:10
      heldout compare houses.csv --target price --learner ridge,tree,dummy
      heldout evaluate houses.csv --target price --save model.skops
      heldout predict model.skops new.csv --out predictions.csv

    The risk that is reported is measured on rows that no fit and no choice has seen. With several learners, choosing
    between them is part of what is measured.

    Exit codes: 0 good, 1 findings at the chosen severity, 2 wrong use, 3 incomplete (a fit that the risk needs failed,
    or what was found could not be written), 130 interrupted, 141 whoever read the output left.
    """


for _command in (check, advise, explain, evaluate, compare, predict, report, serve, ledger, completion):
    main.add_command(_command)
