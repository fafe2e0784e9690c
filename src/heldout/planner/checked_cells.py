"""Draws the cells that brute force answers again while a study runs, to check the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from heldout.base.rowkeys import Rows, derive
from heldout.kernels.step import BRUTE, Held, Plain, Step, Training, Work, brute_step, planned_work, price_of_fit
from heldout.planner.plan import Plan
from heldout.splits.drawn import Recipe, Splits
from heldout.study.study import SPREAD, TEST, VALIDATION, Study, TrainRef
from heldout.task.task import Task

SHARE = 0.02  # of a plan's operations: the budget of checks beyond one cell of each kernel and level
MOST_CELLS = 50  # of one kernel and level in one stage: one wrong answer in seven stays unseen by 50 with p < .001
LEVELS = (TEST, VALIDATION, SPREAD)  # in the order in which the budget is spent
APPROXIMATE = "approximate"  # a tier that allows any difference of losses: the difference is reported instead
APPROXIMATE_CELLS = 20  # so many cells of such a kernel are checked, whatever the budget
MOST_NUMBERS = 8_000_000  # of X on the training side of a check: brute force makes several copies of them
FEWEST_ROWS = 1_000
MOST_NAMED = 5  # cells of one kernel and level in the text of a plan


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCheck:
    """Holds what the check of one cell found."""

    kernel: str
    tier: str
    level: str
    cell: str
    difference: float  # largest difference of responses, relative; of losses where the tier is about those
    passed: bool  # nothing was found against the kernel
    conclusive: bool = True  # every check has a verdict; summaries say so


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckedCell:
    """A cell that is answered twice: by its kernel and by brute force."""

    kernel: str
    tier: str
    candidate: int
    held: Held  # as the panel knows it
    origin: Step
    source: Training  # the one it was drawn from
    training: Training  # the same, or one with fewer rows
    panel: str  # as the check knows it
    step: Step  # brute force on this cell alone
    fewer: Splits | None  # the rows of the cell that are checked, where a fit on all of them takes much memory


@dataclass(kw_only=True, eq=False)
class CellDraws:
    """Draws the checked cells of a study, stage by stage. They depend on the plans and the seed, on nothing else.

    At least one cell of each kernel and level is drawn. More are drawn while `SHARE` of the operations planned so far
    is not spent, test cells first. While test cells still wait for a choice, other cells may spend only half of it.
    """

    cells: dict[tuple[str, str], int] = field(default_factory=dict)  # by kernel and level, all that it answers
    drawn: dict[tuple[str, str], int] = field(default_factory=dict)  # by kernel and level, those that are checked
    _left: float = 0.0  # operations

    def draw(self, steps: Sequence[Step], work: Work, *, waits: bool) -> list[CheckedCell]:
        """Return the checked cells of one stage. `waits` says that some panels still wait for a choice."""
        pools = pools_of(steps)
        if not pools:
            return []
        self._left += SHARE * planned_work(steps, work)
        cells: list[CheckedCell] = []
        for level in LEVELS:
            kernels = [kernel for kernel, own in pools if own == level]
            for place, kernel in enumerate(kernels):
                room = self._left / (len(kernels) - place) / (2 if waits else 1)
                cells += self._draw_some(kernel, level, pools[kernel, level], room, work)
        return cells

    def begin_again(self, failed: Sequence[str]) -> None:
        """Restart after a new plan without the kernels that failed. Cells of the others are not checked again."""
        self.cells = {key: count for key, count in self.cells.items() if key[0] in failed}
        self._left = -inf

    def _draw_some(self, kernel: str, level: str, pool: _Pool, room: float, work: Work) -> Iterator[CheckedCell]:
        key, sofar = (kernel, level), self.drawn.get((kernel, level), 0)
        sizes = [len(trainings) for _, trainings in pool]
        ends = np.cumsum(sizes)
        for (step, _), size in zip(pool, sizes, strict=True):
            self.cells[key] = self.cells.get(key, 0) + len(step.candidates) * size
        fewest = 0 if sofar else APPROXIMATE_CELLS if pool[0][0].tier == APPROXIMATE else 1
        rng = np.random.default_rng(derive(work.search.seed, "spot cells", kernel, level, sofar, _rows(pool, work)))
        for number, place in enumerate(rng.choice(ends[-1], size=min(ends[-1], MOST_CELLS), replace=False).tolist()):
            owner = int(np.searchsorted(ends, place, side="right"))
            step, training = pool[owner][0], pool[owner][1][place - int(ends[owner]) + sizes[owner]]
            candidate = step.candidates[int(rng.integers(len(step.candidates)))]
            price = price_of_fit(step, training, candidate, work)
            if number >= fewest and price > room:
                return
            room -= price
            self._left -= price
            self.drawn[key] = sofar + number + 1
            yield _checked_cell(step, training, candidate, work, panel=f"spot:{kernel}/{level}/{sofar + number}")


_Pool = list[tuple[Step, Sequence[Training]]]  # trainings with one held-out side each, by step


def pools_of(steps: Sequence[Step]) -> dict[tuple[str, str], _Pool]:
    """Return what kernels answer, by kernel and level."""
    pools: dict[tuple[str, str], _Pool] = {}
    for step in steps:
        for piece in step.pieces if step.kernel != BRUTE else ():
            if isinstance(piece, Plain):
                pools.setdefault((step.kernel, piece.level), []).append((step, piece))
                continue
            by_level: dict[str, list[Training]] = {}
            for training in piece:
                for held in training.answers:
                    by_level.setdefault(held.level, []).append(training._replace(answers=(held,)))
            for level, own in by_level.items():
                pools.setdefault((step.kernel, level), []).append((step, own))
    return pools


def _rows(pool: _Pool, work: Work) -> str:
    """Return some held-out rows as text for the seed, so that other test splits also draw other cells."""
    held = pool[0][1][0].answers[0]
    return np.asarray(work.splits[held.splits].held[:64], dtype="<i8").tobytes().hex()


def _checked_cell(step: Step, training: Training, candidate: int, work: Work, *, panel: str) -> CheckedCell:
    source, held = training, training.answers[0]
    fewer = None
    if step.tier != APPROXIMATE:
        fewer = fewer_rows(training, work, panel)
    if fewer is not None:
        training = Training((TrainRef(panel, 0),), False, (held._replace(splits=panel, part=0),))
    alone = training._replace(answers=(training.answers[0]._replace(panel=panel),))
    return CheckedCell(
        kernel=step.kernel,
        tier=step.tier,
        candidate=candidate,
        held=held,
        origin=step,
        source=source,
        training=training,
        panel=panel,
        step=brute_step((candidate,), (alone,)),
        fewer=fewer,
    )


def fewer_rows(training: Training, work: Work, panel: str) -> Splits | None:
    """Return a subsample of a training and of its held-out part, as splits of one part; None if it is small enough.

    Every class of the training rows stays. The seed and `panel` (the check's name for it) decide which rows.
    """
    ref, held = training.trains[0], training.answers[0]
    size = int(work.splits[ref.splits].train_sizes[ref.part])
    most = max(FEWEST_ROWS, MOST_NUMBERS // (work.task.n_columns or 1))
    if size <= most or len(training.trains) != 1:
        return None
    rng = np.random.default_rng(derive(work.search.seed, "spot rows", panel))
    train = _some(work.task, work.train_rows(ref), most, rng)
    side = work.held_rows(held)
    tested = np.sort(rng.permutation(side)[:most])
    return Splits(
        rows=np.union1d(train, tested),
        held=tested,
        held_cuts=np.array([0, len(tested)]),
        recipe=Recipe(kind="given", words="rows of a spot check"),
    )


def _some(task: Task, rows: Rows, most: int, rng: np.random.Generator) -> Rows:
    drawn = rng.permutation(rows)
    if not task.classification or task.y.ndim > 1:
        return np.sort(drawn[:most])
    _, first = np.unique(task.y[drawn], return_index=True)
    return np.unique(np.concatenate([drawn[:most], drawn[first]]))


def foreseen_checks(study: Study, task: Task, plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return in words how many cells of each kernel and level will be checked, given the plans of the stages."""
    work = Work(task=task, search=study.search, splits=study.splits, losses={})
    draws = CellDraws()
    for place, plan in enumerate(plans):
        draws.draw(plan.steps, work, waits=any(later.steps for later in plans[place + 1 :]))
    return words_of_checks(draws)


def words_of_checks(draws: CellDraws, made: Sequence[KernelCheck] | None = None) -> tuple[str, ...]:
    """Return a line for each kernel and level: what will be checked, or (given `made`) was and what it found."""
    return tuple(_words(key, count, draws.cells, made) for key, count in draws.drawn.items())


def _words(
    key: tuple[str, str], count: int, cells: Mapping[tuple[str, str], int], made: Sequence[KernelCheck] | None
) -> str:
    kernel, level = key
    words = f"{kernel}: {count:,} of {cells.get(key, count):,} {level} cells"
    if made is None:
        return f"{words} will be answered again by brute force"
    own = [check for check in made if (check.kernel, check.level) == key]
    if not own:
        return f"{words} were to be answered again by brute force, but the study ended before"
    named = "; ".join(check.cell for check in own[:MOST_NAMED])
    more = f"; and {len(own) - MOST_NAMED:,} more" if len(own) > MOST_NAMED else ""
    largest = max(check.difference for check in own)
    verdict = "" if all(check.passed for check in own) else ", which is too much: the kernel's answers are not used"
    return f"{words} answered again by brute force, largest difference {largest:.2g}{verdict} ({named}{more})"
