"""Runs a study on a stream: one pass gathers statistics, and another reads the rows if a loss needs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.backends.threads import one_thread
from heldout.base.errors import FitFailed, InputError, PredictionError
from heldout.base.events import StudyFinished, StudyStarted
from heldout.base.responses import Responses, join_rows
from heldout.base.rowkeys import Rows
from heldout.engine.progress import Watch, open_progress
from heldout.engine.run import Outcome, Running
from heldout.engine.stream_account import account_of_stream, expected_passes
from heldout.engine.stream_passes import Ask, Sample, Solved, Tally, Watched, ask_rows, gather
from heldout.engine.stream_sample import OfStream, SampledRows, TargetSums, ask_sample, check_on_sample
from heldout.engine.stream_source import Meter, Source
from heldout.kernels.scoring import failed_cell, failure_of
from heldout.kernels.statistics.family import Family, Fits
from heldout.kernels.statistics.gather import Statistics, mean_shift
from heldout.kernels.statistics.scores import all_from_squares, from_squares, pool_squares
from heldout.kernels.step import Held, Work
from heldout.kernels.sums.rounding import Floats, LostDigits
from heldout.losses import Loss
from heldout.splits.cells import CellSplits
from heldout.study.answers import Answer, Failure, Tables
from heldout.study.answers import Rows as RowLosses
from heldout.study.choose import advance
from heldout.study.study import OUTER, TEST, VALIDATION, Panel, Study

AT_ONCE = 1 << 13  # rows of the sample that a family is asked about together


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Streamed:
    """A finished study of a stream: its outcome, and the run that gathered the statistics."""

    outcome: Outcome
    run: StreamRun


@dataclass(kw_only=True, eq=False)
class StreamRun:
    """The passes over one stream. It keeps the statistics, so that later questions on the same cells need no pass."""

    source: Source
    families: tuple[Family, ...]
    statistics: Statistics
    sample: Sample
    watched: Watched | None = None
    passes: int = 1
    _fits: dict[bytes, tuple[Fits, ...]] = field(default_factory=dict)

    @classmethod
    def gathered(cls, source: Source, families: tuple[Family, ...]) -> StreamRun:
        """Make the first pass; make a second one if columns drift so far from the first rows that digits were lost."""
        found = gather(source)
        run = cls(
            source=source,
            families=families,
            statistics=found.statistics,
            sample=found.sample,
            watched=found.watched,
        )
        try:
            run.fits(np.arange(source.plan.cells))
        except LostDigits:
            run.statistics = gather(source, shift=mean_shift(found.statistics)).statistics
            run.passes += 1
        return run

    @property
    def cell_sizes(self) -> Rows:
        return np.asarray(self.statistics.counts.sum(axis=1), dtype=np.intp)

    def fits(self, cells: Rows) -> tuple[Fits, ...]:
        """Return the predictors of every family, trained on these cells. Raise LostDigits if the sums lost digits."""
        key = np.sort(cells).astype(np.int64).tobytes()
        if key not in self._fits:
            together = self.statistics.of(np.sort(cells))
            _refuse_few_rows(together, self.source)
            self._fits[key] = tuple(family.fit(together) for family in self.families)
        return self._fits[key]

    def counting_rows(self, study: Study) -> Study:
        """Return the study with splits of cells whose sizes count rows."""
        sizes, stratified = self.cell_sizes, self.source.plan.stratified
        splits = {name: CellSplits.of(one, sizes, stratified=stratified) for name, one in study.splits.items()}
        return replace(study, splits=splits)

    def answer(self, study: Study, *, keep_rows: bool = False) -> tuple[Study, Tables, tuple[Tally, ...] | None]:
        """Answer every panel and make the choices. Return the study, its tables, and results of single rows or None."""
        tables = Tables()
        ready = [panel for panel in study.panels if panel.candidates is not None]
        waiting = [panel for panel in study.panels if panel.candidates is None]
        # A pass for validation also computes the test losses of all candidates; only the chosen one's are used.
        rides = not keep_rows and any(self._asks_rows(panel, study) for panel in ready) and bool(waiting)
        every = [replace(panel, candidates=range(len(study.search))) for panel in waiting] if rides else []
        kept = self._answer_panels([*ready, *every], study, tables, keep=keep_rows and not waiting)
        study = advance(study, tables)
        told = [panel for panel in study.panels if panel.key in {one.key for one in waiting}]
        if rides:
            for panel in told:
                _take_chosen(tables, panel, study)
        elif told:
            kept = self._answer_panels(told, study, tables, keep=keep_rows)
        return study, tables, kept if keep_rows else None

    def ask_sample(self, study: Study) -> SampledRows | None:
        """Return the responses of the tested predictors on the sample. A sampled row is held out if its cell is."""
        work = _work(self.source, study)

        def respond(panel: Panel, part: int, X: Floats, losses: tuple[Loss, ...]) -> Responses | None:
            for _, fits, places in self._solved(panel, part, panel.candidates or (), work):
                for place in places:
                    blocks = range(0, len(X), AT_ONCE)
                    found = [fits.respond(X[start : start + AT_ONCE], losses)[place] for start in blocks]
                    return None if place in fits.failures else join_rows([one for one in found if one is not None])
            return None

        return ask_sample(study, self.sample, respond, classification=self.source.task.classification)

    def _answer_panels(
        self, panels: Sequence[Panel], study: Study, tables: Tables, *, keep: bool
    ) -> tuple[Tally, ...] | None:
        work = _work(self.source, study)
        again: list[tuple[Panel, int, tuple[int, ...]]] = []
        for panel, part in _parts(panels, study, tables):
            wanted = tuple(panel.candidates or ())
            left = wanted if self._asks_rows(panel, study) else self._from_squares(panel, part, work, tables)
            if left or (keep and panel.level == TEST and wanted):
                again.append((panel, part, wanted if keep and panel.level == TEST else left))
        if not again:
            return None
        asks = [self._ask(panel, part, wanted, work, keep=keep) for panel, part, wanted in again]
        self.passes += 1
        tallies = ask_rows(self.source, asks)
        for (panel, part, _), ask, tally in zip(again, asks, tallies, strict=True):
            for answer in answers_of_tally(work, _held(panel, part), (ask, tally), self.statistics.of(ask.held)):
                tables.put(answer)
        return tuple(tally for (panel, _, _), tally in zip(again, tallies, strict=True) if panel.level == TEST)

    def _from_squares(self, panel: Panel, part: int, work: Work, tables: Tables) -> tuple[int, ...]:
        """Answer candidates from sums. Return the candidates whose losses the sums do not determine exactly enough."""
        held = self.statistics.of(work.held_rows(_held(panel, part)))
        doubtful: list[int] = []
        for solved in self._solved(panel, part, panel.candidates or (), work):
            for place, answer in answer_from_squares(work, _held(panel, part), solved, held):
                if answer is None:
                    doubtful.append(solved[0].candidates[place])
                else:
                    tables.put(answer)
        return tuple(sorted(doubtful))

    def _ask(self, panel: Panel, part: int, wanted: tuple[int, ...], work: Work, *, keep: bool) -> Ask:
        return Ask(
            held=work.held_rows(_held(panel, part)),
            solved=self._solved(panel, part, wanted, work),
            losses=work.losses[panel.level],
            keep=keep and panel.level == TEST,
        )

    def _solved(self, panel: Panel, part: int, wanted: Sequence[int], work: Work) -> list[Solved]:
        fits = self.fits(_trained_on(panel, part, work))
        return [
            (family, own, [p for p, candidate in enumerate(family.candidates) if candidate in wanted])
            for family, own in zip(self.families, fits, strict=True)
        ]

    def _asks_rows(self, panel: Panel, study: Study) -> bool:
        losses: tuple[Loss, ...] = study.losses_at(panel.level)
        return not all_from_squares(losses, classification=self.source.task.classification)


def run_streamed(study: Study, source: Source, families: tuple[Family, ...], how: Running) -> Streamed:
    """Answer a study whose splits are of cells."""
    started = perf_counter()
    keep_rows = how.options.rows
    with open_progress(how.progress) as progress, one_thread():
        progress.begin(Watch(on_event=how.options.on_event), study.cells)
        progress.tell(StudyStarted(rows=source.stream.rows, candidates=len(study.search)))
        passes = expected_passes(study, source, keep_rows=keep_rows)
        source = replace(source, on_rows=Meter(progress, rows=source.stream.rows, passes=passes))
        run = StreamRun.gathered(source, families)
        asked = run.counting_rows(study)
        try:
            study, tables, kept = run.answer(asked, keep_rows=keep_rows)
        except LostDigits:
            raise InputError(
                f"{source.stream.name!r} has columns whose values lie too far apart for sums to keep their digits. "
                "Take out their means, or load the data."
            ) from None
        check = check_on_sample(study, source, families, run.sample)
        sampled = run.ask_sample(study)
    run.source = replace(source, on_rows=None)
    if check is not None and not check.passed:
        raise FitFailed(
            f"On a sample of the stream, statistics differ from scikit-learn's own fit by {check.difference:.2g} "
            f"({check.cell}), more than rounding explains, so their numbers are not shown. Load the data, and please "
            "report it."
        )
    seconds, cells = perf_counter() - started, sum(table.answered.size for table in tables.panels.values())
    failed = len(tables.failures())
    progress.tell(StudyFinished(complete=True, cells=cells, failed=failed, seconds=seconds))
    account = account_of_stream(asked, source, passes=run.passes, keep_rows=keep_rows)
    if check is not None:
        words = (
            f"{check.kernel}: 1 cell fitted by scikit-learn, largest difference {check.difference:.2g} ({check.cell})"
        )
        account = replace(account, checked=(words,))
    outcome = Outcome(
        study=study,
        tables=tables,
        account=account,
        seconds=seconds,
        checks=() if check is None else (check,),
        stream=OfStream(
            targets=TargetSums.of(run.statistics),
            pooled=pooled_values(study, tables, run.statistics),
            sampled=sampled,
            kept=kept,
        ),
    )
    return Streamed(outcome=outcome, run=run)


def _parts(panels: Sequence[Panel], study: Study, tables: Tables) -> Iterator[tuple[Panel, int]]:
    for panel in panels:
        tables.open(study, [panel])
        yield from ((panel, part) for part in panel.parts)


def _take_chosen(tables: Tables, panel: Panel, study: Study) -> None:
    """Keep only the answers of the chosen candidate, as if no other had been asked."""
    every = tables.panels.pop(panel.key)
    tables.open(study, [panel])
    for candidate in panel.candidates or ():
        losses = every.losses[[candidate - every.candidates.start]]
        failures = {cell: failure for cell, failure in every.failures.items() if cell[0] == candidate}
        own = (candidate,)
        tables.put(Answer(panel=panel.key, candidates=own, parts=panel.parts, losses=losses, failures=failures))


def _held(panel: Panel, part: int) -> Held:
    return Held(panel.key, panel.level, panel.splits, part)


def _trained_on(panel: Panel, part: int, work: Work) -> Rows:
    (ref,) = panel.trains_of(part)
    return work.train_rows(ref)


def _work(source: Source, study: Study) -> Work:
    losses = {level: study.losses_at(level) for level in (TEST, VALIDATION)}
    return Work(task=source.task, search=study.search, splits=study.splits, losses=losses)


def _refuse_few_rows(together: Statistics, source: Source) -> None:
    rows = int(together.counts.sum())
    if rows <= together.columns + 1:
        raise InputError(
            f"A training part of {source.stream.name!r} has {rows} rows for {together.columns} columns. Statistics of "
            "columns need more rows than columns: load the data, they are small."
        )
    if together.classes is not None and not together.counts.all():
        missing: NDArray[Any] = together.classes[(together.counts == 0).any(axis=0)]
        raise InputError(
            f"Class {missing.tolist()[0]!r} has so few rows in {source.stream.name!r} that a training part has none of "
            "them. Leave it out, use fewer folds, or load the data."
        )


def answer_from_squares(
    work: Work, held: Held, solved: Solved, rows: Statistics
) -> Iterator[tuple[int, Answer | None]]:
    """Yield the answer of each position in `places`; None if the sum of squared errors lost its digits."""
    family, fits, places = solved
    found = fits.squares(rows)
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
        values = [_from_squares(loss, float(squares[place]), rows) for loss in work.losses[held.level]]
        yield place, _cell(work, held, candidate, values)


def answers_of_tally(work: Work, held: Held, asked: tuple[Ask, Tally], rows: Statistics) -> Iterator[Answer]:
    """Yield the answer of each candidate that was evaluated row by row."""
    ask, tally = asked
    in_order = [(fits, place, family.candidates[place]) for family, fits, places in ask.solved for place in places]
    for number, (fits, place, candidate) in enumerate(in_order):
        if place in fits.failures:
            yield failed_cell(work, held, candidate, _unvouched(fits.failures[place]))
        elif number in tally.failed:
            yield failed_cell(work, held, candidate, failure_of(tally.failed[number], "score"))
        else:
            sums = tally.sums[number].tolist()
            values = [_value(loss, total, rows) for loss, total in zip(ask.losses, sums, strict=True)]
            yield _cell(work, held, candidate, values, rows=_kept(ask, tally) if ask.keep else None)


def pooled_values(study: Study, tables: Tables, statistics: Statistics) -> tuple[float | None, ...]:
    """Return each reported score of whole sets, for all held-out rows together; None if it is not known."""
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
    return total / int(rows.counts.sum()) if loss.rows is not None else _from_squares(loss, total, rows)


def _from_squares(loss: Loss, total: float, rows: Statistics) -> float:
    take = from_squares(loss)
    assert take is not None, "losses that need rows are asked row by row, others of whole sets are refused for streams"
    return take(total, _spread_of_target(rows), int(rows.counts.sum()))


def _kept(ask: Ask, tally: Tally) -> RowLosses:
    every = np.concatenate(tally.losses, axis=1)
    return tuple(None if loss.rows is None else every[None, place] for place, loss in enumerate(ask.losses))


def _spread_of_target(rows: Statistics) -> float:
    """Return the sum of squares of y about its mean."""
    M = rows.grams[0, 0]
    return float(M[-2, -2] - M[-2, -1] ** 2 / M[-1, -1])


def _unvouched(message: str) -> Failure:
    return Failure(kind="Unvouched", message=f"{message}.", traceback="", stage="fit")


def _cell(work: Work, held: Held, candidate: int, values: list[float], *, rows: RowLosses | None = None) -> Answer:
    if not np.isfinite(values).all():
        error = PredictionError(f"A loss is not a finite number on the held-out rows: {values}.")
        return failed_cell(work, held, candidate, failure_of(error, "score"))
    return Answer.of_cell(held.panel, (candidate, held.part), values, rows=rows)
