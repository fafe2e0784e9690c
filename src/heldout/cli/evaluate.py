"""`heldout evaluate`: estimates the risk of a learner or of the choice between several; `heldout explain`: its plan."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import HeldoutError, OptionError
from heldout.base.words import line
from heldout.cli.options import Question, RunOptions, keys_of, question_options
from heldout.cli.output import (
    Output,
    check_page,
    check_writable,
    echo_json,
    output_options,
    page_option,
    plan_facts,
    shell_line,
    short_output_options,
    write_page,
    writing,
)
from heldout.cli.run_options import RunSettings, command_line, run_options
from heldout.cli.study_file import SUFFIX, study_text

if TYPE_CHECKING:
    from heldout.api.result import Result
    from heldout.cli.question import PreparedQuestion

MODEL = ".skops"  # the suffix of files that hold a model


@click.command(short_help="The plan of a study and its cost; nothing is fitted.")
@question_options
@short_output_options
def explain(question: Question, *, output: Output) -> None:
    """Show the plan of a study on the table in DATA, or in the study file DATA, and what it costs; fit nothing.

    It takes the question that `heldout evaluate` takes, and refuses what that refuses.

    \b
    Examples:
      heldout explain houses.csv --target price --learner ridge,knn --validation shared
      heldout explain study.toml --json
    """
    from heldout.api.evaluate import plan_of_question
    from heldout.cli.question import prepare

    prepared = prepare(question)
    facts = plan_facts(plan_of_question(prepared.pose(options=prepared.options)))
    if output.as_json:
        echo_json(facts)
    elif output.quiet:
        output.show("short plan", facts)
    else:
        output.show("plan" if output.verbose else "plan alone", {**facts, "head": prepared.head})


@click.command(short_help="The risk of a learner, or of the choice between several.")
@question_options
@run_options
@click.option(
    "--save",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Write the model if FILE ends in .skops, for heldout predict; else the whole result, for heldout report. "
    "Repeat it for both.",
)
@page_option()
@click.option("--write-study", metavar="FILE", type=click.Path(), help="Write the study file that reproduces this run.")
@output_options
@click.pass_context
def evaluate(
    ctx: click.Context,
    question: Question,
    *,
    settings: RunSettings,
    save: tuple[str, ...],
    page: str | None,
    write_study: str | None,
    output: Output,
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
    from heldout.api.evaluate import plan_of_question, run_question
    from heldout.cli.question import prepare
    from heldout.engine.run import Running
    from heldout.report.words import short_result

    _check_files(save, page, write_study, read=files_read(question))
    prepared = prepare(question)
    saves_model = any(map(_is_model, save))
    if saves_model:
        from heldout.models.file import check_packable

        check_packable(prepared.learner)
    posed = prepared.pose(options=settings.options(prepared.options))
    if output.verbose:  # what was understood, and the plan
        facts = plan_facts(plan_of_question(posed)) | {"head": {**prepared.head, **settings.words()}}
        output.show("short plan", facts)
    if write_study is not None:
        _write_study(write_study, prepared, settings)
        output.remark("study", f"{write_study}  (heldout evaluate {write_study} gives the same numbers)")
    with asked_by(command_line(ctx)):
        result = run_question(posed, Running(**settings.arguments(output), options=posed.options))
    if saves_model:
        _make_predictor(result)
    summary = result.summary()
    noted = prepared.noted | settings.words()
    shown = summary if output.as_json else {**summary, "head": noted, "next": _next_words(question, save, page)}
    output.result(shown, kind="result", short=short_result)
    if output.verbose:
        use = result.journal
        done = "none" if use is None else f"{use.recalled:,} cells from it, {use.computed:,} computed"
        output.remark("journal", "; ".join([done, *(use.notes if use is not None else [])]))
    _save(save, result, question, output)
    write_page(result.report, page, output)
    output.end(ctx, summary)


def _next_words(question: Question, save: tuple[str, ...], page: str | None) -> str:
    """Return which options to repeat the command with: a page and a model, unless they were asked for."""
    name = Path(question.data).stem or "study"
    ways = [] if page is not None else [f"--report {shell_line([f'{name}.html'])} for a page"]
    ways += [] if any(map(_is_model, save)) else [f"--save {shell_line([f'{name}.skops'])} to keep the model"]
    return ", ".join(ways) or "heldout serve shows all studies of this folder"


def files_read(question: Question) -> tuple[str, ...]:
    """Return the names of all files that a question may read."""
    from heldout.cli.splits import ROWS, SPLITS

    asked = [text for text in (question.test, question.validation) if text]
    splits = [text.removeprefix(kind) for text in asked for kind in (ROWS, SPLITS) if text.startswith(kind)]
    study = [] if question.study is None else [question.study.path]
    return (question.data, *study, *splits)


def _write_study(path: str, prepared: PreparedQuestion, settings: RunSettings) -> None:
    """Write the question and its run options as a study file; paths in it are relative to its folder."""
    text = study_text(
        prepared.question,
        settings,
        keys=(keys_of(Question), keys_of(RunOptions)),
        command=shell_line(["heldout", "evaluate", Path(path).name]),
        folder=Path(path).absolute().parent,
    )
    try:
        with writing("the study", path, option="--write-study"):
            Path(path).write_text(text, encoding="utf-8")
    except UnicodeEncodeError:
        raise OptionError(f"--write-study {path}: a name in the study is no text that UTF-8 can hold.") from None


def _check_files(paths: tuple[str, ...], page: str | None, study: str | None, *, read: tuple[str, ...]) -> None:
    """Raise an error for files that cannot be written, before anything is read or computed."""
    from heldout.data.compressed import STANDARD_INPUT
    from heldout.data.read_table import is_table_name

    if study is not None and STANDARD_INPUT in read:
        raise OptionError(
            f"--write-study {study}: a study file names its table, and standard input has no name. Save the table."
        )
    for path in paths:
        check_writable(path, read=read)
        if Path(path).suffix.lower() in (".html", ".htm"):
            raise OptionError(f"--save {path}: a page is written by --report {path}.")
        if is_table_name(path):
            raise OptionError(f"--save {path}: a result is no table. Name it otherwise, such as result.heldout.")
    check_page(page, read=read)
    if study is not None and not study.lower().endswith(SUFFIX):
        raise OptionError(f"--write-study {study}: the name of a study file ends in {SUFFIX}.")
    check_writable(study, option="--write-study", read=read)
    named = [*(("--save", path) for path in paths), ("--report", page), ("--write-study", study)]
    known: dict[Path, str] = {}
    for option, name in named:
        if name is None:
            continue
        place = Path(name).resolve()
        if place in known:
            raise OptionError(f"{option} {name}: {known[place]} writes this file too. Name different ones.")
        known[place] = option


def _is_model(path: str) -> bool:
    return Path(path).suffix.lower() == MODEL


def _make_predictor(result: Result) -> None:
    """Fit the predictor of a model to be saved before the numbers are printed, since its fits give one of them.

    Errors are reported when the model is saved, after the numbers.
    """
    best: Any = result.estimates.get("best_validation")
    if best is not None and best.value is None:
        with suppress(HeldoutError):
            _ = result.predictor


def _save(paths: tuple[str, ...], result: Result, question: Question, output: Output) -> None:
    """Write the result, the model or both, and print the commands that read them."""
    for path in paths:
        if not _is_model(path):
            with writing("the result", path):
                result.save(path)
            output.remark("saved", f"{path}  (heldout report {path} shows it again)")
        elif result.risk.value is None and result.risk.answer is None:
            output.remark("not saved", f"{path}, since the study is incomplete")
        else:
            _save_model(path, result, question, output)


def _save_model(path: str, result: Result, question: Question, output: Output) -> None:
    from heldout.cli.table import missing_texts
    from heldout.models.model import save_model

    before = len(result.findings)
    with writing("the model", path):
        packages = save_model(result, path, target=question.target, missing=missing_texts(question.missing))
    for finding in result.findings[before:]:  # findings that come up only when the predictor is fitted
        click.echo(line(finding), err=True)
    trust = f" --trust {','.join(packages)}" if packages else ""
    output.remark("model", f"{path}  (heldout predict {path} new.csv{trust} asks it)")
