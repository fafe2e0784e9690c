"""Spots: the cells that are answered twice while a study runs, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heldout.base.seeds import derive
from heldout.engine.spot_rows import fewer_rows
from heldout.kernels.perform import SHARPENED
from heldout.kernels.sharp import SHARP
from heldout.kernels.step import Held, Step, Training, Work
from heldout.planner.brute_force import brute_step
from heldout.splits.drawn import Splits
from heldout.study.panels import TrainRef

SPOT = "spot:"
APPROXIMATE = "approximate"  # a tier that allows any difference of losses: what is seen is told instead
APPROXIMATE_CELLS = 20  # of a kernel of that tier that are answered again


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotCheck:
    """What a spot check found."""

    kernel: str
    tier: str
    cell: str
    difference: float  # largest difference of responses (of losses, for identical kernels), relative
    passed: bool  # nothing was found against the kernel
    conclusive: bool = True  # False where the fit that it is held to says itself that it did not converge
    cells: int = 1  # that were answered again
    mean: float | None = None  # of approximations: the mean difference of losses, as `difference` is their largest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spot:
    """A cell that is answered twice."""

    kernel: str
    tier: str
    candidate: int
    held: Held  # as the panel knows it
    origin: Step
    source: Training  # the one it was drawn from
    training: Training  # the same, or one with fewer rows
    panel: str  # as the check knows it
    step: Step  # brute force on this cell alone
    fewer: Splits | None  # the rows of the cell that are checked, where a fit on all of them takes much memory


def drawn_cell(step: Step, work: Work) -> Spot:
    """A cell of this step, drawn by the seed."""
    seed, kernel = work.search.seed, step.kernel
    training = step.trainings[derive(seed, "spot training", kernel) % len(step.trainings)]
    candidate = step.candidates[derive(seed, "spot candidate", kernel) % len(step.candidates)]
    return _spot(step, training, candidate, work, panel=f"{SPOT}{kernel}")


def drawn_cells(steps: Sequence[Step], work: Work) -> list[Spot]:
    """Cells of several trainings, each of another, and of a candidate drawn for each."""
    seed, kernel = work.search.seed, steps[0].kernel
    places = [(step, place) for step in steps for place in range(len(step.trainings))]
    random = np.random.default_rng(derive(seed, "spot cells", kernel))
    spots = []
    for number, drawn in enumerate(random.permutation(len(places))[:APPROXIMATE_CELLS].tolist()):
        step, place = places[drawn]
        candidate = step.candidates[int(random.integers(len(step.candidates)))]
        spots.append(_spot(step, step.trainings[place], candidate, work, panel=f"{SPOT}{kernel}/{number}"))
    return spots


def _spot(step: Step, training: Training, candidate: int, work: Work, *, panel: str) -> Spot:
    source, held = training, training.answers[0]
    fewer = None
    if step.tier != APPROXIMATE:
        fewer = fewer_rows(training, work, seed=derive(work.search.seed, "spot rows", step.kernel))
    if fewer is not None:
        training = Training((TrainRef(panel, 0),), False, (held._replace(splits=panel, part=0),))
    alone = training._replace(answers=(training.answers[0]._replace(panel=panel),))
    return Spot(
        kernel=step.kernel,
        tier=step.tier,
        candidate=candidate,
        held=held,
        origin=step,
        source=source,
        training=training,
        panel=panel,
        step=_checking_step(step.kernel, candidate, alone),
        fewer=fewer,
    )


def _checking_step(kernel: str, candidate: int, alone: Training) -> Step:
    """Brute force on one cell; for a kernel of the tier `solver` at a tolerance far below the usual one."""
    step = brute_step((candidate,), (alone,))
    return replace(step, kernel=SHARP + kernel) if kernel in SHARPENED else step
