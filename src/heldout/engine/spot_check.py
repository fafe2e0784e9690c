"""Spot checks: while a study runs, one cell a kernel is answered again by brute force and compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sklearn
from sklearn.compose import ColumnTransformer

from heldout.base.responses import METHODS, Responses
from heldout.base.seeds import derive
from heldout.engine.spot_rows import all_rows, fewer_rows, named_rows
from heldout.engine.threads import one_openmp_thread, one_thread
from heldout.kernels.brute import answer_held, answer_quietly
from heldout.kernels.fitting import make_candidate
from heldout.kernels.perform import OF_ANY_ROWS, SHARPENED, perform
from heldout.kernels.sharp import SHARP
from heldout.kernels.step import Held, Step, Training, Work
from heldout.kernels.threads import threads
from heldout.planner.brute_force import brute_step
from heldout.planner.draft import BRUTE
from heldout.splits.drawn import Splits
from heldout.study.panels import TrainRef
from heldout.study.tables import Answer, BlockAnswer, CellAnswer, Tables
from heldout.task.containers import in_double

SPOT = "spot:"
ROUNDING = 1e-9  # of the largest response: what the tier `rounding` allows
SOLVER = 1e-5  # what `solver` allows, against a fit at a tolerance far below the usual one
LABELS = 0.01  # share of labels that may differ there: those of rows on the border between two classes
ALLOWED = {"identical": 0.0, "rounding": ROUNDING, "solver": SOLVER}
APPROXIMATE = "approximate"  # a tier that allows any difference of losses: what is seen is told instead
APPROXIMATE_CELLS = 20  # of a kernel of that tier that are answered again


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotCheck:
    """What a spot check found."""

    kernel: str
    tier: str
    cell: str
    difference: float  # largest difference of responses (of losses, for identical kernels), relative
    passed: bool
    cells: int = 1  # that were answered again
    mean: float | None = None  # of approximations: the mean difference of losses, as `difference` is their largest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spot:
    """A cell that is answered twice."""

    kernel: str
    tier: str
    candidate: int
    held: Held  # as the panel knows it
    origin: Step
    source: Training  # the one it was drawn from
    training: Training  # the same, or one with fewer rows
    panel: str  # as the check knows it
    step: Step  # brute force on this cell alone
    fewer: Splits | None  # the rows that are checked instead: some of the cell's, where a fit on all takes much memory
    final: bool = False  # on all rows: the final predictor answers it, and a cell ties the study's own rows to it


@dataclass(kw_only=True, eq=False)
class SpotChecks:
    """The checks of one study: each kernel is checked the first time it is used."""

    made: list[SpotCheck] = field(default_factory=list)
    _answers: dict[str, CellAnswer] = field(default_factory=dict)
    _alone: dict[str, Sequence[Answer]] = field(default_factory=dict)
    _drift: dict[str, float] = field(default_factory=dict)  # between ways that the kernel has to a final spot's cell

    def switches_off(self) -> dict[str, bool]:
        """The kernels that failed their check, as rules that later stages go without."""
        return {check.kernel: False for check in self.made if not check.passed}

    def draw(self, steps: Sequence[Step], work: Work, *, favourite: int | None = None) -> list[Spot]:
        """One cell for each kernel not checked yet, several of one that approximates, drawn by the seed.

        Where the kernel answers the `favourite` candidate, the cell is one of that; on all rows, if the kernel and
        the study's final predictor are such that the one can be held to the other.
        """
        spots = []
        checked = {check.kernel for check in self.made}
        by_kernel: dict[str, list[Step]] = {}
        for step in steps:
            if step.kernel != BRUTE and step.kernel not in checked:
                by_kernel.setdefault(step.kernel, []).append(step)
        for kernel, own in by_kernel.items():
            own = [step for step in own if favourite in step.candidates] or own
            step = own[derive(work.search.seed, "spot step", kernel) % len(own)]
            spots += _drawn_cells(own, work) if step.tier == APPROXIMATE else [_drawn_cell(step, work, favourite)]
        return spots

    def take_queued(self, answers: Iterable[Answer]) -> None:
        """Keep brute force's answers of spots."""
        for answer in answers:
            if isinstance(answer, CellAnswer):
                self._answers[answer.panel] = answer

    def take(
        self, spot: Spot, brute: CellAnswer | None, alone: Sequence[Answer] | None = None, drift: float = 0.0
    ) -> None:
        """Keep brute force's answer of a spot and its kernel's, as far as they are there, and what these lie apart."""
        self._drift[spot.panel] = max(drift, self._drift.get(spot.panel, 0.0))
        if brute is not None:
            self._answers[spot.panel] = brute
        if alone is not None:
            self._alone[spot.panel] = alone

    def take_final(self, spots: Iterable[Spot], predictor: Any, work: Work) -> None:
        """Keep what the final predictor says of the spots that wait for it; where there is none, what a fit says."""
        for spot in spots:
            if spot.final and predictor is None:
                self.take(spot, answer_quietly(spot.step.trainings[0], work, spot.candidate))
            elif spot.final:
                self.take(spot, answer_held(predictor, work, spot.step.trainings[0].answers[0], spot.candidate, 0.0))

    def compare(
        self, spots: Iterable[Spot], tables: Tables, work: Work, *, known: Mapping[str, SpotCheck]
    ) -> list[str]:
        """Compare each spot with what its kernel said, but where a check is `known`; the kernels that failed."""
        failed = []
        for kernel in dict.fromkeys(spot.kernel for spot in spots):
            own = [spot for spot in spots if spot.kernel == kernel]
            check = known.get(kernel)
            if check is None and own[0].tier == APPROXIMATE:
                check = _compare_losses(own, self._answers, tables)
            elif check is None:
                panel = own[0].panel
                check = _compare(own[0], self._answers[panel], self._alone.get(panel), tables, work)
                check = _widened(check, self._drift.get(panel, 0.0), own[0], self._answers[panel], work)
            self.made.append(check)
            if not check.passed:
                failed.append(kernel)
        return failed


def _drawn_cell(step: Step, work: Work, favourite: int | None) -> Spot:
    seed, kernel = work.search.seed, step.kernel
    training = step.trainings[derive(seed, "spot training", kernel) % len(step.trainings)]
    candidate = step.candidates[derive(seed, "spot candidate", kernel) % len(step.candidates)]
    final = False
    if favourite is not None and favourite in step.candidates:
        candidate = favourite
        final = kernel in OF_ANY_ROWS and work.search.final == "retrain" and _leaves_filters_alone(candidate, work)
    return _spot(step, training, candidate, work, panel=f"{SPOT}{kernel}", final=final)


def _leaves_filters_alone(candidate: int, work: Work) -> bool:
    """Whether kernels can answer this candidate while another thread fits, whose warnings must not get lost.

    Scores of whole sets are made with warnings caught, and so is a look at a ColumnTransformer; the filters of warnings
    are those of the whole process.
    """
    if work.fit_params or any(loss.rows is None for losses in work.losses.values() for loss in losses):
        return False
    parameters = make_candidate(work.search, candidate).get_params(deep=True)
    return not any(isinstance(value, ColumnTransformer) for value in parameters.values())


def _drawn_cells(steps: Sequence[Step], work: Work) -> list[Spot]:
    """Cells of several trainings, each of another, and of a candidate drawn for each."""
    seed, kernel = work.search.seed, steps[0].kernel
    places = [(step, place) for step in steps for place in range(len(step.trainings))]
    random = np.random.default_rng(derive(seed, "spot cells", kernel))
    spots = []
    for number, drawn in enumerate(random.permutation(len(places))[:APPROXIMATE_CELLS].tolist()):
        step, place = places[drawn]
        candidate = step.candidates[int(random.integers(len(step.candidates)))]
        spots.append(_spot(step, step.trainings[place], candidate, work, panel=f"{SPOT}{kernel}/{number}"))
    return spots


def _spot(step: Step, training: Training, candidate: int, work: Work, *, panel: str, final: bool = False) -> Spot:
    source, held = training, training.answers[0]
    fewer = None
    if final:
        fewer = all_rows(work.task)
    elif step.tier != APPROXIMATE:
        fewer = fewer_rows(training, work, seed=derive(work.search.seed, "spot rows", step.kernel))
    if fewer is not None:
        training = Training((TrainRef(panel, 0),), False, (held._replace(splits=panel, part=0),))
    alone = training._replace(answers=(training.answers[0]._replace(panel=panel),))
    return Spot(
        kernel=step.kernel,
        tier=step.tier,
        candidate=candidate,
        held=held,
        origin=step,
        source=source,
        training=training,
        panel=panel,
        step=_checking_step(step.kernel, candidate, alone),
        fewer=fewer,
        final=final,
    )


@contextmanager
def answered_beside(spots: Sequence[Spot], work: Work, checks: SpotChecks) -> Iterator[None]:
    """Answer spots by brute force in a thread of its own while the body runs, both on one BLAS thread."""
    if not spots:
        yield
        return
    with one_thread(), warnings.catch_warnings(), threads(1, use="checks") as thread:
        warnings.simplefilter("ignore")
        answers = [thread.submit(_answer_spot, spot, work) for spot in spots]
        yield
        for spot, answer in zip(spots, answers, strict=True):
            checks.take(spot, *answer.result())


def _answer_spot(spot: Spot, work: Work) -> tuple[CellAnswer | None, Sequence[Answer] | None, float]:
    """By brute force; where the final predictor takes its place, by the kernel, and how its ways to a cell differ."""
    # OpenMP counts threads for each thread that calls it, the BLAS for the whole process, which is limited already.
    with sklearn.config_context(**work.config), one_openmp_thread():
        if spot.final:
            quiet = replace(work, quiet=True)
            return None, _answered_alone(spot, spot.training, quiet), _differs_from_named(spot, quiet)
        return (
            answer_quietly(spot.step.trainings[0], work, spot.candidate, change=SHARPENED.get(spot.kernel)),
            None,
            0.0,
        )


def _checking_step(kernel: str, candidate: int, alone: Training) -> Step:
    """Brute force on one cell; for a kernel of the tier `solver` at a tolerance far below the usual one."""
    step = brute_step((candidate,), (alone,))
    return replace(step, kernel=SHARP + kernel) if kernel in SHARPENED else step


def is_spot(step: Step) -> bool:
    """Whether this step answers a spot check."""
    return step.trainings[0].answers[0].panel.startswith(SPOT)


def _compare_losses(spots: Sequence[Spot], answers: Mapping[str, CellAnswer], tables: Tables) -> SpotCheck:
    """How far the losses of an approximation are from those of fits. It is told, and passes unless it is no number."""
    found = []
    for spot in spots:
        table, brute = tables[spot.held.panel], answers[spot.panel]
        recorded = table.losses[spot.candidate - table.candidates.start, spot.held.part - table.parts.start]
        if brute.failure is None:
            found.append(float(np.max(np.abs(recorded - np.array(brute.losses)))))
    largest, mean = (float(np.max(found)), float(np.mean(found))) if found else (float("inf"), float("inf"))
    words = f"{len(found)} cells fitted exactly"
    return SpotCheck(
        kernel=spots[0].kernel,
        tier=spots[0].tier,
        cell=words,
        difference=largest,
        passed=bool(np.isfinite(largest)),
        cells=len(found),
        mean=mean,
    )


def _by_responses(spot: Spot, brute: CellAnswer) -> bool:
    """Whether responses are compared, for which the kernel answers the cell alone, or the losses that it recorded."""
    if spot.tier == APPROXIMATE:
        return False
    return spot.fewer is not None or (spot.tier != "identical" and brute.failure is None)


def _compare(spot: Spot, brute: CellAnswer, alone: Sequence[Answer] | None, tables: Tables, work: Work) -> SpotCheck:
    table = tables[spot.held.panel]
    place = (spot.candidate - table.candidates.start, spot.held.part - table.parts.start)
    recorded = table.losses[place]
    if _by_responses(spot, brute):
        alone = _answered_alone(spot, spot.training, work) if alone is None else alone
        difference = _responses_differ(spot, brute, alone, work)
        same = _allowed(difference, spot, brute, work)
    else:
        same = np.array_equal(recorded, np.array(brute.losses), equal_nan=True)
        difference = 0.0 if same else float(np.max(np.abs(recorded - np.array(brute.losses))))
    words = f"{work.search.describe(spot.candidate)} on {spot.held.panel}, part {spot.held.part}"
    if spot.final:
        words = f"{work.search.describe(spot.candidate)} on all rows, by the final predictor"
    elif spot.fewer is not None:
        words += f", {spot.fewer.train_sizes[0]:,} of its training rows"
    return SpotCheck(kernel=spot.kernel, tier=spot.tier, cell=words, difference=difference, passed=bool(same))


def _widened(check: SpotCheck, drift: float, spot: Spot, brute: CellAnswer, work: Work) -> SpotCheck:
    """A check with one more difference, which must be allowed too."""
    if drift <= check.difference:
        return check
    return replace(check, difference=drift, passed=check.passed and _allowed(drift, spot, brute, work))


def _allowed(difference: float, spot: Spot, brute: CellAnswer, work: Work) -> bool:
    """Whether the tier allows it; `rounding` also allows brute force's own rounding error, where that is larger."""
    if difference <= ALLOWED[spot.tier]:
        return True
    if spot.tier != "rounding" or not np.isfinite(difference) or not _in_single(brute.responses):
        return False
    double = replace(work, task=replace(work.task, X=in_double(work.task.X)))
    exact = answer_quietly(spot.step.trainings[0], double, spot.candidate)
    if brute.responses is None or exact.responses is None:
        return False
    # Both are at most that far from the exact answer, and either rounds once more.
    own = max(
        _relative(getattr(brute.responses, method), getattr(exact.responses, method))
        for method in METHODS
        if getattr(brute.responses, method) is not None
    )
    return difference <= 2 * own + float(np.finfo(np.float32).eps)


def _in_single(responses: Responses | None) -> bool:
    answers = [getattr(responses, method) for method in METHODS] if responses is not None else []
    return any(answer is not None and answer.dtype == np.float32 for answer in answers)


def _answered_alone(spot: Spot, training: Training, work: Work) -> Sequence[Answer]:
    """A cell by the spot's kernel, without the company of others."""
    own = training.answers[0]._replace(panel=spot.panel)
    alone = replace(spot.origin, candidates=(spot.candidate,), trainings=(training._replace(answers=(own,)),), fits=1)
    with one_thread():
        return perform(alone, work)


def _differs_from_named(spot: Spot, work: Work) -> float:
    """How far the cell that a final spot was drawn from is from the same cell with its rows named one by one.

    Kernels take a training set's sums from those of all rows; how much that costs shows here.
    """
    held = spot.source.answers[0]
    named = Training((TrainRef(spot.panel, 0),), False, (held._replace(splits=spot.panel, part=0),))
    apart = replace(work, splits={**work.splits, spot.panel: named_rows(spot.source, work)})
    answers = [_answered_alone(spot, spot.source, work), _answered_alone(spot, named, apart)]
    if all(isinstance(answer[0], CellAnswer) and answer[0].failure is not None for answer in answers):
        return 0.0  # both fail on these rows
    one, other = (_kept_responses(answer) for answer in answers)
    if one is None or other is None:
        return float("inf")
    return _largest(one, other, spot, work)


def _responses_differ(spot: Spot, brute: CellAnswer, answers: Sequence[Answer], work: Work) -> float:
    """The largest difference of responses, relative to the largest response."""
    if brute.failure is not None and isinstance(answers[0], CellAnswer) and answers[0].failure is not None:
        return 0.0  # both fail on these rows
    kernel = _kept_responses(answers)
    if kernel is None or brute.responses is None:
        return float("inf")
    return _largest(kernel, brute.responses, spot, work)


def _largest(ours: Responses, theirs: Responses, spot: Spot, work: Work) -> float:
    return max(
        (
            _share_of_others(getattr(ours, method), getattr(theirs, method))
            if method == "predict" and spot.tier == "solver" and work.task.classes is not None
            else _relative(getattr(ours, method), getattr(theirs, method))
            for method in METHODS
            if getattr(theirs, method) is not None
        ),
        default=0.0,
    )


def _kept_responses(answers: Sequence[Answer]) -> Responses | None:
    first = answers[0]
    if isinstance(first, BlockAnswer):
        return None if first.responses is None else first.responses[0]
    return first.responses


def _share_of_others(ours: Any, theirs: Any) -> float:
    """Nothing where so few labels differ that they may be those of rows on a border, else too much."""
    if ours is None or np.shape(ours) != np.shape(theirs):
        return float("inf")
    other = int(np.count_nonzero(np.asarray(ours) != np.asarray(theirs)))
    return 0.0 if other <= max(1.0, LABELS * len(theirs)) else float("inf")


def _relative(ours: Any, theirs: Any) -> float:
    if ours is None or np.shape(ours) != np.shape(theirs):
        return float("inf")
    if np.asarray(theirs).dtype.kind not in "fiu":
        return 0.0 if np.array_equal(ours, theirs) else float("inf")
    largest = float(np.max(np.abs(theirs), initial=0.0))
    gap = float(np.max(np.abs(np.asarray(ours, dtype=float) - theirs), initial=0.0))
    return gap / largest if largest else gap
