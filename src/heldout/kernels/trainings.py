"""Trainings: which predictors a step makes, and which held-out sides each answers.

A panel of leave-one-out has a training for every row. Those of neighbouring parts, each trained on its own rows, are
kept as a range and made one at a time when somebody looks at one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Self, overload

from heldout.splits.drawn import Splits
from heldout.study.study import EVERYWHERE, TrainRef


class Held(NamedTuple):
    """A held-out side that a step answers, and the panel that asked."""

    panel: str
    level: str
    splits: str
    part: int


class Training(NamedTuple):
    """One predictor a candidate: what it is trained on, and the held-out sides that it answers."""

    trains: tuple[TrainRef, ...]
    averaged: bool  # the predictor is the average of one trained on each of `trains`, not the only one
    answers: tuple[Held, ...]


@dataclass(frozen=True, slots=True)
class Plain(Sequence[Training]):
    """The trainings of neighbouring parts of one panel, each on its own rows for its own held-out side."""

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
    """Trainings one after the other, some of them plain."""

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
    """The plain stretches of these trainings, and what lies between them."""
    return trainings.pieces if isinstance(trainings, Joined) else (trainings,)


def join(pieces: Iterable[Sequence[Training]]) -> Sequence[Training]:
    """These one after the other; plain stretches stay what they are."""
    flat = [piece for several in pieces for piece in pieces_of(several) if len(piece)]
    if not any(isinstance(piece, Plain) for piece in flat):
        return tuple(chain.from_iterable(flat))
    return flat[0] if len(flat) == 1 else Joined(tuple(flat))


def count_trains(trainings: Sequence[Training]) -> int:
    """How many training sets these have together: as many fits a candidate."""
    pieces = pieces_of(trainings)
    return sum([len(p.parts) if isinstance(p, Plain) else sum([len(t.trains) for t in p]) for p in pieces])


def sides_of(trainings: Sequence[Training]) -> list[Held]:
    """The held-out sides that these answer."""
    sides: list[Held] = []
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            sides += [Held(piece.panel, piece.level, piece.splits, part) for part in piece.parts]
        else:
            sides += [held for training in piece for held in training.answers]
    return sides


def count_levels(trainings: Sequence[Training]) -> Counter[str]:
    """How many held-out sides of each level these answer."""
    counts: Counter[str] = Counter()
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            counts[piece.level] += len(piece.parts)
        else:
            counts.update([held.level for training in piece for held in training.answers])
    return counts


def count_asked(trainings: Sequence[Training]) -> int:
    """How many held-out sides of panels these answer, without what is asked for intervals alone."""
    counts = count_levels(trainings)
    return counts.total() - counts[EVERYWHERE]


def splits_of(trainings: Sequence[Training]) -> set[str]:
    """The splits whose training sides these use."""
    used: set[str] = set()
    for piece in pieces_of(trainings):
        used |= {piece.splits} if isinstance(piece, Plain) else {ref.splits for t in piece for ref in t.trains}
    return used


def held_rows(trainings: Sequence[Training], splits: Mapping[str, Splits]) -> int:
    """How many rows the held-out sides have together."""
    rows = 0
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            cuts = splits[piece.splits].held_cuts
            rows += int(cuts[piece.parts.stop] - cuts[piece.parts.start])
        else:
            rows += sum([int(splits[held.splits].held_sizes[held.part]) for t in piece for held in t.answers])
    return rows


def train_rows(trainings: Sequence[Training], splits: Mapping[str, Splits]) -> float:
    """How many rows the training sets have together."""
    rows = 0.0
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            rows += float(splits[piece.splits].train_sizes[piece.parts.start : piece.parts.stop].sum())
        else:
            rows += float(sum([splits[ref.splits].train_sizes[ref.part] for t in piece for ref in t.trains]))
    return rows
