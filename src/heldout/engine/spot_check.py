"""Spot checks: while a study runs, one cell a kernel is answered again by brute force and compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import sklearn

from heldout.base.seeds import derive
from heldout.base.warned import catch_warnings
from heldout.engine.spot_compare import compare_cell, compare_losses
from heldout.engine.spots import APPROXIMATE, SPOT, Spot, SpotCheck, drawn_cell, drawn_cells
from heldout.engine.threads import one_openmp_thread, one_thread
from heldout.kernels.brute import answer_quietly
from heldout.kernels.perform import SHARPENED
from heldout.kernels.step import Step, Work
from heldout.kernels.threads import helpers
from heldout.planner.draft import BRUTE
from heldout.study.tables import Answer, CellAnswer, Tables


@dataclass(kw_only=True, eq=False)
class SpotChecks:
    """The checks of one study: each kernel is checked the first time it is used."""

    made: list[SpotCheck] = field(default_factory=list)
    _answers: dict[str, CellAnswer] = field(default_factory=dict)

    def switches_off(self) -> dict[str, bool]:
        """The kernels that failed their check, as rules that later stages go without."""
        return {check.kernel: False for check in self.made if not check.passed}

    def draw(self, steps: Sequence[Step], work: Work) -> list[Spot]:
        """One cell for each kernel not checked yet, several of one that approximates, drawn by the seed."""
        spots = []
        checked = {check.kernel for check in self.made}
        by_kernel: dict[str, list[Step]] = {}
        for step in steps:
            if step.kernel != BRUTE and step.kernel not in checked:
                by_kernel.setdefault(step.kernel, []).append(step)
        for kernel, own in by_kernel.items():
            step = own[derive(work.search.seed, "spot step", kernel) % len(own)]
            spots += drawn_cells(own, work) if step.tier == APPROXIMATE else [drawn_cell(step, work)]
        return spots

    def take(self, answers: Iterable[Answer]) -> None:
        """Keep brute force's answers of spots."""
        for answer in answers:
            if isinstance(answer, CellAnswer):
                self._answers[answer.panel] = answer

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
                check = compare_cell(own[0], self._answers[own[0].panel], tables, work)
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
    with one_thread(), catch_warnings(), helpers(work.jobs) as thread:
        warnings.simplefilter("ignore")
        answers = [thread.submit(_answer_spot, spot, work) for spot in spots]
        yield
        checks.take([answer.result() for answer in answers])


def _answer_spot(spot: Spot, work: Work) -> CellAnswer:
    # OpenMP counts threads for each thread that calls it, the BLAS for the whole process, which is limited already.
    with sklearn.config_context(**work.config), one_openmp_thread():
        return answer_quietly(spot.step.trainings[0], work, spot.candidate, change=SHARPENED.get(spot.kernel))


def is_spot(step: Step) -> bool:
    """Whether this step answers a spot check."""
    return step.trainings[0].answers[0].panel.startswith(SPOT)
