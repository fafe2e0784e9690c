"""Rows sampled during a pass over a stream: intervals are computed from them, and statistics are checked on them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.responses import Responses
from heldout.base.rowkeys import Rows, derive
from heldout.base.warnings import catch_warnings
from heldout.engine.checks import ROUNDING, relative_gap
from heldout.engine.stream_account import RULE, TIER
from heldout.engine.stream_passes import Sample, Tally
from heldout.engine.stream_source import Source
from heldout.kernels.brute import make_candidate
from heldout.kernels.statistics.family import Family, Fits
from heldout.kernels.statistics.gather import Layout, Statistics, products_of
from heldout.kernels.sums.dataset import Shift, column_shift
from heldout.kernels.sums.rounding import Floats, LostDigits
from heldout.losses import SQUARED, Loss
from heldout.planner.checked_cells import KernelCheck
from heldout.splits.drawn import Splits
from heldout.study.study import OUTER, PROBABILITIES, TEST, Panel, Study, asked_parts
from heldout.task.stream import Chunk
from heldout.task.task import Task

MOST_ANSWERS = 1 << 20  # of all parts together
MOST_PARTS = 10  # predictors that are asked about rows of their training sets too
MOST_ROWS = 5_000  # that they are asked about, spread evenly over the sample

Respond = Callable[[Panel, int, Floats, tuple[Loss, ...]], Responses | None]  # the tested predictor of a part


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledRows:
    """A random sample of the rows of a stream, its test splits, and the responses of the predictors of the parts."""

    task: Task
    outer: Splits  # which of these rows each test part holds out, and which it trains on
    held: tuple[Responses, ...]  # of each part on the rows that it holds out
    asked: Rows
    everywhere: dict[int, Responses]  # of some parts on the rows `asked`, those of their training sets among them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TargetSums:
    """Sums of the target in each cell: the rows of each class; for numbers, the sum and squares about a centre."""

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
    """The results of the passes over a stream, other than the losses of its parts."""

    targets: TargetSums
    pooled: tuple[float | None, ...]  # each reported score of whole sets, of all held-out rows together
    sampled: SampledRows | None
    kept: tuple[Tally, ...] | None  # results of single rows, where they were asked for: one a test part


def ask_sample(study: Study, sample: Sample, respond: Respond, *, classification: bool) -> SampledRows | None:
    """Return the responses of every test part; None if a part has no predictor, or no row of the sample.

    A single test set is not asked, since its intervals use all of its rows.
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
    """Thin the sample if many parts hold out the same rows repeatedly."""
    answers = int(np.bincount(sample.cells, minlength=int(cells.rows[-1]) + 1)[cells.held].sum())
    step = -(-answers // MOST_ANSWERS)
    return sample if step <= 1 else _only(sample, slice(None, None, step))


def _within(sample: Sample, cells: Rows) -> Rows:
    """Return the rows of the sample in these cells."""
    inside = np.zeros(max(int(sample.cells.max()), int(cells.max(initial=0))) + 1, dtype=bool)
    inside[cells] = True
    return np.flatnonzero(inside[sample.cells])


def _with_probabilities(losses: tuple[Loss, ...]) -> tuple[Loss, ...]:
    """Add probabilities to what classifiers are asked for, if they have them."""
    first, *rest = losses
    return (replace(first, methods=(*first.methods, PROBABILITIES)), *rest)


SINGLE = 1e-6  # of the largest response: a few roundings of single precision
SCORES = ("decision_function", "predict_proba")


def check_on_sample(study: Study, source: Source, families: Sequence[Family], sample: Sample) -> KernelCheck | None:
    """Check one candidate and part, drawn by the seed, on the sampled rows; None if there are too few."""
    seed = study.search.seed
    panel = next(one for one in study.panels if one.candidates)
    part = panel.parts[derive(seed, "spot training", RULE) % len(panel.parts)]
    family = families[derive(seed, "spot step", RULE) % len(families)]
    train, held = _sides(study, panel, part, sample)
    classes = source.task.classes
    if classes is not None:  # a rare class may be missing from a sample
        classes = np.unique(train.y)
        held = _only(held, np.isin(held.y, classes))
    if len(train.y) <= train.X.shape[1] + 1 or not len(held.y) or (classes is not None and len(classes) < 2):
        return None
    fits = _fitted(family, train, classes)
    good = [place for place in range(len(family.candidates)) if fits is not None and place not in fits.failures]
    if fits is None or not good:
        return None
    place = good[derive(seed, "spot candidate", RULE) % len(good)]
    candidate = family.candidates[place]
    estimator = make_candidate(study.search, candidate)
    with catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(train.X, train.y)
        difference = max(_differences(fits, place, estimator, held))
        # Single precision is answered in single precision, and checked against double.
        allowed = SINGLE if family.single else ROUNDING
    words = f"{study.search.brief(candidate)} on {panel.key}, part {part}, {len(train.y):,} rows of a sample"
    passed = difference <= allowed
    return KernelCheck(kernel=RULE, tier=TIER, level=panel.level, cell=words, difference=difference, passed=passed)


def _fitted(family: Family, train: Sample, classes: NDArray[Any] | None) -> Fits | None:
    try:
        return family.fit(_statistics(train, classes))
    except LostDigits:
        return None


def _statistics(rows: Sample, classes: NDArray[Any] | None) -> Statistics:
    chunk = Chunk(start=0, columns=list(rows.X.T), y=rows.y)
    every = np.arange(len(rows.y))
    y = np.zeros(0) if classes is not None else column_shift(rows.y[:, None], every)
    shift = Shift(x=column_shift(rows.X, every), y=y)
    layout = Layout(cells=1, classes=classes, shift=shift)
    codes = None if classes is None else np.searchsorted(classes, rows.y).astype(np.int64)
    return products_of(chunk, np.zeros(len(rows.y), dtype=np.int64), codes, layout).as_statistics(layout)


def _sides(study: Study, panel: Panel, part: int, sample: Sample) -> tuple[Sample, Sample]:
    (ref,) = panel.trains_of(part)
    trained = study.splits[ref.splits].train_rows(ref.part)
    held = study.splits[panel.splits].held_rows(part)
    return _only(sample, np.isin(sample.cells, trained)), _only(sample, np.isin(sample.cells, held))


def _only(sample: Sample, rows: NDArray[np.bool_] | slice) -> Sample:
    return Sample(X=sample.X[rows], y=sample.y[rows], cells=sample.cells[rows])


def _differences(fits: Fits, place: int, theirs: Any, held: Sample) -> Iterator[float]:
    """Yield relative differences of class scores, or of predictions and of the sum of squared errors."""
    ours = fits.predictor(place, None)
    scores = next((name for name in SCORES if hasattr(theirs, name)), "predict")
    yield relative_gap(getattr(ours, scores)(held.X), getattr(theirs, scores)(held.X))
    if scores != "predict":
        return
    predicted = theirs.predict(held.X)
    answers = fits.respond(held.X, (SQUARED,))[place]
    yield float("inf") if answers is None else relative_gap(answers.predict, predicted)
    squares = fits.squares(_statistics(held, None))
    if squares is not None:
        by_rows = float(((held.y - predicted) ** 2).sum())
        yield abs(float(squares[0][place]) - by_rows) / (float((predicted**2).sum()) + by_rows or 1.0)
