"""Spot checks: while a study runs, one cell a kernel is answered again by brute force and compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sklearn

from heldout.base.seeds import derive
from heldout.engine.spot_compare import answered_alone, compare_cell, compare_losses, differs_from_named, widened
from heldout.engine.spots import APPROXIMATE, SPOT, Spot, SpotCheck, drawn_cell, drawn_cells
from heldout.engine.threads import one_openmp_thread, one_thread
from heldout.kernels.brute import answer_held, answer_quietly
from heldout.kernels.perform import SHARPENED
from heldout.kernels.step import Step, Work
from heldout.kernels.threads import threads
from heldout.planner.draft import BRUTE
from heldout.study.tables import Answer, CellAnswer, Tables


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
            spots += drawn_cells(own, work) if step.tier == APPROXIMATE else [drawn_cell(step, work, favourite)]
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
                check = compare_losses(own, self._answers, tables)
            elif check is None:
                panel = own[0].panel
                check = compare_cell(own[0], self._answers[panel], self._alone.get(panel), tables, work)
                check = widened(check, self._drift.get(panel, 0.0), own[0], self._answers[panel], work)
            self.made.append(check)
            if not check.passed:
                failed.append(kernel)
        return failed


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
            checks.take(spot, answer.result())


@contextmanager
def answered_meanwhile(spots: Sequence[Spot], work: Work, checks: SpotChecks) -> Iterator[None]:
    """Have kernels answer final spots while the body fits, and others once it has, by brute force.

    The body is a fit of the user's: what it warns of, and by which filters, is left as it would be without a check.
    """
    final = [spot for spot in spots if spot.final]
    with one_thread(), threads(1, use="checks") as thread:
        answers = [thread.submit(_answer_final, spot, work) for spot in final] if work.jobs > 1 else []
        yield
        for place, spot in enumerate(final):
            checks.take(spot, None, *(answers[place].result() if answers else _answer_final(spot, work)))
    with answered_beside([spot for spot in spots if not spot.final], work, checks):
        pass


def _answer_spot(spot: Spot, work: Work) -> CellAnswer:
    # OpenMP counts threads for each thread that calls it, the BLAS for the whole process, which is limited already.
    with sklearn.config_context(**work.config), one_openmp_thread():
        return answer_quietly(spot.step.trainings[0], work, spot.candidate, change=SHARPENED.get(spot.kernel))


def _answer_final(spot: Spot, work: Work) -> tuple[Sequence[Answer], float]:
    """A spot by its kernel, and how far the kernel's ways to a cell of the study lie apart."""
    quiet = replace(work, quiet=True)
    with sklearn.config_context(**work.config), one_openmp_thread(), np.errstate(all="ignore"):
        return answered_alone(spot, spot.training, quiet), differs_from_named(spot, quiet)


def is_spot(step: Step) -> bool:
    """Whether this step answers a spot check."""
    return step.trainings[0].answers[0].panel.startswith(SPOT)
