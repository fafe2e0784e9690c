"""The plan every study begins as: every candidate fitted on every training set of each panel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from heldout.kernels.step import Step
from heldout.kernels.trainings import Plain, Training, count_trains, join, sides_of
from heldout.planner.plan import BRUTE
from heldout.study.study import Panel

MOST_STEPS = 20_000  # past this, several candidates share a step, so that the queue stays cheap


def plan_brute_force(panels: Iterable[Panel]) -> tuple[Step, ...]:
    """One step a panel, with all its candidates and trainings, or one a block of a race: what the rules begin from."""
    return tuple(step for panel in panels if panel.candidates for step in _steps_of(panel))


def _steps_of(panel: Panel) -> Iterator[Step]:
    if panel.asked is None:
        yield brute_step(tuple(panel.candidates or ()), _trainings_of(panel, panel.parts))
        return
    for block in panel.asked:
        yield brute_step(block.candidates, join(_trainings_of(panel, parts) for parts in _stretches(block.parts)))


def _stretches(parts: Sequence[int]) -> Iterator[range]:
    """Ascending parts as ranges of neighbours."""
    starts = [number for number, part in enumerate(parts) if not number or part != parts[number - 1] + 1]
    for start, end in zip(starts, [*starts[1:], len(parts)], strict=True):
        yield range(parts[start], parts[end - 1] + 1)


def _trainings_of(panel: Panel, parts: range) -> Sequence[Training]:
    plain = Plain(panel.key, panel.level, panel.splits, parts)
    if panel.trains is None and not panel.averaged:
        return plain
    return tuple([Training(panel.trains_of(held.part), panel.averaged, (held,)) for held in sides_of(plain)])


def brute_step(candidates: tuple[int, ...], trainings: Sequence[Training]) -> Step:
    """These candidates, each fitted in each of these trainings."""
    return Step(
        kernel=BRUTE,
        rule="brute force",
        tier="identical",
        candidates=candidates,
        trainings=trainings,
        fits=len(candidates) * count_trains(trainings),
    )


def cut_brute_force(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Brute-force steps in pieces that can be done side by side; their size depends on counts alone."""
    cells = sum(len(step.candidates) * len(step.trainings) for step in steps if step.kernel == BRUTE)
    batch = max(1, ceil(cells / MOST_STEPS))
    return tuple(piece for step in steps for piece in (_pieces(step, batch) if step.kernel == BRUTE else (step,)))


def single_fits(step: Step) -> tuple[Step, ...]:
    """A step of the tier `identical` as brute-force steps of one candidate and one training each: the same numbers."""
    return tuple(_pieces(step, 1))


def _pieces(step: Step, batch: int) -> Iterator[Step]:
    for training in step.trainings:
        for start in range(0, len(step.candidates), batch):
            yield brute_step(step.candidates[start : start + batch], (training,))
