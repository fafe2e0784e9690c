"""From sums to the answers of cells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from heldout.base.errors import PredictionError
from heldout.engine.streaming.rows import Ask, Solved, Tally
from heldout.kernels.scoring import failed_cell, failure_of
from heldout.kernels.statistics.gather import Statistics
from heldout.kernels.statistics.scores import from_squares, pool_squares
from heldout.kernels.step import Held, Work
from heldout.losses import Loss
from heldout.study.answers import Answer, Failure, Rows, Tables
from heldout.study.pose import OUTER
from heldout.study.study import TEST, Study


def answer_from_squares(
    work: Work, held: Held, solved: Solved, rows: Statistics
) -> Iterator[tuple[int, Answer | None]]:
    """The answer of each place; None where the sum of squared errors lost its digits."""
    family, fits, places = solved
    found = fits.squares(rows)
    count, spread = int(rows.counts.sum()), _spread_of_target(rows)
    losses = work.losses[held.level]
    for place in places:
        candidate = family.candidates[place]
        if place in fits.failures:
            yield place, failed_cell(work, held, candidate, _unvouched(fits.failures[place]))
            continue
        assert found is not None, "only regressors are answered from squares"
        squares, doubtful = found
        if doubtful[place]:
            yield place, None
            continue
        values = []
        for loss in losses:
            take = from_squares(loss)
            assert take is not None, "losses that need rows are asked row by row"
            values.append(take(float(squares[place]), spread, count))
        yield place, _cell(work, held, candidate, values)


def answers_of_tally(work: Work, held: Held, asked: tuple[Ask, Tally], rows: Statistics) -> Iterator[Answer]:
    """The answer of each candidate that was asked row by row."""
    ask, tally = asked
    in_order = [(fits, place, family.candidates[place]) for family, fits, places in ask.solved for place in places]
    for number, (fits, place, candidate) in enumerate(in_order):
        if place in fits.failures:
            yield failed_cell(work, held, candidate, _unvouched(fits.failures[place]))
        elif number in tally.failed:
            yield failed_cell(work, held, candidate, failure_of(tally.failed[number], "score"))
        else:
            values = [_value(loss, total, rows) for loss, total in zip(ask.losses, tally.sums[number], strict=True)]
            yield _cell(work, held, candidate, values, rows=_kept(ask, tally) if ask.keep else None)


def pooled_values(study: Study, tables: Tables, statistics: Statistics) -> tuple[float | None, ...]:
    """Of each reported score of whole sets, its value for all held-out rows together; None where it is not known."""
    outer = study.splits[OUTER]
    found = np.full((len(outer), len(study.reported)), np.nan)
    for panel in study.of_level(TEST):
        table = tables.panels.get(panel.key)
        if table is not None and len(table.candidates):
            found[list(table.parts)] = table.losses[0]
    cells = [statistics.of(outer.held_rows(part)) for part in range(len(outer))]
    whole = statistics.of(outer.held)  # cells that are held out several times count as often
    values: list[float | None] = []
    for number, loss in enumerate(study.reported):
        if loss.rows is not None or not np.isfinite(found[:, number]).all():
            values.append(None)
            continue
        parts = [
            (float(value), _spread_of_target(own), int(own.counts.sum()))
            for value, own in zip(found[:, number], cells, strict=True)
        ]
        values.append(pool_squares(loss, parts, _spread_of_target(whole)))
    return tuple(values)


def _value(loss: Loss, total: float, rows: Statistics) -> float:
    count = int(rows.counts.sum())
    if loss.rows is not None:
        return float(total) / count
    take = from_squares(loss)
    assert take is not None, "other losses of whole sets are refused for streams"
    return take(float(total), _spread_of_target(rows), count)


def _kept(ask: Ask, tally: Tally) -> Rows:
    every = np.concatenate(tally.losses, axis=1)
    return tuple(None if loss.rows is None else every[None, place] for place, loss in enumerate(ask.losses))


def _spread_of_target(rows: Statistics) -> float:
    """The sum of squares of y about its mean."""
    M = rows.grams[0, 0]
    return float(M[-2, -2] - M[-2, -1] ** 2 / M[-1, -1])


def _unvouched(message: str) -> Failure:
    return Failure(kind="Unvouched", message=f"{message}.", traceback="", stage="fit")


def _cell(work: Work, held: Held, candidate: int, values: list[float], *, rows: Rows | None = None) -> Answer:
    if not np.isfinite(values).all():
        error = PredictionError(f"A loss is not a finite number on the held-out rows: {values}.")
        return failed_cell(work, held, candidate, failure_of(error, "score"))
    return Answer.of_cell(held.panel, (candidate, held.part), values, rows=rows)
