"""Spots compared: what brute force says of a cell, and what its kernel does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.base.responses import METHODS, Responses
from heldout.engine.spot_rows import named_rows
from heldout.engine.spots import APPROXIMATE, Spot, SpotCheck
from heldout.engine.threads import one_thread
from heldout.kernels.brute import answer_quietly
from heldout.kernels.perform import perform
from heldout.kernels.step import Training, Work
from heldout.study.panels import TrainRef
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


def _by_responses(spot: Spot, brute: CellAnswer) -> bool:
    """Whether responses are compared, for which the kernel answers the cell alone, or the losses that it recorded."""
    if spot.tier == APPROXIMATE:
        return False
    return spot.fewer is not None or (spot.tier != "identical" and brute.failure is None)


def compare_cell(
    spot: Spot, brute: CellAnswer, alone: Sequence[Answer] | None, tables: Tables, work: Work
) -> SpotCheck:
    """A cell by brute force, and by its kernel: alone where responses are compared, else as it is in the tables."""
    table = tables[spot.held.panel]
    place = (spot.candidate - table.candidates.start, spot.held.part - table.parts.start)
    recorded = table.losses[place]
    if _by_responses(spot, brute):
        alone = answered_alone(spot, spot.training, work) if alone is None else alone
        difference = _responses_differ(spot, brute, alone, work)
        same = _allowed(difference, spot, brute, work)
    else:
        same = np.array_equal(recorded, np.array(brute.losses), equal_nan=True)
        difference = 0.0 if same else float(np.max(np.abs(recorded - np.array(brute.losses))))
    words = f"{work.search.describe(spot.candidate)} on {spot.held.panel}, part {spot.held.part}"
    if spot.final:
        words = f"{work.search.describe(spot.candidate)} on all rows, by the final predictor"
    elif spot.fewer is not None:
        words += f", {spot.fewer.train_sizes[0]:,} of its training rows"
    return SpotCheck(kernel=spot.kernel, tier=spot.tier, cell=words, difference=difference, passed=bool(same))


def widened(check: SpotCheck, drift: float, spot: Spot, brute: CellAnswer, work: Work) -> SpotCheck:
    """A check with one more difference, which must be allowed too."""
    if drift <= check.difference:
        return check
    return replace(check, difference=drift, passed=check.passed and _allowed(drift, spot, brute, work))


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


def answered_alone(spot: Spot, training: Training, work: Work) -> Sequence[Answer]:
    """A cell by the spot's kernel, without the company of others."""
    own = training.answers[0]._replace(panel=spot.panel)
    alone = replace(spot.origin, candidates=(spot.candidate,), trainings=(training._replace(answers=(own,)),), fits=1)
    with one_thread():
        return perform(alone, work)


def differs_from_named(spot: Spot, work: Work) -> float:
    """How far the cell that a final spot was drawn from is from the same cell with its rows named one by one.

    Kernels take a training set's sums from those of all rows; how much that costs shows here.
    """
    held = spot.source.answers[0]
    named = Training((TrainRef(spot.panel, 0),), False, (held._replace(splits=spot.panel, part=0),))
    apart = replace(work, splits={**work.splits, spot.panel: named_rows(spot.source, work)})
    answers = [answered_alone(spot, spot.source, work), answered_alone(spot, named, apart)]
    if all(isinstance(answer[0], CellAnswer) and answer[0].failure is not None for answer in answers):
        return 0.0  # both fail on these rows
    one, other = (_kept_responses(answer) for answer in answers)
    if one is None or other is None:
        return float("inf")
    return _largest(one, other, spot, work)


def _responses_differ(spot: Spot, brute: CellAnswer, answers: Sequence[Answer], work: Work) -> float:
    """The largest difference of responses, relative to the largest response."""
    if brute.failure is not None and isinstance(answers[0], CellAnswer) and answers[0].failure is not None:
        return 0.0  # both fail on these rows
    kernel = _kept_responses(answers)
    if kernel is None or brute.responses is None:
        return float("inf")
    return _largest(kernel, brute.responses, spot, work)


def _largest(ours: Responses, theirs: Responses, spot: Spot, work: Work) -> float:
    return max(
        (
            _share_of_others(getattr(ours, method), getattr(theirs, method))
            if method == "predict" and spot.tier == "solver" and work.task.classes is not None
            else _relative(getattr(ours, method), getattr(theirs, method))
            for method in METHODS
            if getattr(theirs, method) is not None
        ),
        default=0.0,
    )


def _kept_responses(answers: Sequence[Answer]) -> Responses | None:
    first = answers[0]
    if isinstance(first, BlockAnswer):
        return None if first.responses is None else first.responses[0]
    return first.responses


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
