"""`heldout predict`: predicts new rows with a saved model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import ColumnError, OptionError, did_you_mean
from heldout.base.words import line
from heldout.cli.options import OF_A_FILE, Question, with_options
from heldout.cli.output import LABELS, check_writable, echo_json, refuse_both, writing

if TYPE_CHECKING:
    import pandas as pd

    from heldout.models.model import Answers, SavedModel
    from heldout.models.schema import Schema

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
PREDICTION, PROBABILITY = "prediction", "proba_"


@click.command(short_help="What a saved model says of new rows.")
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option(
    "--out", "-o", metavar="FILE", type=click.Path(), help="Write the predictions there (.csv or .tsv). Default: shown."
)
@click.option("--proba", is_flag=True, help="The probability of each class too.")
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="A column of DATA to write beside the predictions. Repeat it."
)
@partial(
    with_options,
    Question,
    names=OF_A_FILE,
    help={"missing": "Texts that stand for a missing value. Default: those the model was trained with."},
)
@click.option(
    "--trust",
    multiple=True,
    metavar="PACKAGE",
    help="lightgbm, xgboost or catboost: let that library read its part of MODEL. Only for files of your own.",
)
@click.option("--quiet", "-q", is_flag=True, help="The predictions, and no notes.")
@click.option("--verbose", "-v", is_flag=True, help="Which columns the model needs, and what it was saved with.")
@click.option("--json", "as_json", is_flag=True, help="The predictions and notes as JSON, and nothing else.")
def predict(model: str, data: str, **asked: Any) -> None:
    """Predict the rows of the table in DATA by the model in MODEL, a file that `heldout evaluate --save` wrote.

    Columns may be in any order; those the model does not know are left out. A column that is missing, or of a wrong
    type, is an error that names it. Categories never seen in training, gaps where training had none, and other
    versions of libraries are noted. No code in MODEL runs: what it may hold is a fixed list.

    Exit codes: 0 good, 2 wrong use.

    \b
    Examples:
      heldout predict model.skops new.csv
      heldout predict model.skops new.csv --out predictions.csv --keep customer
      heldout predict model.skops new.csv --missing "NA,?" --json
    """
    refuse_both({"--quiet": asked["quiet"], "--verbose": asked["verbose"]})
    out = asked["out"]
    separator = "," if out is None else _SEPARATORS.get(Path(out).suffix.lower())
    if separator is None:
        raise OptionError(f"--out {out}: predictions are written as .csv or .tsv. Name it so.")
    check_writable(out, read=(model, data), option="--out")
    from heldout.models.model import open_model
    from heldout.report.csv import table_text

    trust = [name.strip() for text in asked["trust"] for name in text.split(",") if name.strip()]
    loaded = open_model(model, trust=trust)
    frame, file, said = _read(data, loaded.schema, asked)
    for name in asked["keep"]:
        if name not in frame.columns:
            raise ColumnError(
                f"--keep {name}: no such column in {file!r}. {did_you_mean(name, map(str, frame.columns))}"
            )
    answers = loaded.answer(frame, proba=asked["proba"], name=repr(file))
    columns = _columns(loaded, answers, {name: frame[name].tolist() for name in asked["keep"]})
    if out is not None:
        with writing("the predictions", out, option="--out"):
            Path(out).write_text(table_text(columns, separator=separator), encoding="utf-8", newline="")
    notes = (*loaded.notes, *(f"{file} was read as {words}." for words in said.values()), *answers.notes)
    if asked["as_json"]:
        echo_json(_facts(loaded, columns, rows=len(frame), notes=notes))
        return
    if out is None:
        click.echo(table_text(columns), nl=False)
    if asked["quiet"]:
        return
    head = _head(loaded, model, verbose=asked["verbose"])
    if out is not None:
        head["predicted"] = f"{len(frame):,} rows of {file}, in {out}"
    for label, text in head.items():
        _echo(f"{line(label):<{LABELS}}", text, err=out is None)  # predictions on stdout stay alone there
    for note in notes:
        _echo("Note: ", note, err=True)


def _echo(label: str, text: str, *, err: bool) -> None:
    """Print a labelled line, wrapped to the terminal's width with an indent; file names are not broken."""
    width = get_terminal_size().columns
    margin = " " * len(label)
    whole = wrap(label + line(text), width, subsequent_indent=margin, break_on_hyphens=False, break_long_words=False)
    click.echo("\n".join(whole), err=err)


def _head(model: SavedModel, path: str, *, verbose: bool) -> dict[str, str]:
    """Return a description of the model and its risk, for the user."""
    from heldout.report.words import estimate_words, interval

    head = {"model": f"{path} predicts {model.schema.target or 'the target'} from {model.schema.width} columns"}
    if model.estimate is not None:
        risk = model.estimate.as_dict()
        within = f" ({interval(risk)})" if risk["low"] is not None else ""
        head["risk"] = f"{risk['loss']} {estimate_words(risk)}{within}: {risk['estimand']}"
        head["covers"] = model.covers or ""
    if verbose:
        head["columns"] = ", ".join(f"{column.name} ({column.kind})" for column in model.schema.columns)
        head["saved with"] = ", ".join(f"{name} {version}" for name, version in model.versions.items())
    return head


def _facts(model: SavedModel, columns: Mapping[str, Any], *, rows: int, notes: tuple[str, ...]) -> Any:
    from heldout.base.shown import plain

    return plain(
        {
            "target": model.schema.target,
            "classes": model.classes,
            "estimate": None if model.estimate is None else model.estimate.as_dict(),
            "covers": model.covers,
            "versions": model.versions,
            "rows": rows,
            "notes": notes,
            "columns": columns,
        }
    )


def _columns(model: SavedModel, answers: Answers, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns to keep, then the predictions, then the probabilities."""
    values, proba = answers.predictions, answers.probabilities
    made: dict[str, Any] = {PREDICTION: values.tolist()}
    if values.ndim > 1:
        made = {f"{PREDICTION}_{i}": column.tolist() for i, column in enumerate(values.T)}
    if proba is not None:
        made |= {f"{PROBABILITY}{label}": proba[:, i].tolist() for i, label in enumerate(model.classes or ())}
    for name in kept:
        if name in made:
            raise OptionError(f"--keep {name}: the predictions have a column of that name. Leave it out, or rename it.")
    return {**kept, **made}


def _read(data: str, schema: Schema, asked: Mapping[str, Any]) -> tuple[pd.DataFrame, str, dict[str, str]]:
    """Read the table with the types of the training table: text stays text, even if it looks like numbers."""
    from heldout.cli.table import file_options, read_rows
    from heldout.data.read_table import open_table, read_source
    from heldout.models.input import words_to_read

    how = file_options(asked)
    file = open_table(data, **(how if asked["missing"] is not None else {**how, "missing": schema.missing}))
    words = words_to_read(read_source(file)[0], schema)
    return read_rows(replace(file, types=words))
