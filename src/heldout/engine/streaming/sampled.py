"""What the test predictors answer on the rows that were kept while all of them passed.

Sums do not tell how far the losses of single rows spread; a random sample of the rows does, without another pass. Only
intervals are made from these answers: every estimate is that of all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows
from heldout.engine.streaming.gather import Sample
from heldout.engine.streaming.rows import Tally
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.sums.rounding import Floats
from heldout.losses import Loss
from heldout.splits.drawn import Splits
from heldout.study.pose import OUTER, PROBABILITIES, asked_parts
from heldout.study.study import TEST, Panel, Study
from heldout.task.task import Task

MOST_ANSWERS = 1 << 20  # of all parts together
MOST_PARTS = 10  # predictors that are asked about rows of their training sets too
MOST_ROWS = 5_000  # that they are asked about, spread evenly over the sample

Respond = Callable[[Panel, int, Floats, tuple[Loss, ...]], Responses | None]  # the tested predictor of a part


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledRows:
    """A random sample of the rows of a stream, its test splits, and what the predictors of the parts answered on it."""

    task: Task
    outer: Splits  # which of these rows each test part holds out, and which it trains on
    held: tuple[Responses, ...]  # of each part on the rows that it holds out
    asked: Rows
    everywhere: dict[int, Responses]  # of some parts on the rows `asked`, those of their training sets among them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TargetSums:
    """The target of each cell in sums: rows of each class, or of numbers their sum and squares about a middle."""

    counts: NDArray[np.int64]  # cells × classes; one class for numbers
    middle: float = 0.0
    sums: Floats | None = None  # of y − middle; None for classes
    squares: Floats | None = None  # of (y − middle)²

    @classmethod
    def of(cls, statistics: Statistics) -> TargetSums:
        if statistics.classes is not None:
            return cls(counts=statistics.counts)
        grams = statistics.grams[:, 0]
        middle = float(statistics.shift.y[0])
        return cls(counts=statistics.counts, middle=middle, sums=grams[:, -2, -1], squares=grams[:, -2, -2])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OfStream:
    """What the passes over a stream gave beside the losses of its parts."""

    targets: TargetSums
    pooled: tuple[float | None, ...]  # each reported score of whole sets, of all held-out rows together
    sampled: SampledRows | None
    kept: tuple[Tally, ...] | None  # results of single rows, where they were asked for: one a test part


def ask_sample(study: Study, sample: Sample, respond: Respond, *, classification: bool) -> SampledRows | None:
    """The answers of every test part; None where a part has no predictor, or no row of the sample.

    One test set has its intervals from all of its rows, so that its predictor is not asked.
    """
    cells = study.splits[OUTER]
    if len(cells) == 1:
        return None
    sample = _thinned(sample, cells)
    parts = {part: panel for panel in study.of_level(TEST) for part in panel.parts}
    held = [_within(sample, cells.held_rows(part)) for part in range(len(cells))]
    if len(parts) < len(cells) or not all(len(rows) for rows in held):
        return None
    train = [_within(sample, cells.train_rows(part)) for part in range(len(cells))]
    every: Rows = np.arange(len(sample.y), dtype=np.intp)
    outer = Splits.from_pairs(every, list(zip(train, held, strict=True)), cells.recipe)
    losses = _with_probabilities(study.reported) if classification else study.reported
    answers = [respond(parts[part], part, sample.X[rows], losses) for part, rows in enumerate(held)]
    known = tuple(one for one in answers if one is not None)
    if len(known) < len(answers):
        return None
    asked = np.unique(np.linspace(0, len(sample.y) - 1, min(MOST_ROWS, len(sample.y))).round().astype(np.intp))
    some = asked_parts(study, MOST_PARTS)
    elsewhere = {part: respond(parts[part], part, sample.X[asked], losses) for part in some}
    return SampledRows(
        task=Task(X=sample.X, y=sample.y, classification=classification),
        outer=outer,
        held=known,
        asked=asked,
        everywhere={part: one for part, one in elsewhere.items() if one is not None},
    )


def _thinned(sample: Sample, cells: Splits) -> Sample:
    """Fewer rows where many parts hold out the same ones again."""
    answers = int(np.bincount(sample.cells, minlength=int(cells.rows[-1]) + 1)[cells.held].sum())
    step = -(-answers // MOST_ANSWERS)
    if step <= 1:
        return sample
    return Sample(X=sample.X[::step], y=sample.y[::step], cells=sample.cells[::step])


def _within(sample: Sample, cells: Rows) -> Rows:
    """The rows of the sample in some cells."""
    inside = np.zeros(max(int(sample.cells.max()), int(cells.max(initial=0))) + 1, dtype=bool)
    inside[cells] = True
    return np.flatnonzero(inside[sample.cells])


def _with_probabilities(losses: tuple[Loss, ...]) -> tuple[Loss, ...]:
    """Classifiers are asked for probabilities too, where they have them."""
    first, *rest = losses
    return (replace(first, methods=(*first.methods, PROBABILITIES)), *rest)
