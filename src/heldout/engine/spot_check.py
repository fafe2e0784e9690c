"""Spot checks: while a study runs, cells of every kernel and level are answered again by brute force and compared."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import sklearn

from heldout.backends.threads import one_openmp_thread, one_thread
from heldout.base.warnings import catch_warnings
from heldout.engine.spot_compare import compare_cell
from heldout.kernels.brute import answer_quietly
from heldout.kernels.step import Work
from heldout.kernels.threads import helpers
from heldout.planner.checked_cells import Spot, SpotCheck, SpotDraws, words_of_checks
from heldout.study.answers import Answer, Tables


@dataclass(kw_only=True, eq=False)
class SpotChecks:
    """The checks of one study."""

    draws: SpotDraws = field(default_factory=SpotDraws)
    made: list[SpotCheck] = field(default_factory=list)
    postponed: list[Spot] = field(default_factory=list)  # to the next stage
    _answers: dict[str, Answer] = field(default_factory=dict)

    def switches_off(self) -> dict[str, bool]:
        """The kernels that failed a check, as rules that later plans go without."""
        return {check.kernel: False for check in self.made if not check.passed}

    def begin_again(self, failed: Sequence[str]) -> None:
        """The study is planned again without the kernels that failed."""
        self.draws.begin_again(failed)
        self.postponed = [spot for spot in self.postponed if spot.kernel not in failed]

    def words(self) -> tuple[str, ...]:
        """What was checked, a line for each kernel and level."""
        return words_of_checks(self.draws, self.made)

    def take(self, answers: Iterable[Answer]) -> None:
        """Keep brute force's answers of spots."""
        self._answers.update((answer.panel, answer) for answer in answers)

    def compare(
        self, spots: Sequence[Spot], tables: Tables, work: Work, *, known: Mapping[str, SpotCheck]
    ) -> list[SpotCheck]:
        """Compare each spot with what its kernel said, but where its check is `known`."""
        found = [
            known[spot.panel]
            if spot.panel in known
            else compare_cell(spot, self._answers.pop(spot.panel), tables, work)
            for spot in spots
        ]
        self.made += found
        return found


@contextmanager
def answered_beside(spots: Sequence[Spot], work: Work, checks: SpotChecks) -> Iterator[None]:
    """Answer spots by brute force in helping threads while the body runs, then here too; each on one BLAS thread."""
    if not spots:
        yield
        return
    with one_thread(), catch_warnings(), helpers(work.jobs) as thread:
        warnings.simplefilter("ignore")
        answers = [(spot, thread.submit(_answer_spot, spot, work)) for spot in spots]
        yield
        for spot, answer in reversed(answers):  # the helpers begin with the first
            if answer.cancel():
                checks.take([_answer_spot(spot, work)])
        checks.take([answer.result() for _, answer in answers if not answer.cancelled()])


def _answer_spot(spot: Spot, work: Work) -> Answer:
    # OpenMP counts threads for each thread that calls it, the BLAS for the whole process, which is limited already.
    with sklearn.config_context(**work.config), one_openmp_thread():
        return answer_quietly(spot.step.trainings[0], work, spot.candidate)
