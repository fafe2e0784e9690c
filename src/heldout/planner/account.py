"""The account of a plan, for users: its cells, its fits before and after the rules, and each kind of step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from heldout.base.shown import html_of, text_of
from heldout.kernels.step import Step, operations
from heldout.planner.plan import PassRecord, Plan, transform_words
from heldout.planner.start_races import RaceStart, race_record
from heldout.study.study import EVERYWHERE, TEST, VALIDATION, Panel, Study
from heldout.task.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Sums up the steps of one stage, level and rule."""

    stage: int
    level: str
    rule: str
    tier: str
    cells: int
    fits: int
    operations: float | None = None  # of a kernel's steps, to the order of magnitude
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a study costs and how it is answered. Printing it shows the plan."""

    learner: str
    candidates: int
    outer: str  # the test splits, in words
    inner: str | None
    lines: tuple[Line, ...]
    passes: tuple[PassRecord, ...]
    notes: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()  # which cells brute force answers again, by kernel, and what that found

    @property
    def cells(self) -> int:
        return sum(line.cells for line in self.lines)

    @property
    def fits(self) -> int:
        """The fits that the plan does. Answers in closed form take none."""
        return sum(line.fits for line in self.lines)

    @property
    def fits_before(self) -> int:
        """The fits that brute force would do."""
        return self.fits + sum(p.fits_before - p.fits_after for p in self.passes)

    def __str__(self) -> str:
        return text_of("plan", asdict(self))

    def _repr_html_(self) -> str:
        return html_of("plan", asdict(self))


def account_for(study: Study, task: Task, plan: Plan, later: Plan | None = None) -> Account:
    """Return the account of a study from its first plan.

    `later` is the plan of the panels that wait for a choice. Where it is None, their cells count as one candidate each.
    """
    search = study.search
    outer = study.splits.get("outer")
    inner = next((study.splits[p.splits] for p in study.panels if p.level != TEST), None)
    if later is None:
        waiting = [_waiting_line(p) for p in study.panels if p.candidates is None]
    else:
        waiting = [replace(line, stage=2, waits=True) for line in _lines(later.steps, study, task)]
    return Account(
        learner=" | ".join(f"{f.name}" for f in search.families),
        candidates=search.size,
        outer=outer.recipe.words if outer is not None else "none: tuning alone",
        inner=inner.recipe.words if inner is not None else None,
        lines=_merged_lines(_lines(plan.steps, study, task)) + _merged_lines(waiting),
        passes=plan.passes,
        notes=(*search.notes, *filter(None, [study.everywhere.words])),
    )


def account_of_race(started: RaceStart, task: Task, plans: Sequence[Plan]) -> Account:
    """Return the account of a study whose races were run: all rounds of validation, and what waited for them."""
    study = started.study
    lines = [line for plan in plans for line in _lines(plan.steps, study, task)]
    waited = [replace(line, stage=2, waits=True) for line in lines if line.level != VALIDATION]
    passes = _merged_passes(record for plan in plans for record in plan.passes)
    whole = account_for(study, task, started.plan)
    rounds = _merged_lines(line for line in lines if line.level == VALIDATION)
    return with_race(replace(whole, lines=rounds + _merged_lines(waited), passes=passes), started, plans)


def with_race(account: Account, started: RaceStart, plans: Sequence[Plan] = ()) -> Account:
    """Return the account with the race among its rules: what it did, or why there is none."""
    record = race_record(started, plans)
    return account if record is None else replace(account, passes=(*account.passes, record))


def merge_accounts(account: Account, other: Account, *, words: str) -> Account:
    """Return one account of a study and of an extra study; `words` name the extra study in its lines."""
    lines = tuple(
        replace(line, level=words if line.level != VALIDATION else f"{words}, {VALIDATION}") for line in other.lines
    )
    passes = _merged_passes((*account.passes, *other.passes))
    checked = account.checked + tuple(f"{words}: {line}" for line in other.checked)
    return replace(account, lines=account.lines + lines, passes=passes, checked=checked)


def _merged_passes(records: Iterable[PassRecord]) -> tuple[PassRecord, ...]:
    """Return one record a pass, whatever the number of plans."""
    passes: dict[str, PassRecord] = {}
    for record in records:
        before = passes.get(record.name)
        passes[record.name] = record if before is None else _both(before, record)
    return tuple(passes.values())


def _both(one: PassRecord, other: PassRecord) -> PassRecord:
    used = [record for record in (one, other) if record.used] or [one, other]
    transforms = one.transforms[0] + other.transforms[0], one.transforms[1] + other.transforms[1]
    notes = [transform_words(*transforms)] if any(transforms) else dict.fromkeys((one.note, other.note))
    return replace(
        one,
        fits_before=one.fits_before + other.fits_before,
        fits_after=one.fits_after + other.fits_after,
        refusals=tuple(dict.fromkeys(reason for record in used for reason in record.refusals)),
        used=one.used or other.used,
        note=", ".join(filter(None, notes)),
        transforms=transforms,
        seconds=one.seconds + other.seconds,
    )


def _lines(steps: Iterable[Step], study: Study, task: Task) -> list[Line]:
    lines = []
    for step in steps:
        if not step.cells:  # asked for intervals alone
            continue
        levels = {level: sides for level, sides in step.levels.items() if level != EVERYWHERE and sides}
        level = "both" if len(levels) > 1 else next(iter(levels))
        rule = step.rule + (", shared" if sum(levels.values()) > len(step.trainings) else "")
        cost = operations(step, task, study.splits)
        line = Line(stage=1, level=level, rule=rule, tier=step.tier, cells=step.cells, fits=step.fits, operations=cost)
        lines.append(line)
    return lines


def waiting_cells(study: Study) -> int:
    """Count cells of panels that wait for a choice, one candidate each, and of later rounds if nobody is dropped."""
    rounds = sum(race.cells_left for race in study.races.values())
    return rounds + sum(_waiting_line(panel).cells for panel in study.panels if panel.candidates is None)


def _waiting_line(panel: Panel) -> Line:
    fits = len(panel.parts) * (1 if panel.trains is None else len(panel.trains))
    return Line(
        stage=2, level=panel.level, rule="brute force", tier="identical", cells=len(panel.parts), fits=fits, waits=True
    )


def _merged_lines(lines: Iterable[Line]) -> tuple[Line, ...]:
    merged: dict[tuple[object, ...], Line] = {}
    for line in lines:
        key = (line.stage, line.level, line.rule, line.tier, line.waits)
        if (before := merged.get(key)) is not None:
            work = None if line.operations is None else (before.operations or 0.0) + line.operations
            line = replace(line, cells=before.cells + line.cells, fits=before.fits + line.fits, operations=work)
        merged[key] = line
    return tuple(merged.values())
