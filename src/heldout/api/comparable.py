"""Refuses comparisons that would mean nothing: of different questions, or that reveal more than was allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from heldout.base.errors import Argument, LearnerError, LossError, OptionError, Sentence
from heldout.base.options import parse_answer
from heldout.results.study_record import Question
from heldout.study.study import OUTER


def refuse_coarse_answers(question: Question, *, who: str) -> None:
    """Refuse a coarse `answer` option, because paired losses of single rows would reveal more."""
    if parse_answer(question.options.answer).withholds:
        raise OptionError(
            f"{who} tells more of a test set than answer={question.options.answer!r} allows. Leave answer out, or "
            "evaluate the learners one by one."
        )


def check_rope(rope: Any) -> None:
    """Refuse a rope that is neither None nor a positive number."""
    number = isinstance(rope, int | float | np.integer | np.floating) and not isinstance(rope, bool)
    if rope is not None and not (number and 0 < rope < math.inf):
        raise OptionError(
            f"rope= is how far two risks may differ and still be practically equal, a positive number, not {rope!r}."
        )


def check_same_question(questions: Mapping[str, Question]) -> None:
    """Refuse learners that differ in kind, in loss or in test rows, since their differences mean nothing."""
    kinds = {name: is_classifier(question.learner) for name, question in questions.items()}
    if len(set(kinds.values())) > 1:
        classes = next(name for name, kind in kinds.items() if kind)
        numbers = next(name for name, kind in kinds.items() if not kind)
        raise LearnerError(
            f"Learners that are compared must all be classifiers or all be regressors, but {classes!r} predicts "
            f"classes and {numbers!r} numbers."
        )
    (first, question), *others = questions.items()
    for name, other in others:
        mine, theirs = question.study.reported[0], other.study.reported[0]
        if (mine.name, mine.sign, mine.low, mine.high) != (theirs.name, theirs.sign, theirs.low, theirs.high):
            raise LossError(
                f"The own loss of {first!r} is {mine.name!r}, that of {name!r} is {theirs.name!r}.",
                Sentence("Say which to compare them by: {}", Argument("loss")),
            )
        if question.study.splits[OUTER].fingerprint != other.study.splits[OUTER].fingerprint:
            raise OptionError(
                f"test= gave {first!r} and {name!r} different rows. Pass a splitter that draws the same rows each time."
            )
