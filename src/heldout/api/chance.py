"""`chance`: whether a learner does better than it could by luck, by shuffling the target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.api.compare import refuse_coarse_answers
from heldout.api.evaluate import run_question
from heldout.api.exchange import Exchange, exchange_of
from heldout.api.question import prepare, refuse_stream
from heldout.api.result import Result
from heldout.base.errors import FitFailed, OptionError
from heldout.base.options import Options
from heldout.base.plain import plain
from heldout.base.seeds import derive
from heldout.engine.progress import open_progress
from heldout.engine.run import Running, run_study
from heldout.report.show import as_html, as_text
from heldout.results.study_record import Question
from heldout.results.test_losses import read_test_losses
from heldout.risk.comparison.p_values import permutation_p
from heldout.risk.estimate_risk import record_value
from heldout.study.study import Everywhere


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChanceTest:
    """Whether a learner beats chance. Made by :func:`heldout.chance`.

    Attributes
    ----------
    result : Result
        The learner on the target as it is.
    shuffled : array
        The same number on each shuffled target, NaN where a fit failed.
    p : float or None
        (1 + #)/(B + 1): # of B shuffled targets gave a number as good. None where the learner itself failed.
    exchanged : str
        What was shuffled.
    level : float
        The learner is said to beat chance where p is at most 1 − level.
    """

    result: Result
    shuffled: NDArray[np.float64]
    p: float | None
    exchanged: str
    level: float

    @property
    def beats_chance(self) -> bool:
        return self.p is not None and self.p <= (1 - self.level) * (1 + 1e-9)

    @property
    def sentence(self) -> str:
        risk = self.result.risk
        if self.p is None:
            return f"Nothing is known of chance. {risk.reason}"
        luck = self.shuffled[np.isfinite(self.shuffled)]
        by_luck = f"; with the target shuffled {np.mean(luck):.3g} on average" if len(luck) else ""
        numbers = f"(p = {self.p:.3g}): {risk.loss} {risk.value:.3g}, the {risk.estimand}{by_luck}"
        if self.beats_chance:
            return f"The learner does better than chance {numbers}."
        return f"It is not shown that the learner does better than chance {numbers}."

    def summary(self) -> dict[str, Any]:
        """The test as plain values that JSON can hold."""
        return {
            "sentence": self.sentence,
            "p": self.p,
            "level": self.level,
            "permutations": len(self.shuffled),
            "failed": int(np.isnan(self.shuffled).sum()),
            "exchanged": self.exchanged,
            "risk": plain(self.result.risk.as_dict()),
            "shuffled": plain(self.shuffled),
            "about": plain(self.result.record_so_far.about),
        }

    def __str__(self) -> str:
        return as_text("chance", self.summary())

    def _repr_html_(self) -> str:
        return as_html("chance", self.summary())


def chance(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    permutations: int = 200,
    test: Any = None,
    groups: Any = None,
    strata: Any = None,
    loss: Any = None,
    level: float = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    backend: Any = None,
    progress: bool | str = "auto",
    options: Options | None = None,
) -> ChanceTest:
    """Evaluate a learner on the target as it is, and on shuffled ones, in which there is nothing to learn.

    Rows are shuffled among those that could as well have had each other's target: within strata where strata are
    declared; with groups, whole groups that have one target each exchange it, and otherwise groups of about the same
    size exchange their targets, in random order. What is then learned is chance, whatever groups have in common.
    Time and weights are not taken: rows in order of time are not exchangeable, and a weight may belong to the
    features or to the target.

    Parameters
    ----------
    learner, X, y, test, groups, strata, loss, seed, jobs, backend, progress, options
        As in :func:`heldout.evaluate`. Splits are drawn anew for each shuffled target.
    permutations : int
        How many shuffled targets. The smallest p possible is 1/(permutations + 1).
    level : float
        The learner is said to beat chance where p is at most 1 − level.

    Returns
    -------
    ChanceTest

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ho.chance(Ridge(), X, y, permutations=99).p
    0.01
    """
    if isinstance(permutations, bool) or not isinstance(permutations, int | np.integer) or permutations < 1:
        raise OptionError(f"permutations= is how many targets are shuffled, at least 1, not {permutations!r}.")
    roles = {"groups": groups, "time": None, "sample_weight": None, "strata": strata}
    question = {"test": test, "loss": loss, "level": level, "seed": seed, "options": options}
    refuse_stream(X, who="A test against chance")
    asked = prepare(learner, X, y, roles=roles, **question)
    refuse_coarse_answers(asked, who="A test against chance")
    if asked.extra.pairs is not None and asked.extra.pairs.moves_risk:
        raise OptionError(
            "A test against chance compares plain estimates, and interval='bht' moves the one of the target as it is. "
            "Leave interval out."
        )
    exchange = exchange_of(asked.task)
    how = Running(jobs=jobs, backend=backend, progress=progress, options=asked.options)
    result = run_question(asked, how)
    question["test"] = asked.test
    sign = asked.study.reported[0].sign
    shuffled = _shuffled_losses(asked, exchange, question, how, int(permutations))
    value = result.risk.value
    return ChanceTest(
        result=result,
        shuffled=sign * shuffled + 0.0,
        p=None if value is None else permutation_p(sign * value, shuffled),
        exchanged=exchange.words,
        level=asked.level,
    )


def _shuffled_losses(
    asked: Question, exchange: Exchange, question: dict[str, Any], how: Running, permutations: int
) -> NDArray[np.float64]:
    """The loss inside on each shuffled target."""
    task, losses = asked.task, np.full(permutations, np.nan)
    roles = {"groups": task.groups, "time": None, "sample_weight": None, "strata": task.strata}
    quiet = Running(jobs=how.jobs, backend=how.backend, progress=False, options=how.options)
    with open_progress(how.progress) as bar:
        bar.expect_rounds(permutations)
        for number in range(permutations):
            rng = np.random.default_rng(derive(asked.seed, "permutation", number))
            target = task.y[exchange.rows(rng)]
            one = prepare(asked.learner, task.X, target, roles=roles, **question)
            try:
                outcome = run_study(replace(one.study, everywhere=Everywhere()), one.task, quiet)  # no interval here
                value = record_value(read_test_losses(one.task, outcome).records[0], pool=one.options.pool)
            except FitFailed:
                value = None
            losses[number] = np.nan if value is None else value
            bar.end_round(failed=value is None)
    return losses
