"""What steps are expected to take, by counts alone: to order them, to tell how much is left, to price checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from heldout.kernels.step import Step
from heldout.kernels.trainings import Plain, count_trains, pieces_of
from heldout.planner.cost import operations
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.task.task import Task

_ROUND = log(1.25)  # steps that differ by less than this ratio stay in the plan's order, where neighbours share rows
_FIT_OPERATIONS = 50.0  # operations of a fit for each number of its training rows: it only weighs kernels against fits
_COUNTS = ("n_estimators", "iterations")  # parameters that a fit's time grows with, whatever the learner


def expected_work(step: Step, task: Task, splits: Mapping[str, Splits], search: Search) -> float:
    """Operations that a step is expected to take, to the order of magnitude."""
    known = operations(step, task, splits)
    if known is not None:
        return known
    rows = sum(
        float(splits[piece.splits].train_sizes[piece.parts.start : piece.parts.stop].sum())
        if isinstance(piece, Plain)
        else float(sum(splits[ref.splits].train_sizes[ref.part] for training in piece for ref in training.trains))
        for piece in pieces_of(step.trainings)
    )
    counted = any(_is_count(name) for family in search.families for name in family.candidates.names)
    weight = sum(_members(search, candidate) for candidate in step.candidates) if counted else len(step.candidates)
    # A path that is read off one fit takes fewer fits than it has candidates.
    shared = step.fits / max(1, count_trains(step.trainings) * len(step.candidates))
    return _FIT_OPERATIONS * rows * (task.n_columns or 1) * weight * shared


def longest_first(steps: Sequence[Step], task: Task, splits: Mapping[str, Splits], search: Search) -> list[Step]:
    """The steps by what they are expected to take, so that no long one is left for the end; else in their order."""
    work = {id(step): expected_work(step, task, splits, search) for step in steps}
    return sorted(steps, key=lambda step: -round(log(max(work[id(step)], 1.0)) / _ROUND))


def _members(search: Search, candidate: int) -> float:
    """How many members the candidate's ensemble has, where its parameters tell; 1 for all others."""
    for name, value in search.params_of(candidate).items():
        if _is_count(name) and isinstance(value, int | float) and value > 0:
            return float(value)
    return 1.0


def _is_count(name: str) -> bool:
    return name.rpartition("__")[2] in _COUNTS
