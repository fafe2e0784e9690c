"""Steps of a plan, the trainings that a step answers, and the data and settings that it needs.

A training is a training set, with the held-out sets that predictors trained on it answer. Leave-one-out has one for
every row. Trainings of neighbouring parts, each on its own rows, are therefore kept as a range and made one at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import ceil, log
from typing import Any, NamedTuple, Self, TypeVar, overload

from heldout.base.rowkeys import Rows
from heldout.losses import Loss
from heldout.search.search import Search
from heldout.splits.drawn import Splits
from heldout.study.study import EVERYWHERE, Panel, TrainRef
from heldout.task.task import Task

Value = TypeVar("Value")

TIERS = ("identical", "rounding", "statistical", "approximate")
BRUTE = "brute"
MOST_STEPS = 20_000  # past this, several candidates share a step, so that the queue stays cheap


def remember(kept: dict[Any, Any], key: Any, make: Callable[[], Value]) -> Value:
    """Return the value that is kept under this key, after making it if it is missing."""
    if key not in kept:
        kept[key] = make()
    value: Value = kept[key]
    return value


class Held(NamedTuple):
    """A held-out set that a step answers, and the panel that asked for it."""

    panel: str
    level: str
    splits: str
    part: int


class Training(NamedTuple):
    """A training set, or several whose predictors are averaged, and the held-out sets that are answered."""

    trains: tuple[TrainRef, ...]
    averaged: bool  # the predictor is the average of one trained on each of `trains`, not the only one
    answers: tuple[Held, ...]


@dataclass(frozen=True, slots=True)
class Plain(Sequence[Training]):
    """The trainings of a range of parts of one panel, each with its own training rows and its own held-out set."""

    panel: str
    level: str
    splits: str
    parts: range

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, place: int) -> Training: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> Training | Self:
        if isinstance(place, slice):
            return type(self)(self.panel, self.level, self.splits, self.parts[place])
        part = self.parts[place]
        return Training((TrainRef(self.splits, part),), False, (Held(self.panel, self.level, self.splits, part),))


@dataclass(frozen=True, slots=True)
class Joined(Sequence[Training]):
    """A concatenation of sequences of trainings, some of which are Plain."""

    pieces: tuple[Sequence[Training], ...]

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def __iter__(self) -> Iterator[Training]:
        return chain.from_iterable(self.pieces)

    @overload
    def __getitem__(self, place: int) -> Training: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Training, ...]: ...
    def __getitem__(self, place: int | slice) -> Training | tuple[Training, ...]:
        if isinstance(place, slice):
            return tuple(self)[place]
        place = range(len(self))[place]
        for piece in self.pieces:
            if place < len(piece):
                return piece[place]
            place -= len(piece)
        raise IndexError(place)  # range above has refused it


def pieces_of(trainings: Sequence[Training]) -> tuple[Sequence[Training], ...]:
    """Return the sequences that these trainings are a concatenation of, Plain ones and tuples."""
    return trainings.pieces if isinstance(trainings, Joined) else (trainings,)


def join(pieces: Iterable[Sequence[Training]]) -> Sequence[Training]:
    """Return the concatenation of these sequences, in which Plain ones stay Plain."""
    flat = [piece for several in pieces for piece in pieces_of(several) if len(piece)]
    if not any(isinstance(piece, Plain) for piece in flat):
        return tuple(chain.from_iterable(flat))
    return flat[0] if len(flat) == 1 else Joined(tuple(flat))


def count_trains(trainings: Sequence[Training]) -> int:
    """Return the number of training sets, which is the number of fits for each candidate."""
    pieces = pieces_of(trainings)
    return sum([len(p.parts) if isinstance(p, Plain) else sum([len(t.trains) for t in p]) for p in pieces])


def sides_of(trainings: Sequence[Training]) -> list[Held]:
    """Return the held-out sets that these trainings answer."""
    sides: list[Held] = []
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            sides += [Held(piece.panel, piece.level, piece.splits, part) for part in piece.parts]
        else:
            sides += [held for training in piece for held in training.answers]
    return sides


def splits_of(trainings: Sequence[Training]) -> set[str]:
    """Return the names of the splits whose training sets these use."""
    used: set[str] = set()
    for piece in pieces_of(trainings):
        used |= {piece.splits} if isinstance(piece, Plain) else {ref.splits for t in piece for ref in t.trains}
    return used


def held_rows(trainings: Sequence[Training], splits: Mapping[str, Splits]) -> int:
    """Return the total number of rows of the held-out sets."""
    rows = 0
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            cuts = splits[piece.splits].held_cuts
            rows += int(cuts[piece.parts.stop] - cuts[piece.parts.start])
        else:
            rows += sum([int(splits[held.splits].held_sizes[held.part]) for t in piece for held in t.answers])
    return rows


def train_rows(trainings: Sequence[Training], splits: Mapping[str, Splits]) -> float:
    """Return the total number of rows of the training sets."""
    rows = 0.0
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            rows += float(splits[piece.splits].train_sizes[piece.parts.start : piece.parts.stop].sum())
        else:
            rows += float(sum([splits[ref.splits].train_sizes[ref.part] for t in piece for ref in t.trains]))
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One unit of work: all of these candidates in all of these trainings."""

    kernel: str
    rule: str  # which rule of the planner put it here
    tier: str
    candidates: tuple[int, ...]
    trainings: Sequence[Training]
    fits: int  # how many fits it takes, or as many as its work is worth; 0 for leave-one-out in closed form
    spreads: bool = False  # it runs threads of its own, so it is performed in the process where the study was asked
    threads: int = 1  # of the BLAS, fixed by the plan, so that the last bits do not depend on who computes
    pieces: tuple[Sequence[Training], ...] = field(init=False, compare=False)  # those that `trainings` concatenates
    levels: Mapping[str, int] = field(init=False, compare=False)  # how many held-out sides of each level it answers
    cells: int = field(init=False, compare=False)  # without those that intervals alone ask for

    def __post_init__(self) -> None:
        pieces = pieces_of(self.trainings)
        levels: Counter[str] = Counter()
        for piece in pieces:
            if isinstance(piece, Plain):
                levels[piece.level] += len(piece.parts)
            else:
                levels.update([held.level for training in piece for held in training.answers])
        asked = levels.total() - levels[EVERYWHERE]
        columns = {"pieces": pieces, "levels": levels, "cells": len(self.candidates) * asked}
        for name, value in columns.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """Holds all that a step needs: the data, the learner, the splits, and which parts of the answers to keep."""

    task: Task
    search: Search
    splits: Mapping[str, Splits]
    losses: Mapping[str, tuple[Loss, ...]]  # by level: what chooses, and what is reported
    keep_rows: frozenset[str] = frozenset()  # panels whose row losses are kept
    keep_responses: frozenset[str] = frozenset()  # panels whose responses are kept
    watched: frozenset[tuple[str, int, int]] = frozenset()  # cells, by panel, candidate and part, that will be checked
    fit_params: Mapping[str, Any] = field(default_factory=dict)  # passed to fit; arrays with a value a row are sliced
    config: Mapping[str, Any] = field(default_factory=dict)  # scikit-learn's configuration where the study was asked
    jobs: int = 1  # threads a step that spreads may use; they change no bit
    budget: int = 1 << 30  # bytes of working memory a step may take: it cuts blocks, so it never depends on the machine
    room: int = 1 << 30  # bytes that what kernels keep for later steps may take: it saves time and changes no bit
    products: dict[Any, Any] = field(
        default_factory=dict
    )  # what kernels prepared, by key, for later steps to use again

    def train_rows(self, ref: TrainRef) -> Rows:
        return self.splits[ref.splits].train_rows(ref.part)

    def held_rows(self, held: Held) -> Rows:
        splits = self.splits[held.splits]
        return splits.held[splits.held_cuts[held.part] : splits.held_cuts[held.part + 1]]


# ---------------------------------------------------------------------- the plan that every study begins as


def plan_brute_force(panels: Iterable[Panel]) -> tuple[Step, ...]:
    """Return the plan that the rules begin from: one step a panel, or one a block of a race, with all its cells."""
    return tuple(step for panel in panels if panel.candidates for step in _steps_of(panel))


def _steps_of(panel: Panel) -> Iterator[Step]:
    if panel.asked is None:
        yield brute_step(tuple(panel.candidates or ()), _trainings_of(panel, panel.parts))
        return
    for block in panel.asked:
        yield brute_step(block.candidates, join(_trainings_of(panel, parts) for parts in _stretches(block.parts)))


def _stretches(parts: Sequence[int]) -> Iterator[range]:
    """Yield the ranges of consecutive numbers that make up these ascending parts."""
    starts = [number for number, part in enumerate(parts) if not number or part != parts[number - 1] + 1]
    for start, end in zip(starts, [*starts[1:], len(parts)], strict=True):
        yield range(parts[start], parts[end - 1] + 1)


def _trainings_of(panel: Panel, parts: range) -> Sequence[Training]:
    plain = Plain(panel.key, panel.level, panel.splits, parts)
    if panel.trains is None and not panel.averaged:
        return plain
    return tuple([Training(panel.trains_of(held.part), panel.averaged, (held,)) for held in sides_of(plain)])


def brute_step(candidates: tuple[int, ...], trainings: Sequence[Training]) -> Step:
    """Return the brute-force step that fits each of these candidates in each of these trainings."""
    return Step(
        kernel=BRUTE,
        rule="brute force",
        tier="identical",
        candidates=candidates,
        trainings=trainings,
        fits=len(candidates) * count_trains(trainings),
    )


def cut_brute_force(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Split brute-force steps into pieces that can run in parallel; their size depends on counts alone."""
    cells = sum(len(step.candidates) * len(step.trainings) for step in steps if step.kernel == BRUTE)
    batch = max(1, ceil(cells / MOST_STEPS))
    return tuple(piece for step in steps for piece in (_pieces(step, batch) if step.kernel == BRUTE else (step,)))


def single_fits(step: Step) -> tuple[Step, ...]:
    """Split a step of the tier `identical` into brute-force steps of one candidate and one training each."""
    return tuple(_pieces(step, 1))


def _pieces(step: Step, batch: int) -> Iterator[Step]:
    for training in step.trainings:
        for start in range(0, len(step.candidates), batch):
            yield brute_step(step.candidates[start : start + batch], (training,))


FIT = 1e6  # operations that a fit of scikit-learn takes however few its rows are: most of a millisecond
_ROUND = log(1.25)  # steps that differ by less than this ratio stay in the plan's order, where neighbours share rows
_FIT_OPERATIONS = 50.0  # operations of a fit for each number in its training rows: only weighs kernels and fits
_COUNTS = ("n_estimators", "iterations")  # parameters that a fit's time grows with, whatever the learner


EIGEN = 9  # operations of a symmetric eigendecomposition, in cubes of its size
ITERATIONS = 20  # iterations of L-BFGS that a fit usually takes
MACHINE = 40  # operations for each pair of training rows that fitting a support vector machine takes


def operations(step: Step, task: Task, splits: Mapping[str, Splits]) -> float | None:
    """Return the order of magnitude of a kernel step's floating-point operations; None for steps that call fit."""
    columns = task.n_columns or 1
    used = splits_of(step.trainings)
    read = sum([len(splits[name].rows) for name in used])
    answers = 2.0 * float(held_rows(step.trainings, splits)) * len(step.candidates)
    if step.kernel == "ridge":
        single = all(int(splits[name].held_sizes.max()) == 1 for name in used)
        systems = len(used) if single else len(step.trainings)
        side = min(columns, max([len(splits[name].rows) for name in used]))
        return read * columns * side + systems * EIGEN * float(side) ** 3 + answers * columns
    if step.kernel == "neighbours":
        return 2.0 * len(task) * len(task) * columns + answers
    if step.kernel == "bayes":
        numbers = getattr(task.X, "nnz", len(task) * columns) / max(1, len(task))  # a row; of sparse rows those kept
        return 2.0 * read * numbers + 2.0 * answers * numbers * (1 if task.classes is None else len(task.classes))
    if step.kernel == "pls":
        side = min(columns, max([len(splits[name].rows) for name in used]))
        runs = 8.0 * len(step.trainings) * len(step.candidates) * columns * side
        return read * columns * side + runs + 2 * answers * columns
    if step.kernel == "lasso":
        passes = 25.0 * len(step.trainings) * len(step.candidates) * columns**2  # over products of columns
        return float(read) * columns**2 + passes + answers * columns
    if step.kernel == "approximate_loo":
        return (12.0 + 3.0 * len(step.candidates)) * read * float(columns) ** 2
    if step.kernel == "glm":
        predictors = len(task.classes) if task.classes is not None and len(task.classes) > 2 else 1
        passes = ITERATIONS * len(step.trainings) * len(step.candidates)
        return (passes * len(task) * 4 + answers) * columns * predictors
    if step.kernel == "discriminants":
        kinds = 1 if task.classes is None else len(task.classes)
        single = all(int(splits[name].held_sizes.max()) == 1 for name in used)
        systems = len(used) if single else len(step.trainings)
        return read * float(columns) ** 2 + systems * EIGEN * float(columns) ** 3 + answers * columns * kinds
    if step.kernel == "smoothers":
        rows = float(max([len(splits[name].rows) for name in used]))
        return rows**2 * columns + (EIGEN + len(step.candidates)) * rows**3 + answers * rows
    if step.kernel == "vectors":
        pairs = len(step.trainings) * float(max(int(splits[name].train_sizes.max()) for name in used)) ** 2
        return pairs * (2 * columns + MACHINE * len(step.candidates))
    return None


def expected_work(step: Step, task: Task, splits: Mapping[str, Splits], search: Search) -> float:
    """Return the order of magnitude of the operations that a step takes."""
    known = operations(step, task, splits)
    if known is not None:
        return known
    rows = train_rows(step.trainings, splits)
    counted = any(_is_count(name) for family in search.families for name in family.candidates.names)
    weight = sum([_members(search, candidate) for candidate in step.candidates]) if counted else len(step.candidates)
    # A path that is read off one fit takes fewer fits than it has candidates.
    shared = step.fits / max(1, count_trains(step.trainings) * len(step.candidates))
    return _FIT_OPERATIONS * rows * (task.n_columns or 1) * weight * shared


def total_work(steps: Sequence[Step], work: Work) -> float:
    """Return the operations that all these steps are expected to take."""
    return sum([expected_work(step, work.task, work.splits, work.search) for step in steps])


def planned_work(steps: Sequence[Step], work: Work) -> float:
    """Return the operations that these steps are planned to take.

    Fits that share within a training set count as one: the shared part may dominate.
    """
    alone = [step if step.kernel == BRUTE else replace(step, fits=len(step.trainings)) for step in steps]
    return total_work(alone, work)


def price_of_fit(step: Step, training: Training, candidate: int, work: Work) -> float:
    """Return the operations of one cell's fit: FIT and its expected work, at least the kernel's work on that cell."""
    brute = brute_step((candidate,), (training,))
    alone = replace(step, candidates=(candidate,), trainings=(training,), fits=1)
    fit, kernel = [expected_work(one, work.task, work.splits, work.search) for one in (brute, alone)]
    return max(FIT + fit, kernel)


def longest_first(steps: Sequence[Step], task: Task, splits: Mapping[str, Splits], search: Search) -> list[Step]:
    """Return the steps by falling expected work, so that no long one comes last; equal ones keep their order."""
    work = {id(step): expected_work(step, task, splits, search) for step in steps}
    return sorted(steps, key=lambda step: -round(log(max(work[id(step)], 1.0)) / _ROUND))


def _members(search: Search, candidate: int) -> float:
    """Return the number of members of the candidate's ensemble if a parameter gives it; 1 for all others."""
    for name, value in search.params_of(candidate).items():
        if _is_count(name) and isinstance(value, int | float) and value > 0:
            return float(value)
    return 1.0


def _is_count(name: str) -> bool:
    return name.rpartition("__")[2] in _COUNTS
