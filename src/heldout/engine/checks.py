"""Checks of kernels: during a study, brute force answers some cells of each kernel and level again, for comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.backends.threads import one_thread
from heldout.base.responses import METHODS, Responses
from heldout.kernels.brute import answer_quietly
from heldout.kernels.perform import IGNORES_ORIGIN, perform
from heldout.kernels.step import Work
from heldout.planner.checked_cells import APPROXIMATE, CellDraws, CheckedCell, KernelCheck, words_of_checks
from heldout.study.answers import Answer, Tables
from heldout.task.arrays import in_double, less_row

ROUNDING = 1e-9  # of the largest response: what the tier `rounding` allows
ALLOWED = {"identical": 0.0, "rounding": ROUNDING}


@dataclass(kw_only=True, eq=False)
class KernelChecks:
    """The checks of one study."""

    draws: CellDraws = field(default_factory=CellDraws)
    made: list[KernelCheck] = field(default_factory=list)
    postponed: list[CheckedCell] = field(default_factory=list)  # to the next stage
    _answers: dict[str, Answer] = field(default_factory=dict)

    def switches_off(self) -> dict[str, bool]:
        """Return the kernels that failed a check, as rules that later plans switch off."""
        return {check.kernel: False for check in self.made if not check.passed}

    def begin_again(self, failed: Sequence[str]) -> None:
        """Prepare for planning the study again without the kernels that failed."""
        self.draws.begin_again(failed)
        self.postponed = [cell for cell in self.postponed if cell.kernel not in failed]

    def words(self) -> tuple[str, ...]:
        """Describe what was checked, one line for each kernel and level."""
        return words_of_checks(self.draws, self.made)

    def take(self, answers: Iterable[Answer]) -> None:
        """Keep the brute-force answers of checked cells."""
        self._answers.update((answer.panel, answer) for answer in answers)

    def compare(
        self, cells: Sequence[CheckedCell], tables: Tables, work: Work, *, known: Mapping[str, KernelCheck]
    ) -> list[KernelCheck]:
        """Compare each cell with the kernel's answer. Checks in `known`, from the journal, are not repeated."""
        checks = [
            known.get(cell.panel) or compare_cell(cell, self._answers.pop(cell.panel), tables, work) for cell in cells
        ]
        self.made += checks
        return checks


def compare_cell(cell: CheckedCell, brute: Answer, tables: Tables, work: Work) -> KernelCheck:
    """Compare a cell by brute force and by its kernel: by its losses if they must be equal, else by its responses."""
    table = tables.panels[cell.held.panel]
    recorded = table.losses[cell.candidate - table.candidates.start, cell.held.part - table.parts.start]
    if cell.tier == APPROXIMATE:  # any finite difference is allowed and reported
        difference = _gap(recorded, brute)
        same = bool(np.isfinite(difference))
    elif cell.fewer is None and (cell.tier == "identical" or brute.failures):
        difference = _gap(recorded, brute)
        same = difference == 0.0
    else:
        kernel = answer_of_kernel(cell, tables, work)
        if brute.failures and isinstance(kernel, Answer) and kernel.failures:
            difference, same = 0.0, True  # both fail on these rows
        else:
            ours = _responses_of(kernel)
            difference = responses_differ(ours, _responses_of(brute))
            same = difference <= ALLOWED[cell.tier] or _rounds_no_worse(difference, ours, cell, brute, work)
    words = f"{work.search.brief(cell.candidate)} on {cell.held.panel}, part {cell.held.part}"
    if cell.fewer is not None:
        words += f", {cell.fewer.train_sizes[0]:,} of its training rows"
    return KernelCheck(
        kernel=cell.kernel,
        tier=cell.tier,
        level=cell.held.level,
        cell=words,
        difference=difference,
        passed=bool(same),
    )


def _gap(recorded: NDArray[np.float64], brute: Answer) -> float:
    """Return the largest difference of losses; infinite if only one side is not a finite number."""
    losses = brute.losses[0, 0]
    if np.array_equal(recorded, losses, equal_nan=True):
        return 0.0
    gap = float(np.max(np.abs(recorded - losses)))
    return gap if np.isfinite(gap) else float("inf")


def _rounds_no_worse(difference: float, kernel: Responses | None, cell: CheckedCell, brute: Answer, work: Work) -> bool:
    """Return whether the difference is brute force's own rounding error, which the tier `rounding` allows."""
    if cell.tier != "rounding":
        return False
    single = _responses_of(brute)
    if not _in_single(single):
        return _is_right_about_zero(kernel, cell, work)
    if not np.isfinite(difference):
        return False
    double = replace(work, task=replace(work.task, X=in_double(work.task.X)))
    exact = _responses_of(answer_quietly(cell.step.trainings[0], double, cell.candidate))
    # Both differ from the exact answer by at most that, and each rounds once more.
    return difference <= 2 * responses_differ(single, exact) + float(np.finfo(np.float32).eps)


def _is_right_about_zero(kernel: Responses | None, cell: CheckedCell, work: Work) -> bool:
    """Return whether the kernel agrees with brute force, within its tier, after the columns are moved near zero.

    Brute force loses digits if a column is far from zero. Subtracting one row from all rows is exact up to the last
    digit, so brute force loses nothing on the moved columns. The kernel is compared with that fit.
    """
    ignores = IGNORES_ORIGIN.get(cell.kernel)
    training = cell.step.trainings[0]
    if ignores is None or not ignores(work.search, work.task, cell.candidate):
        return False
    moved = less_row(work.task.X, int(work.train_rows(training.trains[0])[0]))
    if moved is None:
        return False
    exact = answer_quietly(training, replace(work, task=replace(work.task, X=moved)), cell.candidate)
    return responses_differ(kernel, _responses_of(exact)) <= ALLOWED[cell.tier]


def _in_single(responses: Responses | None) -> bool:
    answers = [getattr(responses, method, None) for method in METHODS]
    return any(answer is not None and answer.dtype == np.float32 for answer in answers)


def answer_of_kernel(cell: CheckedCell, tables: Tables, work: Work) -> Responses | Answer:
    """Return the kernel's answer in the study. It is computed again if the study did not keep it."""
    table, place = tables.panels[cell.held.panel], (cell.candidate, cell.held.part)
    if cell.fewer is not None:
        return answered_alone(cell, work)
    return table.watched.get(place) or table.responses(*place) or answered_alone(cell, work)


def responses_differ(ours: Responses | None, theirs: Responses | None) -> float:
    """Return the largest difference of responses, relative to the largest response; infinite if one side has none."""
    if ours is None or theirs is None:
        return float("inf")
    pairs = [(getattr(ours, method), getattr(theirs, method)) for method in METHODS]
    return max((relative_gap(one, other) for one, other in pairs if other is not None), default=0.0)


def answered_alone(cell: CheckedCell, work: Work) -> Answer:
    """Answer the cell with its kernel alone, without the other cells of its step."""
    own = cell.training.answers[0]._replace(panel=cell.panel)
    training = cell.training._replace(answers=(own,))
    with one_thread():
        return perform(replace(cell.origin, candidates=(cell.candidate,), trainings=(training,), fits=1), work)[0]


def _responses_of(answer: Responses | Answer) -> Responses | None:
    """Return the responses of the only cell of an answer; None if it has none."""
    if isinstance(answer, Responses):
        return answer
    return None if answer.responses is None else answer.responses[0]


def relative_gap(ours: Any, theirs: Any) -> float:
    """Return the largest difference of two arrays, relative to the largest number. Non-numbers give 0 or infinity."""
    if ours is None or np.shape(ours) != np.shape(theirs):
        return float("inf")
    if np.asarray(theirs).dtype.kind not in "fiu":
        return 0.0 if np.array_equal(ours, theirs) else float("inf")
    largest = float(np.max(np.abs(theirs), initial=0.0)) or 1.0
    return float(np.max(np.abs(np.asarray(ours, dtype=float) - theirs), initial=0.0)) / largest
