"""Brute force at a tolerance far below the usual one: what answers of the tier `solver` are checked against.

Two solvers that stop at their own tolerance differ by as much as that. A kernel of the tier `solver` says how an
estimator is made to solve the same problem far more exactly, and the spot check compares with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from heldout.kernels.brute import answer_candidate
from heldout.kernels.step import Step, Work
from heldout.study.answers import Answer

SHARP = "sharp:"  # and the name of the kernel that is checked

Sharpen = Callable[[Any], Any]  # from an unfitted estimator, Pipelines included, to the same with a tight tolerance


def answer_sharply(step: Step, work: Work, sharpen: Sharpen) -> Iterator[Answer]:
    """Every candidate of the step in every training, fitted at a tight tolerance."""
    for training in step.trainings:
        for candidate in step.candidates:
            yield from answer_candidate(training, work, candidate, change=sharpen)
