"""`heldout evaluate`: the risk of a learner, or of the choice between several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from heldout.base.words import line
from heldout.cli.options import INCOMPLETE, Question, asks_question
from heldout.cli.output import Talk, asks_page, asks_talk, check_page, write_report
from heldout.cli.run_options import How, asks_how, command_line

if TYPE_CHECKING:
    from heldout.cli.question import Posed


@click.command(short_help="The risk of a learner, or of the choice between several.")
@asks_question
@asks_how
@click.option(
    "--save",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Write the model if FILE ends in .skops, for heldout predict; else the whole result, for heldout report. "
    "Repeat it for both.",
)
@asks_page
@click.option("--write-study", metavar="FILE", type=click.Path(), help="Write the study file that reproduces this run.")
@asks_talk
@click.pass_context
def evaluate(
    ctx: click.Context,
    question: Question,
    *,
    how: How,
    save: tuple[str, ...],
    page: str | None,
    write_study: str | None,
    talk: Talk,
) -> None:
    """Estimate the risk of a learner on the table in DATA, or run the study in DATA if it is a .toml file.

    Numbers are filled in and scaled as the learner needs, text becomes categories, dates become days: all of it
    inside the folds. Parameters are chosen on validation rows within each training part, from a default space. With
    several learners, choosing between them is part of what is measured, so the risk has no winner's curse.

    What finished is kept in .heldout/ in the working folder: an interrupted run goes on when the command is repeated.
    With a study file, options on the command line count more than the file.

    Exit codes: 0 good, 1 findings of the severity --fail-on or graver, 2 wrong use, 3 incomplete (a fit that the risk
    needs failed), 130 interrupted.

    \b
    Examples:
      heldout evaluate houses.csv --target price
      heldout evaluate houses.csv --target price --learner ridge,knn --write-study study.toml
      heldout evaluate study.toml --seed 1
      heldout evaluate houses.csv --target price --save model.skops
      heldout evaluate houses.csv --target price --report study.html
      heldout evaluate iris.csv --target species --learner logistic,knn --loss zero_one --loss log
      heldout evaluate visits.csv --target stay --groups patient --learner ridge --test kfold:10
      heldout evaluate sales.csv --target amount --time day --buffer 7d --learner ridge,tree --json
      heldout evaluate benchmark.csv --target label --test column:part --learner logistic --fail-on warning
      heldout evaluate genes.csv --target grade --learner svm,tree --journal genes.db --fit-timeout 600
    """
    from heldout.api.call_text import asked_by
    from heldout.api.evaluate import evaluate as risk_of
    from heldout.cli.output import check_learner_saved, check_places, files_of, make_predictor, save_to
    from heldout.cli.question import pose
    from heldout.cli.study_writer import check_study_place
    from heldout.cli.study_writer import write_study as write
    from heldout.report.terminal import one_line

    check_places(save, read=files_of(question))
    check_page(page, read=files_of(question))
    check_study_place(write_study)
    posed = pose(question)
    check_learner_saved(posed.learner, save)
    if talk.at_length:
        _begin(posed, how, talk)
    if write_study is not None:
        write(write_study, posed.settled, how.written(), command="evaluate")
        talk.remark("study", f"{write_study}  (heldout evaluate {write_study} gives the same numbers)")
    running = how.arguments(posed.options, progress=talk.progress)
    with asked_by(command_line(ctx)):
        result = risk_of(posed.learner, posed.frame, level=question.level, **running, **posed.asked)
    make_predictor(save, result)
    summary = result.summary()
    talk.result(summary, kind="result", short=one_line)
    if talk.verbose:
        use = result.journal
        done = "none" if use is None else f"{use.recalled:,} cells from it, {use.computed:,} computed"
        talk.remark("journal", "; ".join([done, *(use.notes if use is not None else [])]))
    save_to(save, result, question, talk)
    write_report(result.report, page, talk)
    if result.risk.value is None and result.risk.answer is None:
        click.echo(f"Incomplete: {line(result.risk.reason)}", err=True)
        ctx.exit(INCOMPLETE)
    talk.end(ctx, summary["findings"])


def _begin(posed: Posed, how: How, talk: Talk) -> None:
    """What was understood, and the plan: in a line or two, or the whole of it."""
    from heldout.api.evaluate import explain as plan_of
    from heldout.cli.output import plan_facts
    from heldout.report.plan import plan_view, short_plan_view

    account = plan_of(posed.learner, posed.frame, options=posed.options, **posed.asked)
    head = {**posed.head, **how.words()}
    show_plan = plan_view if talk.verbose else short_plan_view
    talk.show(show_plan(plan_facts(account), head))
