"""Spots compared: what brute force says of a cell, and what its kernel does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from heldout.base.responses import METHODS, Responses
from heldout.engine.spots import Spot, SpotCheck
from heldout.engine.threads import one_thread
from heldout.kernels.brute import answer_candidate, answer_quietly
from heldout.kernels.perform import MAY_STOP, SHARPENED, perform
from heldout.kernels.step import Work
from heldout.study.tables import Answer, BlockAnswer, CellAnswer, Tables
from heldout.task.containers import in_double

ROUNDING = 1e-9  # of the largest response: what the tier `rounding` allows
SOLVER = 1e-5  # what `solver` allows, against a fit at a tolerance far below the usual one
LABELS = 0.01  # share of labels that may differ there: those of rows on the border between two classes
ALLOWED = {"identical": 0.0, "rounding": ROUNDING, "solver": SOLVER}


def compare_losses(spots: Sequence[Spot], answers: Mapping[str, CellAnswer], tables: Tables) -> SpotCheck:
    """How far the losses of an approximation are from those of fits. It is told, and passes unless it is no number."""
    found = []
    for spot in spots:
        table, brute = tables[spot.held.panel], answers[spot.panel]
        recorded = table.losses[spot.candidate - table.candidates.start, spot.held.part - table.parts.start]
        if brute.failure is None:
            found.append(float(np.max(np.abs(recorded - np.array(brute.losses)))))
    largest, mean = (float(np.max(found)), float(np.mean(found))) if found else (float("inf"), float("inf"))
    words = f"{len(found)} cells fitted exactly"
    return SpotCheck(
        kernel=spots[0].kernel,
        tier=spots[0].tier,
        cell=words,
        difference=largest,
        passed=bool(np.isfinite(largest)),
        cells=len(found),
        mean=mean,
    )


def compare_cell(spot: Spot, brute: CellAnswer, tables: Tables, work: Work) -> SpotCheck:
    """A cell by brute force, and as its kernel answered it: responses, or losses where those must be the same."""
    table = tables[spot.held.panel]
    place = (spot.candidate - table.candidates.start, spot.held.part - table.parts.start)
    recorded = table.losses[place]
    if spot.fewer is None and (spot.tier == "identical" or brute.failure is not None):
        same = np.array_equal(recorded, np.array(brute.losses), equal_nan=True)
        difference = 0.0 if same else float(np.max(np.abs(recorded - np.array(brute.losses))))
    else:
        difference = _responses_differ(spot, brute, tables, work)
        same = _allowed(difference, spot, brute, work)
    conclusive = same or not _stopped_early(spot, brute, work)
    words = f"{work.search.brief(spot.candidate)} on {spot.held.panel}, part {spot.held.part}"
    if spot.fewer is not None:
        words += f", {spot.fewer.train_sizes[0]:,} of its training rows"
    return SpotCheck(
        kernel=spot.kernel,
        tier=spot.tier,
        cell=words,
        difference=difference,
        passed=bool(same or not conclusive),
        conclusive=bool(conclusive),
    )


def _stopped_early(spot: Spot, brute: CellAnswer, work: Work) -> bool:
    """Whether the tight fit that a kernel is held to says of itself that it did not converge: then it is no judge.

    It is fitted once more where it was fitted beside the kernel, in a thread that cannot tell its warnings from others.
    """
    if spot.kernel not in MAY_STOP or brute.failure is not None:
        return False
    again: Iterable[CellAnswer] = ()
    if not brute.warnings:
        again = answer_candidate(spot.step.trainings[0], work, spot.candidate, change=SHARPENED[spot.kernel])
    return any(warned.category == ConvergenceWarning.__name__ for one in (brute, *again) for warned in one.warnings)


def _allowed(difference: float, spot: Spot, brute: CellAnswer, work: Work) -> bool:
    """Whether the tier allows it; `rounding` also allows brute force's own rounding error, where that is larger."""
    if difference <= ALLOWED[spot.tier]:
        return True
    if spot.tier != "rounding" or not np.isfinite(difference) or not _in_single(brute.responses):
        return False
    double = replace(work, task=replace(work.task, X=in_double(work.task.X)))
    exact = answer_quietly(spot.step.trainings[0], double, spot.candidate)
    if brute.responses is None or exact.responses is None:
        return False
    # Both are at most that far from the exact answer, and either rounds once more.
    own = max(
        _relative(getattr(brute.responses, method), getattr(exact.responses, method))
        for method in METHODS
        if getattr(brute.responses, method) is not None
    )
    return difference <= 2 * own + float(np.finfo(np.float32).eps)


def _in_single(responses: Responses | None) -> bool:
    answers = [getattr(responses, method) for method in METHODS] if responses is not None else []
    return any(answer is not None and answer.dtype == np.float32 for answer in answers)


def _responses_differ(spot: Spot, brute: CellAnswer, tables: Tables, work: Work) -> float:
    """The largest difference of responses, relative to the largest response."""
    kernel = tables[spot.held.panel].watched.get((spot.candidate, spot.held.part)) if spot.fewer is None else None
    if kernel is None:  # the study did not ask just this, or asked before it was interrupted
        answer = _answered_alone(spot, work)
        if brute.failure is not None and isinstance(answer, CellAnswer) and answer.failure is not None:
            return 0.0  # both fail on these rows
        kernel = _kept_responses(answer)
    if kernel is None or brute.responses is None:
        return float("inf")
    return max(
        (
            _share_of_others(getattr(kernel, method), getattr(brute.responses, method))
            if method == "predict" and spot.tier == "solver" and work.task.classes is not None
            else _relative(getattr(kernel, method), getattr(brute.responses, method))
            for method in METHODS
            if getattr(brute.responses, method) is not None
        ),
        default=0.0,
    )


def _answered_alone(spot: Spot, work: Work) -> Answer:
    """The spot by its kernel, without the company of other cells."""
    own = spot.training.answers[0]._replace(panel=spot.panel)
    training = spot.training._replace(answers=(own,))
    with one_thread():
        return perform(replace(spot.origin, candidates=(spot.candidate,), trainings=(training,), fits=1), work)[0]


def _kept_responses(answer: Answer) -> Responses | None:
    if isinstance(answer, BlockAnswer):
        return None if answer.responses is None else answer.responses[0]
    return answer.responses


def _share_of_others(ours: Any, theirs: Any) -> float:
    """Nothing where so few labels differ that they may be those of rows on a border, else too much."""
    if ours is None or np.shape(ours) != np.shape(theirs):
        return float("inf")
    other = int(np.count_nonzero(np.asarray(ours) != np.asarray(theirs)))
    return 0.0 if other <= max(1.0, LABELS * len(theirs)) else float("inf")


def _relative(ours: Any, theirs: Any) -> float:
    if ours is None or np.shape(ours) != np.shape(theirs):
        return float("inf")
    if np.asarray(theirs).dtype.kind not in "fiu":
        return 0.0 if np.array_equal(ours, theirs) else float("inf")
    largest = float(np.max(np.abs(theirs), initial=0.0))
    gap = float(np.max(np.abs(np.asarray(ours, dtype=float) - theirs), initial=0.0))
    return gap / largest if largest else gap
