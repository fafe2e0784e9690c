"""Advice from a table: which recipe suits it, and what that costs. Import it late: it imports scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any

from heldout.api.advise import advise
from heldout.api.cost import expected_cost
from heldout.api.evaluate import explain
from heldout.api.learners import as_search
from heldout.api.tuned import Tuned
from heldout.base.amounts import show_seconds
from heldout.base.errors import OptionError, Sentence, SplitError
from heldout.base.words import fit_words
from heldout.cli.options import Question, asked_words
from heldout.cli.output import as_option, shell_line
from heldout.cli.question import Posed, pose
from heldout.losses import resolve_losses
from heldout.risk.recipe import Recipe
from heldout.splits.distances import as_distance, nanoseconds, plain_number

_CLOSED_FORM = {"linear", "ridge"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """A recipe as the command line writes it, and why it is cheaper than the one before."""

    test: str
    validation: str | None
    why: str = ""

    @property
    def words(self) -> list[str]:
        """The options that ask for it."""
        return ["--test", self.test, *(["--validation", self.validation] if self.validation else [])]


def _way(recipe: Recipe) -> _Way:
    validation = None if recipe.validation is None else as_option(recipe.validation)
    return _Way(test=as_option(recipe.test), validation=validation)


def _worded(reason: str | Sentence) -> str:
    return reason.worded(as_option) if isinstance(reason, Sentence) else reason


def seconds_of(text: str) -> float:
    """A length of time in seconds; a number alone is seconds.

    >>> seconds_of("90"), seconds_of("10min"), seconds_of("1h 30min")
    (90.0, 600.0, 5400.0)
    """
    try:
        length = as_distance(text, what="--budget")
        assert isinstance(length, str), "a text stays one"
        plain = plain_number(length)
        seconds = float(plain) if plain is not None else nanoseconds(length) / 1e9
    except SplitError:
        seconds = 0.0
    if not 0 < seconds < 1e12:
        raise OptionError(f"--budget {text}: write a time such as 90s, 10min or 2h.")
    return seconds


def advise_on_numbers(known: Mapping[str, Any], aims: Mapping[str, Any]) -> dict[str, Any]:
    """Advice on so many rows."""
    names = {"rows": "n", "candidates": "candidates", "columns": "columns", "group_count": "groups", "in_time": "time"}
    advice = advise(**{names[name]: value for name, value in known.items()}, **aims)
    recipe = advice.made_from
    if recipe is None:
        return {**advice.summary(), "command": None}
    reasons = [_worded(reason) for reason in recipe.reasons]
    return {**advice.summary(), "reasons": reasons, "command": " ".join(["heldout evaluate DATA", *_way(recipe).words])}


def advise_on_data(question: Question, aims: Mapping[str, Any], *, budget: float | None) -> dict[str, Any]:
    """Advice on a table and learners; where a budget is given, the first recipe that keeps to it."""
    posed = pose(question)
    learner, head = posed.learner, posed.head
    losses = resolve_losses(posed.asked["loss"], classification=bool(posed.settled["classification"]))
    bounded = isfinite(losses[0].low) and isfinite(losses[0].high)
    roles = [name for name in ("y", "groups", "sample_weight", "strata") if posed.asked[name] is not None]
    columns = posed.frame.shape[1] - len(roles) - (0 if question.time is None else 1)
    advice = advise(
        n=len(posed.frame),
        candidates=len(as_search(learner, seed=question.seed)),
        columns=columns,
        groups=None if question.groups is None else int(posed.frame[question.groups].nunique()),
        time=question.time is not None,
        closed_form=set(posed.settled["learner"]) <= _CLOSED_FORM and not posed.settled["classification"],
        loss_range=losses[0].high - losses[0].low if bounded else None,
        level=question.level,
        **aims,
    )
    assert advice.made_from is not None, "the number of rows is known"
    way = _way(advice.made_from)
    summary, reasons = advice.summary(), [_worded(reason) for reason in advice.made_from.reasons]
    if budget is None:
        account = explain(_with(learner, way), posed.frame, **{**posed.asked, "test": _parsed(way.test)})
        cost = {"cells": account.cells, "fits": account.fits, "fits_before": account.fits_before, "seconds": None}
    else:
        way, cost, more = _within(way, posed, budget)
        reasons += more
    return {**summary, "reasons": reasons, "cost": cost, "command": _command(question, way), "head": head}


def _within(way: _Way, posed: Posed, budget: float) -> tuple[_Way, dict[str, Any], list[str]]:
    """The first of ever cheaper recipes that keeps to the budget; the cheapest where none does."""
    said: list[str] = []
    ways = [way, *_cheaper(way)]
    for number, one in enumerate(ways):
        cost = expected_cost(_with(posed.learner, one), posed.frame, **{**posed.asked, "test": _parsed(one.test)})
        said += [one.why] if one.why else []
        if cost.seconds <= budget:
            break
        about = f"{fit_words(cost.fits)}, about {show_seconds(cost.seconds)}"
        last = " Fewer learners or a smaller --space would take less." if number == len(ways) - 1 else ""
        said.append(f"--test {one.test} takes {about}, more than the {show_seconds(budget)} of the budget.{last}")
    return one, {**asdict(cost), "fits_before": None}, said


def _cheaper(way: _Way) -> list[_Way]:
    """Recipes that take fewer fits, each with what it gives up."""
    found: list[_Way] = []
    if way.validation is not None and way.validation.startswith("kfold") and way.test.startswith("kfold"):
        found.append(
            replace(way, validation="shared", why="The blocks of the test serve the choice too: half the fits.")
        )
    if way.validation is not None and way.validation.startswith("kfold"):
        why = "One development set inside each training part: a fifth of the fits, a noisier choice."
        found.append(replace(way, validation="holdout:0.25", why=why))
    if not way.test.startswith("holdout"):
        validation = None if way.validation is None else "holdout:0.25"
        why = "A single test set: one training part instead of several, a wider interval."
        found.append(_Way(test="holdout:0.2", validation=validation, why=why))
    return found


def _with(learner: Any, way: _Way) -> Any:
    if way.validation is None or not isinstance(learner, Tuned):
        return learner
    return learner.set_params(validation=_parsed(way.validation))


def _parsed(words: str) -> Any:
    from heldout.splits.parse import parse

    return parse(words)


def _command(question: Question, way: _Way) -> str:
    """The line to run: the question as it was asked, with the splits that are advised."""
    words = [question.data if question.study is None else question.study.path, *asked_words(question)]
    return shell_line(["heldout", "evaluate", *words, *way.words])
