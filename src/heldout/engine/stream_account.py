"""Describes the plan and the cost of a study on a stream, as `explain` prints them."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.engine.stream_passes import sample_size
from heldout.engine.stream_source import Source
from heldout.kernels.statistics.scores import all_from_squares
from heldout.planner.account import Account, Line
from heldout.planner.plan import PassRecord
from heldout.study.study import TEST, VALIDATION, Panel, Study

RULE, TIER = "statistics", "rounding"


def account_of_stream(study: Study, source: Source, *, passes: int | None = None, keep_rows: bool) -> Account:
    """Return the account of a study of a stream. `passes` is the number of passes made; None if it has not run."""
    search = study.search
    expected = expected_passes(study, source, keep_rows=keep_rows)
    inner = next((study.splits[panel.splits] for panel in study.panels if panel.level == VALIDATION), None)
    levels = [level for level in (VALIDATION, TEST) if study.of_level(level)]
    lines = tuple(_line(level, study) for level in levels)
    brute = _cells(study.panels)
    note = _words_of_passes(study, source, passes, expected)
    record = PassRecord(name=RULE, fits_before=brute, fits_after=sum(line.fits for line in lines), used=True, note=note)
    return Account(
        learner=" | ".join(family.name for family in search.families),
        candidates=len(search),
        outer=study.splits["outer"].recipe.words if "outer" in study.splits else "none: tuning alone",
        inner=None if inner is None else inner.recipe.words,
        lines=lines,
        passes=(record,),
        notes=(*search.notes, *_notes(source), *_interval_notes(study, source, keep_rows=keep_rows)),
    )


def expected_passes(study: Study, source: Source, *, keep_rows: bool) -> int:
    """Count the passes: one for statistics, one if a loss needs rows, and one for results of single rows."""
    asks = [
        not all_from_squares(study.losses_at(level), classification=source.task.classification)
        for level in (VALIDATION, TEST)
        if study.of_level(level)
    ]
    if not keep_rows:
        return 1 + any(asks)
    return 2 + (len(asks) > 1 and asks[0])


def _line(level: str, study: Study) -> Line:
    panels = study.of_level(level)
    return Line(
        stage=1,
        level=level,
        rule=RULE,
        tier=TIER,
        cells=_cells(panels),
        fits=sum(len(panel.parts) for panel in panels),
        waits=any(panel.candidates is None for panel in panels),
    )


def _cells(panels: Sequence[Panel]) -> int:
    return sum(len(panel.parts) * (1 if panel.candidates is None else len(panel.candidates)) for panel in panels)


def _words_of_passes(study: Study, source: Source, passes: int | None, expected: int) -> str:
    count = expected if passes is None else passes
    stream = source.stream
    words = f"{count} {'pass' if count == 1 else 'passes'} over {stream.name}"
    words += f" ({stream.rows:,} rows, {len(stream.columns) + 1} columns, {source.plan.cells} cells of rows)"
    if passes is not None and passes > expected:
        words += ", more than planned, since sums had lost digits"
    return words


def _interval_notes(study: Study, source: Source, *, keep_rows: bool) -> tuple[str, ...]:
    """Describe what the intervals are computed from, and what it costs to keep the losses of all rows."""
    parts, rows = len(study.splits["outer"]) if "outer" in study.splits else 0, source.stream.rows
    if keep_rows or not parts:
        return ()
    passes = expected_passes(study, source, keep_rows=True)
    more = passes - expected_passes(study, source, keep_rows=False)
    price = f"{f'{more} more' if more else 'no further'} pass{'' if more <= 1 else 'es'}"
    kept = f"options=Options(rows=True) takes the losses of all rows, for {price} and eight bytes or more a row"
    if parts == 1:
        return (f"interval: none without the losses of single rows; {kept}",)
    sample = sample_size(rows, len(source.stream.columns))
    if sample == rows:
        return ()
    return (f"interval: by the losses of a random sample of at most {sample:,} rows, kept while all pass; {kept}",)


def _notes(source: Source) -> tuple[str, ...]:
    names = source.stream.name
    target = ("the target alone was read before, to find the classes",) if source.task.classification else ()
    return (
        f"{names} is a stream: rows are dealt into cells at random, and folds at every level are made of whole cells",
        *target,
    )
