"""Answering a step: kernel matrices once for each training set and kernel function, machines solved in threads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import clone

from heldout.base.warnings import catch_warnings
from heldout.kernels.brute import answer_by_brute_force
from heldout.kernels.fitting import set_seeds, unseeded_names
from heldout.kernels.neighbours.spread import spread
from heldout.kernels.scoring import score_block
from heldout.kernels.step import Step, Training, Work
from heldout.kernels.vectors.forms import Machine, Shape
from heldout.kernels.vectors.matrices import Floats, points_of
from heldout.kernels.vectors.points import CutPoints, Doubtful, OwnPoints, Points, SharedPoints
from heldout.kernels.vectors.recognise import read_search
from heldout.kernels.vectors.respond import lacking, responses_of, values_of
from heldout.kernels.vectors.solve import Solved, Targets, solve_all
from heldout.study.answers import Answer

BATCH = 128  # trainings whose values are held at once
MATRICES = 3  # that a thread holds at most: distances or a cut of them, kernel values, and what is being made
Values = list[tuple[Solved, Floats] | None]  # a held-out side each; None where brute force must answer


@dataclass(kw_only=True, eq=False)
class Sitting:
    """One training: its rows are prepared by whoever comes first, and let go when its last shape is answered."""

    training: Training
    work: Work
    before: Any  # the steps that prepare rows, not fitted
    shared: SharedPoints | None
    left: int  # shapes still to be answered
    _lock: Lock = field(default_factory=Lock)
    _points: Points | None = None
    _failed: bool = False

    def points(self) -> Points | None:
        """None where preparing the rows fails, or they come out sparse."""
        with self._lock:
            if self._points is None and not self._failed:
                try:
                    self._points = self._prepared()
                except Exception:  # brute force tells what is wrong
                    self._failed = True
            return self._points

    def done(self) -> None:
        with self._lock:
            self.left -= 1
            if not self.left:
                self._points = None

    def _prepared(self) -> Points | None:
        work, (ref,) = self.work, self.training.trains
        rows, sides = work.train_rows(ref), [work.held_rows(held) for held in self.training.answers]
        if self.shared is not None:
            return CutPoints(self.shared, rows, sides)
        train, held = work.task.take(rows), [work.task.take(side) for side in sides]
        if self.before is not None:
            before = clone(self.before)
            if unseeded_names(before):
                set_seeds(before, work.search.seed, work.task.content_key(rows))
            train = before.fit_transform(train, work.task.y[rows])
            held = [before.transform(side) for side in held]
        if any(sparse.issparse(one) for one in (train, *held)):
            self._failed = True
            return None
        return OwnPoints(points_of(train), [points_of(side) for side in held])

    def targets(self) -> Targets:
        rows = self.work.train_rows(self.training.trains[0])
        weight = self.work.task.weight
        return Targets(y=self.work.task.y[rows], weight=None if weight is None else weight[rows])


def answer(step: Step, work: Work) -> Iterator[Answer]:
    """Every candidate of the step in every training."""
    machines = read_search(work.search)[0]
    own = [machines[candidate] for candidate in step.candidates]
    levels = {held.level for training in step.trainings for held in training.answers}
    if work.fit_params or any(lacking(own[0], work.losses[level]) for level in levels):
        yield from answer_by_brute_force(step, work)
        return
    small = [training for training in step.trainings if _bytes_of(training, work) <= work.budget]
    if len(small) < len(step.trainings):
        large = tuple(training for training in step.trainings if _bytes_of(training, work) > work.budget)
        yield from answer_by_brute_force(replace(step, trainings=large), work)
    shared = _shared(own[0], work)
    for start in range(0, len(small), BATCH):
        yield from _answer_batch(own, small[start : start + BATCH], step, work, shared)


def _bytes_of(training: Training, work: Work) -> int:
    """What a thread holds at most while it answers one training."""
    ref = training.trains[0]
    size = int(work.splits[ref.splits].train_sizes[ref.part])
    held = sum(int(work.splits[held.splits].held_sizes[held.part]) for held in training.answers)
    return MATRICES * 8 * size * (size + held)


def _answer_batch(
    machines: Sequence[Machine], trainings: Sequence[Training], step: Step, work: Work, shared: SharedPoints | None
) -> Iterator[Answer]:
    started = perf_counter()
    shapes: dict[Shape, list[Machine]] = {}
    for machine in machines:
        shapes.setdefault(machine.shape, []).append(machine)
    longest = sorted(shapes, key=lambda shape: -_work_of(shape, shapes[shape]))
    sittings = [
        Sitting(training=training, work=work, before=machines[0].before, shared=shared, left=len(shapes))
        for training in trainings
    ]
    if shared is None:  # shapes of one training stand together, since they share its rows
        tasks = [(sitting, shape) for sitting in sittings for shape in longest]
    else:
        tasks = [(sitting, shape) for shape in longest for sitting in sittings]
    with catch_warnings():
        warnings.simplefilter("ignore")
        threads = min(work.jobs, max(1, work.budget // max(_bytes_of(training, work) for training in trainings)))
        found = spread(threads, lambda task: solve_shape(task[0], shapes[task[1]]), tasks, library=True)
    by_training: list[dict[int, Values]] = [{} for _ in trainings]
    place = {id(sitting): number for number, sitting in enumerate(sittings)}
    for (sitting, _), values in zip(tasks, found, strict=True):
        by_training[place[id(sitting)]].update(values)
    seconds = (perf_counter() - started) / len(trainings)
    for training, values in zip(trainings, by_training, strict=True):
        yield from _scored(machines, training, values, step, work, seconds=seconds)


def _work_of(shape: Shape, machines: Sequence[Machine]) -> float:
    """What tells which shapes take longest: large bounds and wide kernels are solved in many steps."""
    bounds = [machine.bound for machine in machines if np.isfinite(machine.bound)]
    width = shape.gamma if isinstance(shape.gamma, float) and shape.gamma > 0 else 1.0
    return max(bounds, default=1.0) / width


def solve_shape(sitting: Sitting, machines: Sequence[Machine]) -> dict[int, Values]:
    """The values of machines of one shape on the held-out sides of one training."""
    nothing: Values = [None] * len(sitting.training.answers)
    found: dict[int, Values] = {machine.candidate: nothing for machine in machines}
    points = sitting.points()
    try:
        if points is not None:
            grams = points.grams(machines[0].shape)
            with sklearn.config_context(assume_finite=True):
                solutions = solve_all(machines, grams.train, sitting.targets())
            for candidate, solved in solutions.items():
                if solved is not None:
                    each = [values_of(solved, gram) for gram in grams.held]
                    found[candidate] = [None if one is None else (solved, one) for one in each]
    except Doubtful:
        pass
    sitting.done()
    return found


def _scored(
    machines: Sequence[Machine], training: Training, found: dict[int, Values], step: Step, work: Work, *, seconds: float
) -> Iterator[Answer]:
    for number, held in enumerate(training.answers):
        losses = work.losses[held.level]
        sure = [machine for machine in machines if found[machine.candidate][number] is not None]
        responses = []
        for machine in sure:
            one = found[machine.candidate][number]
            assert one is not None
            responses.append(responses_of(machine, *one, losses))
        if sure:
            candidates = tuple(machine.candidate for machine in sure)
            share = seconds / len(training.answers)
            yield from score_block(work, [held], candidates, responses, seconds=share)
        others = tuple(machine.candidate for machine in machines if found[machine.candidate][number] is None)
        if others:
            alone = training._replace(answers=(held,))
            yield from answer_by_brute_force(replace(step, candidates=others, trainings=(alone,)), work)


def _shared(machine: Machine, work: Work) -> SharedPoints | None:
    """The matrices of all rows, where these are not prepared and fit; None where each training makes its own."""
    size = len(work.task) ** 2 * 8
    if machine.before is not None or size * 4 > work.budget:
        return None
    key = ("vectors", "points")
    if key not in work.products:
        try:
            points = points_of(work.task.X)
        except Exception:  # some rows cannot be read: those of each training are tried
            return None
        work.products[key] = SharedPoints(points, kept=int(work.budget // 4 // size))
    shared: SharedPoints = work.products[key]
    return shared
