"""Which rows share a matrix, and which trainings are answered from it: chosen by operation counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from heldout.base.rowkeys import Rows
from heldout.kernels.smoothers.routes import Cut
from heldout.kernels.smoothers.spectrum import Targets
from heldout.kernels.step import Training, Work
from heldout.kernels.trainings import Plain, pieces_of

EIGEN = 14.0  # operations of a decomposition, in cubes of its size: slow ones among them counted as several
INVERSE = 1.3  # of one inverse from it
FACTOR = 0.5  # of a Cholesky factor, with what is made for it
FLAT_NUMBERS = 1 << 22  # places of blocks that are kept


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Base:
    """Rows with one Gram matrix a form, the trainings that it answers, and how."""

    rows: Rows  # ascending
    trainings: Sequence[Training]
    route: str  # "diagonal", "blocks" or "factors"


def choose_bases(work: Work, trainings: Sequence[Training], forms: int, lambdas: int) -> list[Base]:
    """Bases for all trainings, the cheapest by counts of operations: they depend on nothing else."""
    found: list[Base] = []
    rest: list[Training] = []
    for together in _of_one_splits(trainings):
        if _is_leave_one_out(work, together) and len(together) * FACTOR * lambdas > EIGEN * forms:
            rows = work.splits[together[0].trains[0].splits].rows
            found.append(Base(rows=rows, trainings=together, route="diagonal"))
        else:
            rest += together
    return found + (_for_blocks(work, rest, forms, lambdas) if rest else [])


def _for_blocks(work: Work, trainings: Sequence[Training], forms: int, lambdas: int) -> list[Base]:
    apart: dict[str, list[Training]] = {}
    for training in trainings:
        apart.setdefault(training.trains[0].splits, []).append(training)
    plans = [{"": list(trainings)}, apart] if len(apart) > 1 else [apart]
    best: tuple[float, list[Base]] = (np.inf, [])
    for plan in plans:
        bases, total = [], 0.0
        for own in plan.values():
            rows = _rows_of(work, own)
            sizes = np.array([int(work.splits[t.trains[0].splits].train_sizes[t.trains[0].part]) for t in own], float)
            each = FACTOR * float((sizes**3).sum()) * lambdas
            blocks = FACTOR * float((np.minimum(sizes, len(rows) - sizes) ** 3).sum()) * lambdas
            shared = float(len(rows)) ** 3 * (EIGEN * forms + INVERSE * lambdas) + blocks
            bases.append(Base(rows=rows, trainings=own, route="blocks" if shared < each else "factors"))
            total += min(shared, each)
        if total < best[0]:
            best = (total, bases)
    return best[1]


def _rows_of(work: Work, trainings: Sequence[Training]) -> Rows:
    used = np.zeros(len(work.task), dtype=bool)
    for training in trainings:
        used[work.train_rows(training.trains[0])] = True
        for held in training.answers:
            used[work.held_rows(held)] = True
    return np.flatnonzero(used)


def cut_trainings(work: Work, base: Base, targets: Targets) -> list[Cut]:
    """The trainings of a base as places in it."""
    where = np.full(len(work.task), -1, dtype=np.intp)
    where[base.rows] = np.arange(len(base.rows))
    kept = 0
    cuts = []
    for training in base.trainings:
        train = np.sort(where[work.train_rows(training.trains[0])])
        out = np.setdiff1d(np.arange(len(base.rows)), train, assume_unique=True)
        sides = [where[work.held_rows(held)] for held in training.answers]
        held = np.concatenate(sides)
        flat = None
        if base.route == "blocks" and len(out) <= len(train):
            kept += len(out) ** 2
            flat = np.add.outer(out * len(base.rows), out) if kept <= FLAT_NUMBERS else None
        mean = targets.Y[train].mean(axis=0) if targets.centred else np.zeros(targets.Y.shape[1])
        starts = np.concatenate([[0], np.cumsum([len(side) for side in sides])[:-1]]).astype(np.intp)
        held_out = np.searchsorted(out, held)
        cuts.append(Cut(train=train, out=out, held=held, held_out=held_out, sides=starts, flat=flat, mean=mean))
    return cuts


def _of_one_splits(trainings: Sequence[Training]) -> Iterator[Sequence[Training]]:
    for piece in pieces_of(trainings):
        if isinstance(piece, Plain):
            yield piece
        else:
            yield from (list(own) for _, own in groupby(piece, key=lambda training: training.trains[0].splits))


def _is_leave_one_out(work: Work, trainings: Sequence[Training]) -> bool:
    """Whether these trainings leave single rows out of one set."""
    name = trainings[0].trains[0].splits
    splits = work.splits[name]
    if splits.train is not None or int(splits.held_sizes.max()) != 1 or len(splits.rows) < 2:
        return False
    return isinstance(trainings, Plain) or all(
        len(answers) == 1 and answers[0].splits == name and answers[0].part == trains[0].part
        for trains, _, answers in trainings
    )
