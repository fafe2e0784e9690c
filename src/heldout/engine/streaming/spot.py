"""The spot check of a stream: statistics of some rows against scikit-learn's own fit on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.base.seeds import derive
from heldout.base.warnings import catch_warnings
from heldout.engine.checks import ROUNDING
from heldout.engine.streaming.account import RULE, TIER
from heldout.engine.streaming.gather import Sample
from heldout.engine.streaming.source import Source
from heldout.kernels.fitting import make_candidate
from heldout.kernels.statistics.family import Family, Fits
from heldout.kernels.statistics.gather import Layout, Statistics, products_of
from heldout.kernels.sums.rounding import LostDigits
from heldout.kernels.sums.shifts import Shift, column_shift
from heldout.losses import SQUARED
from heldout.planner.checked_cells import KernelCheck
from heldout.study.study import Panel, Study
from heldout.task.stream import Chunk

SINGLE = 1e-6  # of the largest response: a few roundings of single precision
SCORES = ("decision_function", "predict_proba")


def check_on_sample(study: Study, source: Source, families: Sequence[Family], sample: Sample) -> KernelCheck | None:
    """One candidate and part, drawn by the seed, on the rows of the sample; None where they are too few."""
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


def _only(sample: Sample, rows: NDArray[np.bool_]) -> Sample:
    return Sample(X=sample.X[rows], y=sample.y[rows], cells=sample.cells[rows])


def _differences(fits: Fits, place: int, theirs: Any, held: Sample) -> Iterator[float]:
    """Differences of predictions and of the sum of squared errors, or of scores of classes, relative to the largest."""
    ours = fits.predictor(place, None)
    scores = next((name for name in SCORES if hasattr(theirs, name)), "predict")
    yield _relative(getattr(ours, scores)(held.X), getattr(theirs, scores)(held.X))
    if scores != "predict":
        return
    predicted = theirs.predict(held.X)
    answers = fits.respond(held.X, (SQUARED,))[place]
    yield float("inf") if answers is None else _relative(answers.predict, predicted)
    squares = fits.squares(_statistics(held, None))
    if squares is not None:
        by_rows = float(((held.y - predicted) ** 2).sum())
        yield abs(float(squares[0][place]) - by_rows) / (float((predicted**2).sum()) + by_rows or 1.0)


def _relative(ours: Any, theirs: Any) -> float:
    largest = float(np.max(np.abs(theirs), initial=0.0)) or 1.0
    return float(np.max(np.abs(np.asarray(ours, dtype=np.float64) - theirs), initial=0.0)) / largest
