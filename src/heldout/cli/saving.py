"""What `heldout evaluate --save` writes: by its name a model, or the whole result. Import it late."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.base.errors import HeldoutError, OptionError, StoredError
from heldout.base.words import line
from heldout.cli.options import Question
from heldout.cli.output import check_writable, save_result
from heldout.cli.talk import Talk
from heldout.data.read_table import is_table_name

if TYPE_CHECKING:
    from heldout.api.result import Result

MODEL = ".skops"  # the ending of a file that is to hold the model


def check_places(places: tuple[str, ...], *, read: tuple[str, ...] = ()) -> None:
    """Refuse files that cannot be written, before anything is read or computed for them."""
    for place in places:
        check_writable(place, read=read)
        if Path(place).suffix.lower() in (".html", ".htm"):
            raise OptionError(f"--save {place}: a page is written by --report {place}.")
        if is_table_name(place):
            raise OptionError(f"--save {place}: a result is no table. Name it otherwise, such as result.heldout.")
    if len(set(places)) < len(places):
        raise OptionError(f"--save {places[0]} is given twice. Name different files.")


def files_of(question: Question) -> tuple[str, ...]:
    """The files that a question reads."""
    splits = [text.partition(":")[2] for text in (question.test, question.validation) if text]
    study = [] if question.study is None else [question.study.path]
    return (question.data, *study, *filter(None, splits))


def check_learner_saved(learner: Any, places: tuple[str, ...]) -> None:
    """Refuse a learner that no model file may hold, before anything is fitted, where a model is to be saved."""
    if any(_is_model(place) for place in places):
        from heldout.models.file import check_packable

        check_packable(learner)


def make_predictor(places: tuple[str, ...], result: Result) -> None:
    """Make the predictor of a model to be saved before the numbers are shown: its fits give one of them.

    An error is told where the model is saved, after the numbers.
    """
    best = result.estimates.get("best_validation")
    if best is not None and best.value is None and any(_is_model(place) for place in places):
        with suppress(HeldoutError):
            _ = result.predictor


def save_to(places: tuple[str, ...], result: Result, question: Question, talk: Talk) -> None:
    """Write the result, the model, or both, and say what reads them."""
    for place in places:
        if not _is_model(place):
            save_result(result.save, place)
            talk.remark("saved", f"{place}  (heldout report {place} shows it again)")
        elif result.risk.value is None and result.risk.answer is None:
            talk.remark("not saved", f"{place}, since the study is incomplete")
        else:
            _save_model(place, result, question, talk)


def _save_model(place: str, result: Result, question: Question, talk: Talk) -> None:
    from heldout.models.model import save_model

    before = len(result.findings)
    missing = None if question.missing is None else tuple(one.strip() for one in question.missing.split(","))
    try:
        packages = save_model(result, place, target=question.target, missing=missing)
    except OSError as error:
        raise StoredError(f"--save {place}: the model was not written: {error.strerror or error}.") from error
    for finding in result.findings[before:]:  # what is seen only when the predictor is made again
        click.echo(line(finding), err=True)
    trust = f" --trust {','.join(packages)}" if packages else ""
    talk.remark("model", f"{place}  (heldout predict {place} new.csv{trust} asks it)")


def _is_model(place: str) -> bool:
    return Path(place).suffix.lower() == MODEL
